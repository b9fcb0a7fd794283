# cython: boundscheck=False, wraparound=False, initializedcheck=False, nonecheck=False
"""Decodes a chain of batches in one pass, as long as they are of the usual kind.

Header, CRC and records of a batch are examined while it is in the processor's first-level cache.
The checks are those of ``record_batches_cy`` and ``records_cy``. The first batch that fails one is
left to the caller, who examines and reports it.
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
    HEADER_SIZE,
    LAST_OFFSET_DELTA_AT,
    LENGTH_AT,
    LENGTH_END,
    MAGIC_AT,
    MAX_TIMESTAMP_AT,
    RECORDS_COUNT_AT,
)
from cython.cimports.kafkalog_reader.kernel.codes import NO_ROOM, SCAN_FULL, SOUND
from cython.cimports.kafkalog_reader.kernel.payload_shapes_cy import single_block
from cython.cimports.kafkalog_reader.kernel.primitives import (
    crc32c,
    decompress,
    int16_at,
    int32_at,
    int64_at,
    prepare_checksums,
    read_bytes,
    read_int64,
    snappy_function,
    uint32_at,
    write_bytes,
)
from cython.cimports.kafkalog_reader.kernel.record_batches_cy import find_problem
from cython.cimports.kafkalog_reader.kernel.record_columns_cy import (  # noqa: TC002  for C
    RecordColumns,
)
from cython.cimports.kafkalog_reader.kernel.records_cy import decode_records

prepare_checksums()


def snappy_address() -> int:
    """The address of the kernel's own function for snappy; 0 if the kernel is interpreted."""
    return snappy_function()


