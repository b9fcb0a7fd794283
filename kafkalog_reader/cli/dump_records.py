"""Prints the records of a batch as ``kafka-dump-log --deep-iteration`` 4.3 does."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kafkalog_reader import registry
from kafkalog_reader.cli.dump_control import control_record_words
from kafkalog_reader.cli.options import read_context
from kafkalog_reader.errors import LogLayoutError, LogPosition
from kafkalog_reader.format.batch_fields import CONTROL_BIT
from kafkalog_reader.format.java_text import java_text
from kafkalog_reader.format.message import parse_message
from kafkalog_reader.format.message_set import message_records, parse_message_set
from kafkalog_reader.format.record_batch import parse_batch_records
from kafkalog_reader.format.record_batch_header import (
    TIMESTAMP_TYPE_NAMES,
    parse_record_batch_header,
)
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.io.names import shown
from kafkalog_reader.scan.damage import Mode

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from kafkalog_reader.cli.dump_decoders import Decoder
    from kafkalog_reader.format.message import Message
    from kafkalog_reader.format.message_set import LegacyRecord
    from kafkalog_reader.scan.batch_run import BatchRun

_FIRST_WITH_BATCHES: Final = 2
GAPS_REMEMBERED: Final = 1000
"""Maximum gaps kept for a file: a compacted log has many, and Kafka's tool keeps all."""
EXACT_MICROSECONDS: Final = 2**63 - 1000
"""Timestamps in tables saturate beyond this; then the stored ones are used."""

_TEXT: Final = pa.large_string()


