# cython: boundscheck=False, wraparound=False, initializedcheck=False
# ruff: noqa: ANN401  numpy arrays, whose types the compiled kernel checks itself
"""Scans a chain of record batches and messages into columns and checks their CRCs, without the GIL.

The magic may change from entry to entry. Every length is checked against the bytes left before it
is used. Source: Kafka 4.0, DefaultRecordBatch and AbstractLegacyRecordBatch; the order of the
checks is that of FileLogInputStream.
"""

from __future__ import annotations

from typing import Any

import cython
from cython.cimports.kafkalog_reader.format.batch_fields import (
    ATTRIBUTES_AT,
    BASE_SEQUENCE_AT,
    BASE_TIMESTAMP_AT,
    CODEC_MASK,
    CONTROL_BIT,
    CRC_AT,
    CRC_COVERS_FROM,
    LAST_OFFSET_DELTA_AT,
    LEADER_EPOCH_AT,
    LENGTH_AT,
    LENGTH_END,
    LOG_APPEND_TIME_BIT,
    LOG_ENTRY_SIZE,
    MAGIC_AT,
    MAX_TIMESTAMP_AT,
    MESSAGE_ATTRIBUTES_AT,
    MESSAGE_CRC_AT,
    MESSAGE_CRC_COVERS_FROM,
    MESSAGE_TIMESTAMP_AT,
    MIN_LENGTH_0,
    MIN_LENGTH_1,
    MIN_LENGTH_2,
    PRODUCER_EPOCH_AT,
    PRODUCER_ID_AT,
    RECORDS_COUNT_AT,
)
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
    int16_at,
    int32_at,
    int64_at,
    prepare_checksums,
    read_at,
    read_bytes,
    uint32_at,
    write_bytes,
    write_int8,
    write_int16,
    write_int32,
    write_int64,
)

prepare_checksums()


def is_compiled() -> bool:
    """Whether this runs as C; interpreted, it is about a hundred times slower."""
    return bool(cython.compiled)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def find_problem(
    source: cython.p_const_uchar, position: cython.Py_ssize_t, stop: cython.Py_ssize_t
) -> cython.int:
    """SCAN_FULL if a whole batch or message is at ``position``, otherwise why not."""
    left: cython.Py_ssize_t = stop - position
    length: cython.longlong
    magic: cython.int
    if left < LOG_ENTRY_SIZE:
        return SCAN_SHORT
    length = int32_at(source, position + LENGTH_AT)
    magic = source[position + MAGIC_AT]
    if length < MIN_LENGTH_0:  # smaller than any message ever was: zeros, mostly
        return SCAN_BAD_LENGTH
    if magic > 2:
        return SCAN_UNKNOWN_MAGIC
    if (magic == 2 and length < MIN_LENGTH_2) or (magic == 1 and length < MIN_LENGTH_1):
        return SCAN_BAD_LENGTH
    if length > 0x7FFF_FFFF - LENGTH_END:  # Kafka's files end at 2^31 - 1
        return SCAN_BAD_LENGTH
    if length > left - LENGTH_END:
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
) -> tuple[int, int, int, int]:
    """Fill ``columns`` with the headers of the whole batches in ``source[start:stop]``.

    A message of magic 0 or 1 counts as a batch of one record, a wrapper as one of all records
    since the entry before it: its first offset is inside its compressed value, so ``base_offset``
    is the lowest possible one, and ``records_count`` the maximum. Attributes of messages keep only
    the bits that have a meaning; ``NO_TIMESTAMP_TYPE`` is added in magic 0.

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
        the number of batches, the number with a correct CRC, the first byte not consumed, and why
        it stopped (``codes.SCAN_…``).
    """
    if not 0 <= start <= stop <= len(source):
        raise ValueError(f"{start} to {stop} of a buffer of {len(source)} bytes")
    rows, valid, position, reason = _fill(
        read_bytes(source), start, stop, origin, check_crc, columns, capacity, next_offset,
        -1, cython.NULL, 0, 0,
    )  # fmt: skip
    return rows, valid, position - origin, reason


def scan_file(
    descriptor: cython.int,
    start: cython.longlong,
    stop: cython.longlong,
    room: cython.uchar[::1],
    columns: Any,
    capacity: cython.Py_ssize_t,
) -> tuple[int, int]:
    """Fill ``columns`` with the headers of a file's batches, without keeping the bytes.

    The bytes are read into ``room``, and the next ones overwrite them. It stops at everything that
    the caller must examine: messages, control batches, timestamps that the broker set, a wrong
    CRC or length, a batch larger than ``room``, a file that ends early.

    Args:
        descriptor: of the file.
        start: where the chain begins.
        stop: how far it may reach.
        room: for the bytes.
        columns: as ``scan_batches`` has them.
        capacity: stop after so many batches.

    Returns:
        the number of batches, and the first byte not consumed.
    """
    if not 0 <= start <= stop:
        raise ValueError(f"{start} to {stop} of a file")
    rows, _, position, _ = _fill(
        write_bytes(room), 0, 0, start, True, columns, capacity, 0,
        descriptor, write_bytes(room), len(room), stop,
    )  # fmt: skip
    return rows, position


