"""Hostile content of internal topics: names of groups, transactional ids and topics, and lengths.

Nothing of it reaches the terminal unescaped, no command fails, and no record is dropped.
"""

from __future__ import annotations

import json
import struct
from typing import TYPE_CHECKING

import pytest

from fixtures.builder import EPOCH_MILLIS, cluster, data_batch, replica
from kafkalog_reader.cli.main import kafkalog
from kafkalog_reader.cli.run import status
from kafkalog_reader.format.record import Record

if TYPE_CHECKING:
    from pathlib import Path

    from fixtures.builder import Replica

NAMES = (
    "a\nb", "\x1b[31mred", "\u202egnp", "", "g" * 32_000, "$(touch x)", "%s%n", "\0", "-x", "a, b",
)  # fmt: skip
TWO_BILLION = 2_000_000_000
OFFSETS, STATES = "__consumer_offsets", "__transaction_state"


def text(name: str) -> bytes:
    content = name.encode()
    return struct.pack(">h", len(content)) + content


def log(topic: str, *records: tuple[bytes | None, bytes | None]) -> Replica:
    batches = [
        data_batch(offset, [Record(offset_delta=0, key=key, value=value)])
        for offset, (key, value) in enumerate(records)
    ]
    return replica(batches, topic=topic, high_watermark=len(batches))


def commit(group: str, topic: str = "t") -> tuple[bytes, bytes]:
    """Above the log end of t-0: each has a finding, which names it."""
    key = struct.pack(">h", 1) + text(group) + text(topic) + struct.pack(">i", 0)
    return key, struct.pack(">hqihq", 3, 99, 0, 0, EPOCH_MILLIS)


def transactional_id(name: str) -> tuple[bytes, bytes]:
    value = struct.pack(">hqhibi", 0, 7, 0, 60_000, 1, 1) + text("t\n") + struct.pack(">ii", 1, 0)
    return struct.pack(">h", 0) + text(name), value + struct.pack(">qq", 0, 0)


def written(root: Path) -> str:
    commits = [commit(name) for name in NAMES] + [commit("g", name) for name in NAMES]
    ids = [transactional_id(name) for name in NAMES]
    cluster(root, {0: [replica("0-3/e0"), log(OFFSETS, *commits), log(STATES, *ids)]})
    return str(root)


@pytest.mark.parametrize(
    "command",
    [
        "groups", "groups --by group", "transactions --by id", "verify", "verify --deep",
        "table group_offsets", "table transactions",
    ],
)  # fmt: skip
def test_hostile_names_are_shown_as_escaped_text(
    command: str, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert status(kafkalog, [*command.split(), written(tmp_path)]) in (0, 1)
    out, err = capfdbinary.readouterr()
    lines = (out + err).decode("utf-8").splitlines()
    assert len(lines) > 1
    for line in lines:
        assert line.isprintable(), ascii(line)


def test_no_group_is_dropped_for_its_name(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    status(kafkalog, ["groups", "--format", "json", written(tmp_path)])
    rows = [json.loads(line) for line in capfdbinary.readouterr().out.splitlines()]
    assert {row["groupId"] for row in rows if row["topic"] == "t"} == set(NAMES)
    assert {row["topic"] for row in rows if row["groupId"] == "g"} == set(NAMES)


@pytest.mark.parametrize(
    ("topic", "table", "key", "value"),
    [
        # a commit whose metadata claims the rest of 32,767 bytes
        (OFFSETS, "group_commits", commit("g")[0], struct.pack(">hqih", 3, 1, 0, 32_767)),
        # a group with two billion members
        (
            OFFSETS, "groups", struct.pack(">h", 2) + text("g"),
            struct.pack(">h", 0) + text("consumer") + struct.pack(">ihhi", 1, -1, -1, TWO_BILLION),
        ),
        # a transaction with two billion topics, and one with two billion partitions
        (
            STATES, "transactions", struct.pack(">h", 0) + text("id"),
            struct.pack(">hqhibi", 0, 7, 0, 60_000, 1, TWO_BILLION),
        ),
        (
            STATES, "transactions", struct.pack(">h", 0) + text("id"),
            struct.pack(">hqhibi", 0, 7, 0, 60_000, 1, 1) + text("t")
            + struct.pack(">i", TWO_BILLION),
        ),
        # keys that end within a name
        (OFFSETS, "group_commits", struct.pack(">hh", 1, 32_000) + b"g", b""),
        (STATES, "transactions", struct.pack(">hh", 0, 32_000) + b"id", b""),
    ],
)  # fmt: skip
def test_lengths_that_lie_cost_nothing_and_are_shown_as_stored(
    topic: str,
    table: str,
    key: bytes,
    value: bytes,
    tmp_path: Path,
    capfdbinary: pytest.CaptureFixture[bytes],
) -> None:
    cluster(tmp_path, {0: [log(topic, (key, value))]})
    assert status(kafkalog, ["table", table, "--format", "json", str(tmp_path)]) == 0
    (row,) = map(json.loads, capfdbinary.readouterr().out.splitlines())
    assert row["problem"]
    assert status(kafkalog, ["verify", "--deep", "--format", "json", str(tmp_path)]) == 1
    rows = [json.loads(line) for line in capfdbinary.readouterr().out.splitlines()]
    assert "KL-808" in {each.get("code") for each in rows}
