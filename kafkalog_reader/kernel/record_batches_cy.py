# cython: boundscheck=False, wraparound=False, initializedcheck=False
# ruff: noqa: ANN401  numpy arrays, whose types the compiled kernel checks itself
"""The chain of record batches and messages, scanned into columns; every CRC checked, no GIL.

Magics may change from entry to entry. Every length is compared with the bytes left before it is
believed. Source: Kafka 4.0, DefaultRecordBatch and AbstractLegacyRecordBatch; the order of the
checks is that of FileLogInputStream.
"""

from __future__ import annotations

from typing import Any

import cython
from cython.cimports.kafkalog_reader.kernel.codes import (
    NO_TIMESTAMP_TYPE,
    SCAN_BAD_LENGTH,
    SCAN_FULL,
    SCAN_SHORT,
    SCAN_UNKNOWN_MAGIC,
)
from cython.cimports.kafkalog_reader.kernel.primitives import (
    crc32,
    crc32c,
    crc32c_by_tables,
    int16_at,
    int32_at,
    int64_at,
    prepare_checksums,
    read_bytes,
    uint32_at,
    write_int8,
    write_int16,
    write_int32,
    write_int64,
)

prepare_checksums()


def is_compiled() -> bool:
    """Whether this runs as C; interpreted it is some hundred times slower."""
    return bool(cython.compiled)


def checksum_of_messages(source: cython.const[cython.uchar][::1]) -> int:
    """CRC-32 of a buffer, as messages of magic 0 and 1 have it."""
    return crc32(read_bytes(source), 0, len(source))


def checksum(source: cython.const[cython.uchar][::1], *, by_tables: cython.bint = False) -> int:
    """CRC-32C of a buffer, by the processor's instruction where it has one, or by tables."""
    data: cython.p_const_uchar = read_bytes(source)
    if by_tables:
        return crc32c_by_tables(data, 0, len(source))
    return crc32c(data, 0, len(source))


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def find_problem(
    source: cython.p_const_uchar, position: cython.Py_ssize_t, stop: cython.Py_ssize_t
) -> cython.int:
    """SCAN_FULL when a whole batch or message lies at ``position``, else why not."""
    left: cython.Py_ssize_t = stop - position
    length: cython.longlong
    magic: cython.int
    if left < 17:
        return SCAN_SHORT
    length = int32_at(source, position + 8)
    magic = source[position + 16]
    if length < 14:  # smaller than any message ever was: zeros, mostly
        return SCAN_BAD_LENGTH
    if magic > 2:
        return SCAN_UNKNOWN_MAGIC
    if (magic == 2 and length < 49) or (magic == 1 and length < 22):
        return SCAN_BAD_LENGTH
    if length > 0x7FFF_FFFF - 12:  # Kafka's files end at 2^31 - 1
        return SCAN_BAD_LENGTH
    if length > left - 12:
        return SCAN_SHORT
    return SCAN_FULL


