"""Committed offsets from ``__consumer_offsets`` equal those that the broker returned."""

from __future__ import annotations

import json
import struct
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

import kafkalog_reader
from fixtures import captures
from fixtures.builder import cluster, data_batch, replica
from kafkalog_reader.format.batch_fields import CONTROL_BIT, TRANSACTIONAL_BIT
from kafkalog_reader.format.record import Record

if TYPE_CHECKING:
    from pathlib import Path

IN_TRANSACTION: dict[str, Any] = {
    "producer_id": 7, "producer_epoch": 0, "base_sequence": 0, "flags": TRANSACTIONAL_BIT,
}  # fmt: skip


def truth_of(state: str, file: str) -> Any:
    """The brokers' answers before a state was captured."""
    name, folder = state.split("/")
    path = captures.path(name) / captures.TRUTH / folder / file
    return json.loads(path.read_text()) if path.exists() else None


STATES = [each for each in captures.states() if truth_of(each, "groups.json")]


def rows_of(path: Path, table: str = "group_offsets", **options: Any) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = (
        kafkalog_reader.open(str(path)).table(table, **options).to_arrow().to_pylist()
    )
    return rows


def commits_of(state: str) -> dict[tuple[str, str, int], tuple[int, str]]:
    """By group, topic and partition: offset and metadata that the broker answered."""
    return {
        (group, each["topic"], each["partition"]): (each["offset"], each["metadata"] or "")
        for group, answer in truth_of(state, "groups.json").items()
        for each in answer["offsets"]
    }


def found_commits(rows: list[dict[str, Any]]) -> dict[tuple[str, str, int], tuple[int, str]]:
    return {
        (row["groupId"], row["topic"], row["partition"]): (
            row["committedOffset"],
            row["metadata"].removesuffix("\0"),  # librdkafka adds it and removes it
        )
        for row in rows
    }


@pytest.mark.parametrize("state", STATES)
def test_what_the_broker_answered_about_its_groups(state: str) -> None:
    assert found_commits(rows_of(captures.path(state))) == commits_of(state)


@pytest.mark.parametrize("state", STATES)
def test_lag_follows_from_the_offsets_that_the_broker_answered(state: str) -> None:
    offsets = truth_of(state, "offsets.json")
    latest = {(each["topic"], each["partition"]): each["latest"] for each in offsets}
    rows = rows_of(captures.path(state))
    for row in rows:
        assert row["lag"] == latest[row["topic"], row["partition"]] - row["committedOffset"]
        assert row["status"] == "ok"


def text(content: str) -> bytes:
    return struct.pack(">h", len(content)) + content.encode()


def commit(
    offset: int, committed: int | None, topic: str = "t", *, time: int = 1000, **batch: Any
) -> bytes:
    key = struct.pack(">h", 1) + text("g") + text(topic) + struct.pack(">i", 0)
    value = None
    if committed is not None:
        value = struct.pack(">hqi", 3, committed, 0) + text("") + struct.pack(">q", time)
    return data_batch(offset, [Record(offset_delta=0, key=key, value=value)], **batch)


def marker(offset: int, *, commits: bool) -> bytes:
    key, value = struct.pack(">hh", 0, int(commits)), struct.pack(">hi", 0, 0)
    return data_batch(
        offset, [Record(offset_delta=0, key=key, value=value)],
        producer_id=7, producer_epoch=0, flags=CONTROL_BIT | TRANSACTIONAL_BIT,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("log", "expected"),
    [
        ([commit(0, 3), commit(1, 5)], 5),
        ([commit(0, 3), commit(1, None)], None),
        ([commit(0, None), commit(1, 4)], 4),
        ([commit(0, 3), commit(1, 9, **IN_TRANSACTION)], 3),
        (
            [
                commit(0, 3),
                commit(1, 9, **IN_TRANSACTION),
                marker(2, commits=True),
            ],
            9,
        ),
        (
            [
                commit(0, 3),
                commit(1, 9, **IN_TRANSACTION),
                marker(2, commits=False),
            ],
            3,
        ),
        (  # a plain commit after it applies, although the marker is later
            [
                commit(0, 9, **IN_TRANSACTION),
                commit(1, 4),
                marker(2, commits=True),
            ],
            4,
        ),
    ],
)
def test_which_commit_holds(tmp_path: Path, log: list[bytes], expected: int | None) -> None:
    """OffsetMetadataManager.replay and replayEndTransactionMarker compare record offsets."""
    cluster(tmp_path, {0: [replica(log, topic="__consumer_offsets", high_watermark=len(log))]})
    rows = rows_of(tmp_path)
    assert [row["committedOffset"] for row in rows] == ([] if expected is None else [expected])
    assert all((row["status"], row["lag"]) == ("no-log", None) for row in rows)


def test_a_commit_that_cannot_be_read_does_not_hide_an_older_one(tmp_path: Path) -> None:
    key = struct.pack(">h", 1) + text("g") + text("t") + struct.pack(">i", 0)
    unknown = data_batch(2, [Record(offset_delta=0, key=key, value=b"\x00\x09")])
    log = [commit(0, 3), commit(1, 4), unknown]
    cluster(tmp_path, {0: [replica(log, topic="__consumer_offsets", high_watermark=3)]})
    assert [row["committedOffset"] for row in rows_of(tmp_path)] == [4]


