"""The lines that ``kafka-dump-log --deep-iteration`` 4.3 prints about the records of a batch."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Final

from kafkalog_reader.cli.dump_control import control_record_words
from kafkalog_reader.cli.dump_log import timestamp_type
from kafkalog_reader.errors import LogPosition
from kafkalog_reader.format.record_batch import parse_batch_records
from kafkalog_reader.format.record_batch_header import parse_record_batch_header
from kafkalog_reader.io.names import shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kafkalog_reader.format.record import Record
    from kafkalog_reader.format.record_batch_header import RecordBatchHeader
    from kafkalog_reader.tables.batch_scan import BatchRun

GAPS_REMEMBERED: Final = 1000
"""A compacted log is full of gaps; Kafka's tool keeps them all in memory."""


class RecordLines:
    """Prints records, and remembers where their offsets were not consecutive.

    Args:
        contents: whether keys and payloads are printed.
    """

    def __init__(self, *, contents: bool) -> None:
        self._contents = contents
        self._last_offset: dict[str, int] = {}
        self._gaps: dict[str, list[tuple[int, int]]] = defaultdict(list)
        self._gaps_count: dict[str, int] = defaultdict(int)

    def of_batch(self, path: str, run: BatchRun, number: int) -> Iterator[str]:
        """The lines of one batch's records, whatever its CRC says.

        Raises:
            CorruptRecordError: the records contradict their lengths or the batch.
            UnsupportedFormatError: too much to decompress.
        """
        position = int(run.position[number])
        where = LogPosition(shown(path), position, int(run.base_offset[number]))
        start = position - run.window_position
        content = bytes(run.buffer[start : start + int(run.size_in_bytes[number])])
        header = parse_record_batch_header(content, where)
        for record in parse_batch_records(content, header, where):
            offset = header.offset_of(record)
            self._note(path, offset)
            yield self._line(header, record, offset, where)

    def gaps(self) -> Iterator[str]:
        """What Kafka's tool says at its end about offsets that are not consecutive."""
        for path, gaps in self._gaps.items():
            yield f"Non-consecutive offsets in {shown(str(Path(path).absolute()))}"
            for before, after in sorted(gaps):
                yield f"  {before} is followed by {after}"
            if self._gaps_count[path] > len(gaps):
                yield f"  ... and {self._gaps_count[path] - len(gaps):,} more"

    def _note(self, path: str, offset: int) -> None:
        before = self._last_offset.get(path, -1)
        if offset != before + 1:
            self._gaps_count[path] += 1
            if len(self._gaps[path]) < GAPS_REMEMBERED:
                self._gaps[path].append((before, offset))
        self._last_offset[path] = offset

    def _line(
        self, header: RecordBatchHeader, record: Record, offset: int, where: LogPosition
    ) -> str:
        keys = ",".join(shown(found.key) for found in record.headers)
        line = (
            f"| offset: {offset} "
            f"{timestamp_type(header.attributes)}: {header.timestamp_of(record)} "
            f"keySize: {_size(record.key)} valueSize: {_size(record.value)} "
            f"sequence: {header.sequence_of(record)} "
            f"headerKeys: [{keys}]"
        )
        if header.is_control:
            return line + control_record_words(record.key, record.value, where)
        if self._contents and record.key is not None:
            line += f" key: {_text(record.key)}"
        if self._contents and record.value is not None:
            line += f" payload: {_text(record.value)}"
        return line


def _size(content: bytes | None) -> int:
    return -1 if content is None else len(content)


def _text(content: bytes) -> str:
    return shown(content.decode("utf-8", "replace"))
