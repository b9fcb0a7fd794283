"""The table ``replicas``: its offsets, on sound and on damaged log directories."""

from __future__ import annotations

import struct
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from fixtures.builder import cluster, data_batch, empty_batch, log_directory, marker_batch, replica
from kafkalog_reader.errors import (
    CorruptCheckpointError,
    CorruptRecordError,
    UnreadableFileError,
    UnsupportedFormatError,
)
from kafkalog_reader.format.control_record import ControlType
from kafkalog_reader.format.record import Record

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from fixtures.builder import Batch

    Rows = Callable[..., list[dict[str, Any]]]

TRANSACTIONAL = 0x10
LAST = "00000000000000000013.log"


def written(offset: int, producer_id: int, count: int = 1) -> Batch:
    records = [Record(offset_delta=delta, value=b"x") for delta in range(count)]
    return data_batch(
        offset, records, flags=TRANSACTIONAL, producer_id=producer_id, producer_epoch=0,
        base_sequence=0,
    )  # fmt: skip


def marker(offset: int, producer_id: int, control_type: ControlType) -> Batch:
    return marker_batch(
        offset, control_type=control_type, producer_id=producer_id, producer_epoch=0
    )


def committed(offset: int, producer_id: int) -> Batch:
    return marker(offset, producer_id, ControlType.COMMIT)


def aborted(offset: int, producer_id: int) -> Batch:
    return marker(offset, producer_id, ControlType.ABORT)


def last_stable(rows: list[dict[str, Any]]) -> tuple[int | None, int | None]:
    (row,) = rows
    return row["lastStableOffsetLow"], row["lastStableOffset"]


def test_row_says_what_the_reference_says_about_its_partition(
    small_partition: Path, rows_of: Rows
) -> None:
    (row,) = rows_of("replicas", small_partition.parent)
    assert row == {
        "clusterId": "AAECAwQFBgcICQoLDA0ODw",
        "brokerId": 1,
        "brokerLabel": None,
        "logDirectory": str(small_partition.parent),
        "topic": "t",
        "partition": 0,
        "state": None,
        "topicId": "AAAAAAAAAAEAAAAAAAAABQ",
        "logStartOffset": 0,
        "logEndOffset": 23,
        "checkpointedHighWatermark": 23,
        "highWatermarkLow": 23,
        "lastStableOffset": 23,
        "lastStableOffsetLow": 23,
        "recoveryPoint": 23,
        "cleanerOffset": None,
        "lastLeaderEpoch": 5,
        "segments": 2,
        "sizeInBytes": 1016,
        "filesSizeInBytes": sum(path.stat().st_size for path in small_partition.iterdir()),
        "cleanShutdown": True,
        "tornBytes": 0,
        "directoryId": "AAAAAAAAAAIAAAAAAAAD6Q",
        "capturedAt": datetime(2023, 11, 14, 23, 13, 20, tzinfo=UTC),
    }


# high watermark


@pytest.mark.parametrize(
    ("checkpoints", "low"),
    [
        ({}, 5),
        ({"high_watermark": 7}, 7),
        ({"high_watermark": 11}, 5),  # above the log end, 10: proves nothing about this copy
        ({"log_start": 6}, 6),
        ({"cleaner_offset": 8, "high_watermark": 6}, 8),
        ({"high_watermark": 10}, 10),
    ],
)
def test_high_watermark_is_at_least_the_best_proof(
    tmp_path: Path, rows_of: Rows, checkpoints: dict[str, int], low: int
) -> None:
    cluster(tmp_path, {1: replica("5-9/e0", **checkpoints)})
    (row,) = rows_of("replicas", tmp_path)
    assert (row["highWatermarkLow"], row["logEndOffset"]) == (low, 10)
    assert row["checkpointedHighWatermark"] == checkpoints.get("high_watermark")


@pytest.mark.parametrize(("log_start", "expected"), [(None, 5), (3, 5), (7, 7)])
def test_log_start_is_the_first_segment_or_what_was_deleted_beyond(
    tmp_path: Path, rows_of: Rows, log_start: int | None, expected: int
) -> None:
    cluster(tmp_path, {1: replica("5-9/e0", log_start=log_start)})
    assert rows_of("replicas", tmp_path)[0]["logStartOffset"] == expected


# last stable offset


def test_open_transaction_holds_back_the_last_stable_offset(tmp_path: Path, rows_of: Rows) -> None:
    log = [written(0, 1), committed(1, 1), written(2, 1), written(3, 2), aborted(4, 2)]
    cluster(tmp_path, {1: replica(log, high_watermark=5)})
    assert last_stable(rows_of("replicas", tmp_path)) == (2, 2)


