# cython: boundscheck=False, wraparound=False, initializedcheck=False, nonecheck=False
# ruff: noqa: ANN401  numpy arrays, whose types the compiled kernel checks itself
"""Decodes batches whose headers were scanned before, in one call.

An inconsistent batch produces no rows; the others of the call do.
"""

from __future__ import annotations

from typing import Any

import cython
from cython.cimports.kafkalog_reader.kernel.codes import NO_ROOM, NO_TIMESTAMP_TYPE, SOUND
from cython.cimports.kafkalog_reader.kernel.primitives import (
    read_bytes,
    read_int8,
    read_int16,
    read_int32,
    read_int64,
    write_int32,
    write_int64,
)
from cython.cimports.kafkalog_reader.kernel.record_columns_cy import (  # noqa: TC002  for C
    RecordColumns,
)
from cython.cimports.kafkalog_reader.kernel.records_cy import decode_records


@cython.final
@cython.cclass
class UncompressedBatches:
    """Record batches whose uncompressed records are in one buffer.

    Args:
        source: the buffer.
        batches: has numpy arrays of one length: ``payload_position`` and ``payload_size``
            (within ``source``, int64), and of the headers ``base_offset``, ``last_offset_delta``,
            ``base_timestamp``, ``max_timestamp``, ``magic``, ``attributes``, ``base_sequence``,
            ``records_count``. Written are ``row_end`` (rows there are after the batch),
            ``problem`` (``codes``) and ``problem_position`` (of the record at fault, from the
            payload's start).
    """

    _source: cython.p_const_uchar
    _available: cython.Py_ssize_t
    _count: cython.Py_ssize_t
    _payload_position: cython.pointer[cython.const[cython.longlong]]
    _payload_size: cython.pointer[cython.const[cython.longlong]]
    _base_offset: cython.pointer[cython.const[cython.longlong]]
    _last_offset_delta: cython.pointer[cython.const[cython.int]]
    _base_timestamp: cython.pointer[cython.const[cython.longlong]]
    _max_timestamp: cython.pointer[cython.const[cython.longlong]]
    _magic: cython.pointer[cython.const[cython.schar]]
    _attributes: cython.pointer[cython.const[cython.short]]
    _base_sequence: cython.pointer[cython.const[cython.int]]
    _records_count: cython.pointer[cython.const[cython.int]]
    _row_end: cython.p_longlong
    _problem: cython.p_int
    _problem_position: cython.p_longlong
    _owners: object

    def __init__(self, source: cython.const[cython.uchar][::1], batches: Any) -> None:
        self._owners = (source, batches)
        self._source = read_bytes(source)
        self._available = len(source)
        self._count = len(batches.payload_position)
        self._payload_position = read_int64(batches.payload_position)
        self._payload_size = read_int64(batches.payload_size)
        self._base_offset = read_int64(batches.base_offset)
        self._last_offset_delta = read_int32(batches.last_offset_delta)
        self._base_timestamp = read_int64(batches.base_timestamp)
        self._max_timestamp = read_int64(batches.max_timestamp)
        self._magic = read_int8(batches.magic)
        self._attributes = read_int16(batches.attributes)
        self._base_sequence = read_int32(batches.base_sequence)
        self._records_count = read_int32(batches.records_count)
        self._row_end = write_int64(batches.row_end)
        self._problem = write_int32(batches.problem)
        self._problem_position = write_int64(batches.problem_position)
        for name in (
            "payload_size", "base_offset", "last_offset_delta", "base_timestamp", "max_timestamp",
            "magic", "attributes", "base_sequence", "records_count", "row_end", "problem",
            "problem_position",
        ):  # fmt: skip
            if len(getattr(batches, name)) < self._count:
                raise ValueError(f"{name} has fewer than {self._count} entries")

    def decode(self, first: cython.Py_ssize_t, stop: cython.Py_ssize_t, out: RecordColumns) -> int:
        """Append the records of the batches from number ``first`` up to ``stop`` to ``out``.

        Returns:
            the first batch for which there was no room; ``stop`` if all were decoded.
        """
        batch: cython.Py_ssize_t = first
        problem: cython.int
        attributes: cython.int
        if not 0 <= first <= stop <= self._count or out is None:
            raise ValueError(f"batches {first} to {stop} of {self._count}")
        with cython.nogil:
            while batch < stop:
                attributes = self._attributes[batch]
                if self._magic[batch] == 2:  # there the bit is one of those without a meaning
                    attributes &= ~NO_TIMESTAMP_TYPE
                problem = decode_records(
                    self._source,
                    self._available,
                    self._payload_position[batch],
                    self._payload_size[batch],
                    self._base_offset[batch],
                    self._last_offset_delta[batch],
                    self._base_timestamp[batch],
                    self._max_timestamp[batch],
                    attributes,
                    self._base_sequence[batch],
                    self._records_count[batch],
                    out,
                )
                if problem == NO_ROOM:
                    break
                self._problem[batch] = problem
                self._problem_position[batch] = 0 if problem == SOUND else out.problem_position
                self._row_end[batch] = out.rows
                batch += 1
        return batch