def test_the_greatest_record_offset_holds_where_offsets_fall(tmp_path: Path) -> None:
    """A base offset is covered by no checksum: the second batch was stored with a wrong one."""
    log = [commit(5, 3), commit(1, 9), commit(6, 4, topic="u")]
    cluster(tmp_path, {0: [replica(log, topic="__consumer_offsets", high_watermark=7)]})
    found = {row["topic"]: row["committedOffset"] for row in rows_of(tmp_path)}
    assert found == {"t": 3, "u": 4}


IN_TRANSACTIONS = [
    commit(0, 3),
    commit(1, 9, **IN_TRANSACTION),
    marker(2, commits=True),
    commit(3, 7, **IN_TRANSACTION),
    marker(4, commits=False),
    commit(5, 8, **IN_TRANSACTION),
    commit(6, None),
    marker(7, commits=True),
    commit(8, 6),
]


@pytest.mark.parametrize(
    ("offset", "expected"),
    [(0, 3), (1, 3), (2, 9), (3, 9), (4, 9), (5, 9), (6, None), (7, None), (8, 6), (99, 6)],
)
def test_which_commit_held_at_an_offset(tmp_path: Path, offset: int, expected: int | None) -> None:
    """A commit counts from its transaction's marker on, with the offset of its own record."""
    log = replica(IN_TRANSACTIONS, topic="__consumer_offsets", high_watermark=9)
    cluster(tmp_path, {0: [log]})
    rows = rows_of(tmp_path, as_of=f"offset:{offset}")
    assert [row["committedOffset"] for row in rows] == ([] if expected is None else [expected])
    groups = rows_of(tmp_path, "groups", as_of=f"offset:{offset}")
    assert [row["groupId"] for row in groups] == ([] if expected is None else ["g"])


def test_commits_as_of_the_moment_when_the_broker_was_asked_before() -> None:
    """``stopped`` goes on where ``running`` was copied; by offset and by time."""
    running, stopped = captures.path("everything/running"), captures.path("everything/stopped")
    commits = rows_of(running, "group_commits")
    moment = max(row["recordTimestamp"] for row in commits)
    expected = commits_of("everything/running")
    assert found_commits(rows_of(stopped, as_of=moment.isoformat())) == expected
    last = max(row["recordOffset"] for row in commits)
    assert found_commits(rows_of(stopped, as_of=f"offset:{last}")) == expected
    before = min(row["recordTimestamp"] for row in commits) - timedelta(milliseconds=1)
    assert rows_of(stopped, as_of=before.isoformat()) == []


@pytest.mark.parametrize(
    ("committed", "status", "lag"),
    [(0, "below-log-start", 4), (1, "ok", 3), (4, "ok", 0), (5, "above-log-end", 0)],
)
def test_where_a_commit_lies(tmp_path: Path, committed: int, status: str, lag: int) -> None:
    offsets = replica([commit(0, committed)], topic="__consumer_offsets", high_watermark=1)
    log = replica("1-3/e0", high_watermark=4)
    cluster(tmp_path, {0: [offsets, log]})
    (row,) = rows_of(tmp_path)
    assert (row["status"], row["lag"], row["logEndOffset"]) == (status, lag, 4)


def test_a_time_outside_of_the_calendar_is_kept(tmp_path: Path) -> None:
    log = replica([commit(0, 3, time=2**62)], topic="__consumer_offsets", high_watermark=1)
    cluster(tmp_path, {0: [log]})
    found = kafkalog_reader.open(str(tmp_path)).table("group_offsets").to_arrow()
    assert found["commitTime"].cast("int64").to_pylist() == [2**63 - 1]


def test_selected_topics_are_those_committed(tmp_path: Path) -> None:
    log = [commit(0, 3), commit(1, 5, topic="u")]
    cluster(tmp_path, {0: [replica(log, topic="__consumer_offsets", high_watermark=2)]})
    (row,) = rows_of(tmp_path, topic="u")
    assert row["committedOffset"] == 5
    assert [each["topic"] for each in rows_of(tmp_path, "group_commits")] == ["t", "u"]


def test_records_that_cannot_be_read_are_kept(tmp_path: Path) -> None:
    """An unknown version, and a value that is too short."""
    key = struct.pack(">h", 1) + text("g") + text("t") + struct.pack(">i", 0)
    log = [
        data_batch(offset, [Record(offset_delta=0, key=key, value=value)])
        for offset, value in enumerate((b"\x00\x09", b"\x00\x03\x00"))
    ]
    cluster(tmp_path, {0: [replica(log, topic="__consumer_offsets", high_watermark=2)]})
    problems = [row["problem"] for row in rows_of(tmp_path, "group_commits")]
    assert "version 9; the known ones are 0 to 4" in problems[0]
    assert "ends too early" in problems[1]
    assert rows_of(tmp_path) == []
