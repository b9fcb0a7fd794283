# cython: boundscheck=False, wraparound=False, initializedcheck=False
# ruff: noqa: ANN401  numpy arrays, whose types the compiled kernel checks itself
"""The first sound batch or message behind damage, searched byte by byte, in linear time.

Hostile bytes can offer millions of overlapping headers that look right. So no CRC is computed over
the bytes of a candidate: it follows from the CRC registers at its two ends, which follow from
registers noted every 16 bytes. A candidate that reaches beyond the window waits for the window
with its end, in a list for each mebibyte. What waits is bounded: for want of room those go that
reach farthest, and they are counted, not forgotten in silence.
"""

from __future__ import annotations

from typing import Any

import cython
from cython.cimports.kafkalog_reader.kernel.primitives import (
    int16_at,
    int32_at,
    int64_at,
    lowest_bit,
    may_begin,
    note_registers,
    prepare_checksums,
    prepare_crc_shift,
    read_bytes,
    register_at,
    shift_crc,
    uint32_at,
    write_int64,
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
        room: has int64 numpy arrays: ``registers`` and ``message_registers``, one entry more than
            a window has blocks of 16 bytes; ``waiting_position``, ``waiting_end``,
            ``waiting_register`` and ``waiting_next`` of one length; ``waiting_lists`` with 4096
            entries, more than a batch has mebibytes.
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
    _registers: cython.p_longlong
    _message_registers: cython.p_longlong
    _blocks: cython.Py_ssize_t
    _register: cython.uint
    _message_register: cython.uint
    _noted: cython.bint
    _messages_noted: cython.bint
    _waiting_position: cython.p_longlong
    _waiting_end: cython.p_longlong
    _waiting_register: cython.p_longlong
    _waiting_next: cython.p_longlong
    _lists: cython.p_longlong
    _current_list: cython.longlong
    _farthest_list: cython.longlong
    _free_row: cython.longlong
    _used_rows: cython.longlong
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
        self._registers = write_int64(room.registers)
        self._message_registers = write_int64(room.message_registers)
        self._blocks = min(len(room.registers), len(room.message_registers)) - 1
        self._waiting_position = write_int64(room.waiting_position)
        self._waiting_end = write_int64(room.waiting_end)
        self._waiting_register = write_int64(room.waiting_register)
        self._waiting_next = write_int64(room.waiting_next)
        self._lists = write_int64(room.waiting_lists)
        room.waiting_lists[:] = -1
        self._current_list = self._farthest_list = self._free_row = -1
        self._used_rows = 0
        self._capacity = min(
            len(room.waiting_position),
            len(room.waiting_end),
            len(room.waiting_register),
            len(room.waiting_next),
        )
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
                self._current_list = self._farthest_list = origin >> 20
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
        row: cython.longlong
        following: cython.longlong
        kept: cython.longlong
        here: cython.longlong
        last: cython.longlong = (self._origin + self._size) >> 20
        if self.waiting == 0:
            self._current_list = last
            return
        while True:
            here = self._current_list & 4095
            row = self._lists[here]
            kept = -1
            while row >= 0:
                following = self._waiting_next[row]
                if self._waiting_end[row] <= self._origin + self._size:
                    self._judge_waiting(row)
                    self._release(row)
                else:
                    self._waiting_next[row] = kept
                    kept = row
                row = following
            self._lists[here] = kept
            if self._current_list >= last:
                break
            self._current_list += 1

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def _judge_waiting(self, row: cython.longlong) -> cython.void:
        expected: cython.longlong = self._waiting_register[row]
        all_ones: cython.longlong = 0xFFFF_FFFF
        end: cython.Py_ssize_t = self._waiting_end[row] - self._origin
        if self.found >= 0 and self._waiting_position[row] > self.found:
            return
        if self._register_at(end, expected <= all_ones) == (expected & all_ones):
            self.found = self._waiting_position[row]

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def _release(self, row: cython.longlong) -> cython.void:
        self.waiting -= 1
        if (self._waiting_register[row] >> 32) != 0:
            self._messages_waiting -= 1
        self._waiting_next[row] = self._free_row
        self._free_row = row

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _makes_room(self, end: cython.longlong) -> cython.bint:
        """Whether there is room for one that ends at ``end``, if need be for others that go."""
        row: cython.longlong
        following: cython.longlong
        if self.waiting < self._capacity:
            return True
        while self._farthest_list > self._current_list and (
            self._lists[self._farthest_list & 4095] < 0
        ):
            self._farthest_list -= 1
        if end >> 20 >= self._farthest_list:
            return False
        row = self._lists[self._farthest_list & 4095]
        self._lists[self._farthest_list & 4095] = -1
        while row >= 0:
            following = self._waiting_next[row]
            self._release(row)
            self.given_up += 1
            row = following
        return True

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _look_for_headers(self, step: cython.Py_ssize_t, is_last: cython.bint) -> cython.void:
        """Judge the headers that begin in this window, in order, up to the first sound batch."""
        at: cython.Py_ssize_t = 0
        here: cython.Py_ssize_t
        left: cython.longlong = self._stop - self._origin
        limit: cython.Py_ssize_t = step
        may: cython.ulonglong
        if is_last:
            limit = self._size - 25
        if self.found >= 0:
            limit = min(limit, max(self.found - self._origin, 0))
        while at < limit:
            may = may_begin(self._source, at, self._size, self._lowest, self._highest, left - at)
            while may != 0:
                here = at + lowest_bit(may)
                may = may & (may - 1)
                if here < limit and self._begins_sound(here, left - here):
                    self.found = self._origin + here
                    return
            at += 64

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
        row: cython.longlong = self._free_row
        number: cython.longlong = end >> 20
        if row >= 0:
            self._free_row = self._waiting_next[row]
        else:
            row = self._used_rows
            self._used_rows += 1
        self._waiting_position[row] = position
        self._waiting_end[row] = end
        self._waiting_register[row] = expected
        self._waiting_next[row] = self._lists[number & 4095]
        self._lists[number & 4095] = row
        self._farthest_list = max(self._farthest_list, number)
        self.waiting += 1
        if (expected >> 32) != 0:
            self._messages_waiting += 1
