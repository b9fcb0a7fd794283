# cython: boundscheck=False, wraparound=False, initializedcheck=False
# ruff: noqa: ANN401  numpy arrays, whose types the compiled kernel checks itself
"""Rewrites messages of magic 0 and 1 as records of magic 2, as brokers convert them.

So one decoder fills the columns for every magic. Rewritten records are never longer than the
messages they come from. Every length is checked against the bytes left before it is used; an
inconsistent entry produces nothing. Source: Kafka 4.0, common.record.LegacyRecord
and AbstractLegacyRecordBatch; stricter where that would hide records (``format.message_set``).
"""

from __future__ import annotations

from typing import Any

import cython
from cython.cimports.kafkalog_reader.format.batch_fields import (
    CODEC_MASK,
    LENGTH_AT,
    LENGTH_END,
    MAGIC_AT,
    MESSAGE_CRC_AT,
    MESSAGE_CRC_COVERS_FROM,
    MESSAGE_TIMESTAMP_AT,
    MIN_SIZE_0,
    MIN_SIZE_1,
)
from cython.cimports.kafkalog_reader.kernel.codes import (
    BAD_MESSAGE_CRC,
    BAD_MESSAGE_LENGTH,
    BAD_OFFSETS,
    BAD_WRAPPER_VALUE,
    NO_ROOM,
    NO_TIMESTAMP_TYPE,
    SOUND,
)
from cython.cimports.kafkalog_reader.kernel.message_fields_cy import measure_wrapper, parse_fields
from cython.cimports.kafkalog_reader.kernel.primitives import (
    copy,
    crc32,
    int32_at,
    int64_at,
    prepare_checksums,
    read_bytes,
    read_int16,
    read_int64,
    uint32_at,
    wrapping_subtract,
    write_bytes,
    write_int16,
    write_int32,
    write_int64,
)

prepare_checksums()


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def zigzag(value: cython.longlong) -> cython.ulonglong:
    """The zigzag code of a number: 0, -1, 1, -2 become 0, 1, 2, 3."""
    if value < 0:  # without a shift of the sign, which only C would drop
        return cython.cast(cython.ulonglong, -(value + 1)) * 2 + 1
    return cython.cast(cython.ulonglong, value) * 2


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def write_varint(
    target: cython.p_uchar, at: cython.Py_ssize_t, value: cython.longlong
) -> cython.Py_ssize_t:
    """Write a zigzag varint; return the position after it."""
    rest: cython.ulonglong = zigzag(value)
    while rest > 0x7F:
        target[at] = (rest & 0x7F) | 0x80
        at += 1
        rest >>= 7
    target[at] = rest & 0x7F
    return at + 1


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def varint_size(value: cython.longlong) -> cython.Py_ssize_t:
    """How many bytes ``write_varint`` writes."""
    size: cython.Py_ssize_t = 1
    rest: cython.ulonglong = zigzag(value)
    while rest > 0x7F:
        size += 1
        rest >>= 7
    return size