class RecordLines:
    """Prints records, and notes where their offsets are not consecutive.

    Args:
        contents: whether keys and payloads are printed.
        metadata: whether offsets, timestamps, sizes and control records are printed.
        decoder: of an internal topic; None prints keys and payloads as text.
    """

    def __init__(
        self, *, contents: bool, metadata: bool = True, decoder: Decoder | None = None
    ) -> None:
        self._contents = contents
        self._decoder = decoder
        self._metadata = metadata
        self._decoded: DecodedLines | None = None
        self._last_offset = -1
        self._gaps: dict[str, list[tuple[int, int]]] = defaultdict(list)
        self._gaps_count: dict[str, int] = defaultdict(int)

    def begin(self, path: str) -> None:
        """Begin the next file."""
        self._last_offset = -1
        self._decoded = DecodedLines(path, contents=self._contents)

    def of_batch(self, path: str, run: BatchRun, number: int) -> Iterator[str]:
        """The lines of one batch's records; without ``metadata``, only keys and values.

        Raises:
            CorruptRecordError: the records contradict their lengths or the batch.
            UnsupportedFormatError: too much to decompress.
        """
        if self._metadata:
            yield from self._whole_lines(path, run, number)
            return
        is_control = bool(int(run.attributes[number]) & CONTROL_BIT) and (
            run.magic[number] >= _FIRST_WITH_BATCHES
        )
        for offset, key, value in self._contents_of(path, run, number):
            printed = "" if is_control else self._words(offset, key, value)
            yield f"|{printed}" if printed and self._contents and not is_control else ""

    def _contents_of(
        self, path: str, run: BatchRun, number: int
    ) -> Iterator[tuple[int, bytes | None, bytes | None]]:
        """Offsets, keys and values of one batch, the slow way, because this is rarely used."""
        content, where = _bytes_of(path, run, number)
        if run.magic[number] < _FIRST_WITH_BATCHES:
            for record in message_records(parse_message(content, where, check_crc=False), where):
                self._note(path, record.offset)
                yield record.offset, record.key, record.value
            return
        header = parse_record_batch_header(content, where)
        for each in parse_batch_records(content, header, where):
            self._note(path, header.offset_of(each))
            yield header.offset_of(each), each.key, each.value

    def _words(self, offset: int, key: bytes | None, value: bytes | None) -> str:
        """Key and payload of one record."""
        if self._decoder is not None:
            shown_key, shown_value = self._decoder(offset, key, value)
        else:
            shown_key = None if key is None else java_text(key)
            shown_value = None if value is None else java_text(value)
        words = "" if shown_key is None else f" key: {shown_key}"
        return words if shown_value is None else f"{words} payload: {shown_value}"

    def _whole_lines(self, path: str, run: BatchRun, number: int) -> Iterator[str]:
        """The lines of one batch's records, even if its CRC is wrong.

        Raises:
            CorruptRecordError: the records contradict their lengths or the batch.
            UnsupportedFormatError: too much to decompress.
        """
        assert self._decoded is not None
        attributes = int(run.attributes[number])
        if run.magic[number] < _FIRST_WITH_BATCHES:
            yield from self._of_message(path, run, number)
            return
        kind = TIMESTAMP_TYPE_NAMES[int(run.timestamp_type[number])]
        records = self._decoded.of_batch(int(run.position[number]))
        if attributes & CONTROL_BIT or not records or self._decoder is not None:
            yield from self._as_declared(path, run, number)
            return
        lines = []
        due = self._last_offset + 1
        for offset, rest in records:
            if offset != due:
                self._last_offset = due - 1
                self._note(path, offset)
            due = offset + 1
            lines.append(f"| offset: {offset} {kind}: {rest}")
        self._last_offset = due - 1
        yield from lines

    def gaps(self) -> Iterator[str]:
        """The lines about non-consecutive offsets that Kafka's tool prints at its end."""
        for path, gaps in self._gaps.items():
            yield f"Non-consecutive offsets in {shown(str(Path(path).absolute()))}"
            for before, after in sorted(gaps):
                yield f"  {before} is followed by {after}"
            if self._gaps_count[path] > len(gaps):
                yield f"  ... and {self._gaps_count[path] - len(gaps):,} more"

    def _note(self, path: str, offset: int) -> None:
        if offset != self._last_offset + 1:
            self._gaps_count[path] += 1
            if len(self._gaps[path]) < GAPS_REMEMBERED:
                self._gaps[path].append((self._last_offset, offset))
        self._last_offset = offset

    def _of_message(self, path: str, run: BatchRun, number: int) -> Iterator[str]:
        """The lines of one message of magic 0 or 1, or of those inside a wrapper.

        This is slow: each inner message is printed with its own CRC, which no table has.
        """
        content, where = _bytes_of(path, run, number)
        message = parse_message(content, where, check_crc=False)
        pairs: Iterable[tuple[LegacyRecord, Message]]
        if message.is_wrapper:
            inside = parse_message_set(message, where)
            pairs = ((inside.record_of(inner), inner) for inner in inside.messages())
        else:
            pairs = [(next(message_records(message, where)), message)]
        for record, stored in pairs:
            self._note(path, record.offset)
            line = (
                f"| offset: {record.offset} {TIMESTAMP_TYPE_NAMES[record.timestamp_type]}: "
                f"{record.timestamp} keySize: {_size(record.key)} valueSize: {_size(record.value)} "
                f"isValid: {'true' if stored.crc_valid else 'false'} crc: {stored.crc}"
            )
            if self._contents:
                line += self._words(record.offset, record.key, record.value)
            yield line

    def _as_declared(self, path: str, run: BatchRun, number: int) -> Iterator[str]:
        """The slow way, for what the table leaves out: control records, damage, odd times."""
        content, where = _bytes_of(path, run, number)
        header = parse_record_batch_header(content, where)
        for record in parse_batch_records(content, header, where):
            offset = header.offset_of(record)
            self._note(path, offset)
            keys = ",".join(found.key for found in record.headers)
            line = (
                f"| offset: {offset} "
                f"{TIMESTAMP_TYPE_NAMES[header.timestamp_type]}: {header.timestamp_of(record)} "
                f"keySize: {_size(record.key)} valueSize: {_size(record.value)} "
                f"sequence: {header.sequence_of(record)} headerKeys: [{keys}]"
            )
            if header.is_control:
                line += control_record_words(record.key, record.value, where)
            elif self._contents:
                line += self._words(offset, record.key, record.value)
            yield line


def _bytes_of(path: str, run: BatchRun, number: int) -> tuple[bytes, LogPosition]:
    """The bytes of one batch or message, and its place."""
    position = int(run.position[number])
    is_message = run.magic[number] < _FIRST_WITH_BATCHES
    offset = run.last_offset[number] if is_message else run.base_offset[number]
    start = position - run.window_position
    content = bytes(run.buffer[start : start + int(run.size_in_bytes[number])])
    return content, LogPosition(shown(path), position, int(offset))


