"""Offset commits decoded as columns equal those that the general decoder reads one by one."""

from __future__ import annotations

import random
import struct

import pyarrow as pa

from kafkalog_reader.decode.commit_columns import COMMITS, commit_columns
from kafkalog_reader.format.messages.decoder import MessageError
from kafkalog_reader.format.messages.records import decode_key, decode_value
from kafkalog_reader.format.messages.schema import Family

TOPIC_ID = bytes(range(16))


def text(content: bytes) -> bytes:
    return struct.pack(">h", len(content)) + content


def commit_key(group: bytes, topic: bytes, partition: int, kind: int = 1) -> bytes:
    return struct.pack(">h", kind) + text(group) + text(topic) + struct.pack(">i", partition)


def commit_value(version: int, offset: int, metadata: bytes, *, with_topic_id: bool) -> bytes:
    head = struct.pack(">hq", version, offset)
    time = struct.pack(">q", 1_700_000_000_000 + offset)
    if version >= 3:
        head += struct.pack(">i", offset % 7 - 1)
    if version < 4:
        return head + text(metadata) + time + (time if version == 1 else b"")
    length = len(metadata) + 1
    varint = bytes([length]) if length < 128 else bytes([length & 127 | 128, length >> 7])
    tags = b"\x01\x00\x10" + TOPIC_ID if with_topic_id else b"\x00"
    return head + varint + metadata + time + tags


def one_by_one(keys: list[bytes | None], values: list[bytes | None]) -> list[dict[str, object]]:
    found = []
    for row, (key, value) in enumerate(zip(keys, values, strict=True)):
        try:
            decoded = decode_key(Family.GROUP, key or b"")
            if decoded.type not in (0, 1):
                continue
            fields = dict(decoded.fields)
            version = None
            if value is not None:
                of_value = decode_value(Family.GROUP, decoded.type, value)
                fields, version = {**fields, **of_value.fields}, of_value.version
        except MessageError:
            found.append({"row": row, "problem": True})
            continue
        topic_id = fields.get("topicId")
        expected = {
            "row": row,
            "groupId": fields["group"],
            "topic": fields["topic"],
            "partition": fields["partition"],
            "topicId": None if topic_id == "AAAAAAAAAAAAAAAAAAAAAA" else topic_id,
            "committedOffset": fields.get("offset"),
            "committedLeaderEpoch": fields.get("leaderEpoch"),
            "metadata": fields.get("metadata"),
            "commitTimestamp": fields.get("commitTimestamp"),
            "expireTimestamp": fields.get("expireTimestamp"),
            "valueVersion": version,
            "problem": None,
        }
        found.append(expected)
    return found


def test_random_commits_sound_and_cut() -> None:
    dice = random.Random(7)
    keys: list[bytes | None] = []
    values: list[bytes | None] = []
    for number in range(3000):
        group = dice.choice((b"g", b"payments-service", "größe".encode(), b"\xff\xfe", b""))
        key = commit_key(group, dice.choice((b"t", b"orders")), number, dice.choice((0, 1)))
        value = commit_value(
            dice.choice((0, 1, 2, 3, 4, 4, 3)) if key[1] else 0,
            number,
            dice.choice((b"", b"m", b"x" * 200, b"\xff")),
            with_topic_id=dice.random() < 0.5,
        )
        damage = dice.random()
        if damage < 0.05:
            key = key[: dice.randrange(len(key))]
        elif damage < 0.1:
            value = value[: dice.randrange(len(value))]
        elif damage < 0.15:
            value += b"\x00"
        elif damage < 0.2:
            value = bytes([0, dice.randrange(256)]) + value[2:]
        elif damage < 0.25:
            key = b"\x00\x02" + text(group)
        keys.append(key)
        values.append(None if dice.random() < 0.1 else value)
    keys.append(None)
    values.append(b"")
    array = pa.array(keys, pa.binary())[1:]  # a slice does not begin at 0
    found = commit_columns(array, pa.array(values, pa.binary())[1:])
    assert found.schema == COMMITS
    rows = found.to_pylist()
    expected = one_by_one(keys[1:], values[1:])
    assert [row["row"] for row in rows] == [row["row"] for row in expected]
    for row, wanted in zip(rows, expected, strict=True):
        if wanted.get("problem"):
            assert row["problem"], row
        else:
            assert row == wanted
    assert sum(row["problem"] is not None for row in rows) > 100


def test_no_records() -> None:
    empty = pa.array([], pa.binary())
    assert commit_columns(empty, empty).num_rows == 0
