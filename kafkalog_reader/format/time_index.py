"""One entry of a time index: 12 bytes, big-endian. Source: Kafka 4.0, storage TimeIndex."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Final

from construct import ConstructError, Int32sb, Int64sb, Struct

from kafkalog_reader.errors import CorruptIndexError, LogPosition

TIME_INDEX_ENTRY: Final = Struct(
    "timestamp" / Int64sb,
    "relative_offset" / Int32sb,
)
ENTRY_SIZE: Final[int] = TIME_INDEX_ENTRY.sizeof()


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeIndexEntry:
    """An entry: no batch up to this offset is newer than ``timestamp``.

    Attributes:
        timestamp: largest ``maxTimestamp`` so far in the segment, milliseconds since 1970 UTC.
        relative_offset: an offset of the earliest batch that has it, minus the base offset.
    """

    timestamp: int
    relative_offset: int


def parse_time_index_entry(entry: bytes, where: LogPosition) -> TimeIndexEntry:
    """Parse one entry with any values; audits check whether entries rise.

    Raises:
        CorruptIndexError: the entry is cut short.
    """
    try:
        fields = TIME_INDEX_ENTRY.parse(entry)
    except ConstructError as error:
        raise CorruptIndexError(
            f"time index entry cut short: {len(entry)} of {ENTRY_SIZE} bytes", where
        ) from error
    return TimeIndexEntry(timestamp=fields.timestamp, relative_offset=fields.relative_offset)


def build_time_index_entry(entry: TimeIndexEntry) -> bytes:
    """Build one entry of a time index."""
    return bytes(TIME_INDEX_ENTRY.build(asdict(entry)))
