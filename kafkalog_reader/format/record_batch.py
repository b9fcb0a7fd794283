"""A record batch of magic 2: a header, then records, which may be compressed as a whole.

Source: Kafka 4.0, common.record.DefaultRecordBatch.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kafkalog_reader.errors import CorruptRecordError, UnsupportedFormatError
from kafkalog_reader.format.batch_fields import CRC_COVERS_FROM, HEADER_SIZE
from kafkalog_reader.format.compression import Codec, decompress, unknown_codec_text
from kafkalog_reader.format.crc import compute_crc32c
from kafkalog_reader.format.offset_words import offsets_are
from kafkalog_reader.format.record import Record, parse_records
from kafkalog_reader.format.record_batch_header import RecordBatchHeader, parse_record_batch_header

if TYPE_CHECKING:
    from kafkalog_reader.errors import LogPosition


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordBatch:
    """A header and its records."""

    header: RecordBatchHeader
    records: tuple[Record, ...]


def parse_record_batch(content: bytes, where: LogPosition) -> RecordBatch:
    """Parse the batch at the start of ``content``: check the CRC, decompress the records.

    Raises:
        CorruptRecordError: cut short, a wrong CRC, or records that contradict the header.
        UnsupportedFormatError: another magic, or an unknown codec.
        LimitReachedError: too much to decompress.
    """
    header = parse_record_batch_header(content, where)
    where = replace(where, offset=header.base_offset)
    if len(content) < header.size_in_bytes:
        raise CorruptRecordError(
            f"batch cut short: {len(content)} of {header.size_in_bytes} bytes", where
        )
    computed = compute_batch_crc(content, header)
    if header.crc != computed:
        raise CorruptRecordError(
            f"CRC-32C stored 0x{header.crc:08x}, computed 0x{computed:08x}", where
        )
    return RecordBatch(header=header, records=parse_batch_records(content, header, where))


def parse_batch_records(
    content: bytes, header: RecordBatchHeader, where: LogPosition
) -> tuple[Record, ...]:
    """Parse the records after ``header`` in a whole batch, without checking its CRC.

    Raises:
        CorruptRecordError: the payload or a record contradicts the format or the header.
        UnsupportedFormatError: an unknown codec.
        LimitReachedError: too much to decompress.
    """
    if header.records_count == 0:  # an empty batch of the cleaner
        return ()
    if header.records_count < 0:
        raise CorruptRecordError(f"records count {header.records_count}", where)
    if not 0 <= header.base_offset <= header.last_offset:
        raise CorruptRecordError(
            f"{offsets_are(header.base_offset, header.last_offset + 1)} impossible in a log", where
        )
    payload = batch_payload(content, header, where)
    is_compressed = header.codec_id != Codec.NONE
    start = (where.position or 0) + HEADER_SIZE
    records = parse_records(
        payload,
        header.records_count,
        where if is_compressed else replace(where, position=start),
        is_compressed=is_compressed,
    )
    for index, record in enumerate(records):
        if not 0 <= record.offset_delta <= header.last_offset_delta:
            raise CorruptRecordError(  # Kafka's reader would give it an offset of another batch
                f"record {index} has offset delta {record.offset_delta}, "
                f"outside 0..{header.last_offset_delta}",
                where,
            )
    return records


def batch_payload(content: bytes, header: RecordBatchHeader, where: LogPosition) -> bytes:
    """The concatenated, decompressed records after ``header``.

    Raises:
        CorruptRecordError: they do not decompress.
        UnsupportedFormatError: an unknown codec.
        LimitReachedError: too much to decompress.
    """
    if header.codec_id > max(Codec):
        raise UnsupportedFormatError(unknown_codec_text(header.codec_id, header.magic), where)
    payload = content[HEADER_SIZE : header.size_in_bytes]
    return decompress(Codec(header.codec_id), payload, where)


def compute_batch_crc(content: bytes, header: RecordBatchHeader) -> int:
    """Compute the CRC-32C of the covered bytes of a whole batch."""
    return compute_crc32c(content[CRC_COVERS_FROM : header.size_in_bytes])
