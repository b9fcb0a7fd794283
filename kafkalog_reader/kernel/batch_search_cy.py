# cython: boundscheck=False, wraparound=False, initializedcheck=False
# ruff: noqa: ANN401  numpy arrays, whose types the compiled kernel checks itself
"""The first sound batch or message behind damage, searched byte by byte, in linear time.

Hostile bytes can offer millions of overlapping headers that look right. So no CRC is computed over
the bytes of a candidate: it follows from the CRC registers at its two ends, which follow from
registers noted every 16 bytes. A candidate that reaches beyond the window waits for the window
with its end, in a list for each 256 KiB. What waits is bounded: for want of room those go that
reach farthest, and they are counted, not forgotten in silence.
"""

from __future__ import annotations

from typing import Any

import cython
from cython.cimports.kafkalog_reader.kernel.codes import CHUNK, ENTRIES
from cython.cimports.kafkalog_reader.kernel.primitives import (
    int16_at,
    int32_at,
    int64_at,
    mark_candidates,
    next_mark,
    note_registers,
    prepare_checksums,
    prepare_crc_shift,
    read_bytes,
    register_at,
    shift_crc,
    uint32_at,
    write_bytes,
    write_int64,
    write_uint32,
)

prepare_checksums()


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def looks_like_batch(
    source: cython.p_const_uchar,
    at: cython.Py_ssize_t,
    left: cython.longlong,
    lowest: cython.longlong,
    highest: cython.longlong,
) -> cython.bint:
    """Whether 61 bytes are a header of magic 2 that contradicts nothing."""
    length: cython.longlong = int32_at(source, at + 8)
    base_offset: cython.longlong
    delta: cython.longlong
    count: cython.longlong
    if length < 49 or length > left - 12 or source[at + 21] != 0 or (source[at + 22] & 0x07) > 4:
        return False
    base_offset = int64_at(source, at)
    if base_offset < lowest or base_offset > highest:
        return False
    delta = int32_at(source, at + 23)
    count = int32_at(source, at + 57)
    if delta < 0 or count < 0 or count > delta + 1 or delta > highest - base_offset:
        return False
    if (source[at + 22] & 0x07) == 0 and count > (length - 49) // 7:
        return False
    return (
        int32_at(source, at + 12) >= -1
        and int64_at(source, at + 43) >= -1
        and int16_at(source, at + 51) >= -1
        and int32_at(source, at + 53) >= -1
    )


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def looks_like_message(
    source: cython.p_const_uchar,
    at: cython.Py_ssize_t,
    available: cython.Py_ssize_t,
    left: cython.longlong,
    lowest: cython.longlong,
    highest: cython.longlong,
) -> cython.bint:
    """Whether an entry of magic 0 or 1 whose key and value fill it begins here.

    Its first 26 bytes are ``available``, and whether it fits into ``left`` bytes is looked at.
    """
    length: cython.longlong = int32_at(source, at + 8)
    offset: cython.longlong
    key: cython.Py_ssize_t = at + 18
    smallest: cython.longlong = 14
    known: cython.int = 0x07
    key_length: cython.longlong
    value_length: cython.longlong
    if source[at + 16] == 1:
        key += 8
        smallest = 22
        known = 0x0F
    if length < smallest or length > left - 12 or (source[at + 17] & ~known) != 0:
        return False
    if (source[at + 17] & 0x07) > 3:
        return False
    offset = int64_at(source, at)
    if offset < lowest or offset > highest or available - key < 4:
        return False
    key_length = int32_at(source, key)
    if key_length < -1 or key_length > length - smallest:
        return False
    key_length = max(key_length, 0)
    if key_length > available - key - 8:
        return True  # the value's length is in a later window; the CRC will tell
    value_length = int32_at(source, key + 4 + key_length)
    if value_length < -1:
        return False
    return smallest + key_length + max(value_length, 0) == length


