"""A record of a magic-2 batch as stored: deltas from the batch's base, lengths as varints.

Source: Kafka 4.0, common.record.DefaultRecord.
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
    GreedyBytes,
    IfThenElse,
    Int8sb,
    Prefixed,
    PrefixedArray,
    Rebuild,
    Struct,
    Terminated,
    this,
)

from kafkalog_reader.errors import CorruptRecordError
from kafkalog_reader.format.java_text import java_text
from kafkalog_reader.format.varint import VARINT, VARLONG

if TYPE_CHECKING:
    from kafkalog_reader.errors import LogPosition

NULLABLE_BYTES: Final[Construct] = FocusedSeq(  # a length of −1 is null, 0 is empty
    "content",
    "length"
    / Rebuild(VARINT, lambda fields: -1 if fields.content is None else len(fields.content)),
    "content" / IfThenElse(this.length == -1, Computed(None), Bytes(this.length)),
)
RECORD_HEADER: Final = Struct(
    "key" / Prefixed(VARINT, GreedyBytes),  # must not be null
    "value" / NULLABLE_BYTES,
)
RECORD_BODY: Final = Struct(
    "attributes" / Int8sb,  # unused, 0
    "timestamp_delta" / VARLONG,  # from the batch's base timestamp; may be negative
    "offset_delta" / VARINT,
    "key" / NULLABLE_BYTES,
    "value" / NULLABLE_BYTES,
    "headers" / PrefixedArray(VARINT, RECORD_HEADER),
    Terminated,  # the body fills its length exactly
)
RECORD: Final = Prefixed(VARINT, RECORD_BODY)
MIN_RECORD_SIZE: Final[int] = 7  # each field above, and the length, has at least one byte


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordHeader:
    """One header: keys may repeat, the order matters, the value may be null."""

    key: str
    value: bytes | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A record as stored; its offset, timestamp and sequence depend on the batch."""

    offset_delta: int
    timestamp_delta: int = 0
    key: bytes | None = None
    value: bytes | None = None
    headers: tuple[RecordHeader, ...] = ()
    attributes: int = 0


def parse_records(
    content: bytes, count: int, where: LogPosition, *, is_compressed: bool = False
) -> tuple[Record, ...]:
    """Parse the ``count`` uncompressed records of a batch, which must fill ``content`` exactly.

    Args:
        content: the concatenated records, decompressed.
        count: from the batch's header.
        where: the place of ``content``, or of the batch if the records are compressed.
        is_compressed: whether bytes of ``content`` have no position in the file.

    Raises:
        CorruptRecordError: a record contradicts its lengths, or the count the bytes.
    """
    if not 0 <= count <= len(content) // MIN_RECORD_SIZE:
        raise CorruptRecordError(f"{count} records do not fit in {len(content)} bytes", where)
    stream = BytesIO(content)
    step = 0 if is_compressed else 1
    records = []
    for index in range(count):
        start = stream.tell()
        try:
            records.append(_record(RECORD.parse_stream(stream)))
        except ConstructError as error:
            raise CorruptRecordError(
                f"record {index} of {count}, at byte {start} of the records: {_reason(error)}",
                _moved(where, start * step),
            ) from error
    if stream.tell() != len(content):
        surplus = len(content) - stream.tell()
        raise CorruptRecordError(
            f"{surplus} bytes remain after the last of {count} records",
            _moved(where, stream.tell() * step),
        )
    return tuple(records)


def _record(fields: Any) -> Record:  # noqa: ANN401  # a construct container
    return Record(
        attributes=fields.attributes,
        timestamp_delta=fields.timestamp_delta,
        offset_delta=fields.offset_delta,
        key=fields.key,
        value=fields.value,
        headers=tuple(
            # invalid UTF-8 is replaced, as by Kafka's clients
            RecordHeader(key=java_text(header.key), value=header.value)
            for header in fields.headers
        ),
    )


def _moved(where: LogPosition, distance: int) -> LogPosition:
    return where if where.position is None else replace(where, position=where.position + distance)


def _reason(error: ConstructError) -> str:
    """The cause that construct states, without its path, because our errors have the place."""
    return str(error).splitlines()[-1].strip()
