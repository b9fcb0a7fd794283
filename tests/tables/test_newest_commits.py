"""Which commits hold, against a plain replay: the last record of a key that counts and is sound."""

from __future__ import annotations

import random
import struct
from typing import Any, Final

import pyarrow as pa
import pytest

from kafkalog_reader.tables.group_commits import GroupCommitsTable
from kafkalog_reader.tables.newest_commits import NewestCommits, last_of_each_key
from kafkalog_reader.tables.request import ReadRequest

COLUMNS: Final = (
    "groupId", "topic", "partition", "committedOffset", "recordOffset", "isTombstone",
    "transactionState", "problem",
)  # fmt: skip
RECORDS: Final = pa.schema(
    [
        ("key", pa.binary()),
        ("value", pa.binary()),
        ("offset", pa.int64()),
        ("transactionState", pa.string()),
    ]
)
STATES: Final = ("none", "none", "committed", "aborted", "open")


def text(content: str) -> bytes:
    return struct.pack(">h", len(content)) + content.encode()


def key(group: str, partition: int = 0, version: int = 1) -> bytes:
    """OffsetCommitKey."""
    return struct.pack(">h", version) + text(group) + text("t") + struct.pack(">i", partition)


def value(offset: int, version: int = 3) -> bytes:
    """OffsetCommitValue of version 3; no release has version 9."""
    return struct.pack(">hqi", version, offset, 0) + text("") + struct.pack(">q", 1000)


def batch(*rows: tuple[bytes | None, bytes | None, int, str]) -> pa.RecordBatch:
    columns = zip(*rows, strict=True)
    arrays = [pa.array(each, field.type) for each, field in zip(columns, RECORDS, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=RECORDS)


def newest(batches: list[pa.RecordBatch], held_bytes: int) -> dict[tuple[str, int], Any]:
    """By group and partition: the record offset and the committed offset."""
    request = ReadRequest(columns=COLUMNS)
    commits = NewestCommits(GroupCommitsTable().projected(request), request, held_bytes)
    for each in batches:
        commits.add_records(each)
    rows = commits.commits().to_pylist()
    found = {
        (row["groupId"], row["partition"]): (row["recordOffset"], row["committedOffset"])
        for row in rows
    }
    assert len(found) == len(rows)
    return found


@pytest.mark.parametrize("held_bytes", [0, 400, 1 << 20])
@pytest.mark.parametrize("seed", range(40))
def test_newest_commits_are_those_of_a_replay(seed: int, held_bytes: int) -> None:
    """Also of keys of both versions, of other types, and where a base offset is wrong."""
    chosen = random.Random(seed)
    with_damage = seed % 2
    expected: dict[tuple[str, int], tuple[int, int | None]] = {}
    batches, offset = [], 0
    for _ in range(chosen.randrange(1, 8)):
        rows: list[tuple[bytes | None, bytes | None, int, str]] = []
        if with_damage and chosen.random() < 0.2:
            offset = max(0, offset - 9)
        for _ in range(chosen.randrange(1, 12)):
            offset += chosen.randrange(1, 3)
            group, partition = chosen.choice("ab"), chosen.randrange(2)
            state = chosen.choice(STATES)
            committed = chosen.choice((None, offset * 10))
            is_sound = not with_damage or chosen.random() < 0.7
            content = None if committed is None else value(committed)
            if not is_sound:
                content = value(7, version=9)
            encoded = key(group, partition, chosen.choice((0, 1)))
            rows.append((encoded, content, offset, state))
            before, _ = expected.get((group, partition), (-1, None))
            if is_sound and state in ("none", "committed") and offset >= before:
                expected[group, partition] = (offset, committed)
            if chosen.random() < 0.2:  # no commits: a group's own record, no type, no key
                others = (struct.pack(">h", 2) + text(group), b"\0", None)
                other = chosen.choice(others[: 3 if with_damage else 1])
                rows.append((other, b"\0\3", offset + 1, "none"))
                offset += 1
        batches.append(batch(*rows))
    assert newest(batches, held_bytes) == expected


def test_last_record_of_each_key_is_found_across_batches() -> None:
    records = [
        batch((key("a"), value(1), 0, "none"), (key("b"), value(2), 1, "none")),
        batch((None, None, 2, "none"), (key("a"), value(3), 3, "committed")),
        batch((key("a"), value(4), 4, "open"), (None, None, 5, "none")),
    ]
    assert last_of_each_key(records[:1])["offset"].to_pylist() == [0, 1]
    assert last_of_each_key(records[:2])["offset"].to_pylist() == [1, 2, 3]
    assert last_of_each_key(records)["offset"].to_pylist() == [1, 3, 5]


def test_all_records_are_kept_where_offsets_do_not_rise() -> None:
    first = batch((key("a"), value(1), 5, "none"), (key("a"), value(2), 6, "none"))
    second = batch((key("a"), value(3), 6, "none"), (key("a"), value(4), 7, "open"))
    assert last_of_each_key([first, second])["offset"].to_pylist() == [5, 6, 6, 7]
    assert last_of_each_key([first])["offset"].to_pylist() == [6]