@cython.cfunc
def _fill(
    data: cython.p_const_uchar,
    at: cython.Py_ssize_t,
    stop: cython.Py_ssize_t,
    origin: cython.longlong,
    check_crc: cython.bint,
    columns: Any,
    capacity: cython.Py_ssize_t,
    next_offset: cython.longlong,
    descriptor: cython.int,
    room: cython.p_uchar,
    size_of_room: cython.longlong,
    file_stop: cython.longlong,
) -> tuple[int, int, int, int]:
    """Follow the chain in ``data``; with a descriptor, ``data`` is ``room`` and is refilled.

    Returns:
        the number of batches, the number with a correct CRC, the position of the first byte not
        consumed, and why it stopped.
    """
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
    end: cython.Py_ssize_t
    row: cython.Py_ssize_t = 0
    valid: cython.Py_ssize_t = 0
    reason: cython.int = SCAN_FULL
    first: cython.longlong
    delta: cython.int
    greatest: cython.longlong = 0x7FFF_FFFF_FFFF_FFFF
    lowest: cython.longlong
    with cython.nogil:
        while row < capacity:
            if at < stop:
                reason = find_problem(data, at, stop)
            elif descriptor < 0 or origin + at >= file_stop:
                break
            else:
                reason = SCAN_SHORT
            if (
                reason == SCAN_SHORT
                and descriptor >= 0
                and (at > 0 or stop == 0)
                and origin + stop < file_stop
            ):
                origin += at
                at = 0
                stop = read_at(descriptor, room, min(size_of_room, file_stop - origin), origin)
                if stop == 0:
                    break
                continue
            if reason != SCAN_FULL:
                break
            if descriptor >= 0 and (
                data[at + MAGIC_AT] < 2
                or (int16_at(data, at + ATTRIBUTES_AT) & (LOG_APPEND_TIME_BIT | CONTROL_BIT)) != 0
            ):
                break
            end = at + LENGTH_END + int32_at(data, at + LENGTH_AT)
            first = int64_at(data, at)
            if data[at + MAGIC_AT] < 2:
                position[row] = origin + at
                size_in_bytes[row] = cython.cast(cython.int, end - at)
                last_offset[row] = first
                leader_epoch[row] = -1
                magic[row] = data[at + MAGIC_AT]
                crc[row] = uint32_at(data, at + MESSAGE_CRC_AT)
                crc_computed[row] = (
                    crc32(data, at + MESSAGE_CRC_COVERS_FROM, end) if check_crc else crc[row]
                )
                max_timestamp[row] = -1
                attributes[row] = (
                    data[at + MESSAGE_ATTRIBUTES_AT] & CODEC_MASK
                ) | NO_TIMESTAMP_TYPE
                if data[at + MAGIC_AT] == 1:
                    max_timestamp[row] = int64_at(data, at + MESSAGE_TIMESTAMP_AT)
                    attributes[row] = data[at + MESSAGE_ATTRIBUTES_AT] & (
                        CODEC_MASK | LOG_APPEND_TIME_BIT
                    )
                base_timestamp[row] = max_timestamp[row]
                producer_id[row] = -1
                producer_epoch[row] = -1
                base_sequence[row] = -1
                delta = 0
                if (data[at + MESSAGE_ATTRIBUTES_AT] & CODEC_MASK) != 0:
                    base_timestamp[row] = -1
                    lowest = next_offset
                    if row > 0:
                        lowest = min(last_offset[row - 1], greatest - 1) + 1
                    if 0 <= lowest <= first:
                        delta = cython.cast(cython.int, min(first - lowest, 0x7FFF_FFFE))
                base_offset[row] = first - delta
                last_offset_delta[row] = delta
                records_count[row] = delta + 1
                valid += crc[row] == crc_computed[row]
                row += 1
                at = end
                continue
            delta = int32_at(data, at + LAST_OFFSET_DELTA_AT)
            position[row] = origin + at
            size_in_bytes[row] = cython.cast(cython.int, end - at)
            base_offset[row] = first
            last_offset_delta[row] = delta
            if first >= 0 and delta >= 0 and first <= greatest - delta:
                last_offset[row] = first + delta
            else:
                last_offset[row] = first  # a lie either way; decoding says so
            leader_epoch[row] = int32_at(data, at + LEADER_EPOCH_AT)
            magic[row] = 2
            crc[row] = uint32_at(data, at + CRC_AT)
            crc_computed[row] = crc32c(data, at + CRC_COVERS_FROM, end) if check_crc else crc[row]
            if descriptor >= 0 and crc[row] != crc_computed[row]:
                break
            attributes[row] = int16_at(data, at + ATTRIBUTES_AT)
            base_timestamp[row] = int64_at(data, at + BASE_TIMESTAMP_AT)
            max_timestamp[row] = int64_at(data, at + MAX_TIMESTAMP_AT)
            producer_id[row] = int64_at(data, at + PRODUCER_ID_AT)
            producer_epoch[row] = int16_at(data, at + PRODUCER_EPOCH_AT)
            base_sequence[row] = int32_at(data, at + BASE_SEQUENCE_AT)
            records_count[row] = int32_at(data, at + RECORDS_COUNT_AT)
            valid += crc[row] == crc_computed[row]
            row += 1
            at = end
    return row, valid, origin + at, reason


