# cython: boundscheck=False, wraparound=False, initializedcheck=False, nonecheck=False
"""Searches every byte after damage for the next sound batch or message.

A batch is sound if its fields are consistent and its CRC is correct. Hostile bytes can contain
millions of overlapping headers, so a budget limits how many bytes are checksummed, and candidates
beyond it are counted. The checks of fields accept everything that any release ever wrote.
"""

from __future__ import annotations

from array import array

import cython
from cython.cimports.kafkalog_reader.format.batch_fields import (
    ATTRIBUTES_AT,
    BASE_SEQUENCE_AT,
    CODEC_MASK,
    CRC_AT,
    CRC_COVERS_FROM,
    HEADER_SIZE,
    LAST_CODEC,
    LAST_MESSAGE_CODEC,
    LAST_OFFSET_DELTA_AT,
    LEADER_EPOCH_AT,
    LENGTH_AT,
    LENGTH_END,
    LOG_APPEND_TIME_BIT,
    MAGIC_AT,
    MESSAGE_ATTRIBUTES_AT,
    MESSAGE_CRC_AT,
    MESSAGE_CRC_COVERS_FROM,
    MESSAGE_TIMESTAMP_AT,
    MESSAGE_TIMESTAMP_SIZE,
    MIN_LENGTH_0,
    MIN_LENGTH_2,
    MIN_SIZE_0,
    PRODUCER_EPOCH_AT,
    PRODUCER_ID_AT,
    RECORDS_COUNT_AT,
)
from cython.cimports.kafkalog_reader.kernel.primitives import (
    crc32,
    crc32c,
    int16_at,
    int32_at,
    int64_at,
    prepare_checksums,
    read_bytes,
    uint32_at,
    write_bytes,
)

prepare_checksums()

_PER_BYTE = cython.declare(cython.longlong, 8)
"""Each byte passed adds this many bytes to the budget."""
_PER_CANDIDATE = cython.declare(cython.longlong, 256)
_PER_READ = cython.declare(cython.longlong, 1 << 16)


@cython.final
@cython.cclass
class BatchSearch:
    """A search that is given one window after another until it has an answer.

    Args:
        stop: position in the file beyond which no batch may reach.
        lowest: smallest base offset of a batch.
        highest: greatest offset of a batch.
        max_size: maximum size of a batch in bytes.
        budget: how many bytes of false batches may be checksummed, in addition to eight for each
            byte that is passed.
    """

    found = cython.declare(cython.longlong, visibility="readonly")
    """Where the first sound batch begins; -1 if none was found."""
    wanted = cython.declare(cython.longlong, visibility="readonly")
    """Minimum size of the next window, for the batch that may begin there; 0 if any will do."""
    budget = cython.declare(cython.longlong, visibility="readonly")
    """How much of the budget is left."""
    given_up = cython.declare(cython.longlong, visibility="readonly")
    """How many possible batches were not checked because the budget was used up."""
    _stop: cython.longlong
    _lowest: cython.longlong
    _highest: cython.longlong
    _max_size: cython.longlong
    _offset_bytes: object
    _begins_offset: cython.p_uchar

    def __init__(
        self,
        stop: cython.longlong,
        lowest: cython.longlong,
        highest: cython.longlong,
        max_size: cython.longlong,
        budget: cython.longlong,
    ) -> None:
        self._stop = stop
        self._lowest = lowest
        self._highest = highest
        self._max_size = max_size
        self.budget = budget
        self.found = -1
        self.wanted = self.given_up = 0
        self._offset_bytes = _first_bytes_of_offsets(lowest, highest)
        self._begins_offset = write_bytes(self._offset_bytes)

    def feed(self, window: cython.const[cython.uchar][::1], origin: cython.longlong) -> int:
        """Search a window.

        Args:
            window: bytes of the log, at least ``wanted``, and more than 60 unless they reach
                ``stop``.
            origin: position in the file of its first byte: what the last call returned.

        Returns:
            where the next window must begin; -1 if the search has ended.
        """
        size: cython.Py_ssize_t = len(window)
        is_last: cython.bint = origin + size >= self._stop
        limit: cython.Py_ssize_t = size - HEADER_SIZE + 1
        at: cython.Py_ssize_t
        if is_last:
            limit = max(size - MIN_SIZE_0 + 1, 0)
        elif limit <= 0:
            raise ValueError(f"a window of {size} bytes")
        self.wanted = 0
        source: cython.p_const_uchar = read_bytes(window)
        with cython.nogil:
            at = self._first_in(source, size, limit, self._stop - origin)
        self.budget += _PER_BYTE * at
        if at < limit and self.wanted == 0:
            self.found = origin + at
            return -1
        if at >= limit and is_last:
            return -1
        return origin + at

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _first_in(
        self,
        source: cython.p_const_uchar,
        size: cython.Py_ssize_t,
        limit: cython.Py_ssize_t,
        left: cython.longlong,
    ) -> cython.Py_ssize_t:
        """The first position below ``limit`` of a sound batch, or of one that needs a new window.

        Four positions are dropped at once where the byte that is part of the upper half of the
        offset in each of them cannot be, or where their lengths would be zero.
        """
        at: cython.Py_ssize_t = 0
        behind: cython.Py_ssize_t
        begins_offset: cython.p_uchar = self._begins_offset
        while at < limit:
            if begins_offset[source[at + 3]] == 0:
                at += 4
                continue
            if int64_at(source, at + LENGTH_AT) == 0:
                at += 4
                while at + 32 <= limit and _are_zeros(source, at + LENGTH_AT):
                    at += 29
                continue
            behind = min(at + 4, limit)
            while at < behind:
                if self._may_begin(source, at, size, left - at) and self._ends_search(
                    source, at, size
                ):
                    return at
                at += 1
        return limit

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def _may_begin(
        self,
        source: cython.p_const_uchar,
        at: cython.Py_ssize_t,
        size: cython.Py_ssize_t,
        left: cython.longlong,
    ) -> cython.bint:
        """Whether a batch or message with consistent fields begins at a position."""
        offset: cython.longlong = int64_at(source, at)
        length: cython.longlong = int32_at(source, at + LENGTH_AT)
        if source[at + MAGIC_AT] > 2 or offset < self._lowest or offset > self._highest:
            return False
        if (
            length < MIN_LENGTH_0
            or length > left - LENGTH_END
            or length > self._max_size - LENGTH_END
        ):
            return False
        if source[at + MAGIC_AT] == 2:
            return size - at >= HEADER_SIZE and _looks_like_batch(
                source, at, length, self._highest - offset
            )
        return _looks_like_message(source, at, size, length)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _ends_search(
        self, source: cython.p_const_uchar, at: cython.Py_ssize_t, size: cython.Py_ssize_t
    ) -> cython.bint:
        """Whether the CRC at a position is right, or needs a window that begins there."""
        end: cython.longlong = int32_at(source, at + LENGTH_AT)
        end += at + LENGTH_END
        cost: cython.longlong = end - at + _PER_CANDIDATE
        if end > size:
            cost += end - at + _PER_READ
        if cost > self.budget:
            self.given_up += 1
            return False
        if end > size:
            self.budget -= end - at + _PER_READ
            self.wanted = end - at
            return True
        self.budget -= cost
        if source[at + MAGIC_AT] == 2:
            return crc32c(source, at + CRC_COVERS_FROM, end) == uint32_at(source, at + CRC_AT)
        return crc32(source, at + MESSAGE_CRC_COVERS_FROM, end) == uint32_at(
            source, at + MESSAGE_CRC_AT
        )