def test_transaction_decided_above_the_high_watermark_counts_as_open(
    tmp_path: Path, rows_of: Rows
) -> None:
    log = [written(0, 1), committed(1, 1), written(2, 2), committed(3, 2), written(4, -1)]
    cluster(tmp_path, {1: replica(log, high_watermark=3)})
    assert last_stable(rows_of("replicas", tmp_path)) == (2, 5)


def test_marker_without_data_and_empty_control_batch_decide_nothing(
    tmp_path: Path, rows_of: Rows
) -> None:
    log = [written(0, 1), committed(1, 2), empty_batch(committed(2, 1)), written(3, 1)]
    cluster(tmp_path, {1: replica(log, high_watermark=4)})
    assert last_stable(rows_of("replicas", tmp_path)) == (0, 0)


def test_transaction_open_in_the_snapshot_is_carried_on(tmp_path: Path, rows_of: Rows) -> None:
    """The first segment is made unreadable; only it shows where the transaction began."""
    log = [written(0, 1), written(1, 1), written(2, 2), committed(3, 2)]
    root = cluster(tmp_path, {1: replica(log, high_watermark=4, segment_bytes=150)})[1]
    (root / "t-0" / f"{0:020d}.log").write_bytes(b"\xff" * 136)
    assert last_stable(rows_of("replicas", root)) == (0, 0)


def test_snapshot_above_the_high_watermark_is_too_new(tmp_path: Path, rows_of: Rows) -> None:
    """It does not show that the transaction was decided at 1, above the high watermark."""
    log = [written(0, 1), committed(1, 1), written(2, -1)]
    cluster(tmp_path, {1: replica(log, high_watermark=1)}, clean=[1])
    assert last_stable(rows_of("replicas", tmp_path)) == (0, 3)


def test_last_stable_offset_is_not_below_the_log_start(tmp_path: Path, rows_of: Rows) -> None:
    log = [written(0, 1), written(1, -1), written(2, -1)]
    cluster(tmp_path, {1: replica(log, high_watermark=3, log_start=2)})
    assert last_stable(rows_of("replicas", tmp_path)) == (2, 2)


def test_without_a_checkpoint_the_log_is_replayed_from_its_last_snapshot(
    tmp_path: Path, rows_of: Rows
) -> None:
    """The first segment would only show what is stable below offset 2, which is not needed."""
    log = [written(0, 1), committed(1, 1), written(2, 2), written(3, -1)]
    root = cluster(tmp_path, {1: replica(log, segment_bytes=150)})[1]
    (root / "t-0" / f"{0:020d}.log").write_bytes(b"\xff" * 147)
    assert last_stable(rows_of("replicas", root)) == (0, 2)


def test_damaged_snapshot_is_passed_by_for_an_older_one(
    tmp_path: Path, rows_of: Rows, caplog: pytest.LogCaptureFixture
) -> None:
    log = [written(0, 1), written(1, 2), committed(2, 2)]
    files = {f"{3:020d}.snapshot": b"\0\1damaged"}
    root = cluster(tmp_path, {1: replica(log, high_watermark=3, files=files)}, clean=[1])[1]
    assert last_stable(rows_of("replicas", root)) == (0, 0)
    assert "00000000000000000003.snapshot" in caplog.text
    assert "an older one is used" in caplog.text


def test_entry_that_a_truncation_left_behind_hides_no_transaction(
    tmp_path: Path, rows_of: Rows
) -> None:
    """Its position is now the border of a later batch than that of the requested offset."""
    log = [written(0, 1), committed(1, 1), written(2, 2), written(3, 3), written(4, 4)]
    sizes = [len(batch.build()) for batch in log]
    stale = struct.pack(">ii", 1, sum(sizes[:4]))  # offset 1 was there before
    files = {
        f"{0:020d}.index": stale,
        f"{2:020d}.snapshot": bytes.fromhex("0001 48674bc7 00000000"),  # no producer, at offset 2
    }
    cluster(tmp_path, {1: replica(log, high_watermark=4, files=files)})
    assert last_stable(rows_of("replicas", tmp_path)) == (2, 2)


