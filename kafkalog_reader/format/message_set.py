"""The messages inside a wrapper, and the records of messages of magic 0 and 1.

Inner offsets are absolute in a wrapper of magic 0. In one of magic 1 they are relative: the wrapper
has the last record's offset, and the others follow from their distance to the last inner message,
so that the rule still works after compaction removed messages. The *wrapper's* magic decides,
because cleaners of old brokers left inner messages of another magic (KAFKA-4298).

This is stricter than Kafka's reader, which would hide records or give them wrong offsets: it stops
silently at an inner message that is cut short, treats any negative length as null, ignores bytes
after a value, reads inner magics above 1 or below 0 as 1, and accepts inner offsets below 0 or
above the last. Source: Kafka 4.0, common.record.AbstractLegacyRecordBatch.DeepRecordsIterator.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from kafkalog_reader.errors import CorruptRecordError, UnsupportedFormatError
from kafkalog_reader.format.batch_fields import CODEC_MASK, LAST_MESSAGE_CODEC, LENGTH_END
from kafkalog_reader.format.compression import Codec, decompress, unknown_codec_text
from kafkalog_reader.format.message import MESSAGE_HEADER_0, parse_message, parse_message_entry
from kafkalog_reader.format.record_batch_header import TimestampType

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kafkalog_reader.errors import LogPosition
    from kafkalog_reader.format.message import Message

HEADER_SIZE: Final[int] = MESSAGE_HEADER_0.sizeof()


@dataclass(frozen=True, slots=True, kw_only=True)
class LegacyRecord:
    """A record that a consumer gets from a message, without headers, producer and leader epoch."""

    offset: int
    timestamp: int = -1
    timestamp_type: TimestampType = TimestampType.NO_TIMESTAMP_TYPE
    key: bytes | None = None
    value: bytes | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageSet:
    """The decompressed messages of a wrapper; their sequence is checked, but not their content.

    Attributes:
        content: the concatenated inner messages.
        count: number of inner messages, at least one.
        base_offset: added to each inner offset; 0 if they are absolute.
        last_offset: of the last record; the wrapper's offset, unless that is damaged (the CRC does
            not cover it) or 0, because some clients never set it.
        inner_magics: may differ from the wrapper's, because old cleaners mixed them (KAFKA-4298).
        where: the wrapper's place.
    """

    wrapper: Message
    content: bytes
    count: int
    base_offset: int
    last_offset: int
    inner_magics: frozenset[int]
    where: LogPosition

    def entries(self) -> Iterator[tuple[int, bytes]]:
        """Yield the start of each inner message in ``content``, and its bytes."""
        return _entries(self.content, self.where)

    def parse_entry(self, start: int, entry: bytes, *, check_crc: bool = True) -> Message:
        """Parse one inner message.

        Raises:
            CorruptRecordError: it contradicts its CRC or its lengths.
        """
        return parse_message(entry, self.where, check_crc=check_crc, noun=_noun(start))

    def messages(self) -> Iterator[Message]:
        """Yield the inner messages as stored; ``Message.crc_valid`` says whether their CRCs match.

        Raises:
            CorruptRecordError: the lengths in a message contradict each other.
        """
        for start, entry in self.entries():
            yield self.parse_entry(start, entry, check_crc=False)

    def records(self) -> Iterator[LegacyRecord]:
        """Yield the records in file order.

        Raises:
            CorruptRecordError: a message contradicts its CRC or its lengths.
        """
        for start, entry in self.entries():
            yield self.record_of(self.parse_entry(start, entry))

    def record_of(self, message: Message) -> LegacyRecord:
        """The record of an inner message, which has the wrapper's timestamp type."""
        timestamp_type = self.wrapper.timestamp_type
        timestamp = message.timestamp
        if message.magic == 0:
            timestamp_type = TimestampType.NO_TIMESTAMP_TYPE
        elif timestamp_type is TimestampType.LOG_APPEND_TIME:
            timestamp = self.wrapper.timestamp
        return LegacyRecord(
            offset=self.base_offset + message.offset,
            timestamp=timestamp,
            timestamp_type=timestamp_type,
            key=message.key,
            value=message.value,
        )