def _first_bytes_of_offsets(lowest: cython.longlong, highest: cython.longlong) -> array[int]:
    """For each value of a byte: whether an offset in the range can have it in its first four."""
    allowed = array("B", bytes(256))
    for shift in (56, 48, 40, 32):
        first: cython.longlong = lowest >> shift
        last: cython.longlong = highest >> shift
        for value in range(first, min(last, first + 255) + 1):
            allowed[value & 255] = 1
    return allowed


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _are_zeros(source: cython.p_const_uchar, at: cython.Py_ssize_t) -> cython.bint:
    """Whether 32 bytes are zeros."""
    first: cython.longlong = int64_at(source, at) | int64_at(source, at + 8)
    second: cython.longlong = int64_at(source, at + 16) | int64_at(source, at + 24)
    return (first | second) == 0


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _looks_like_batch(
    source: cython.p_const_uchar,
    at: cython.Py_ssize_t,
    length: cython.longlong,
    max_delta: cython.longlong,
) -> cython.bint:
    """Whether 61 bytes are a consistent header of magic 2."""
    delta: cython.longlong = int32_at(source, at + LAST_OFFSET_DELTA_AT)
    count: cython.longlong = int32_at(source, at + RECORDS_COUNT_AT)
    codec: cython.int = source[at + ATTRIBUTES_AT + 1] & CODEC_MASK
    if length < MIN_LENGTH_2 or source[at + ATTRIBUTES_AT] != 0 or codec > LAST_CODEC:
        return False
    if delta < 0 or delta > max_delta or count < 0 or count > delta + 1:
        return False
    if codec == 0 and 7 * count > length - MIN_LENGTH_2:
        return False
    return (
        int32_at(source, at + LEADER_EPOCH_AT) >= -1
        and int64_at(source, at + PRODUCER_ID_AT) >= -1
        and int16_at(source, at + PRODUCER_EPOCH_AT) >= -1
        and int32_at(source, at + BASE_SEQUENCE_AT) >= -1
    )


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _looks_like_message(
    source: cython.p_const_uchar,
    at: cython.Py_ssize_t,
    size: cython.Py_ssize_t,
    length: cython.longlong,
) -> cython.bint:
    """Whether an entry of magic 0 or 1 begins here that its key and value fill exactly.

    Its first 26 bytes are in the window. If its value's length is not, only the CRC decides.
    """
    magic: cython.Py_ssize_t = source[at + MAGIC_AT]
    attributes: cython.int = source[at + MESSAGE_ATTRIBUTES_AT]
    key: cython.Py_ssize_t = at + MESSAGE_TIMESTAMP_AT + MESSAGE_TIMESTAMP_SIZE * magic
    rest: cython.longlong = length - MIN_LENGTH_0 - MESSAGE_TIMESTAMP_SIZE * magic
    key_length: cython.longlong
    value_length: cython.longlong
    if rest < 0 or (attributes & ~(CODEC_MASK | LOG_APPEND_TIME_BIT)) != 0:
        return False
    if (attributes & CODEC_MASK) > LAST_MESSAGE_CODEC or (magic == 0 and attributes > CODEC_MASK):
        return False
    if size - key < 4:
        return False
    key_length = int32_at(source, key)
    if key_length < -1 or key_length > rest:
        return False
    key_length = max(key_length, 0)
    if key_length > size - key - 8:
        return True
    value_length = int32_at(source, key + 4 + key_length)
    return value_length >= -1 and key_length + max(value_length, 0) == rest