@cython.final
@cython.cclass
class MessageRewriter:
    """Rewrites messages and decompressed wrappers as records of magic 2.

    Args:
        source: a window with the entries.
        content: what the wrappers decompressed to.
        entries: has numpy arrays of one length: ``entry_position`` and ``entry_size`` (int64,
            within ``source``), ``content_start`` and ``content_stop`` (int64, within ``content``;
            of a wrapper), and of the headers ``last_offset``, ``max_timestamp``, ``attributes``.
            ``problem`` (int32) and ``problem_position`` (int64) are written where it was SOUND;
            other entries are passed over.
        target: room for the records: as long as the messages and the contents together.
        out: has numpy arrays of one length, one entry a batch of rewritten records: ``entry``
            (int64, where it comes from), ``payload_position``, ``payload_size``, ``base_offset``,
            ``base_timestamp`` (int64), ``last_offset_delta``, ``records_count`` (int32) and
            ``attributes`` (int16).
    """

    batches = cython.declare(cython.Py_ssize_t, visibility="readonly")
    """How many entries of ``out`` are filled."""
    size = cython.declare(cython.Py_ssize_t, visibility="readonly")
    """How many bytes of ``target`` are."""
    _source: cython.p_const_uchar
    _content: cython.p_const_uchar
    _available: cython.Py_ssize_t
    _content_available: cython.Py_ssize_t
    _count: cython.Py_ssize_t
    _entry_position: cython.pointer[cython.const[cython.longlong]]
    _entry_size: cython.pointer[cython.const[cython.longlong]]
    _content_start: cython.pointer[cython.const[cython.longlong]]
    _content_stop: cython.pointer[cython.const[cython.longlong]]
    _last_offset: cython.pointer[cython.const[cython.longlong]]
    _max_timestamp: cython.pointer[cython.const[cython.longlong]]
    _entry_attributes: cython.pointer[cython.const[cython.short]]
    _problem: cython.p_int
    _problem_position: cython.p_longlong
    _target: cython.p_uchar
    _room: cython.Py_ssize_t
    _capacity: cython.Py_ssize_t
    _entry: cython.p_longlong
    _payload_position: cython.p_longlong
    _payload_size: cython.p_longlong
    _base_offset: cython.p_longlong
    _base_timestamp: cython.p_longlong
    _last_offset_delta: cython.p_int
    _records_count: cython.p_int
    _attributes: cython.p_short
    _owners: object

    def __init__(
        self,
        source: cython.const[cython.uchar][::1],
        content: cython.const[cython.uchar][::1],
        entries: Any,
        target: Any,
        out: Any,
    ) -> None:
        self._owners = (source, content, entries, target, out)  # the pointers lead into them
        self._source = read_bytes(source)
        self._content = read_bytes(content)
        self._available = len(source)
        self._content_available = len(content)
        self._count = len(entries.entry_position)
        self._entry_position = read_int64(entries.entry_position)
        self._entry_size = read_int64(entries.entry_size)
        self._content_start = read_int64(entries.content_start)
        self._content_stop = read_int64(entries.content_stop)
        self._last_offset = read_int64(entries.last_offset)
        self._max_timestamp = read_int64(entries.max_timestamp)
        self._entry_attributes = read_int16(entries.attributes)
        self._problem = write_int32(entries.problem)
        self._problem_position = write_int64(entries.problem_position)
        for name in (
            "entry_size", "content_start", "content_stop", "last_offset", "max_timestamp",
            "attributes", "problem", "problem_position",
        ):  # fmt: skip
            if len(getattr(entries, name)) < self._count:
                raise ValueError(f"{name} has fewer than {self._count} entries")
        self._target = write_bytes(target)
        self._room = len(target)
        self._entry = write_int64(out.entry)
        self._payload_position = write_int64(out.payload_position)
        self._payload_size = write_int64(out.payload_size)
        self._base_offset = write_int64(out.base_offset)
        self._base_timestamp = write_int64(out.base_timestamp)
        self._last_offset_delta = write_int32(out.last_offset_delta)
        self._records_count = write_int32(out.records_count)
        self._attributes = write_int16(out.attributes)
        self._capacity = min(
            len(out.entry), len(out.payload_position), len(out.payload_size),
            len(out.base_offset), len(out.base_timestamp), len(out.last_offset_delta),
            len(out.records_count), len(out.attributes),
        )  # fmt: skip
        self.batches = self.size = 0

    def rewrite(self, first: cython.Py_ssize_t) -> int:
        """Rewrite the entries from number ``first`` on, into an empty ``out``.

        Returns:
            the first entry for which there was no room; the number of entries when all fitted.
        """
        entry: cython.Py_ssize_t = first
        problem: cython.int
        batches: cython.Py_ssize_t
        size: cython.Py_ssize_t
        if first < 0:
            raise ValueError(f"entry {first}")
        self.batches = self.size = 0
        with cython.nogil:
            while entry < self._count:
                if self._problem[entry] == SOUND:
                    batches = self.batches
                    size = self.size
                    problem = self._rewrite_entry(entry)
                    if problem != SOUND:
                        self.batches = batches
                        self.size = size
                        if problem == NO_ROOM:
                            break
                    self._problem[entry] = problem
                entry += 1
        return entry

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _rewrite_entry(self, entry: cython.Py_ssize_t) -> cython.int:
        at: cython.Py_ssize_t = self._entry_position[entry]
        size: cython.longlong = self._entry_size[entry]
        offset: cython.longlong = self._last_offset[entry]
        self._problem_position[entry] = 0
        if at < 0 or size < MIN_SIZE_0 or at > self._available or size > self._available - at:
            return BAD_MESSAGE_LENGTH
        if self._source[at + MAGIC_AT] == 1 and size < MIN_SIZE_1:
            return BAD_MESSAGE_LENGTH
        if offset < 0:
            return BAD_OFFSETS
        if (self._entry_attributes[entry] & CODEC_MASK) != 0:
            return self._rewrite_wrapper(entry, self._source[at + MAGIC_AT], offset)
        if self.batches >= self._capacity:
            return NO_ROOM
        self._begin(entry, offset, self._max_timestamp[entry], self._entry_attributes[entry])
        return self._append(self._source, self._available, at, at + size, 0, 0)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _rewrite_wrapper(
        self, entry: cython.Py_ssize_t, magic: cython.int, offset: cython.longlong
    ) -> cython.int:
        start: cython.longlong = self._content_start[entry]
        stop: cython.longlong = self._content_stop[entry]
        attributes: cython.short = self._entry_attributes[entry]
        lowest: cython.longlong
        base: cython.longlong
        inner: cython.longlong
        timestamp: cython.longlong
        at: cython.Py_ssize_t
        end: cython.Py_ssize_t
        problem: cython.int
        current: cython.int = -1
        if start < 0 or stop < start or stop > self._content_available:
            return BAD_WRAPPER_VALUE
        lowest, base, problem, at = measure_wrapper(self._content, start, stop, magic, offset)
        if problem != SOUND:
            self._problem_position[entry] = at - start
            return problem
        at = start
        while at < stop:
            self._problem_position[entry] = at - start
            end = at + LENGTH_END + int32_at(self._content, at + LENGTH_AT)
            if crc32(self._content, at + MESSAGE_CRC_COVERS_FROM, end) != uint32_at(
                self._content, at + MESSAGE_CRC_AT
            ):
                return BAD_MESSAGE_CRC
            inner = int64_at(self._content, at)
            timestamp = -1
            if self._content[at + MAGIC_AT] == 1:
                timestamp = int64_at(self._content, at + MESSAGE_TIMESTAMP_AT)
            if self._content[at + MAGIC_AT] != current:  # cleaners mixed them (KAFKA-4298)
                if self.batches >= self._capacity:
                    return NO_ROOM
                current = self._content[at + MAGIC_AT]
                self._begin(
                    entry,
                    base + lowest,
                    timestamp,
                    # the type is the wrapper's, but magic 0 stores no time to be of a type
                    attributes if current == 1 else (attributes & CODEC_MASK) | NO_TIMESTAMP_TYPE,
                )
            problem = self._append(
                self._content, self._content_available, at, end, inner - lowest, timestamp
            )
            if problem != SOUND:
                return problem
            at = end
        return SOUND

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def _begin(
        self,
        entry: cython.Py_ssize_t,
        base_offset: cython.longlong,
        base_timestamp: cython.longlong,
        attributes: cython.short,
    ) -> cython.void:
        batch: cython.Py_ssize_t = self.batches
        self._entry[batch] = entry
        self._payload_position[batch] = self.size
        self._payload_size[batch] = 0
        self._base_offset[batch] = base_offset
        self._base_timestamp[batch] = base_timestamp
        self._last_offset_delta[batch] = 0
        self._records_count[batch] = 0
        self._attributes[batch] = attributes
        self.batches = batch + 1

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def _append(
        self,
        source: cython.p_const_uchar,
        available: cython.Py_ssize_t,
        at: cython.Py_ssize_t,
        end: cython.Py_ssize_t,
        offset_delta: cython.longlong,
        timestamp: cython.longlong,
    ) -> cython.int:
        """Append one message to the last batch that was begun."""
        batch: cython.Py_ssize_t = self.batches - 1
        target: cython.p_uchar = self._target
        out: cython.Py_ssize_t = self.size
        key: cython.Py_ssize_t
        value: cython.Py_ssize_t
        key_length: cython.longlong
        value_length: cython.longlong
        problem: cython.int
        timestamp_delta: cython.longlong
        length: cython.longlong
        key, key_length, value, value_length, problem = parse_fields(source, at, end)
        if problem != SOUND:
            return problem
        if end - at > self._room - out:
            return NO_ROOM
        timestamp_delta = 0
        if self._records_count[batch] > 0:
            timestamp_delta = wrapping_subtract(timestamp, self._base_timestamp[batch])
        length = (
            2
            + varint_size(timestamp_delta)
            + varint_size(offset_delta)
            + varint_size(key_length)
            + varint_size(value_length)
            + max(key_length, 0)
            + max(value_length, 0)
        )
        out = write_varint(target, out, length)
        target[out] = 0  # attributes
        out = write_varint(target, out + 1, timestamp_delta)
        out = write_varint(target, out, offset_delta)
        out = write_varint(target, out, key_length)
        if key_length > 0:
            copy(target, out, source, key, key_length, min(self._room - out, available - key))
            out += key_length
        out = write_varint(target, out, value_length)
        if value_length > 0:
            copy(target, out, source, value, value_length, min(self._room - out, available - value))
            out += value_length
        target[out] = 0  # headers
        self.size = out + 1
        self._payload_size[batch] = self.size - self._payload_position[batch]
        self._last_offset_delta[batch] = cython.cast(
            cython.int, max(self._last_offset_delta[batch], offset_delta)
        )
        self._records_count[batch] += 1
        return SOUND
