# cython: boundscheck=False, wraparound=False, initializedcheck=False, nonecheck=False
"""The chain of batches decoded in one pass, as long as they are of the kind that nearly all are.

Header, CRC and records of a batch are looked at while it is in the processor's first cache. The
checks are those of ``record_batches_cy`` and ``records_cy``: whatever does not pass is left where
it is, to be looked at with care and reported by who called.
"""

from __future__ import annotations

import cython
from cython.cimports.kafkalog_reader.kernel.codes import CONTROL, NO_ROOM, SCAN_FULL, SOUND
from cython.cimports.kafkalog_reader.kernel.payload_shapes_cy import lz4_block_size
from cython.cimports.kafkalog_reader.kernel.primitives import (
    crc32c,
    decompress_lz4,
    int16_at,
    int32_at,
    int64_at,
    prepare_checksums,
    read_bytes,
    uint32_at,
    write_bytes,
)
from cython.cimports.kafkalog_reader.kernel.record_batches_cy import find_problem
from cython.cimports.kafkalog_reader.kernel.record_columns_cy import (  # noqa: TC002  for C
    RecordColumns,
)
from cython.cimports.kafkalog_reader.kernel.records_cy import decode_records

prepare_checksums()


@cython.final
@cython.cclass
class SoundBatches:
    """Takes sound batches of magic 2, uncompressed or one LZ4 block, from the start of a chain.

    Args:
        lowest_offset: no batch with records before it is taken.
        stop_offset: nor one with records from it on.
        with_control: otherwise the records of control batches are passed over.
        lz4: address of ``LZ4_decompress_safe``; 0 takes no compressed batch.
        scratch: room for what one block becomes: 64 KiB.

    Attributes:
        position: the first byte not taken.
        last_offset: of the last batch taken; -1 before the first.
        is_full: whether the last call ended for want of room.
    """

    position = cython.declare(cython.Py_ssize_t, visibility="readonly")
    last_offset = cython.declare(cython.longlong, visibility="readonly")
    is_full = cython.declare(cython.bint, visibility="readonly")
    _lowest_offset: cython.longlong
    _stop_offset: cython.longlong
    _with_control: cython.bint
    _lz4: cython.size_t
    _scratch: cython.p_uchar
    _scratch_size: cython.Py_ssize_t
    _owner: object

    def __init__(
        self,
        lowest_offset: cython.longlong,
        stop_offset: cython.longlong,
        with_control: cython.bint,
        lz4: cython.size_t,
        scratch: cython.uchar[::1],
    ) -> None:
        if len(scratch) < 0x1_0000:
            raise ValueError(f"{len(scratch)} bytes of room for a block of 64 KiB")
        self.position = 0
        self.last_offset = -1
        self.is_full = False
        self._lowest_offset = lowest_offset
        self._stop_offset = stop_offset
        self._with_control = with_control
        self._lz4 = lz4
        self._owner = scratch
        self._scratch = write_bytes(scratch)
        self._scratch_size = len(scratch)

    def decode(
        self,
        source: cython.const[cython.uchar][::1],
        start: cython.Py_ssize_t,
        stop: cython.Py_ssize_t,
        out: RecordColumns,
    ) -> None:
        """Append the records of the batches in ``source[start:stop]`` to ``out``.

        Ends before the first batch that is not whole, sound and of the kind, or finds no room.
        """
        if not 0 <= start <= stop <= len(source) or out is None:
            raise ValueError(f"{start} to {stop} of a buffer of {len(source)} bytes")
        data: cython.p_const_uchar = read_bytes(source)
        problem: cython.int = SOUND
        self.position = start
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
        """Take the batch at ``position``, or say that it cannot be: SOUND is yes."""
        at: cython.Py_ssize_t = self.position
        not_here: cython.int = SOUND - 1
        if find_problem(data, at, stop) != SCAN_FULL or data[at + 16] != 2:
            return not_here
        end: cython.Py_ssize_t = at + 12 + int32_at(data, at + 8)
        if crc32c(data, at + 21, end) != uint32_at(data, at + 17):
            return not_here
        base_offset: cython.longlong = int64_at(data, at)
        last_offset_delta: cython.longlong = int32_at(data, at + 23)
        if (
            base_offset < self._lowest_offset
            or last_offset_delta < 0
            or base_offset > self._stop_offset - 1 - last_offset_delta
        ):
            return not_here
        attributes: cython.int = int16_at(data, at + 21) & 0xFF
        count: cython.longlong = int32_at(data, at + 57)
        codec: cython.int = attributes & 7
        source: cython.p_const_uchar = data
        available: cython.Py_ssize_t = stop
        start: cython.Py_ssize_t = at + 61
        size: cython.Py_ssize_t = end - start
        if codec == 3 and self._lz4 != 0:
            size = lz4_block_size(data, start, end)
            if size == 0:
                return not_here
            if count != 0 and (self._with_control or not attributes & CONTROL):
                size = decompress_lz4(self._lz4, data, start + 11, size, self._scratch, 0x1_0000)
                if size < 0:
                    return not_here
            source = self._scratch
            available = self._scratch_size
            start = 0
        elif codec != 0:
            return not_here
        if self._with_control or not attributes & CONTROL:
            problem: cython.int = decode_records(
                source,
                available,
                start,
                size,
                base_offset,
                last_offset_delta,
                int64_at(data, at + 27),
                int64_at(data, at + 35),
                attributes,
                int32_at(data, at + 53),
                count,
                out,
            )
            if problem != SOUND:
                return problem
        self.last_offset = base_offset + last_offset_delta
        self.position = end
        return SOUND
