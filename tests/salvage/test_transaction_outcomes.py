"""How transactions ended, from the markers of several segments and copies."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fixtures.builder import marker_batch
from kafkalog_reader.decode.control_type import ABORT, COMMIT
from kafkalog_reader.format.batch_fields import CONTROL_BIT, TRANSACTIONAL_BIT
from kafkalog_reader.format.control_record import ControlType
from kafkalog_reader.io.read_context import ReadContext
from kafkalog_reader.salvage.transaction_outcomes import TransactionOutcomes
from kafkalog_reader.scan.scan import CHAIN, Scan
from kafkalog_reader.tables.transaction_outcomes import NO_TRANSACTION, UNDECIDED
from tests.tables.logs import batch, write_segment

if TYPE_CHECKING:
    from pathlib import Path

    from kafkalog_reader.scan.batch_run import BatchRun


def marker(offset: int, producer_id: int, kind: ControlType) -> bytes:
    return marker_batch(
        offset, control_type=kind, producer_id=producer_id, producer_epoch=0
    ).build()


def written(offset: int, producer_id: int) -> bytes:
    return batch(
        offset, 1, flags=TRANSACTIONAL_BIT, producer_id=producer_id, producer_epoch=0,
        base_sequence=0,
    )  # fmt: skip


def run_of(folder: Path, *batches: bytes) -> BatchRun:
    path = write_segment(folder / "t-0", [*batches])
    (run,) = Scan(str(path), CHAIN, context=ReadContext()).runs()
    return run


@pytest.fixture
def log(tmp_path: Path) -> BatchRun:
    """Producers 7 and 8 write two transactions each; 8's second one has no marker."""
    return run_of(
        tmp_path, written(0, 7), written(1, 8), marker(2, 7, ControlType.COMMIT),
        marker(3, 8, ControlType.ABORT), written(4, 7), written(5, 8),
        marker(6, 7, ControlType.ABORT), batch(7, 1),
    )  # fmt: skip


OUTCOMES = [
    COMMIT, ABORT, NO_TRANSACTION, NO_TRANSACTION, ABORT, UNDECIDED, NO_TRANSACTION,
    NO_TRANSACTION,
]  # fmt: skip


def test_the_next_marker_of_a_producer_decides(log: BatchRun) -> None:
    outcomes = TransactionOutcomes()
    outcomes.gather(log, "0.log")
    outcomes.settle()
    assert outcomes.of(log).tolist() == OUTCOMES


def test_before_markers_are_settled_nothing_is_decided(log: BatchRun) -> None:
    outcomes = TransactionOutcomes()
    outcomes.gather(log, "0.log")
    assert set(outcomes.of(log).tolist()) == {UNDECIDED, NO_TRANSACTION}
    outcomes = TransactionOutcomes()
    outcomes.settle()
    assert set(outcomes.of(log).tolist()) == {UNDECIDED, NO_TRANSACTION}


def test_markers_may_come_from_anywhere_and_in_any_order(tmp_path: Path, log: BatchRun) -> None:
    first, second = TransactionOutcomes(), TransactionOutcomes()
    first.gather(run_of(tmp_path / "b", marker(6, 7, ControlType.ABORT)), "6.log")
    second.gather(run_of(tmp_path / "a", marker(3, 8, ControlType.ABORT)), "3.log")
    second.gather(run_of(tmp_path / "c", marker(2, 7, ControlType.COMMIT)), "2.log")
    first.join(second)
    first.join(second)  # another copy with the same markers
    first.settle()
    assert first.of(log).tolist() == OUTCOMES


def test_markers_of_a_segment_that_is_read_again_are_forgotten(log: BatchRun) -> None:
    outcomes = TransactionOutcomes()
    outcomes.gather(log, "0.log")
    outcomes.forget("1.log")
    outcomes.forget("0.log")
    outcomes.settle()
    assert set(outcomes.of(log).tolist()) == {UNDECIDED, NO_TRANSACTION}


def test_an_abort_may_be_known_without_its_marker(log: BatchRun) -> None:
    outcomes = TransactionOutcomes()
    outcomes.gather(log, "0.log")
    outcomes.abort(8, 9)
    outcomes.settle()
    assert outcomes.of(log)[5] == ABORT
    assert outcomes.markers.offset.tolist() == [2, 6, 3, 9]
    assert outcomes.markers.producer_id.tolist() == [7, 7, 8, 8]


def test_control_records_of_other_types_decide_nothing(tmp_path: Path) -> None:
    """A leader change of KRaft has type 2 (reference, 4.5)."""
    other = bytearray(marker(1, 7, ControlType.COMMIT))
    other[61 + 8] = 2  # behind the record's length, attributes, two deltas, key length, version
    run = run_of(tmp_path, written(0, 7), bytes(other))
    assert run.attributes[1] & CONTROL_BIT
    outcomes = TransactionOutcomes()
    outcomes.gather(run, "0.log")
    outcomes.settle()
    assert outcomes.of(run).tolist() == [UNDECIDED, NO_TRANSACTION]
