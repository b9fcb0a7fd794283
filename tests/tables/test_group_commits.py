"""Rows of single commits: format reference 10.2."""

from __future__ import annotations

import struct
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from fixtures.builder import cluster, data_batch, replica
from kafkalog_reader.format.record import Record
from tests.tables.logs import rows

if TYPE_CHECKING:
    from pathlib import Path

SECOND = 1_700_000_000_000


def text(content: str) -> bytes:
    return struct.pack(">h", len(content)) + content.encode()


def key(topic: str, partition: int) -> bytes:
    return struct.pack(">h", 1) + text("g") + text(topic) + struct.pack(">i", partition)


def value(committed: int, *, expires: int | None = None) -> bytes:
    """Version 1 has a time of expiry, version 0 has none."""
    head = struct.pack(">hq", 0 if expires is None else 1, committed) + text("")
    return (
        head + struct.pack(">q", SECOND) + (b"" if expires is None else struct.pack(">q", expires))
    )


def commits(path: Path, *records: tuple[bytes | None, bytes | None], **options: Any) -> list[Any]:
    """The rows of records, each a batch, from ``__consumer_offsets``."""
    log = [
        data_batch(offset, [Record(offset_delta=0, key=key, value=value)])
        for offset, (key, value) in enumerate(records)
    ]
    cluster(path, {0: [replica(log, topic="__consumer_offsets", high_watermark=len(log))]})
    return rows(path, "group_commits", **options)


def test_row_has_the_commit_and_its_record(tmp_path: Path) -> None:
    _, row = commits(tmp_path, (key("t", 3), value(5)), (key("t", 3), value(6)))
    assert (row["groupId"], row["topic"], row["partition"]) == ("g", "t", 3)
    assert (row["committedOffset"], row["recordOffset"], row["offsetsPartition"]) == (6, 1, 0)
    assert row["commitTime"] == datetime.fromtimestamp(SECOND / 1000, UTC)
    assert (row["expireTime"], row["isTombstone"], row["problem"]) == (None, False, None)


def test_time_of_expiry_is_that_of_old_clients(tmp_path: Path) -> None:
    expiring, without = commits(
        tmp_path,
        (key("t", 0), value(5, expires=SECOND + 1000)),
        (key("t", 0), value(5, expires=-1)),
    )
    assert expiring["expireTime"] == datetime.fromtimestamp(SECOND / 1000 + 1, UTC)
    assert without["expireTime"] is None


def test_only_a_commit_without_a_value_is_a_tombstone(tmp_path: Path) -> None:
    tombstone, damaged = commits(tmp_path, (key("t", 0), None), (key("t", 0), b"\0\1\0"))
    assert (tombstone["isTombstone"], tombstone["committedOffset"]) == (True, None)
    assert damaged["isTombstone"] is False
    assert damaged["problem"] is not None


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        pytest.param({}, [("t", 0), ("t", 1), ("u", 0), ("u", -1), ("t", -1)], id="all"),
        pytest.param({"topic": "u"}, [("u", 0), ("u", -1)], id="topic"),
        pytest.param({"topic": "t"}, [("t", 0), ("t", 1), ("t", -1)], id="other_topic"),
        pytest.param({"partition": 0}, [("t", 0), ("u", 0)], id="partition"),
        pytest.param({"topic": "t", "partition": 1}, [("t", 1)], id="topic_partition"),
        pytest.param({"topic": "x"}, [], id="none"),
    ],
)
def test_commits_are_selected_by_their_topic_partition(
    tmp_path: Path, options: dict[str, Any], expected: list[tuple[str, int]]
) -> None:
    """A partition of -1 is damage; it must not count as another topic's."""
    partitions = [("t", 0), ("t", 1), ("u", 0), ("u", -1), ("t", -1)]
    found = commits(tmp_path, *((key(*each), value(5)) for each in partitions), **options)
    assert [(row["topic"], row["partition"]) for row in found] == expected


def test_damaged_commit_is_shown_whatever_is_selected(tmp_path: Path) -> None:
    found = commits(tmp_path, (key("t", 0), value(5)), (b"\0\1\0", value(5)), topic="u")
    assert [row["recordOffset"] for row in found] == [1]
    assert found[0]["problem"] is not None