class DecodedLines:
    """The records of one segment as the table ``records`` decodes them, batch by batch."""

    COLUMNS: Final = ("position", "offset", "timestamp", "sequence", "headers", "key", "value")

    def __init__(self, path: str, *, contents: bool) -> None:
        self._contents = contents
        self._rows = self._read(path)
        self._positions: NDArray[np.int64] = np.empty(0, np.int64)
        self._milliseconds: NDArray[np.int64] = np.empty(0, np.int64)
        self._offsets: list[int] = []
        self._lines: list[str] = []
        self._done = 0

    def of_batch(self, position: int) -> list[tuple[int, str]]:
        """The records of the batch at a position: offset, and the line from the timestamp on.

        The list is empty if the table left the batch out.

        Positions must be in ascending order.
        """
        found: list[tuple[int, str]] = []
        while True:
            left = self._positions[self._done :]
            start, end = (self._done + np.searchsorted(left, [position, position + 1])).tolist()
            self._done = end
            if end > start:
                if np.abs(self._milliseconds[start:end]).max() >= EXACT_MICROSECONDS // 1000:
                    return []
                found += zip(self._offsets[start:end], self._lines[start:end], strict=True)
            if end < len(self._positions) or not self._turn():
                return found

    def _turn(self) -> bool:
        """Move to the next rows, if there are any."""
        rows = next(self._rows, None)
        if rows is None:
            return False
        self._positions = rows["position"].to_numpy()
        self._milliseconds = pc.cast(rows["timestamp"], "int64").to_numpy() // 1000
        self._offsets = rows["offset"].to_pylist()
        self._lines = self._joined(rows)
        self._done = 0
        return True

    def _read(self, path: str) -> Iterator[pa.RecordBatch]:
        try:
            evidence = discover([path], read_context())
        except LogLayoutError:  # a snapshot, or not a segment's name
            return
        table = registry.table("records")
        request = registry.request(table, self.COLUMNS, mode=Mode.DROPMALFORMED)
        yield from registry.read(table, evidence, request)

    def _joined(self, rows: pa.RecordBatch) -> list[str]:
        """Each record's line from its timestamp on, built column by column."""
        parts = [
            _texts(self._milliseconds), " keySize: ", _texts(pc.binary_length(rows["key"])),
            " valueSize: ", _texts(pc.binary_length(rows["value"])),
            " sequence: ", _texts(rows["sequence"]), " headerKeys: [",
            _header_keys(rows["headers"]), "]",
        ]  # fmt: skip
        if self._contents:
            parts += [_shown(" key: ", rows["key"]), _shown(" payload: ", rows["value"])]
        lines: list[str] = _concatenated(*parts).to_pylist()
        return lines


def _concatenated(*parts: pa.Array | str) -> pa.Array:
    """The parts of each row joined; null if one of them is null."""
    texts = [pa.scalar(part, _TEXT) if isinstance(part, str) else part for part in parts]
    return pc.binary_join_element_wise(*texts, pa.scalar("", _TEXT))


def _texts(numbers: pa.Array | NDArray[np.int64]) -> pa.Array:
    """Numbers as digits; null becomes -1."""
    return pc.cast(pc.fill_null(pa.array(numbers), -1), _TEXT)


def _shown(name: str, contents: pa.Array) -> pa.Array:
    """Name and content as ``java_text`` decodes it, empty for null; Arrow decodes valid UTF-8."""
    try:
        texts = pc.cast(contents, _TEXT)
    except pa.ArrowInvalid:
        decoded = [None if each is None else java_text(each) for each in contents.to_pylist()]
        texts = pa.array(decoded, _TEXT)
    return pc.fill_null(_concatenated(name, texts), "")


def _header_keys(headers: pa.ListArray) -> pa.Array | str:
    if headers.null_count == len(headers):
        return ""
    return pa.array(
        [",".join(header["key"] for header in found or ()) for found in headers.to_pylist()], _TEXT
    )


def _size(content: bytes | None) -> int:
    return -1 if content is None else len(content)
