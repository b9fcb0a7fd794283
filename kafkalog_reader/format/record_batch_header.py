"""The header of a magic-2 batch: 61 bytes.

Source: Kafka 4.0, common.record.DefaultRecordBatch and FileLogInputStream.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum
from typing import TYPE_CHECKING, Final

from construct import Int8sb, Int16sb, Int32sb, Int32ub, Int64sb, Struct

from kafkalog_reader.errors import CorruptRecordError, UnsupportedFormatError
from kafkalog_reader.format.batch_fields import (
    CODEC_MASK,
    CONTROL_BIT,
    DELETE_HORIZON_BIT,
    HEADER_SIZE,
    LENGTH_END,
    LOG_APPEND_TIME_BIT,
    LOG_ENTRY_SIZE,
    MAGIC,
    MIN_LENGTH_0,
    MIN_LENGTH_2,
    TRANSACTIONAL_BIT,
)

if TYPE_CHECKING:
    from kafkalog_reader.errors import LogPosition
    from kafkalog_reader.format.record import Record

LOG_ENTRY: Final = Struct(  # the start of every magic
    "base_offset" / Int64sb,
    "length" / Int32sb,  # of what follows this field
    "leader_epoch" / Int32sb,  # in magic 0 and 1, this is the CRC
    "magic" / Int8sb,
)
RECORD_BATCH_HEADER: Final = Struct(
    *LOG_ENTRY.subcons,
    "crc" / Int32ub,  # CRC-32C of everything after it
    "attributes" / Int16sb,
    "last_offset_delta" / Int32sb,  # unchanged when compaction removes records
    "base_timestamp" / Int64sb,
    "max_timestamp" / Int64sb,
    "producer_id" / Int64sb,
    "producer_epoch" / Int16sb,
    "base_sequence" / Int32sb,
    "records_count" / Int32sb,
)
MAX_SEQUENCE: Final[int] = 2**31 - 1


class TimestampType(IntEnum):
    """Who set the timestamps: the producer, the leader at the append, or (magic 0) nobody."""

    NO_TIMESTAMP_TYPE = -1
    CREATE_TIME = 0
    LOG_APPEND_TIME = 1


TIMESTAMP_TYPE_NAMES: Final = {-1: "NoTimestampType", 0: "CreateTime", 1: "LogAppendTime"}
"""As Kafka prints them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordBatchHeader:
    """The header's fields as stored; timestamps in milliseconds since 1970 UTC, −1 for none."""

    base_offset: int
    length: int
    leader_epoch: int
    magic: int
    crc: int
    attributes: int
    last_offset_delta: int
    base_timestamp: int
    max_timestamp: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    records_count: int

    @property
    def size_in_bytes(self) -> int:
        return LENGTH_END + self.length

    @property
    def last_offset(self) -> int:
        """Inclusive, and unchanged when compaction removes the last record."""
        return _wrapped(self.base_offset + self.last_offset_delta)

    @property
    def next_offset(self) -> int:
        return _wrapped(self.last_offset + 1)

    @property
    def codec_id(self) -> int:
        """0 to 7; 5 to 7 are not codecs."""
        return self.attributes & CODEC_MASK

    @property
    def timestamp_type(self) -> TimestampType:
        return TimestampType(bool(self.attributes & LOG_APPEND_TIME_BIT))

    @property
    def is_transactional(self) -> bool:
        return bool(self.attributes & TRANSACTIONAL_BIT)

    @property
    def is_control(self) -> bool:
        return bool(self.attributes & CONTROL_BIT)

    @property
    def delete_horizon(self) -> int | None:
        """When the cleaner may remove the batch's tombstones and markers (KIP-534), or None."""
        return self.base_timestamp if self.attributes & DELETE_HORIZON_BIT else None

    @property
    def last_sequence(self) -> int:
        """Computed, never stored; −1 if there is no base sequence."""
        return self._sequence(self.last_offset_delta)

    def offset_of(self, record: Record) -> int:
        return _wrapped(self.base_offset + record.offset_delta)

    def timestamp_of(self, record: Record) -> int:
        """Milliseconds since 1970 UTC; the leader's time if it set that of the whole batch."""
        if self.timestamp_type is TimestampType.LOG_APPEND_TIME:
            return self.max_timestamp
        return _wrapped(self.base_timestamp + record.timestamp_delta)

    def sequence_of(self, record: Record) -> int:
        """Computed from the offset delta: compaction does not change it; −1 if there is none."""
        return self._sequence(record.offset_delta)

    def _sequence(self, offset_delta: int) -> int:
        if self.base_sequence < 0:
            return -1
        return increment_sequence(self.base_sequence, offset_delta)


def parse_record_batch_header(content: bytes, where: LogPosition) -> RecordBatchHeader:
    """Parse the header of the batch at the start of ``content``, without checking the CRC.

    Raises:
        CorruptRecordError: cut short, or an impossible length or magic.
        UnsupportedFormatError: magic 0 or 1, or newer than 2.
    """
    if len(content) < LOG_ENTRY_SIZE:
        raise CorruptRecordError(f"{len(content)} bytes are not a record batch", where)
    entry = LOG_ENTRY.parse(content)
    where = replace(where, offset=entry.base_offset)
    if entry.length < MIN_LENGTH_0:
        raise CorruptRecordError(f"batch length {entry.length} is too small for any format", where)
    if entry.magic != MAGIC:
        raise _other_magic(entry.magic, where)
    if entry.length < MIN_LENGTH_2:
        raise CorruptRecordError(f"batch length {entry.length} is below {MIN_LENGTH_2}", where)
    if len(content) < HEADER_SIZE:
        raise CorruptRecordError(f"header cut short: {len(content)} of {HEADER_SIZE} bytes", where)
    fields = RECORD_BATCH_HEADER.parse(content)
    return RecordBatchHeader(**{name: fields[name] for name in RecordBatchHeader.__slots__})


def increment_sequence(sequence: int, increment: int) -> int:
    """Add to a sequence number: 2147483647 is followed by 0."""
    if sequence > MAX_SEQUENCE - increment:
        return increment - (MAX_SEQUENCE - sequence) - 1
    return sequence + increment


def decrement_sequence(sequence: int, decrement: int) -> int:
    """Subtract from a sequence number: 0 is preceded by 2147483647."""
    if sequence < decrement:
        return MAX_SEQUENCE - (decrement - sequence) + 1
    return sequence - decrement


def _other_magic(magic: int, where: LogPosition) -> CorruptRecordError | UnsupportedFormatError:
    if magic in (0, 1):
        return UnsupportedFormatError(
            f"magic {magic}: messages from before Kafka 0.11 are not read yet", where
        )
    if magic < 0:
        return CorruptRecordError(f"magic {magic} is not a message format", where)
    return UnsupportedFormatError(f"magic {magic}: only magic 2 is known", where)


def _wrapped(value: int) -> int:
    """Keep 64 bits, as Java's long does, because the offset of a damaged batch can overflow."""
    return (value + 2**63) % 2**64 - 2**63
