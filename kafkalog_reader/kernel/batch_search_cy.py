# cython: boundscheck=False, wraparound=False, initializedcheck=False, nonecheck=False
# ruff: noqa: ANN401  numpy arrays, whose types the compiled kernel checks itself
"""The first sound batch or message behind damage, searched byte by byte, in linear time.

Hostile bytes can offer millions of overlapping headers that look right. So no CRC is computed over
the bytes of a candidate: it follows from the registers at its two ends (``prefix_registers``). A
candidate that reaches beyond the window waits for the window with its end.
"""

from __future__ import annotations

from typing import Any

import cython
from cython.cimports.kafkalog_reader.kernel.plausible_entries_cy import keep_plausible
from cython.cimports.kafkalog_reader.kernel.prefix_registers_cy import PrefixRegisters
from cython.cimports.kafkalog_reader.kernel.primitives import (
    int32_at,
    list_candidates,
    read_bytes,
    write_bytes,
    write_int32,
    write_uint32,
)
from cython.cimports.kafkalog_reader.kernel.waiting_candidates_cy import WaitingCandidates

_MANY = cython.declare(cython.Py_ssize_t, 64)
"""Candidates of which more than half find no room: the next are asked for room first."""


@cython.final
@cython.cclass
class BatchSearch:
    """A search that is fed windows in order until it knows.

    Args:
        room: has the numpy arrays that ``PrefixRegisters`` and ``WaitingCandidates`` want; and
            ``marks``, uint8, of as many positions as are looked at together, ``positions``,
            int32, 16 longer, and ``differences``, uint32, as long.
        stop: position in the file that no batch reaches beyond.
        lowest: smallest base offset a batch may have.
        highest: greatest offset it may have.
        lookahead: how far behind a sound batch others that begin before it may still end.
    """

    found = cython.declare(cython.longlong, visibility="readonly")
    """Where the first sound batch begins; -1 without."""
    _given_up: cython.longlong
    _is_crowded: cython.bint
    _stop: cython.longlong
    _lowest: cython.longlong
    _highest: cython.longlong
    _lookahead: cython.longlong
    _source: cython.p_const_uchar
    _size: cython.Py_ssize_t
    _origin: cython.longlong
    _marks: cython.p_uchar
    _positions: cython.p_int
    _differences: cython.p_uint
    _at_once: cython.Py_ssize_t
    _registers: PrefixRegisters
    _waiting: WaitingCandidates
    _owners: object

    def __init__(
        self,
        room: Any,
        stop: cython.longlong,
        lowest: cython.longlong,
        highest: cython.longlong,
        lookahead: cython.longlong,
    ) -> None:
        self._owners = room  # the pointers lead into it
        self._registers = PrefixRegisters(room)
        self._waiting = WaitingCandidates(room)
        self._marks = write_bytes(room.marks)
        self._positions = write_int32(room.positions)
        self._differences = write_uint32(room.differences)
        self._at_once = min(len(room.marks), len(room.positions) - 16, len(room.differences))
        self._stop = stop
        self._lowest = lowest
        self._highest = highest
        self._lookahead = lookahead
        self._given_up = 0
        self._is_crowded = False
        self.found = -1

    @property
    def waiting(self) -> int:
        """How many candidates wait for the window with their end."""
        return self._waiting.count

    @property
    def given_up(self) -> int:
        """How many candidates were not looked at to their end, for want of room or of patience.

        Where most find no room, the fields of the others that do not are not looked at either.
        """
        return self._given_up + self._waiting.given_up

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
        if len(window) // 16 > self._registers.blocks:
            raise ValueError(
                f"a window of {len(window)} bytes, room for {self._registers.blocks} blocks"
            )
        if is_last:
            step = len(window)
        self._source = read_bytes(window)
        self._size = len(window)
        self._origin = origin
        with cython.nogil:
            self._registers.begin(self._source, self._size)
            self.found = self._waiting.judge(self._registers, origin, self._size, self.found)
            self._look_for_headers(step, is_last)
            self._registers.carry(step, self._waiting.count > 0)
        if is_last or (self.found >= 0 and self._waiting.count == 0):
            return -1
        if self.found >= 0 and origin + step - self.found > self._lookahead:
            self._given_up += self._waiting.count
            return -1
        return origin + step

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _look_for_headers(self, step: cython.Py_ssize_t, is_last: cython.bint) -> cython.void:
        """Judge the headers that begin in this window, in order, up to the first sound batch."""
        at: cython.Py_ssize_t = 0
        count: cython.Py_ssize_t
        listed: cython.Py_ssize_t
        is_crowded: cython.bint
        left: cython.longlong = self._stop - self._origin
        limit: cython.Py_ssize_t = step
        if is_last:
            limit = self._size - 25
        if self.found >= 0:
            limit = min(limit, max(self.found - self._origin, 0))
        while at < limit:
            count = min(limit - at, self._at_once)
            listed = list_candidates(
                self._positions,
                self._marks,
                self._source,
                at,
                count,
                self._size,
                self._lowest,
                self._highest,
                left - at,
            )
            is_crowded = self._is_crowded
            if is_crowded:  # most will go: before their fields are looked at
                listed = self._keep_those_with_room(listed, left)
            if listed > 0:
                listed = keep_plausible(
                    self._positions,
                    listed,
                    self._source,
                    self._size,
                    left,
                    self._lowest,
                    self._highest,
                )
            if not is_crowded:
                listed = self._keep_those_with_room(listed, left)
            if listed > 0 and self._finds_sound(listed):
                return
            at += count

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _keep_those_with_room(
        self, count: cython.Py_ssize_t, left: cython.longlong
    ) -> cython.Py_ssize_t:
        """Of the listed candidates those that end here, or find room to wait now."""
        row: cython.Py_ssize_t
        at: cython.Py_ssize_t
        end: cython.longlong
        kept: cython.Py_ssize_t = 0
        number: cython.longlong = -1
        has_room: cython.bint = False
        positions: cython.p_int = self._positions
        source: cython.p_const_uchar = self._source
        size: cython.Py_ssize_t = self._size
        given_up: cython.Py_ssize_t = count
        if self._waiting.is_roomy(count):
            self._is_crowded = False
            return count
        for row in range(count):
            at = positions[row]
            end = int32_at(source, at + 8)
            end += at + 12
            positions[kept] = cython.cast(cython.int, at)
            if end <= size:
                kept += 1
                continue
            if end > left:
                given_up -= 1  # it is none
                continue
            end += self._origin
            if (end - 1) >> 18 != number:  # one answer for all of a list
                number = (end - 1) >> 18
                has_room = self._waiting.has_room(end)
            kept += has_room
        self._given_up += given_up - kept
        self._is_crowded = count >= _MANY and 2 * kept < count
        return kept

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _finds_sound(self, count: cython.Py_ssize_t) -> cython.bint:
        """Whether the CRC of a listed candidate is right; those without their end here wait."""
        row: cython.Py_ssize_t
        at: cython.Py_ssize_t
        end: cython.longlong
        before: cython.Py_ssize_t = count
        self._registers.differences(self._differences, self._positions, count)
        for row in range(count):
            if self._differences[row] == 0:
                at = self._positions[row]
                end = int32_at(self._source, at + 8)
                if end + at + 12 <= self._size:
                    before = row
                    break
        self._waiting.add(
            self._positions, self._differences, before, self._source, self._size, self._origin
        )
        if before == count:
            return False
        self.found = self._origin + self._positions[before]
        return True
