"""KL-709: the marker of a partition contradicts what its coordinator decided."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import kafkalog_reader
from fixtures import captures
from fixtures.synthetic.transaction_states import ENDED
from kafkalog_reader.audits.partition.torn_findings import contradictions
from kafkalog_reader.tables.sibling_markers import Marker
from kafkalog_reader.tables.transaction_decisions import Decided

if TYPE_CHECKING:
    from pathlib import Path

    from fixtures.synthetic.transaction_states import EndedTransaction

COMMIT, ABORT = True, False


def findings(root: Path, *, deep: bool = True) -> list[dict[str, Any]]:
    rows = kafkalog_reader.open(str(root)).table("findings", deep=deep).to_arrow().to_pylist()
    return [row for row in rows if row["code"].startswith("KL-7")]


@pytest.mark.parametrize("state", ENDED, ids=lambda state: state.id)
def test_each_state_has_its_findings_and_no_others(state: EndedTransaction, tmp_path: Path) -> None:
    found = findings(state.write(tmp_path))
    assert {(row["code"], row["firstOffset"]) for row in found} == state.expected
    assert findings(tmp_path, deep=False) == []


@pytest.mark.parametrize("state", ["everything/stopped", "everything/killed", "everything/running"])
def test_transactions_of_a_broker_are_whole(state: str) -> None:
    """Committed, aborted and fenced ones; the markers of some partitions are all there."""
    assert [row for row in findings(captures.path(state)) if row["code"] == "KL-709"] == []


def decided(epoch: int, time: int, is_commit: bool = COMMIT, *, own: bool = True) -> Decided:
    return Decided(7, epoch, is_commit, own, time)


def marker(epoch: int, time: int, is_commit: bool) -> Marker:
    return Marker("t", 0, 0, is_commit, 7, epoch, time)


@pytest.mark.parametrize(
    ("decisions", "markers", "count"),
    [
        # transactions version 2: an epoch has one transaction
        ([decided(4, 100)], [marker(4, 101, ABORT)], 1),
        ([decided(4, 100)], [marker(4, 101, COMMIT)], 0),
        (
            [decided(4, 100), decided(5, 200, ABORT)],
            [marker(4, 101, COMMIT), marker(5, 201, COMMIT)], 1,
        ),
        # aborted by hand much later, with the epoch of the data; the marker before is another one's
        ([decided(4, 100)], [marker(3, 900_000, ABORT)], 1),
        ([decided(4, 100)], [marker(3, 101, ABORT)], 0),
        # version 1: an epoch has many
        (
            [decided(3, 100, own=False), decided(3, 200, ABORT, own=False)],
            [marker(3, 900_000, ABORT)], 0,
        ),
        ([decided(3, 100, own=False)] * 2, [marker(3, 101, COMMIT), marker(3, 900_000, ABORT)], 1),
        ([decided(3, 100, own=False)], [marker(3, 101, COMMIT), marker(3, 900_000, ABORT)], 0),
    ],
)  # fmt: skip
def test_only_what_no_other_transaction_explains_counts(
    decisions: list[Decided], markers: list[Marker], count: int
) -> None:
    assert len([*contradictions(decisions, markers, is_from_start=True)]) == count


def test_markers_that_retention_may_have_removed_prove_nothing() -> None:
    late = [marker(4, 101, ABORT)]
    assert [*contradictions([decided(4, 100)], late, is_from_start=False)] == []
    with_older = [marker(1, 50, COMMIT), *late]
    assert len([*contradictions([decided(4, 100)], with_older, is_from_start=False)]) == 1