@cython.final
@cython.cclass
class SoundBatches:
    """Decodes the sound batches (magic 2) at the start of a chain, plain or one call to decompress.

    Args:
        lowest_offset: no batch with records before it is taken.
        stop_offset: nor one with records from it on.
        with_control: if False, the records of control batches are skipped.
        libraries: has numpy arrays (int64) with an entry for each of the eight codec numbers:
            ``address`` of the function that decompresses (``primitives.decompress``), 0 where
            batches of the codec are not taken; ``context``, its first argument where it takes
            one; ``room``, the most bytes that one call may make.
        scratch: as large as the largest ``room``.

    Attributes:
        position: the first byte not taken.
        last_offset: of the last batch taken; -1 before the first.
        is_full: whether the last call ended because there was no room.
    """

    position = cython.declare(cython.Py_ssize_t, visibility="readonly")
    last_offset = cython.declare(cython.longlong, visibility="readonly")
    is_full = cython.declare(cython.bint, visibility="readonly")
    _lowest_offset: cython.longlong
    _stop_offset: cython.longlong
    _with_control: cython.bint
    _next_offset: cython.longlong
    _may_skip: cython.bint
    _may_fall: cython.bint
    _address: cython.pointer[cython.const[cython.longlong]]
    _context: cython.pointer[cython.const[cython.longlong]]
    _room: cython.pointer[cython.const[cython.longlong]]
    _scratch: cython.p_uchar
    _scratch_size: cython.Py_ssize_t
    _owners: object

    def __init__(
        self,
        lowest_offset: cython.longlong,
        stop_offset: cython.longlong,
        with_control: cython.bint,
        libraries: Any,  # noqa: ANN401  its arrays' types the compiled kernel checks itself
        scratch: cython.uchar[::1],
    ) -> None:
        if min(len(libraries.address), len(libraries.context), len(libraries.room)) < 8:
            raise ValueError("fewer libraries than codec numbers")
        if len(scratch) < max(libraries.room):
            raise ValueError(f"{len(scratch)} bytes of room for blocks of {max(libraries.room)}")
        self.position = 0
        self.last_offset = -1
        self.is_full = False
        self._lowest_offset = lowest_offset
        self._stop_offset = stop_offset
        self._with_control = with_control
        self._next_offset = -1
        self._may_skip = self._may_fall = True
        self._owners = (libraries, scratch)
        self._address = read_int64(libraries.address)
        self._context = read_int64(libraries.context)
        self._room = read_int64(libraries.room)
        self._scratch = write_bytes(scratch)
        self._scratch_size = len(scratch)

    def decode(
        self,
        source: cython.const[cython.uchar][::1],
        start: cython.Py_ssize_t,
        stop: cython.Py_ssize_t,
        out: RecordColumns,
        next_offset: cython.longlong = -1,
        may_skip: cython.bint = True,
        may_fall: cython.bint = True,
    ) -> None:
        """Append the records of the batches in ``source[start:stop]`` to ``out``.

        Ends before the first batch that is not whole, sound and of the kind, or finds no room.
        Unless offsets may skip, or fall, it also ends before a batch that begins above, or below,
        the offset where the one before it ends: ``next_offset`` for the first, -1 if unknown.
        """
        if not 0 <= start <= stop <= len(source) or out is None:
            raise ValueError(f"{start} to {stop} of a buffer of {len(source)} bytes")
        data: cython.p_const_uchar = read_bytes(source)
        problem: cython.int = SOUND
        self.position = start
        self._next_offset = next_offset
        self._may_skip = may_skip
        self._may_fall = may_fall
        with cython.nogil:
            while self.position < stop and problem == SOUND:
                problem = self._take(data, stop, out)
        self.is_full = problem == NO_ROOM

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def _take(
        self, data: cython.p_const_uchar, stop: cython.Py_ssize_t, out: RecordColumns
    ) -> cython.int:
        """Decode the batch at ``position``; return SOUND, or why it was not decoded."""
        at: cython.Py_ssize_t = self.position
        not_here: cython.int = SOUND - 1
        if find_problem(data, at, stop) != SCAN_FULL or data[at + MAGIC_AT] != 2:
            return not_here
        end: cython.Py_ssize_t = at + LENGTH_END + int32_at(data, at + LENGTH_AT)
        if crc32c(data, at + CRC_COVERS_FROM, end) != uint32_at(data, at + CRC_AT):
            return not_here
        base_offset: cython.longlong = int64_at(data, at)
        last_offset_delta: cython.longlong = int32_at(data, at + LAST_OFFSET_DELTA_AT)
        if (
            base_offset < self._lowest_offset
            or last_offset_delta < 0
            or base_offset > self._stop_offset - 1 - last_offset_delta
        ):
            return not_here
        due: cython.longlong = self._next_offset
        if due >= 0 and (
            (base_offset < due and not self._may_fall) or (base_offset > due and not self._may_skip)
        ):
            return not_here
        attributes: cython.int = int16_at(data, at + ATTRIBUTES_AT) & 0xFF
        count: cython.longlong = int32_at(data, at + RECORDS_COUNT_AT)
        codec: cython.int = attributes & CODEC_MASK
        source: cython.p_const_uchar = data
        available: cython.Py_ssize_t = stop
        start: cython.Py_ssize_t = at + HEADER_SIZE
        size: cython.Py_ssize_t = end - start
        bound: cython.longlong
        if codec != 0:
            if self._address[codec] == 0:
                return not_here
            start, size, bound = single_block(codec, data, start, end, self._room[codec])
            if size == 0 or bound > self._room[codec]:
                return not_here
            if count != 0 and (self._with_control or not attributes & CONTROL_BIT):
                size = decompress(
                    codec, self._address[codec], self._context[codec],
                    data, start, size, self._scratch, bound,
                )  # fmt: skip
                if size < 0:
                    return not_here
            source = self._scratch
            available = self._scratch_size
            start = 0
        if self._with_control or not attributes & CONTROL_BIT:
            problem: cython.int = decode_records(
                source,
                available,
                start,
                size,
                base_offset,
                last_offset_delta,
                int64_at(data, at + BASE_TIMESTAMP_AT),
                int64_at(data, at + MAX_TIMESTAMP_AT),
                attributes,
                int32_at(data, at + BASE_SEQUENCE_AT),
                count,
                out,
            )
            if problem != SOUND:
                return problem
        self.last_offset = base_offset + last_offset_delta
        self._next_offset = self.last_offset + 1
        self.position = end
        return SOUND