@cython.final
@cython.cclass
class BatchSearch:
    """A search that is fed windows in order until it knows.

    Args:
        room: has numpy arrays: ``registers`` and ``message_registers``, uint32, one entry more
            than a window has blocks of 16 bytes; ``waiting``, int64, 64 entries for 20 candidates
            of one list; ``waiting_lists``, int64, with 16384 entries, more than a
            batch has quarters of a mebibyte; and ``marks``, uint8, of as many positions as are
            looked at together.
        stop: position in the file that no batch reaches beyond.
        lowest: smallest base offset a batch may have.
        highest: greatest offset it may have.
        lookahead: how far behind a sound batch others that begin before it may still end.
    """

    found = cython.declare(cython.longlong, visibility="readonly")
    """Where the first sound batch begins; -1 without."""
    given_up = cython.declare(cython.longlong, visibility="readonly")
    """How many candidates were not looked at to their end, for want of room or of patience."""
    _stop: cython.longlong
    _lowest: cython.longlong
    _highest: cython.longlong
    _lookahead: cython.longlong
    _source: cython.p_const_uchar
    _size: cython.Py_ssize_t
    _origin: cython.longlong
    _registers: cython.p_uint
    _message_registers: cython.p_uint
    _blocks: cython.Py_ssize_t
    _marks: cython.p_uchar
    _marks_at_once: cython.Py_ssize_t
    _register: cython.uint
    _message_register: cython.uint
    _noted: cython.bint
    _messages_noted: cython.bint
    _rows: cython.p_longlong
    _lists: cython.p_longlong
    _current_list: cython.longlong
    _farthest_list: cython.longlong
    _free_chunk: cython.longlong
    _used: cython.longlong
    _capacity: cython.Py_ssize_t
    waiting = cython.declare(cython.Py_ssize_t, visibility="readonly")
    """How many candidates wait for the window with their end."""
    _messages_waiting: cython.Py_ssize_t
    _owners: object

    def __init__(
        self,
        room: Any,
        stop: cython.longlong,
        lowest: cython.longlong,
        highest: cython.longlong,
        lookahead: cython.longlong,
    ) -> None:
        prepare_crc_shift()
        self._owners = room  # the pointers lead into it
        self._registers = write_uint32(room.registers)
        self._message_registers = write_uint32(room.message_registers)
        self._blocks = min(len(room.registers), len(room.message_registers)) - 1
        self._marks = write_bytes(room.marks)
        self._marks_at_once = len(room.marks)
        self._rows = write_int64(room.waiting)
        self._lists = write_int64(room.waiting_lists)
        room.waiting_lists[:] = -1
        self._current_list = self._farthest_list = self._free_chunk = -1
        self._used = 0
        self._capacity = len(room.waiting) // CHUNK * CHUNK
        self._stop = stop
        self._lowest = lowest
        self._highest = highest
        self._lookahead = lookahead
        self.waiting = self._messages_waiting = 0
        self._register = self._message_register = 0
        self._noted = self._messages_noted = False
        self.found = -1
        self.given_up = 0

    def feed(self, window: cython.const[cython.uchar][::1], origin: cython.longlong) -> int:
        """Look at a window.

        Args:
            window: bytes of the log, more than 60 unless they reach ``stop``.
            origin: position in the file of its first byte: what the last call returned.

        Returns:
            where the next window shall begin; -1 when nothing more is needed.
        """
        is_last: cython.bint = origin + len(window) >= self._stop
        step: cython.Py_ssize_t = len(window) - 60
        if not is_last and step <= 0:
            raise ValueError(f"a window of {len(window)} bytes")
        if len(window) // 16 > self._blocks:
            raise ValueError(f"a window of {len(window)} bytes, room for {self._blocks} blocks")
        if is_last:
            step = len(window)
        self._source = read_bytes(window)
        self._size = len(window)
        self._origin = origin
        with cython.nogil:
            self._noted = self._messages_noted = False
            if self.waiting == self._messages_waiting:
                self._register = 0  # nobody remembers what came before
            if self._messages_waiting == 0:
                self._message_register = 0
            if self._current_list < 0:
                self._current_list = self._farthest_list = origin >> 18
            self._look_at_waiting()
            self._look_for_headers(step, is_last)
            if self.waiting > self._messages_waiting:
                self._register = self._register_at(step, True)
            if self._messages_waiting > 0:
                self._message_register = self._register_at(step, False)
        if is_last or (self.found >= 0 and self.waiting == 0):
            return -1
        if self.found >= 0 and origin + step - self.found > self._lookahead:
            self.given_up += self.waiting
            return -1
        return origin + step

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def _register_at(self, at: cython.Py_ssize_t, castagnoli: cython.bint) -> cython.uint:
        if castagnoli:
            if not self._noted:
                note_registers(True, self._registers, self._register, self._source, self._size)
                self._noted = True
            return register_at(True, self._registers, self._source, at, self._size)
        if not self._messages_noted:
            note_registers(
                False, self._message_registers, self._message_register, self._source, self._size
            )
            self._messages_noted = True
        return register_at(False, self._message_registers, self._source, at, self._size)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _look_at_waiting(self) -> cython.void:
        """Judge the candidates that end in this window; one list has some that end behind it."""
        chunk: cython.longlong
        following: cython.longlong
        kept: cython.longlong
        here: cython.longlong
        last: cython.longlong = (self._origin + self._size) >> 18
        if self.waiting == 0:
            self._current_list = last
            return
        while True:
            here = self._current_list & 16383
            chunk = self._lists[here]
            kept = -1
            while chunk >= 0:
                following = self._rows[chunk]
                if self._judge_chunk(chunk) == 0:
                    self._rows[chunk] = self._free_chunk
                    self._free_chunk = chunk
                else:
                    self._rows[chunk] = kept
                    kept = chunk
                chunk = following
            self._lists[here] = kept
            if self._current_list >= last:
                break
            self._current_list += 1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _judge_chunk(self, chunk: cython.longlong) -> cython.longlong:
        """Judge those of a chunk that end in this window; how many are left."""
        row: cython.longlong = chunk + 2
        stop: cython.longlong = row + 3 * self._rows[chunk + 1]
        kept: cython.longlong = row
        all_ones: cython.longlong = 0xFFFF_FFFF
        position: cython.longlong
        end: cython.longlong
        expected: cython.longlong
        while row < stop:
            position = self._rows[row]
            end = self._rows[row + 1]
            expected = self._rows[row + 2]
            row += 3
            if end > self._origin + self._size:
                self._rows[kept] = position
                self._rows[kept + 1] = end
                self._rows[kept + 2] = expected
                kept += 3
                continue
            self.waiting -= 1
            if expected > all_ones:
                self._messages_waiting -= 1
            if (self.found < 0 or position < self.found) and (
                self._register_at(end - self._origin, expected <= all_ones) == (expected & all_ones)
            ):
                self.found = position
        self._rows[chunk + 1] = (kept - chunk - 2) // 3
        return self._rows[chunk + 1]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _makes_room(self, end: cython.longlong) -> cython.bint:
        """Whether there is room for one that ends at ``end``, if need be for others that go."""
        chunk: cython.longlong = self._lists[(end >> 18) & 16383]
        row: cython.longlong
        if self._free_chunk >= 0 or self._used + CHUNK <= self._capacity:
            return True
        if chunk >= 0 and self._rows[chunk + 1] < ENTRIES:
            return True
        while self._farthest_list > self._current_list and (
            self._lists[self._farthest_list & 16383] < 0
        ):
            self._farthest_list -= 1
        if end >> 18 >= self._farthest_list:
            return False
        chunk = self._lists[self._farthest_list & 16383]
        self._lists[self._farthest_list & 16383] = -1
        while chunk >= 0:
            self.waiting -= self._rows[chunk + 1]
            self.given_up += self._rows[chunk + 1]
            for row in range(self._rows[chunk + 1]):
                if (self._rows[chunk + 4 + 3 * row] >> 32) != 0:
                    self._messages_waiting -= 1
            row = self._rows[chunk]
            self._rows[chunk] = self._free_chunk
            self._free_chunk = chunk
            chunk = row
        return True

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _look_for_headers(self, step: cython.Py_ssize_t, is_last: cython.bint) -> cython.void:
        """Judge the headers that begin in this window, in order, up to the first sound batch."""
        at: cython.Py_ssize_t = 0
        here: cython.Py_ssize_t
        count: cython.Py_ssize_t
        left: cython.longlong = self._stop - self._origin
        limit: cython.Py_ssize_t = step
        if is_last:
            limit = self._size - 25
        if self.found >= 0:
            limit = min(limit, max(self.found - self._origin, 0))
        while at < limit:
            count = min(limit - at, self._marks_at_once)
            mark_candidates(
                self._marks,
                self._source,
                at,
                count,
                self._size,
                self._lowest,
                self._highest,
                left - at,
            )
            here = next_mark(self._marks, 0, count)
            while here < count:
                if self._begins_sound(at + here, left - at - here):
                    self.found = self._origin + at + here
                    return
                here = next_mark(self._marks, here + 1, count)
            at += count

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def _begins_sound(self, at: cython.Py_ssize_t, left: cython.longlong) -> cython.bint:
        """Whether a sound batch or message begins here whose end is in the window too."""
        source: cython.p_const_uchar = self._source
        if source[at + 16] == 2:
            return (
                self._size - at >= 61
                and looks_like_batch(source, at, left, self._lowest, self._highest)
                and self._is_sound(at, True)
            )
        return (
            source[at + 16] < 2
            and looks_like_message(source, at, self._size, left, self._lowest, self._highest)
            and self._is_sound(at, False)
        )

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _is_sound(self, at: cython.Py_ssize_t, castagnoli: cython.bint) -> cython.bint:
        """Whether the CRC is right; one whose end is not here yet has to wait."""
        start: cython.Py_ssize_t = at + 21
        stored: cython.uint
        expected: cython.longlong
        end: cython.longlong = int32_at(self._source, at + 8)
        all_ones: cython.uint = 0xFFFF_FFFF
        end += at + 12
        if castagnoli:
            stored = uint32_at(self._source, at + 17)
        else:
            start = at + 16
            stored = uint32_at(self._source, at + 12)
        if end > self._size and not self._makes_room(self._origin + end):
            self.given_up += 1
            return False
        # The CRC of a range is that of all bytes before its end, without that before its start
        # followed by as many zeros as the range is long.
        expected = shift_crc(
            castagnoli, self._register_at(start, castagnoli) ^ all_ones, end - start
        )
        expected = expected ^ stored ^ all_ones
        if end <= self._size:
            return self._register_at(end, castagnoli) == expected
        if not castagnoli:
            expected += cython.cast(cython.longlong, all_ones) + 1
        self._wait(self._origin + at, self._origin + end, expected)
        return False

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def _wait(
        self, position: cython.longlong, end: cython.longlong, expected: cython.longlong
    ) -> cython.void:
        number: cython.longlong = end >> 18
        chunk: cython.longlong = self._lists[number & 16383]
        following: cython.longlong = chunk
        row: cython.longlong
        if chunk < 0 or self._rows[chunk + 1] == ENTRIES:
            chunk = self._free_chunk
            if chunk >= 0:
                self._free_chunk = self._rows[chunk]
            else:
                chunk = self._used
                self._used += CHUNK
            self._rows[chunk] = following
            self._rows[chunk + 1] = 0
            self._lists[number & 16383] = chunk
        row = chunk + 2 + 3 * self._rows[chunk + 1]
        self._rows[chunk + 1] += 1
        self._rows[row] = position
        self._rows[row + 1] = end
        self._rows[row + 2] = expected
        self._farthest_list = max(self._farthest_list, number)
        self.waiting += 1
        if (expected >> 32) != 0:
            self._messages_waiting += 1
