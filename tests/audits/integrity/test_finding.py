"""A finding takes what its rule says unless told otherwise, and the worst comes first."""

from __future__ import annotations

from itertools import pairwise

from kafkalog_reader.audits.catalogue.batch_rules import BATCH_CRC_MISMATCH
from kafkalog_reader.audits.catalogue.catalogue import CATALOGUE
from kafkalog_reader.audits.integrity.finding import finding
from tests.audits.bare_replica import bare

RULE = CATALOGUE[BATCH_CRC_MISMATCH]


def test_its_rule_decides_what_is_not_given() -> None:
    plain = finding(BATCH_CRC_MISMATCH, "wrong")
    assert (plain.severity, plain.actions, plain.lookalikes) == (
        RULE.severity, RULE.actions, RULE.lookalikes,
    )  # fmt: skip
    assert plain.name == RULE.name
    assert (plain.first_offset, plain.next_offset, plain.evidence) == (None, None, ())


def test_what_is_given_counts_even_if_it_is_empty() -> None:
    own = finding(
        BATCH_CRC_MISMATCH, "wrong", severity="I", actions=(), lookalikes=(), offsets=(0, 3),
        evidence={"stored": 7, "computed": None},
    )  # fmt: skip
    assert RULE.actions
    assert (own.severity, own.actions, own.lookalikes) == ("I", (), ())
    assert (own.first_offset, own.next_offset) == (0, 3)
    assert own.evidence == (("stored", "7"), ("computed", "None"))


def test_the_copy_is_named_once() -> None:
    directory = bare(2).directory
    name = directory.replica_name
    assert finding(BATCH_CRC_MISMATCH, "bad", directory=directory).placed_message == f"{name}: bad"
    says = f"{name} is bad"
    assert finding(BATCH_CRC_MISMATCH, says, directory=directory).placed_message == says
    assert finding(BATCH_CRC_MISMATCH, "bad").placed_message == "bad"


def test_the_order_is_by_severity_then_broker_then_place() -> None:
    """Each is before the next in one field, and after it in all that count less."""
    ten, two = bare(10).directory, bare(2).directory
    ordered = [
        finding("KL-503", "", severity="C", directory=ten, file="b", position=9),
        finding("KL-503", "", severity="H", file="b", position=9),  # the whole partition
        finding("KL-503", "", severity="H", directory=two, file="b", position=9),
        finding("KL-503", "", severity="H", directory=ten, file="a", position=9),
        finding("KL-503", "", severity="H", directory=ten, file="b"),
        finding("KL-503", "", severity="H", directory=ten, file="b", position=0),
        finding("KL-101", "", severity="H", directory=ten, file="b", position=1),
        finding("KL-503", "", severity="H", directory=ten, file="b", position=1),
        finding("KL-503", "", severity="H", directory=ten, file="b", position=1, offsets=(0, 1)),
        finding("KL-101", "", severity="I"),
    ]
    assert all(one.order < other.order for one, other in pairwise(ordered))