def parse_message_set(
    wrapper: Message, where: LogPosition, *, limit: int | None = None
) -> MessageSet:
    """Decompress a wrapper's value and check the sequence of messages in it, not their content.

    Args:
        wrapper: a message whose attributes name a codec.
        where: its place; without an offset it gets the wrapper's.
        limit: maximum bytes of output; None for the default of ``Limits``.

    Raises:
        CorruptRecordError: no value, or one that does not decompress; no inner message, or a
            compressed one; lengths or offsets that contradict each other.
        UnsupportedFormatError: an unknown codec or magic.
        LimitReachedError: the output is larger than ``limit``.
    """
    if where.offset is None:
        where = replace(where, offset=wrapper.offset)
    content = _decompressed(wrapper, where, limit)
    count = last = lowest = highest = 0
    magics = set()
    for start, entry in _entries(content, where):
        header = MESSAGE_HEADER_0.parse(entry)
        if header.attributes & CODEC_MASK:
            raise CorruptRecordError(f"{_noun(start)} is compressed itself", where)
        last = header.offset
        lowest, highest = min(lowest, last), max(highest, last)
        magics.add(header.magic)
        count += 1
    if count == 0:
        raise CorruptRecordError("wrapper message without messages in it", where)
    if lowest < 0 or highest > last:
        raise CorruptRecordError(
            f"inner offsets {lowest} to {highest} are impossible in a wrapper that ends at {last}",
            where,
        )
    base_offset = _base_offset(wrapper, last, where)
    return MessageSet(
        wrapper=wrapper,
        content=content,
        count=count,
        base_offset=base_offset,
        last_offset=base_offset + last,
        inner_magics=frozenset(magics),
        where=where,
    )


def message_records(
    message: Message, where: LogPosition, *, limit: int | None = None
) -> Iterator[LegacyRecord]:
    """Yield the record of a message, or those of a wrapper.

    Raises:
        CorruptRecordError: a negative offset; for a wrapper, see ``parse_message_set``.
        UnsupportedFormatError: an unknown codec or magic.
        LimitReachedError: the output is larger than ``limit``.
    """
    if message.offset < 0:
        raise CorruptRecordError(f"offset {message.offset} is negative", where)
    if message.is_wrapper:
        yield from parse_message_set(message, where, limit=limit).records()
        return
    yield LegacyRecord(
        offset=message.offset,
        timestamp=message.timestamp,
        timestamp_type=message.timestamp_type,
        key=message.key,
        value=message.value,
    )


def _decompressed(wrapper: Message, where: LogPosition, limit: int | None) -> bytes:
    codec_id = wrapper.codec_id
    if codec_id > max(Codec):
        raise UnsupportedFormatError(unknown_codec_text(codec_id, wrapper.magic), where)
    if codec_id > LAST_MESSAGE_CODEC:
        raise CorruptRecordError(unknown_codec_text(codec_id, wrapper.magic), where)
    if wrapper.value is None:
        raise CorruptRecordError("wrapper message without a value", where)
    return decompress(Codec(codec_id), wrapper.value, where, limit=limit, magic=wrapper.magic)


def _entries(content: bytes, where: LogPosition) -> Iterator[tuple[int, bytes]]:
    start = 0
    while start < len(content):
        header = parse_message_entry(content[start : start + HEADER_SIZE], where, noun=_noun(start))
        end = start + LENGTH_END + header.length
        if end > len(content):
            raise CorruptRecordError(
                f"{_noun(start)} cut short: {len(content) - start} of {end - start} bytes", where
            )
        yield start, content[start:end]
        start = end


def _base_offset(wrapper: Message, last_inner_offset: int, where: LogPosition) -> int:
    if wrapper.magic == 0 or wrapper.offset == 0:  # 0: some clients never set it
        return 0
    if wrapper.offset < last_inner_offset:
        raise CorruptRecordError(
            f"wrapper offset {wrapper.offset} is below its last inner offset {last_inner_offset}",
            where,
        )
    return wrapper.offset - last_inner_offset


def _noun(start: int) -> str:
    return f"inner message at byte {start} of the decompressed value"
