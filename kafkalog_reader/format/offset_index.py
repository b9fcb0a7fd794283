"""One entry of an offset index: 8 bytes, big-endian. Source: Kafka 4.0, storage OffsetIndex."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Final

from construct import ConstructError, Int32sb, Struct

from kafkalog_reader.errors import CorruptIndexError, LogPosition

OFFSET_INDEX_ENTRY: Final = Struct(
    "relative_offset" / Int32sb,
    "position" / Int32sb,
)
ENTRY_SIZE: Final[int] = OFFSET_INDEX_ENTRY.sizeof()


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetIndexEntry:
    """An entry: every batch before ``position`` ends below this offset.

    Attributes:
        relative_offset: offset minus the segment's base offset.
        position: byte in the segment where a batch starts.
    """

    relative_offset: int
    position: int


def parse_offset_index_entry(entry: bytes, where: LogPosition) -> OffsetIndexEntry:
    """Parse one entry with any values; audits check whether entries rise.

    Raises:
        CorruptIndexError: the entry is cut short.
    """
    try:
        fields = OFFSET_INDEX_ENTRY.parse(entry)
    except ConstructError as error:
        raise CorruptIndexError(
            f"offset index entry cut short: {len(entry)} of {ENTRY_SIZE} bytes", where
        ) from error
    return OffsetIndexEntry(relative_offset=fields.relative_offset, position=fields.position)


def build_offset_index_entry(entry: OffsetIndexEntry) -> bytes:
    """Build one entry of an offset index."""
    return bytes(OFFSET_INDEX_ENTRY.build(asdict(entry)))
