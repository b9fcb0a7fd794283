"""Why copies allow no conclusion, and when the others can replace one of them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kafkalog_reader.audits.comparison.compared_replicas import Comparison, NotCompared
from kafkalog_reader.audits.comparison.difference import Difference, DifferenceKind
from kafkalog_reader.audits.comparison.undecided import reaches_further, reason_of_all
from tests.audits.bare_replica import bare, history

BAD, GOOD = bare(1, epochs="0:0"), bare(2, epochs="0:0")
EQUAL = Comparison(replicas=(BAD, GOOD), roots=(), differences=(), damaged={})


@pytest.mark.parametrize(
    ("high_watermark", "end", "reason"),
    [
        (None, 9, ""),
        (None, 10, ""),
        (None, 11, "broker 1 reaches 11, the others end at 10"),
        (10, 3, ""),
        (11, 3, "broker 1 reaches 11, the others end at 10"),
        (12, 11, "broker 1 reaches 12, the others end at 10"),
    ],
)
def test_an_unusable_copy_must_not_reach_beyond_the_others(
    high_watermark: int | None, end: int, reason: str
) -> None:
    bad = replace(BAD, checkpointed_high_watermark=high_watermark)
    histories = {bad: history((0, 0, end)), GOOD: history((0, 0, 10))}
    assert reaches_further(histories, {bad: "why"}) == reason


@pytest.mark.parametrize(
    ("epochs", "reason"),
    [
        (None, ""),
        ("0:0", ""),
        ("0:0 1:2", ""),
        ("0:0 2:2", "broker 1 has leader epoch 2, which no other copy has"),
    ],
)
def test_it_must_not_have_a_newer_leader(epochs: str | None, reason: str) -> None:
    bad = bare(1, epochs=epochs)
    histories = {bad: history(), GOOD: history((0, 0, 5), (1, 5, 10))}
    assert reaches_further(histories, {bad: "why"}) == reason


def test_its_first_leader_epoch_is_newer_than_none() -> None:
    bad = bare(1, epochs="0:0")
    histories = {bad: history(), GOOD: history()}
    assert reaches_further(histories, {bad: "why"}) == (
        "broker 1 has leader epoch 0, which no other copy has"
    )


def test_copies_without_records_reach_nowhere() -> None:
    bad = bare(1)
    assert reaches_further({bad: history(), bare(2): history()}, {bad: "why"}) == ""


def test_messages_of_old_formats_have_no_leader_epoch_that_others_lack() -> None:
    """Kafka reads -1 as the leader epoch of a message of magic 0 or 1."""
    bad = bare(1)
    histories = {bad: history(), GOOD: history((-1, 0, 10))}
    assert reaches_further(histories, {bad: "why"}) == ""


def test_a_copy_alone_is_not_compared_with_others() -> None:
    bad = replace(BAD, checkpointed_high_watermark=11)
    assert reaches_further({bad: history((0, 0, 3))}, {bad: "why"}) == ""


def test_copies_that_were_not_compared_say_why() -> None:
    assert reason_of_all([BAD, GOOD], NotCompared("other topics")) == "other topics"
    assert reason_of_all([BAD, GOOD], EQUAL) == ""


def test_one_broker_supplied_twice_is_not_two_replicas() -> None:
    again = bare(1, path="/copy")
    reason = reason_of_all([BAD, again], EQUAL)
    assert reason.startswith(
        "broker 1: supplied more than once; name only one of /1/t-0, /copy/t-0"
    )
    unknown = [bare(None, path="/a"), bare(None, path="/b")]
    assert reason_of_all(unknown, EQUAL) == ""


def test_two_disks_of_one_broker_with_the_partition_do_not_start() -> None:
    disks = [bare(1, path="/a", directory_id="a"), bare(1, path="/b", directory_id="b")]
    assert reason_of_all(disks, EQUAL).startswith("broker 1: has the partition twice")


def test_records_that_could_not_be_decoded_leave_it_open() -> None:
    difference = Difference(
        kind=DifferenceKind.NOT_COMPARED, first_offset=4, next_offset=6, batches=1, records=2,
        contents=((BAD,), (GOOD,)),
    )  # fmt: skip
    cleaned = replace(difference, kind=DifferenceKind.CLEANED, first_offset=1)
    found = replace(EQUAL, differences=(cleaned, difference))
    assert reason_of_all([BAD, GOOD], found) == (
        "the records from offset 4 on could not be decoded"
    )
