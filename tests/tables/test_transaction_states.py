"""The outcome of a record's transaction, from the producer's next marker in any segment."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from fixtures.builder import cluster, data_batch, replica
from kafkalog_reader.format.record import Record
from tests.tables.test_replicas import aborted, committed, written

if TYPE_CHECKING:
    from pathlib import Path

    from tests.tables.test_replicas import Rows

PLAIN = data_batch(5, [Record(offset_delta=0, value=b"x")])
# producer 1 commits 0 and aborts 3; 2 aborts 1 late; 3 has 6 and 8 open; 5 has no transaction
LOG = [
    written(0, 1), written(1, 2), committed(2, 1), written(3, 1), aborted(4, 1), PLAIN,
    written(6, 3), aborted(7, 2), written(8, 3),
]  # fmt: skip
STATES = {
    0: "committed", 1: "aborted", 2: None, 3: "aborted", 4: None, 5: "none", 6: "open", 7: None,
    8: "open",
}  # fmt: skip


@pytest.mark.parametrize("segment_bytes", [1, 200, 1 << 20])
@pytest.mark.parametrize("unit_bytes", [1, 1 << 20])
def test_markers_are_found_in_later_segments(
    segment_bytes: int, unit_bytes: int, tmp_path: Path, rows_of: Rows
) -> None:
    cluster(tmp_path, {1: replica(LOG, segment_bytes=segment_bytes)})
    found = rows_of(
        "records", tmp_path, columns=["offset", "transactionState"],
        max_partition_bytes=unit_bytes,
    )  # fmt: skip
    assert {row["offset"]: row["transactionState"] for row in found} == STATES


@pytest.mark.parametrize("segment_bytes", [1, 1 << 20])
def test_read_committed_ends_at_the_first_open_transaction(
    segment_bytes: int, tmp_path: Path, rows_of: Rows
) -> None:
    log = [*LOG, written(9, 4), committed(10, 4)]
    cluster(tmp_path, {1: replica(log, segment_bytes=segment_bytes)})
    found = rows_of("records", tmp_path, columns=["offset"], isolation="read_committed")
    assert [row["offset"] for row in found] == [0, 5]
    newest = rows_of(
        "records", tmp_path, columns=["offset"], isolation="read_committed", last=5, to_offset=3
    )
    assert [row["offset"] for row in newest] == [0]


def test_an_abort_whose_marker_is_damaged_is_known_from_the_transaction_index(
    tmp_path: Path, rows_of: Rows, caplog: pytest.LogCaptureFixture
) -> None:
    damaged = replace(aborted(1, 1), lies={"crc": 0})
    log = [written(0, 1), damaged, written(2, 1), committed(3, 1)]
    directory = cluster(tmp_path, {1: replica(log)})[1] / "t-0"
    # version 0, producer 1, first offset 0, last offset 1, last stable offset 2
    assert (directory / "00000000000000000000.txnindex").read_bytes() == bytes.fromhex(
        "0000 0000000000000001 0000000000000000 0000000000000001 0000000000000002"
    )
    with caplog.at_level(logging.WARNING):
        found = rows_of(
            "records", tmp_path, columns=["offset", "transactionState"], mode="DROPMALFORMED"
        )
    assert {row["offset"]: row["transactionState"] for row in found} == {
        0: "aborted", 2: "committed", 3: None,
    }  # fmt: skip
    assert "outcome of a transaction" in caplog.text
