# cython: boundscheck=False, wraparound=False, initializedcheck=False
# ruff: noqa: ANN401  numpy arrays, whose types the compiled kernel checks itself
"""The first sound batch or message behind damage, searched byte by byte, in linear time.

Hostile bytes can offer millions of overlapping headers that look right. So no CRC is computed over
the bytes of a candidate: it follows from the CRC registers at its two ends, which follow from
registers noted every 64 bytes. A candidate that reaches beyond the window waits for the window
with its end. What waits is bounded; what finds no room is counted, not forgotten in silence.
"""

from __future__ import annotations

from typing import Any

import cython
from cython.cimports.kafkalog_reader.kernel.primitives import (
    extend_crc,
    int16_at,
    int32_at,
    int64_at,
    may_begin,
    prepare_checksums,
    prepare_crc_shift,
    read_bytes,
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
            a window has blocks of 64 bytes; ``waiting_position``, ``waiting_end`` and
            ``waiting_register`` of one length.
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
    _capacity: cython.Py_ssize_t
    _waiting: cython.Py_ssize_t
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
        self._capacity = min(
            len(room.waiting_position), len(room.waiting_end), len(room.waiting_register)
        )
        self._stop = stop
        self._lowest = lowest
        self._highest = highest
        self._lookahead = lookahead
        self._waiting = self._messages_waiting = 0
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
        if len(window) // 64 > self._blocks:
            raise ValueError(f"a window of {len(window)} bytes, room for {self._blocks} blocks")
        if is_last:
            step = len(window)
        self._source = read_bytes(window)
        self._size = len(window)
        self._origin = origin
        with cython.nogil:
            self._noted = self._messages_noted = False
            if self._waiting == self._messages_waiting:
                self._register = 0  # nobody remembers what came before
            if self._messages_waiting == 0:
                self._message_register = 0
            self._look_at_waiting()
            self._look_for_headers(step, is_last)
            if self._waiting > self._messages_waiting:
                self._register = self._register_at(step, True)
            if self._messages_waiting > 0:
                self._message_register = self._register_at(step, False)
        if is_last or (self.found >= 0 and not self._waits_before(self.found)):
            return -1
        if self.found >= 0 and origin + step - self.found > self._lookahead:
            self.given_up += self._waiting
            return -1
        return origin + step

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _waits_before(self, position: cython.longlong) -> cython.bint:
        row: cython.Py_ssize_t
        found: cython.bint = False
        for row in range(self._waiting):
            found = found or self._waiting_position[row] < position
        return found

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _note_registers(self, castagnoli: cython.bint) -> cython.void:
        """Note the register before every block of 64 bytes of the window."""
        block: cython.Py_ssize_t
        registers: cython.p_longlong = self._registers
        register: cython.uint = self._register
        if not castagnoli:
            registers = self._message_registers
            register = self._message_register
        for block in range(self._size // 64):
            registers[block] = register
            register = extend_crc(castagnoli, register, self._source, 64 * block, 64 * block + 64)
        registers[self._size // 64] = register

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def _register_at(self, at: cython.Py_ssize_t, castagnoli: cython.bint) -> cython.uint:
        block: cython.Py_ssize_t = at // 64
        register: cython.uint
        if castagnoli:
            if not self._noted:
                self._note_registers(True)
                self._noted = True
            register = cython.cast(cython.uint, self._registers[block])
        else:
            if not self._messages_noted:
                self._note_registers(False)
                self._messages_noted = True
            register = cython.cast(cython.uint, self._message_registers[block])
        return extend_crc(castagnoli, register, self._source, 64 * block, at)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _look_at_waiting(self) -> cython.void:
        """Judge the candidates that end in this window."""
        row: cython.Py_ssize_t
        kept: cython.Py_ssize_t = 0
        messages: cython.Py_ssize_t = 0
        position: cython.longlong
        end: cython.longlong
        expected: cython.longlong
        castagnoli: cython.bint
        all_ones: cython.longlong = 0xFFFF_FFFF
        for row in range(self._waiting):
            position = self._waiting_position[row]
            end = self._waiting_end[row]
            expected = self._waiting_register[row]
            if self.found >= 0 and position > self.found:
                continue
            castagnoli = expected <= all_ones
            if end <= self._origin + self._size:
                if self._register_at(end - self._origin, castagnoli) == (expected & all_ones):
                    self.found = position
                continue
            self._waiting_position[kept] = position
            self._waiting_end[kept] = end
            self._waiting_register[kept] = expected
            kept += 1
            if not castagnoli:
                messages += 1
        self._waiting = kept
        self._messages_waiting = messages

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _look_for_headers(self, step: cython.Py_ssize_t, is_last: cython.bint) -> cython.void:
        """Judge the headers that begin in this window, in order, up to the first sound batch."""
        source: cython.p_const_uchar = self._source
        at: cython.Py_ssize_t
        left: cython.longlong = self._stop - self._origin
        highest_byte: cython.int = cython.cast(cython.int, self._highest >> 56)
        lowest_byte: cython.int = cython.cast(cython.int, self._lowest >> 56)
        limit: cython.Py_ssize_t = step
        if is_last:
            limit = self._size - 25
        if self.found >= 0:
            limit = min(limit, max(self.found - self._origin, 0))
        at = -1
        while at + 1 < limit:
            at += 1
            if at % 64 == 0 and self._size - at >= 92:
                while at + 64 < limit and not may_begin(source, at, lowest_byte, highest_byte):
                    at += 64
                    if self._size - at < 92:
                        break
            if source[at + 16] > 2 or source[at] > highest_byte or source[at] < lowest_byte:
                continue
            if source[at + 16] == 2:
                if self._size - at < 61 or not looks_like_batch(
                    source, at, left - at, self._lowest, self._highest
                ):
                    continue
                if self._is_sound(at, True):
                    self.found = self._origin + at
                    break
            elif looks_like_message(
                source, at, self._size, left - at, self._lowest, self._highest
            ) and self._is_sound(at, False):
                self.found = self._origin + at
                break

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
        if end > self._size and self._waiting >= self._capacity:
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
        self._waiting_position[self._waiting] = self._origin + at
        self._waiting_end[self._waiting] = self._origin + end
        if not castagnoli:
            expected += cython.cast(cython.longlong, all_ones) + 1
            self._messages_waiting += 1
        self._waiting_register[self._waiting] = expected
        self._waiting += 1
        return False
