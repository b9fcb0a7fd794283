"""Where share groups stand, by ``__share_group_state``."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

import pytest

import kafkalog_reader
from fixtures.builder import cluster, data_batch, replica
from kafkalog_reader.format.record import Record
from kafkalog_reader.tables.share_batches import StateBatch, combined

if TYPE_CHECKING:
    from pathlib import Path

TOPIC_ID = bytes(15) + b"\x07"
ID_TEXT = "AAAAAAAAAAAAAAAAAAAABw"
AVAILABLE, ACKNOWLEDGED, ARCHIVED = 0, 2, 4
Batch = tuple[int, int, int, int]
"""First and last offset, delivery state, delivery count."""


def key(type_: int, group: str = "g") -> bytes:
    return struct.pack(">hh", type_, len(group)) + group.encode() + TOPIC_ID + struct.pack(">i", 3)


def stored(batches: tuple[Batch, ...]) -> bytes:
    packed = b"".join(struct.pack(">qqbh", *each) + b"\0" for each in batches)
    return bytes([len(batches) + 1]) + packed


def snapshot(start: int, *batches: Batch, tags: bytes = b"\0") -> bytes:
    """ShareSnapshotValue version 0 of Kafka 4.1 and later."""
    numbers = struct.pack(">hiiiqqq", 0, 5, 2, 1, start, 1000, 2000)
    return numbers + stored(batches) + tags


def update(start: int, *batches: Batch, leader_epoch: int = -1) -> bytes:
    return struct.pack(">hiiq", 0, 5, leader_epoch, start) + stored(batches) + b"\0"


def rows_of(path: Path, **options: Any) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = (
        kafkalog_reader.open(str(path)).table("share_groups", **options).to_arrow().to_pylist()
    )
    return rows


def write(root: Path, *records: tuple[bytes | None, bytes | None]) -> None:
    log = [
        data_batch(offset, [Record(offset_delta=0, key=each[0], value=each[1])])
        for offset, each in enumerate(records)
    ]
    cluster(root, {0: [replica(log, topic="__share_group_state", high_watermark=len(log))]})


def batches_of(row: dict[str, Any]) -> list[tuple[Any, ...]]:
    return [tuple(each.values()) for each in row["batches"]]


def test_updates_change_the_snapshot_before_them(tmp_path: Path) -> None:
    write(
        tmp_path,
        (key(1), update(90)),
        (key(0), snapshot(10, (10, 14, ACKNOWLEDGED, 1), (15, 19, AVAILABLE, 1))),
        (key(1), update(-1, (15, 16, ACKNOWLEDGED, 2))),
        (key(1), update(12, leader_epoch=4)),
    )
    (row,) = rows_of(tmp_path)
    assert (row["groupId"], row["topic"], row["topicId"], row["partition"]) == (
        "g", None, ID_TEXT, 3,
    )  # fmt: skip
    assert (row["startOffset"], row["leaderEpoch"], row["stateEpoch"]) == (12, 4, 2)
    assert batches_of(row) == [
        (12, 14, "acknowledged", 1), (15, 16, "acknowledged", 2), (17, 19, "available", 1),
    ]  # fmt: skip
    assert (row["updates"], row["recordOffset"], row["deliveryCompleteCount"]) == (2, 3, None)
    (before,) = rows_of(tmp_path, as_of="offset:1")
    assert (before["startOffset"], before["updates"]) == (10, 0)
    assert len(before["batches"]) == 2


def test_a_tombstone_removes_a_partition(tmp_path: Path) -> None:
    write(tmp_path, (key(0), snapshot(0)), (key(0, "h"), snapshot(0)), (key(0), None))
    assert [row["groupId"] for row in rows_of(tmp_path)] == ["h"]


def test_what_no_release_reads_is_kept_raw(tmp_path: Path) -> None:
    records = [(key(9), b"x"), (key(0), b"\0\x07"), (None, b"v"), (key(0, "t"), b"\0\0\0")]
    write(tmp_path, *records, (key(0, "z"), snapshot(0, tags=b"\x01\x09\x02\xab\xcd")))
    rows = {row["recordOffset"]: row for row in rows_of(tmp_path)}
    assert [(rows[offset]["key"], rows[offset]["value"]) for offset in range(4)] == records
    assert all(rows[offset]["problem"] for offset in range(4))
    assert (rows[1]["valueVersion"], rows[4]["unknownTags"]) == (7, '{"9": "abcd"}')


@pytest.mark.parametrize(
    ("batches", "start", "expected"),
    [  # PersisterStateBatchCombiner: more deliveries hold, then the greater state
        ([(100, 110, 0, 1), (100, 110, 0, 2)], 0, [(100, 110, 0, 2)]),
        ([(100, 110, 0, 2), (105, 115, 0, 1)], 0, [(100, 110, 0, 2), (111, 115, 0, 1)]),
        ([(100, 120, 0, 1), (105, 110, 2, 1)], 0,
         [(100, 104, 0, 1), (105, 110, 2, 1), (111, 120, 0, 1)]),
        ([(100, 110, 0, 1), (111, 120, 0, 1)], 0, [(100, 120, 0, 1)]),
        ([(100, 110, 0, 1), (112, 120, 0, 1)], 0, [(100, 110, 0, 1), (112, 120, 0, 1)]),
        ([(100, 110, 0, 1), (105, 120, 0, 1)], 115, [(115, 120, 0, 1)]),
        ([(100, 110, 0, 1)], 111, []),
        ([(9, 3, 0, 1)], 0, []),
    ],
)  # fmt: skip
def test_overlapping_batches(batches: list[Batch], start: int, expected: list[Batch]) -> None:
    for order in (batches, batches[::-1]):
        assert combined([StateBatch(*each) for each in order], start) == expected


def test_many_batches_take_little_time() -> None:
    """One that spans all of 50,000 others must not make it quadratic."""
    many = [StateBatch(2 * number, 2 * number, ARCHIVED, 2) for number in range(50_000)]
    found = combined([StateBatch(0, 100_000, AVAILABLE, 1), *many], 0)
    assert len(found) == 100_000
