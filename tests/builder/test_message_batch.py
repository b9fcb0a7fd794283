"""Kafka's own dump tool reads the builder's messages, including those inside wrappers."""

from __future__ import annotations

import re
import subprocess
from typing import TYPE_CHECKING

import pytest

from fixtures import jars
from fixtures.builder import (
    EPOCH_MILLIS,
    Batch,
    MessageBatch,
    cluster,
    message_batch,
    parse_log,
    replica,
)
from fixtures.node import JAVA
from kafkalog_reader.errors import LogPosition
from kafkalog_reader.format.compression import Codec
from kafkalog_reader.format.message import parse_message
from kafkalog_reader.format.message_set import message_records
from kafkalog_reader.format.record import Record

if TYPE_CHECKING:
    from pathlib import Path

WHERE = LogPosition("a synthetic message", 0)
CODECS = (Codec.NONE, Codec.GZIP, Codec.SNAPPY, Codec.LZ4)
BATCH_LINE = re.compile(
    r"(?:baseOffset: \d+ lastOffset: \d+ .*|offset: (?P<offset>\d+)) position: \d+ "
    r"(?P<type>\w+): (?P<timestamp>-?\d+) size: (?P<size>\d+) magic: (?P<magic>\d) "
    r"compresscodec: (?P<codec>\w+) crc: (?P<crc>\d+) isvalid: (?P<valid>\w+)"
)
RECORD_LINE = re.compile(
    r"\| offset: (?P<offset>\d+) (?P<type>\w+): (?P<timestamp>-?\d+) keySize: (?P<key>-?\d+) "
    r"valueSize: (?P<value>-?\d+)"
)
TYPE_NAMES = {-1: "NoTimestampType", 0: "CreateTime", 1: "LogAppendTime"}


def _messages() -> list[MessageBatch]:
    """Every magic, codec and timestamp type, with gaps as after compaction."""
    messages = []
    offset = 0
    for number in range(40):
        codec = CODECS[number % len(CODECS)]
        magic = number // 4 % 2
        deltas = (0,) if codec is Codec.NONE else (0, 1, 2) if number % 3 else (1, 4)
        messages.append(
            message_batch(
                offset,
                [
                    Record(
                        offset_delta=delta,
                        timestamp_delta=7 - delta,
                        key=(None, b"", b"key")[delta % 3],
                        value=None if delta == 2 else b"v" * number,
                    )
                    for delta in deltas
                ],
                magic=magic,
                codec=codec,
                base_timestamp=EPOCH_MILLIS + number,
                log_append_time=EPOCH_MILLIS + 99 if magic and number % 5 == 0 else None,
            )
        )
        offset = messages[-1].next_offset
    return messages


@pytest.fixture(scope="module")
def messages() -> list[MessageBatch]:
    return _messages()


@pytest.fixture(scope="module")
def dumped(messages: list[MessageBatch], tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The dump of one segment of messages, followed by batches of magic 2."""
    later: tuple[Batch, ...] = parse_log("a,b@500/e3")
    root: Path = cluster(
        tmp_path_factory.mktemp("built"), {0: [replica([*messages, *later])]}, clean={0}
    )[0]
    done = subprocess.run(
        [
            *JAVA, "-cp", jars.class_path(jars.LATEST_TOOLS),
            "org.apache.kafka.tools.DumpLogSegments",
            "--deep-iteration", "--files", str(root / "t-0" / f"{0:020d}.log"),
        ],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    return done.stdout.splitlines()


def test_kafka_shows_every_message_as_it_was_described(
    messages: list[MessageBatch], dumped: list[str]
) -> None:
    lines = [match for line in dumped if (match := BATCH_LINE.match(line))]
    assert len(lines) == len(messages) + 1
    for line, message in zip(lines, messages, strict=False):
        assert line["valid"] == "true"
        assert (int(line["offset"]), int(line["magic"])) == (message.last_offset, message.magic)
        assert (line["codec"], int(line["timestamp"])) == (
            message.codec.text,
            message.max_timestamp,
        )
        assert line["type"] == TYPE_NAMES[message.timestamp_type]
        parsed = parse_message(message.build(), WHERE)
        assert (int(line["size"]), int(line["crc"])) == (parsed.size_in_bytes, parsed.crc)


def test_kafka_finds_the_records_that_we_find(
    messages: list[MessageBatch], dumped: list[str]
) -> None:
    lines = [match for line in dumped if (match := RECORD_LINE.match(line))]
    records = [
        record
        for message in messages
        for record in message_records(parse_message(message.build(), WHERE), WHERE)
    ]
    assert [
        (int(line["offset"]), line["type"], int(line["timestamp"]), line["key"], line["value"])
        for line in lines[: len(records)]
    ] == [
        (
            record.offset,
            TYPE_NAMES[record.timestamp_type],
            record.timestamp,
            str(-1 if record.key is None else len(record.key)),
            str(-1 if record.value is None else len(record.value)),
        )
        for record in records
    ]
    assert len(lines) == len(records) + 2


def test_records_of_a_description_are_those_that_are_read_back() -> None:
    for message in _messages():
        if message.timestamp_type != 1:
            read = message_records(parse_message(message.build(), WHERE), WHERE)
            assert tuple(read) == message.stored_records()


def test_messages_leave_no_leader_epoch_behind() -> None:
    described = replica([message_batch(0, [Record(offset_delta=0)]), *parse_log("a@1/e3")])
    assert [(entry.leader_epoch, entry.start_offset) for entry in described.epochs] == [(3, 1)]


def test_a_message_can_lie() -> None:
    lying = message_batch(0, [Record(offset_delta=0)], crc=5).build()
    assert parse_message(lying, WHERE, check_crc=False).crc == 5