def scan_batches(
    source: cython.const[cython.uchar][::1],
    start: cython.Py_ssize_t,
    stop: cython.Py_ssize_t,
    origin: cython.longlong,
    check_crc: cython.bint,
    columns: Any,
    capacity: cython.Py_ssize_t,
    next_offset: cython.longlong = 0,
) -> tuple[int, int, int]:
    """Fill ``columns`` with the headers of the whole batches in ``source[start:stop]``.

    A message of magic 0 or 1 is a batch of one record, a wrapper one of all records since the
    entry before it: where it begins stands inside of its compressed value, so ``base_offset`` is
    the lowest it can be, and ``records_count`` the most. Attributes of messages keep only the bits
    that mean something; ``NO_TIMESTAMP_TYPE`` is added in magic 0.

    Args:
        source: bytes of a log.
        start: where the chain begins.
        stop: how far it may reach.
        origin: position in the file of ``source[0]``.
        check_crc: compute each CRC; otherwise ``crc_computed`` repeats the stored one.
        columns: has the numpy arrays written below, ``capacity`` long each.
        capacity: stop after so many batches.
        next_offset: the lowest offset that may come first.

    Returns:
        the number of batches, the first byte not consumed, and why it stopped (``codes.SCAN_…``).
    """
    if not 0 <= start <= stop <= len(source):
        raise ValueError(f"{start} to {stop} of a buffer of {len(source)} bytes")
    data: cython.p_const_uchar = read_bytes(source)
    position: cython.p_longlong = write_int64(columns.position)
    size_in_bytes: cython.p_int = write_int32(columns.size_in_bytes)
    base_offset: cython.p_longlong = write_int64(columns.base_offset)
    last_offset: cython.p_longlong = write_int64(columns.last_offset)
    leader_epoch: cython.p_int = write_int32(columns.leader_epoch)
    magic: cython.p_schar = write_int8(columns.magic)
    crc: cython.p_longlong = write_int64(columns.crc)
    crc_computed: cython.p_longlong = write_int64(columns.crc_computed)
    attributes: cython.p_short = write_int16(columns.attributes)
    last_offset_delta: cython.p_int = write_int32(columns.last_offset_delta)
    base_timestamp: cython.p_longlong = write_int64(columns.base_timestamp)
    max_timestamp: cython.p_longlong = write_int64(columns.max_timestamp)
    producer_id: cython.p_longlong = write_int64(columns.producer_id)
    producer_epoch: cython.p_short = write_int16(columns.producer_epoch)
    base_sequence: cython.p_int = write_int32(columns.base_sequence)
    records_count: cython.p_int = write_int32(columns.records_count)
    at: cython.Py_ssize_t = start
    end: cython.Py_ssize_t
    row: cython.Py_ssize_t = 0
    reason: cython.int = SCAN_FULL
    first: cython.longlong
    delta: cython.int
    greatest: cython.longlong = 0x7FFF_FFFF_FFFF_FFFF
    lowest: cython.longlong
    with cython.nogil:
        while at < stop and row < capacity:
            reason = find_problem(data, at, stop)
            if reason != SCAN_FULL:
                break
            end = at + 12 + int32_at(data, at + 8)
            first = int64_at(data, at)
            if data[at + 16] < 2:
                position[row] = origin + at
                size_in_bytes[row] = cython.cast(cython.int, end - at)
                last_offset[row] = first
                leader_epoch[row] = -1
                magic[row] = data[at + 16]
                crc[row] = uint32_at(data, at + 12)
                crc_computed[row] = crc32(data, at + 16, end) if check_crc else crc[row]
                max_timestamp[row] = -1
                attributes[row] = (data[at + 17] & 0x07) | NO_TIMESTAMP_TYPE
                if data[at + 16] == 1:
                    max_timestamp[row] = int64_at(data, at + 18)
                    attributes[row] = data[at + 17] & 0x0F
                base_timestamp[row] = max_timestamp[row]
                producer_id[row] = -1
                producer_epoch[row] = -1
                base_sequence[row] = -1
                delta = 0
                if (data[at + 17] & 0x07) != 0:
                    base_timestamp[row] = -1
                    lowest = next_offset
                    if row > 0:
                        lowest = min(last_offset[row - 1], greatest - 1) + 1
                    if 0 <= lowest <= first:
                        delta = cython.cast(cython.int, min(first - lowest, 0x7FFF_FFFE))
                base_offset[row] = first - delta
                last_offset_delta[row] = delta
                records_count[row] = delta + 1
                row += 1
                at = end
                continue
            delta = int32_at(data, at + 23)
            position[row] = origin + at
            size_in_bytes[row] = cython.cast(cython.int, end - at)
            base_offset[row] = first
            last_offset_delta[row] = delta
            if first >= 0 and delta >= 0 and first <= greatest - delta:
                last_offset[row] = first + delta
            else:
                last_offset[row] = first  # a lie either way; decoding says so
            leader_epoch[row] = int32_at(data, at + 12)
            magic[row] = 2
            crc[row] = uint32_at(data, at + 17)
            crc_computed[row] = crc32c(data, at + 21, end) if check_crc else crc[row]
            attributes[row] = int16_at(data, at + 21)
            base_timestamp[row] = int64_at(data, at + 27)
            max_timestamp[row] = int64_at(data, at + 35)
            producer_id[row] = int64_at(data, at + 43)
            producer_epoch[row] = int16_at(data, at + 51)
            base_sequence[row] = int32_at(data, at + 53)
            records_count[row] = int32_at(data, at + 57)
            row += 1
            at = end
    return row, at, reason


def count_valid_batches(
    source: cython.const[cython.uchar][::1], start: cython.Py_ssize_t, stop: cython.Py_ssize_t
) -> tuple[int, int, int]:
    """Check the CRC of every batch (magic 2) of ``source[start:stop]``, and keep nothing.

    Returns:
        the number of batches and of records, and the first position that holds no whole batch
        with a sound CRC: ``stop`` when all is well.
    """
    if not 0 <= start <= stop <= len(source):
        raise ValueError(f"{start} to {stop} of a buffer of {len(source)} bytes")
    data: cython.p_const_uchar = read_bytes(source)
    at: cython.Py_ssize_t = start
    end: cython.Py_ssize_t
    batches: cython.longlong = 0
    records: cython.longlong = 0
    with cython.nogil:
        while at < stop and find_problem(data, at, stop) == SCAN_FULL and data[at + 16] == 2:
            end = at + 12 + int32_at(data, at + 8)
            if crc32c(data, at + 21, end) != uint32_at(data, at + 17):
                break
            records += max(int32_at(data, at + 57), 0)
            batches += 1
            at = end
    return batches, records, at