def test_transactions_after_damage_are_not_known(tmp_path: Path, rows_of: Rows) -> None:
    log = [written(0, 1), committed(1, 1), written(2, 2), committed(3, 2)]
    root = cluster(tmp_path, {1: replica(log, segment_bytes=150, high_watermark=1)})[1]
    for path in (root / "t-0").glob("*.snapshot"):
        path.unlink()
    path = root / "t-0" / f"{0:020d}.log"
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    with pytest.raises(CorruptRecordError, match=r"at position \d+ \(offset 1\): wrong CRC"):
        rows_of("replicas", root)
    assert last_stable(rows_of("replicas", root, mode="PERMISSIVE")) == (None, None)
    (row,) = rows_of("replicas", root, columns=["logEndOffset"])
    assert row == {"logEndOffset": 4}


# other files that may be there


def test_directories_set_aside_have_a_state_and_no_high_watermark(
    tmp_path: Path, rows_of: Rows
) -> None:
    names = [f"t-0.{'0' * 32}-{state}" for state in ("delete", "future", "stray")]
    described = [replica("a@0/e0 b@1/e0", directory=name) for name in names]
    cluster(tmp_path, {1: [replica("a@0/e0", high_watermark=1), *described]})
    rows = rows_of("replicas", tmp_path)
    assert [row["state"] for row in rows] == [None, "delete", "future", "stray"]
    assert [row["logEndOffset"] for row in rows] == [1, 2, 2, 2]
    assert [row["highWatermarkLow"] for row in rows] == [1, None, None, None]
    assert [row["checkpointedHighWatermark"] for row in rows] == [1, None, None, None]


@pytest.mark.parametrize(("checkpointed", "end"), [(None, 0), (7, 7)])
def test_directory_without_a_segment_ends_where_the_start_creates_one(
    tmp_path: Path, rows_of: Rows, checkpointed: int | None, end: int
) -> None:
    """LogLoader makes an empty segment at the checkpointed log start."""
    files = {f"{0:020d}.log": None}
    cluster(tmp_path, {1: replica("a@0/e0", log_start=checkpointed, files=files)})
    (row,) = rows_of("replicas", tmp_path)
    assert (row["segments"], row["logStartOffset"], row["logEndOffset"]) == (0, end, end)


def test_empty_last_segment_ends_where_it_begins(tmp_path: Path, rows_of: Rows) -> None:
    cluster(tmp_path, {1: replica("a@4/e3", files={f"{5:020d}.log": b""})})
    (row,) = rows_of("replicas", tmp_path)
    assert (row["logEndOffset"], row["lastLeaderEpoch"], row["segments"]) == (5, 3, 2)


def test_replicas_come_by_log_directory_topic_and_partition(tmp_path: Path, rows_of: Rows) -> None:
    replicas = [replica("a@0/e0", topic=t, partition=p) for t, p in (("u", 0), ("t", 10), ("t", 9))]
    cluster(tmp_path, {2: replicas, 1: replicas})
    rows = rows_of("replicas", tmp_path, columns=["brokerId", "topic", "partition"])
    assert [tuple(row.values()) for row in rows] == [
        (broker, topic, partition)
        for broker in (1, 2)
        for topic, partition in (("t", 9), ("t", 10), ("u", 0))
    ]


# damage


def test_torn_last_batch_is_not_an_error_but_a_warning(
    small_partition: Path, rows_of: Rows, caplog: pytest.LogCaptureFixture
) -> None:
    """Section 14.8 with batch 21–22 cut short; a broker that seeks to it would report 13."""
    log = small_partition / LAST
    log.write_bytes(log.read_bytes()[:430])
    (row,) = rows_of("replicas", small_partition)
    assert (row["logEndOffset"], row["tornBytes"], row["lastLeaderEpoch"]) == (21, 77, 5)
    assert f"{log} at position 353 (offset 21): torn" in caplog.text


def test_preallocated_zeros_are_not_torn(small_partition: Path, rows_of: Rows) -> None:
    log = small_partition / LAST
    log.write_bytes(log.read_bytes() + bytes(4096))
    (row,) = rows_of("replicas", small_partition)
    assert (row["logEndOffset"], row["tornBytes"]) == (23, 0)


def test_log_that_ends_in_another_magic_has_no_known_end(
    small_partition: Path, rows_of: Rows
) -> None:
    log = small_partition / LAST
    content = bytearray(log.read_bytes())
    content[353 + 16] = 3
    log.write_bytes(content)
    with pytest.raises(
        UnsupportedFormatError, match=r"at position 353 \(offset 21\): unknown magic"
    ):
        rows_of("replicas", small_partition)
    (row,) = rows_of("replicas", small_partition, mode="PERMISSIVE")
    assert (row["logEndOffset"], row["highWatermarkLow"], row["segments"]) == (None, None, 2)


