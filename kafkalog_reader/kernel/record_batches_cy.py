# cython: boundscheck=False, wraparound=False, initializedcheck=False
# ruff: noqa: ANN401  numpy arrays, whose types the compiled kernel checks itself
"""The header chain of record batches (magic 2), scanned into columns; every CRC checked, no GIL.

Every length is compared with the bytes left before it is believed. Source: Kafka 4.0,
DefaultRecordBatch; the order of the checks is that of FileLogInputStream.
"""

from __future__ import annotations

from typing import Any

import cython
from cython.cimports.kafkalog_reader.kernel.codes import (
    SCAN_BAD_LENGTH,
    SCAN_FULL,
    SCAN_LEGACY_MAGIC,
    SCAN_SHORT,
    SCAN_UNKNOWN_MAGIC,
)
from cython.cimports.kafkalog_reader.kernel.primitives import (
    crc32c,
    crc32c_by_tables,
    int16_at,
    int32_at,
    int64_at,
    prepare_crc32c,
    read_bytes,
    uint32_at,
    write_int8,
    write_int16,
    write_int32,
    write_int64,
)

prepare_crc32c()


def is_compiled() -> bool:
    """Whether this runs as C; interpreted it is some hundred times slower."""
    return bool(cython.compiled)


def checksum(source: cython.const[cython.uchar][::1], *, by_tables: cython.bint = False) -> int:
    """CRC-32C of a buffer, by the processor's instruction where it has one, or by tables."""
    data: cython.p_const_uchar = read_bytes(source)
    if by_tables:
        return crc32c_by_tables(data, 0, len(source))
    return crc32c(data, 0, len(source))


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def find_problem(
    source: cython.p_const_uchar, position: cython.Py_ssize_t, stop: cython.Py_ssize_t
) -> cython.int:
    """SCAN_FULL when a whole batch of magic 2 lies at ``position``, else why not."""
    left: cython.Py_ssize_t = stop - position
    length: cython.longlong
    magic: cython.int
    if left < 17:
        return SCAN_SHORT
    length = int32_at(source, position + 8)
    magic = source[position + 16]
    if length < 14:  # smaller than any message ever was: zeros, mostly
        return SCAN_BAD_LENGTH
    if magic < 2:
        return SCAN_LEGACY_MAGIC
    if magic > 2:
        return SCAN_UNKNOWN_MAGIC
    if length < 49 or length > 0x7FFF_FFFF - 12:  # Kafka's files end at 2^31 - 1
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
) -> tuple[int, int, int]:
    """Fill ``columns`` with the headers of the whole batches in ``source[start:stop]``.

    Args:
        source: bytes of a log.
        start: where the chain begins.
        stop: how far it may reach.
        origin: position in the file of ``source[0]``.
        check_crc: compute each CRC; otherwise ``crc_computed`` repeats the stored one.
        columns: has the numpy arrays written below, ``capacity`` long each.
        capacity: stop after so many batches.

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
    with cython.nogil:
        while at < stop and row < capacity:
            reason = find_problem(data, at, stop)
            if reason != SCAN_FULL:
                break
            end = at + 12 + int32_at(data, at + 8)
            first = int64_at(data, at)
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
    """Check the CRC of every batch of ``source[start:stop]``, and keep nothing.

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
        while at < stop and find_problem(data, at, stop) == SCAN_FULL:
            end = at + 12 + int32_at(data, at + 8)
            if crc32c(data, at + 21, end) != uint32_at(data, at + 17):
                break
            records += max(int32_at(data, at + 57), 0)
            batches += 1
            at = end
    return batches, records, at
