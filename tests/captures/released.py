"""Checks a capture of an old release, committed or fresh.

The expected values are the records that its consumer got, the answers to its producers, and the
output of its own dump tool. They are compared with the declared format, message by message.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import lz4.frame
import pytest

from fixtures.truth import ConsumedRecord
from kafkalog_reader.errors import LogPosition
from kafkalog_reader.format.compression import Codec
from kafkalog_reader.format.index_entries import OFFSET_INDEX_ENTRY, TIME_INDEX_ENTRY
from kafkalog_reader.format.message import Message, parse_message
from kafkalog_reader.format.message_set import message_records, parse_message_set
from kafkalog_reader.format.record_batch import RecordBatch, parse_record_batch
from tests.captures import agreement

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from fixtures.truth import CaptureTruth, Truth

LENGTH_END = 12
MAGIC = 16
KINDS = {-1: "NoTimestampType", 0: "CreateTime", 1: "LogAppendTime"}
NUMBERS = {kind: number for number, kind in KINDS.items()}
XERIAL = b"\x82SNAPPY\x00"


@dataclass(frozen=True, slots=True)
class Entry:
    """One batch or message of a log, and where it is."""

    topic: str
    file: str
    position: int
    read: Message | RecordBatch

    @property
    def magic(self) -> int:
        return self.read.magic if isinstance(self.read, Message) else 2

    @property
    def codec(self) -> Codec:
        header = self.read if isinstance(self.read, Message) else self.read.header
        return Codec(header.codec_id)

    @property
    def crc(self) -> int:
        return self.read.crc if isinstance(self.read, Message) else self.read.header.crc

    @property
    def last_offset(self) -> int:
        return self.read.offset if isinstance(self.read, Message) else self.read.header.last_offset

    @property
    def is_control(self) -> bool:
        return isinstance(self.read, RecordBatch) and self.read.header.is_control

    def records(self) -> Iterator[ConsumedRecord]:
        where = LogPosition(self.file, self.position)
        if isinstance(self.read, Message):
            for record in message_records(self.read, where):
                kind = KINDS[record.timestamp_type]
                yield self._record(
                    record.offset, record.timestamp, kind, record.key, record.value, ()
                )
            return
        header = self.read.header
        for record in self.read.records:
            timestamp = header.timestamp_of(record)
            kind = KINDS[header.timestamp_type]
            headers = tuple((each.key, each.value) for each in record.headers)
            offset = header.offset_of(record)
            yield self._record(offset, timestamp, kind, record.key, record.value, headers)

    def _record(
        self,
        offset: int,
        timestamp: int,
        kind: str,
        key: bytes | None,
        value: bytes | None,
        headers: tuple[tuple[str, bytes | None], ...],
    ) -> ConsumedRecord:
        leader_epoch = self.read.header.leader_epoch if isinstance(self.read, RecordBatch) else -1
        return ConsumedRecord(
            topic=self.topic,
            partition=0,
            offset=offset,
            timestamp=timestamp,
            timestamp_type=kind,
            key=key,
            value=value,
            headers=headers,
            leader_epoch=leader_epoch,
            committed=True,
        )


def entries(scenario: Truth, capture: CaptureTruth, topic: str = "*") -> Iterator[Entry]:
    for log in sorted(capture.files.glob(f"broker-0/{topic}-0/*.log")):
        content = log.read_bytes()
        file = str(log.relative_to(scenario.path))
        position = 0
        while position < len(content):
            length = int.from_bytes(content[position + 8 : position + LENGTH_END])
            entry = content[position : position + LENGTH_END + length]
            where = LogPosition(file, position)
            parse = parse_message if entry[MAGIC] < 2 else parse_record_batch
            yield Entry(log.parent.name.removesuffix("-0"), file, position, parse(entry, where))
            position += len(entry)


def records_are_what_a_consumer_got(scenario: Truth, capture: CaptureTruth) -> None:
    ours = [
        record
        for entry in entries(scenario, capture)
        if not entry.is_control
        for record in entry.records()
    ]
    got = list(capture.records())
    assert got
    assert {record.topic for record in got} >= set(scenario.expected["compacted"])
    assert _without_commits(ours) == _without_commits(got)


def the_reader_finds_what_a_consumer_got(_scenario: Truth, capture: CaptureTruth) -> None:
    ours = agreement.rows(capture, "records", include_control_records=False, log_range_only=True)
    assert sorted(
        (
            row["topic"], row["partition"], row["offset"], row["timestamp"], row["timestampType"],
            row["key"], row["value"], row["headers"], row["leaderEpoch"],
        )
        for row in ours
    ) == sorted(
        (
            each.topic, each.partition, each.offset, agreement.microseconds(each.timestamp),
            NUMBERS[each.timestamp_type], each.key, each.value,
            [{"key": key, "value": value} for key, value in each.headers] or None,
            each.leader_epoch,
        )
        for each in capture.records()
    )  # fmt: skip


def records_are_what_was_produced(scenario: Truth, capture: CaptureTruth) -> None:
    """Only acknowledged records are there, each at its offset; compaction may have removed some."""
    compacted = scenario.expected["compacted"]
    produced = [each for each in scenario.produced() if each.topic not in compacted]
    assert produced
    topics = {each.topic for each in produced}
    held = {
        (record.topic, record.offset): record
        for topic in topics
        for entry in entries(scenario, capture, topic)
        if not entry.is_control
        for record in entry.records()
    }
    assert held.keys() == {(each.topic, each.offset) for each in produced}
    for sent in produced:
        record = held[sent.topic, sent.offset]
        assert (record.key, record.value) == (sent.key, sent.value)
        assert record.headers == sent.headers
        assert record.timestamp_type == sent.timestamp_type
        if sent.timestamp_type != "LogAppendTime":
            assert record.timestamp == sent.timestamp


def compaction_kept_the_last_record_of_each_key(scenario: Truth, capture: CaptureTruth) -> None:
    """Every record that was removed has a later one of its key."""
    for topic in scenario.expected["compacted"]:
        produced = [each for each in scenario.produced() if each.topic == topic]
        last = {each.key: each.offset for each in produced}
        held = {
            record.offset: (record.key, record.value)
            for entry in entries(scenario, capture, topic)
            for record in entry.records()
        }
        sent = {each.offset: (each.key, each.value) for each in produced}
        assert held.items() <= sent.items()
        assert set(last.values()) <= held.keys() < sent.keys()
        assert any(value is None for _, value in held.values())


def entries_are_what_the_dump_tool_printed(scenario: Truth, capture: CaptureTruth) -> None:
    ours: defaultdict[str, list[Any]] = defaultdict(list)
    for entry in entries(scenario, capture):
        codec = entry.codec.name.lower()
        ours[entry.file].append((entry.last_offset, entry.position, entry.magic, codec, entry.crc))
    printed = {}
    for dumped in capture.dump():
        if dumped.file.endswith(".log"):
            fields = [dict(re.findall(r"(\w+): (\S+)", line)) for line in dumped.lines]
            lines = [each for each in fields if "position" in each]
            assert {each["isvalid"] for each in lines} <= {"true"}
            printed[dumped.file] = [_dumped_entry(each) for each in lines]
    assert {file: found for file, found in printed.items() if found} == ours


def records_are_those_of_the_deep_dump(scenario: Truth, capture: CaptureTruth) -> None:
    ours: defaultdict[str, list[int]] = defaultdict(list)
    for entry in entries(scenario, capture):
        ours[entry.file] += [record.offset for record in entry.records()]
    printed = {}
    for dumped in capture.dump(deep=True):
        nested = [line[2:] for line in dumped.lines if line.startswith("| ")]  # from 2.8 on
        found = [re.match(r"offset: (\d+) ", line) for line in nested or dumped.lines]
        printed[dumped.file] = [int(each[1]) for each in found if each is not None]
    assert {file: found for file, found in printed.items() if found} == ours


def index_entries_are_those_the_dump_tool_printed(scenario: Truth, capture: CaptureTruth) -> None:
    total = 0
    for dumped in capture.dump():
        size = {".index": 8, ".timeindex": 12}.get(dumped.file[dumped.file.rindex(".") :])
        if size is None:
            continue
        path = scenario.path / dumped.file
        fields = [dict(re.findall(r"(\w+): (\d+)", line)) for line in dumped.lines]
        names = ("offset", "position") if size == 8 else ("timestamp", "offset")
        printed = [tuple(int(each[name]) for name in names) for each in fields if names[1] in each]
        found = list(_index_entries(path, size))[: len(printed)]
        assert found == printed, dumped.file
        total += len(found)
    assert total > 20


def every_message_format_is_there(scenario: Truth, capture: CaptureTruth) -> None:
    """One log has all formats with which its broker was configured."""
    for codec in ("none", "gzip", "snappy", "lz4"):
        found = list(entries(scenario, capture, f"java-{codec}"))
        magics = [entry.magic for entry in found]
        assert sorted(set(magics)) == scenario.expected["magics"]
        assert magics == sorted(magics)
        assert {entry.codec.name.lower() for entry in found} == {codec}
        assert len({entry.file for entry in found}) > 1, "several segments"


def lz4_of_magic_0_has_the_header_checksum_of_old(scenario: Truth, capture: CaptureTruth) -> None:
    """The independent lz4 library refuses frames of magic 0 and reads others."""
    for entry in entries(scenario, capture, "java-lz4"):
        if not isinstance(entry.read, Message):
            continue
        assert entry.read.value is not None
        if entry.magic == 0:
            with pytest.raises(RuntimeError, match="headerChecksum_invalid"):
                lz4.frame.decompress(entry.read.value)
        else:
            assert lz4.frame.decompress(entry.read.value)


def snappy_is_framed_and_raw(scenario: Truth, capture: CaptureTruth) -> None:
    """Java writes frames, librdkafka raw blocks; a broker that need not convert keeps either."""
    values = defaultdict(list)
    for entry in entries(scenario, capture):
        if isinstance(entry.read, Message) and entry.codec is Codec.SNAPPY:
            values[entry.topic, entry.magic].append((entry.read.value or b"").startswith(XERIAL))
    for magic in {0, 1} & set(scenario.expected["magics"]):
        assert all(values["java-snappy", magic])
    if scenario.expected["kafka"] == "0.10.2.2":
        assert not any(values["librdkafka-snappy", 1])


def cleaned_wrappers_have_gaps(scenario: Truth, capture: CaptureTruth) -> None:
    """The cleaner of 0.8 instead writes the rest of a wrapper as separate messages."""
    spans = []
    alone = 0
    for topic in ("compacted-gzip", "compacted-lz4"):
        for entry in entries(scenario, capture, topic):
            if isinstance(entry.read, Message) and entry.read.is_wrapper:
                found = parse_message_set(entry.read, LogPosition(entry.file, entry.position))
                offsets = [record.offset for record in found.records()]
                spans.append(offsets[-1] - offsets[0] + 1 > len(offsets))
            elif isinstance(entry.read, Message):
                alone += 1
    if scenario.expected["kafka"] == "0.8.2.2":
        assert alone
    elif scenario.expected["magics"][0] < 2:
        assert any(spans)


def transactions_ended_in_every_way(scenario: Truth, capture: CaptureTruth) -> None:
    if 2 not in scenario.expected["magics"]:
        return
    lines = [line for each in capture.dump(deep=True) for line in each.lines]
    assert any("endTxnMarker: COMMIT" in line for line in lines)
    assert any("endTxnMarker: ABORT" in line for line in lines)
    committed = {each.committed for each in capture.records("transactions")}
    assert committed == {True, False}
    for topic in ("transactions", "transactions-open"):
        wanted = {
            each.offset: each.committed for each in scenario.produced() if each.topic == topic
        }
        assert {each.offset: each.committed for each in capture.records(topic)} == wanted
    offsets = capture.offsets["transactions-open", 0]
    assert offsets.last_stable < offsets.latest
    assert any(
        line.startswith("version: 0 producerId") for each in capture.dump() for line in each.lines
    )


def files_are_as_the_broker_ended(scenario: Truth, capture: CaptureTruth) -> None:
    broker = capture.files / "broker-0"
    assert (broker / ".kafka_cleanshutdown").exists() == (capture.name == "stopped")
    largest = max(path.stat().st_size for path in broker.glob("java-none-0/*.index"))
    assert (largest == 1024) == (capture.name == "running"), "preallocated while it runs"


ALL: tuple[Callable[[Truth, CaptureTruth], None], ...] = (
    records_are_what_a_consumer_got,
    the_reader_finds_what_a_consumer_got,
    records_are_what_was_produced,
    compaction_kept_the_last_record_of_each_key,
    entries_are_what_the_dump_tool_printed,
    records_are_those_of_the_deep_dump,
    index_entries_are_those_the_dump_tool_printed,
    every_message_format_is_there,
    lz4_of_magic_0_has_the_header_checksum_of_old,
    snappy_is_framed_and_raw,
    cleaned_wrappers_have_gaps,
    transactions_ended_in_every_way,
    files_are_as_the_broker_ended,
)


def _without_commits(records: list[ConsumedRecord]) -> list[tuple[object, ...]]:
    return sorted(
        (
            each.topic, each.offset, each.timestamp, each.timestamp_type, each.key, each.value,
            each.headers, each.leader_epoch,
        )
        for each in records
    )  # fmt: skip


def _dumped_entry(fields: dict[str, str]) -> tuple[int, int, int, str, int]:
    last_offset = int(fields.get("lastOffset", fields.get("offset", "")))
    codec = fields["compresscodec"].lower().removesuffix("compressioncodec")
    magic, position, crc = int(fields["magic"]), int(fields["position"]), int(fields["crc"])
    return last_offset, position, magic, "none" if codec == "no" else codec, crc


def _index_entries(path: Path, size: int) -> Iterator[tuple[int, int]]:
    content = path.read_bytes()
    base = int(path.stem)
    for position in range(0, len(content) // size * size, size):
        if size == 8:
            relative_offset, at = OFFSET_INDEX_ENTRY.struct.unpack_from(content, position)
            yield base + relative_offset, at
        else:
            timestamp, relative_offset = TIME_INDEX_ENTRY.struct.unpack_from(content, position)
            yield timestamp, base + relative_offset