def test_a_log_start_above_the_log_end_is_not_yet_one(tmp_path: Path, rows_of: Rows) -> None:
    """The next start deletes every segment for it (KL-306); until then the records are there."""
    cluster(tmp_path, {1: replica("3-9/e0", log_start=11, high_watermark=10)})
    (row,) = rows_of("replicas", tmp_path)
    assert (row["logStartOffset"], row["logEndOffset"], row["lastStableOffset"]) == (3, 10, 10)


@pytest.mark.parametrize(
    ("name", "column"),
    [
        ("replication-offset-checkpoint", "checkpointedHighWatermark"),
        ("recovery-point-offset-checkpoint", "recoveryPoint"),
        ("cleaner-offset-checkpoint", "cleanerOffset"),
    ],
)
def test_damaged_checkpoint_leaves_its_column_empty_with_a_warning(
    tmp_path: Path, rows_of: Rows, caplog: pytest.LogCaptureFixture, name: str, column: str
) -> None:
    described = replica("0-9/e0", high_watermark=4, recovery_point=3, cleaner_offset=2)
    root = cluster(tmp_path, {1: log_directory(1, described, files={name: b"0\n1\nt 0\n"})})[1]
    (row,) = rows_of("replicas", root)
    assert (row[column], row["logEndOffset"]) == (None, 10)
    assert f"{root / name} at position 4: line 3" in caplog.text


def test_damaged_log_start_checkpoint_makes_the_log_start_unknown(
    tmp_path: Path, rows_of: Rows
) -> None:
    files = {"log-start-offset-checkpoint": b"0\n1\nt 0\n"}
    cluster(tmp_path, {1: log_directory(1, replica("0-9/e0", high_watermark=4), files=files)})
    with pytest.raises(CorruptCheckpointError, match="log-start-offset-checkpoint at position 4"):
        rows_of("replicas", tmp_path)
    (row,) = rows_of("replicas", tmp_path, mode="PERMISSIVE")
    assert (row["logStartOffset"], row["highWatermarkLow"], row["logEndOffset"]) == (None, 4, 10)


def test_damaged_topic_id_leaves_it_empty_with_a_warning(
    tmp_path: Path, rows_of: Rows, caplog: pytest.LogCaptureFixture
) -> None:
    cluster(tmp_path, {1: replica("a@0/e0", files={"partition.metadata": b"version: 0\n"})})
    (row,) = rows_of("replicas", tmp_path)
    assert (row["topicId"], row["logEndOffset"]) == (None, 1)
    assert "partition.metadata" in caplog.text


def test_replica_without_meta_properties_has_no_broker(tmp_path: Path, rows_of: Rows) -> None:
    files = {"meta.properties": None}
    cluster(tmp_path, {1: log_directory(1, replica("a@0/e0"), files=files)})
    (row,) = rows_of("replicas", tmp_path)
    assert (row["clusterId"], row["brokerId"], row["logEndOffset"]) == (None, None, 1)


def test_unreadable_log_is_an_error_or_a_row_of_nulls(tmp_path: Path, rows_of: Rows) -> None:
    """A log that becomes a FIFO after it was listed; permissions do not bind root."""
    import os

    from kafkalog_reader.io.partition_directory import segments
    from kafkalog_reader.scan import log_tail

    root = cluster(tmp_path, {1: replica("a@0/e0")})[1]
    log = root / "t-0" / f"{0:020d}.log"

    def swapped(directory: Any, **options: Any) -> Any:
        found = segments(directory, **options)
        log.unlink(missing_ok=True)
        os.mkfifo(log)
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(log_tail, "segments", swapped)
        with pytest.raises(UnreadableFileError, match="not a regular file"):
            rows_of("replicas", root)
        log.unlink()
        log.touch()
        (row,) = rows_of("replicas", root, mode="PERMISSIVE")
    assert (row["topic"], row["brokerId"], row["logEndOffset"]) == ("t", 1, None)


def test_inputs_are_never_written_to(small_partition: Path, rows_of: Rows) -> None:
    def state() -> list[tuple[str, int, int, bytes]]:
        files = sorted(p for p in small_partition.parent.rglob("*") if p.is_file())
        return [(p.name, p.stat().st_mtime_ns, p.stat().st_nlink, p.read_bytes()) for p in files]

    before = state()
    for table in ("segments", "replicas", "offset_index", "time_index", "transaction_index",
                  "leader_epochs", "producers", "checkpoints"):  # fmt: skip
        rows_of(table, small_partition.parent)
    assert state() == before
