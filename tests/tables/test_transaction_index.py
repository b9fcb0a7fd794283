"""Entries of transaction indexes, and whether the log confirms them."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from fixtures.builder import cluster, marker_batch, replica
from kafkalog_reader.errors import CorruptIndexError, UnsupportedFormatError
from kafkalog_reader.format.control_record import ControlType
from kafkalog_reader.format.index_entries import TRANSACTION_INDEX_ENTRY
from kafkalog_reader.io.progress import no_progress
from kafkalog_reader.scan.damage import Mode
from kafkalog_reader.tables.segment_batches import SegmentBatches
from kafkalog_reader.tables.transaction_index import confirm_aborted_transactions
from tests.tables.logs import slice_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Rows = Callable[..., list[dict[str, Any]]]

ABORTED = "00000000000000000000.txnindex"


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ((2, 1001), "another producer's"),
        ((18, 11), "a data batch, no marker"),
        ((18, 13), "behind the segment"),
    ],
)
def test_aborted_transaction_without_its_marker_is_not_confirmed(
    small_partition: Path, rows_of: Rows, change: tuple[int, int], why: str
) -> None:
    index = bytearray((small_partition / ABORTED).read_bytes())
    struct.pack_into(">q", index, *change)
    (small_partition / ABORTED).write_bytes(index)
    assert rows_of("transaction_index", small_partition)[0]["confirmed"] is False, why


def test_commit_marker_confirms_no_abort(tmp_path: Path, rows_of: Rows) -> None:
    marker = marker_batch(
        0, control_type=ControlType.COMMIT, producer_id=7, producer_epoch=0, coordinator_epoch=1
    )
    entry = struct.pack(">hqqqq", 0, 7, 0, 0, 1)
    root = cluster(tmp_path, {1: replica([marker], files={ABORTED: entry})})[1]
    assert rows_of("transaction_index", root)[0]["confirmed"] is False


@pytest.mark.parametrize(
    ("version", "error"), [(1, UnsupportedFormatError), (-1, CorruptIndexError)]
)
def test_transaction_index_of_another_version_is_refused_with_its_position(
    small_partition: Path, rows_of: Rows, version: int, error: type[Exception]
) -> None:
    index = (small_partition / ABORTED).read_bytes()
    path = small_partition / ABORTED
    path.write_bytes(index + struct.pack(">h", version) + index[2:])
    with pytest.raises(error, match=rf"at position 34: transaction index version {version}"):
        rows_of("transaction_index", small_partition)
    (row,) = rows_of("transaction_index", small_partition, mode="PERMISSIVE")
    assert row["entry"] == 0


def marker(offset: int, producer_id: int, control_type: ControlType = ControlType.ABORT) -> bytes:
    batch = marker_batch(
        offset, control_type=control_type, producer_id=producer_id, producer_epoch=0,
        coordinator_epoch=1,
    )  # fmt: skip
    return batch.build()


def confirmed(path: Path, batches: list[bytes], *entries: tuple[int, int]) -> list[bool | None]:
    """Whether a log of these batches confirms entries of a producer and a last offset."""
    log = path / "00000000000000000000.log"
    log.write_bytes(b"".join(batches))
    scan = SegmentBatches(slice_of(log), Mode.DROPMALFORMED, no_progress, check_crc=False)
    stored = b"".join(struct.pack(">hqqqq", 0, id_, 0, last, 0) for id_, last in entries)
    columns = np.frombuffer(stored, TRANSACTION_INDEX_ENTRY.dtype)
    answers: list[bool | None] = confirm_aborted_transactions(columns, scan).to_pylist()
    return answers


def test_entries_in_any_order_are_answered_in_that_of_the_file(tmp_path: Path) -> None:
    batches = [marker(0, 7), marker(1, 8), marker(2, 7)]
    entries = [(7, 2), (8, 1), (8, 2), (7, 0), (7, 1)]
    assert confirmed(tmp_path, batches, *entries) == [True, True, False, True, False]


def test_entries_of_one_offset_are_each_compared(tmp_path: Path) -> None:
    assert confirmed(tmp_path, [marker(3, 7)], (8, 3), (7, 3), (7, 3), (7, 4)) == [
        False, True, True, False,
    ]  # fmt: skip


def test_commit_at_the_offset_confirms_nothing(tmp_path: Path) -> None:
    batches = [marker(0, 7, ControlType.COMMIT), marker(1, 7)]
    assert confirmed(tmp_path, batches, (7, 0), (7, 1)) == [False, True]


def test_nothing_is_known_from_the_first_damage_on(tmp_path: Path) -> None:
    batches = [marker(0, 7), b"\xff" * 100, marker(5, 7)]
    assert confirmed(tmp_path, batches, (7, 0), (7, 1), (8, 0)) == [True, None, False]
