"""Messages, in which records were stored before Kafka 0.11: the formats of magic 0 and 1.

A message whose attributes name a codec is a wrapper: its value holds further messages, compressed
(``message_set``). Source: Kafka 4.0, common.record.LegacyRecord and AbstractLegacyRecordBatch.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from io import BytesIO
from typing import TYPE_CHECKING, Any, Final

from construct import (
    Bytes,
    Computed,
    Construct,
    ConstructError,
    FocusedSeq,
    IfThenElse,
    Int8sb,
    Int32sb,
    Int32ub,
    Int64sb,
    Rebuild,
    Struct,
    this,
)

from kafkalog_reader.errors import CorruptRecordError, UnsupportedFormatError
from kafkalog_reader.format.batch_fields import (
    CODEC_MASK,
    LENGTH_END,
    LOG_APPEND_TIME_BIT,
    LOG_ENTRY_SIZE,
    MESSAGE_CRC_COVERS_FROM,
    MIN_LENGTH_0,
    MIN_LENGTH_1,
)
from kafkalog_reader.format.compression import Codec
from kafkalog_reader.format.crc import compute_crc32
from kafkalog_reader.format.record_batch_header import LOG_ENTRY, TimestampType

if TYPE_CHECKING:
    from kafkalog_reader.errors import LogPosition

NULLABLE_BYTES: Final[Construct] = FocusedSeq(  # a length of −1 is null, 0 is empty
    "content",
    "length"
    / Rebuild(Int32sb, lambda fields: -1 if fields.content is None else len(fields.content)),
    "content" / IfThenElse(this.length == -1, Computed(None), Bytes(this.length)),
)
MESSAGE_HEADER_0: Final = Struct(
    "offset" / Int64sb,  # in a wrapper: that of its last record
    "length" / Int32sb,  # of what follows this field
    "crc" / Int32ub,  # CRC-32 of everything after it, including key and value
    "magic" / Int8sb,
    "attributes" / Int8sb,
)
MESSAGE_HEADER_1: Final = Struct(*MESSAGE_HEADER_0.subcons, "timestamp" / Int64sb)
MESSAGE_HEADERS: Final = {0: MESSAGE_HEADER_0, 1: MESSAGE_HEADER_1}
MESSAGES: Final = {
    magic: Struct(*header.subcons, "key" / NULLABLE_BYTES, "value" / NULLABLE_BYTES)
    for magic, header in MESSAGE_HEADERS.items()
}
MIN_LENGTHS: Final[dict[int, int]] = {0: MIN_LENGTH_0, 1: MIN_LENGTH_1}
CRC_COVERS_FROM: Final[int] = MESSAGE_CRC_COVERS_FROM
"""Offset and length are not covered, because the leader assigns the offset."""
KNOWN_ATTRIBUTES: Final[dict[int, int]] = {0: CODEC_MASK, 1: CODEC_MASK | LOG_APPEND_TIME_BIT}


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A message as stored; timestamps in milliseconds since 1970 UTC, −1 for none.

    Attributes:
        crc_computed: CRC-32 of the bytes; ``crc`` is the stored one.
        timestamp: −1 in magic 0, which does not store one.
    """

    offset: int
    crc: int
    crc_computed: int
    magic: int
    attributes: int
    timestamp: int
    key: bytes | None
    value: bytes | None

    @property
    def length(self) -> int:
        return MIN_LENGTHS[self.magic] + len(self.key or b"") + len(self.value or b"")

    @property
    def size_in_bytes(self) -> int:
        return LENGTH_END + self.length

    @property
    def crc_valid(self) -> bool:
        return self.crc == self.crc_computed

    @property
    def codec_id(self) -> int:
        """0 to 7; in messages, 4 to 7 are not codecs."""
        return self.attributes & CODEC_MASK

    @property
    def is_wrapper(self) -> bool:
        """Whether the value holds compressed messages, and not a record's value."""
        return self.codec_id != Codec.NONE

    @property
    def timestamp_type(self) -> TimestampType:
        if self.magic == 0:
            return TimestampType.NO_TIMESTAMP_TYPE
        return TimestampType(bool(self.attributes & LOG_APPEND_TIME_BIT))


def parse_message(
    content: bytes, where: LogPosition, *, check_crc: bool = True, noun: str = "message"
) -> Message:
    """Parse the message at the start of ``content``; the messages in a wrapper stay compressed.

    Args:
        content: at least as many bytes as the message has.
        where: the place of ``content``; without an offset it gets the message's.
        check_crc: False accepts a wrong CRC; ``Message.crc_valid`` says whether it matched.
        noun: its name in errors.

    Raises:
        CorruptRecordError: cut short, a wrong CRC, or lengths that contradict each other.
        UnsupportedFormatError: another magic.
    """
    entry = parse_message_entry(content, where, noun=noun)
    if where.offset is None:
        where = replace(where, offset=entry.base_offset)
    size = LENGTH_END + entry.length
    if len(content) < size:
        raise CorruptRecordError(f"{noun} cut short: {len(content)} of {size} bytes", where)
    content = content[:size]
    computed = compute_crc32(content[CRC_COVERS_FROM:])
    stored = Int32ub.parse(content[LENGTH_END:])
    if check_crc and stored != computed:
        raise CorruptRecordError(
            f"{noun}: CRC-32 stored 0x{stored:08x}, computed 0x{computed:08x}", where
        )
    message = _message(content, entry.magic, computed, where, noun)
    if message.size_in_bytes < size:
        surplus = size - message.size_in_bytes
        raise CorruptRecordError(f"{noun}: {surplus} bytes remain after its value", where)
    return message


def parse_message_entry(content: bytes, where: LogPosition, *, noun: str = "message") -> Any:  # noqa: ANN401  # a construct container
    """Parse ``base_offset``, ``length`` and ``magic``, and check the last two.

    Raises:
        CorruptRecordError: cut short, or a length below the minimum of the magic.
        UnsupportedFormatError: another magic.
    """
    if len(content) < LOG_ENTRY_SIZE:
        raise CorruptRecordError(f"{noun}: {len(content)} bytes are too few", where)
    entry = LOG_ENTRY.parse(content)
    if where.offset is None:
        where = replace(where, offset=entry.base_offset)
    if entry.length < MIN_LENGTHS[0]:
        raise CorruptRecordError(f"{noun} length {entry.length} is below {MIN_LENGTHS[0]}", where)
    if entry.magic < 0:
        raise CorruptRecordError(f"{noun}: magic {entry.magic} is not a message format", where)
    if entry.magic not in MESSAGES:
        raise UnsupportedFormatError(f"{noun}: magic {entry.magic}, expected 0 or 1", where)
    if entry.length < MIN_LENGTHS[entry.magic]:
        raise CorruptRecordError(
            f"{noun} length {entry.length} is below {MIN_LENGTHS[entry.magic]}", where
        )
    return entry


def _message(
    content: bytes, magic: int, crc_computed: int, where: LogPosition, noun: str
) -> Message:
    try:
        fields = MESSAGES[magic].parse_stream(BytesIO(content))
    except ConstructError as error:
        field = "key" if "-> key" in str(error) else "value"
        reason = str(error).splitlines()[-1].strip()
        raise CorruptRecordError(f"{noun}: its {field}: {reason}", where) from error
    return Message(
        offset=fields.offset,
        crc=fields.crc,
        crc_computed=crc_computed,
        magic=magic,
        attributes=fields.attributes,
        timestamp=fields.get("timestamp", -1),
        key=fields.key,
        value=fields.value,
    )