def summarize_batches(columns: Any, count: cython.Py_ssize_t) -> tuple[int, ...]:
    """What the first ``count`` batches of ``columns`` have in common.

    This is one pass over numbers in the cache. Each numpy operation would take as long, and
    threads that share the interpreter would wait for each other at every one.

    Returns:
        the fields of ``scan.run_summary.RunSummary``, in their order.
    """
    if not 0 < count <= len(columns.position):
        raise ValueError(f"{count} of {len(columns.position)} batches")
    size_in_bytes: cython.p_int = write_int32(columns.size_in_bytes)
    base_offset: cython.p_longlong = write_int64(columns.base_offset)
    last_offset: cython.p_longlong = write_int64(columns.last_offset)
    leader_epoch: cython.p_int = write_int32(columns.leader_epoch)
    magic: cython.p_schar = write_int8(columns.magic)
    crc: cython.p_longlong = write_int64(columns.crc)
    crc_computed: cython.p_longlong = write_int64(columns.crc_computed)
    attributes: cython.p_short = write_int16(columns.attributes)
    last_offset_delta: cython.p_int = write_int32(columns.last_offset_delta)
    max_timestamp: cython.p_longlong = write_int64(columns.max_timestamp)
    producer_id: cython.p_longlong = write_int64(columns.producer_id)
    producer_epoch: cython.p_short = write_int16(columns.producer_epoch)
    records_count: cython.p_int = write_int32(columns.records_count)
    row: cython.Py_ssize_t
    valid: cython.longlong = 0
    size: cython.longlong = 0
    leads_on: cython.bint = True
    is_full: cython.bint = True
    is_one_epoch: cython.bint = True
    offsets_rise: cython.bint = True
    timestamps_rise: cython.bint = True
    flags: cython.int = 0
    least_offset: cython.longlong = base_offset[0]
    least_magic: cython.int = magic[0]
    greatest_magic: cython.int = magic[0]
    least_timestamp: cython.longlong = max_timestamp[0]
    greatest_timestamp: cython.longlong = max_timestamp[0]
    least_producer_id: cython.longlong = producer_id[0]
    greatest_producer_epoch: cython.int = producer_epoch[0]
    for row in range(count):
        valid += crc[row] == crc_computed[row]
        size += size_in_bytes[row]
        is_full &= records_count[row] > 0 and records_count[row] - 1 == last_offset_delta[row]
        flags |= attributes[row]
        least_offset = min(least_offset, base_offset[row])
        least_magic = min(least_magic, magic[row])
        greatest_magic = max(greatest_magic, magic[row])
        least_timestamp = min(least_timestamp, max_timestamp[row])
        greatest_timestamp = max(greatest_timestamp, max_timestamp[row])
        least_producer_id = min(least_producer_id, producer_id[row])
        greatest_producer_epoch = max(greatest_producer_epoch, producer_epoch[row])
        if row > 0:
            leads_on &= base_offset[row] > 0 and base_offset[row] - 1 == last_offset[row - 1]
            is_one_epoch &= leader_epoch[row] == leader_epoch[row - 1]
            offsets_rise &= last_offset[row] > last_offset[row - 1]
            timestamps_rise &= max_timestamp[row] >= max_timestamp[row - 1]
    return (
        valid, size, bool(leads_on), bool(is_full), bool(is_one_epoch), bool(offsets_rise),
        bool(timestamps_rise), flags, least_offset, least_magic, greatest_magic, least_timestamp,
        greatest_timestamp, least_producer_id, greatest_producer_epoch,
    )  # fmt: skip
