# cython: boundscheck=False, wraparound=False, initializedcheck=False, nonecheck=False
# ruff: noqa: ANN401  numpy arrays, whose types the compiled kernel checks itself
"""Candidates that wait for the window with their end, in a list for each 256 KiB.

Their number is bounded: for want of room those go that reach farthest, and they are counted, not
forgotten in silence.
"""

from __future__ import annotations

from array import array
from typing import Any

import cython
from cython.cimports.kafkalog_reader.kernel.codes import CHUNK, ENTRIES
from cython.cimports.kafkalog_reader.kernel.prefix_registers_cy import PrefixRegisters  # noqa: TC002
from cython.cimports.kafkalog_reader.kernel.primitives import (
    write_int32,
    write_int64,
    write_uint32,
)


@cython.final
@cython.cclass
class WaitingCandidates:
    """Lists of candidates by their end; what C needs to know stands in the ``.pxd``.

    A list is a chain of chunks: the next chunk, how many candidates, and of each its position and
    in one number the register that is demanded at its end, whether it is a message, and its end.

    Args:
        room: has numpy arrays, int64: ``waiting``, 64 entries for 31 candidates of one list, and
            ``waiting_lists``, 16384 entries, more than a batch has quarters of a mebibyte.

    Attributes:
        count: how many wait.
        given_up: how many went, or did not come in, for want of room.
    """

    def __init__(self, room: Any) -> None:
        ends = array("i", bytes(4 * ENTRIES))
        registers = array("I", bytes(4 * ENTRIES))
        ending = array("q", bytes(16 * ENTRIES))
        self._owners = (room, ends, registers, ending)  # the pointers lead into them
        self._rows = write_int64(room.waiting)
        self._lists = write_int64(room.waiting_lists)
        room.waiting_lists[:] = -1
        self._current_list = self._farthest_list = self._free_chunk = -1
        self._used = self._free_chunks = 0
        self._capacity = len(room.waiting) // CHUNK * CHUNK
        self._ends = write_int32(ends)
        self._registers = write_uint32(registers)
        self._ending = write_int64(ending)
        self.count = 0
        self.given_up = 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def is_roomy(self, count: cython.Py_ssize_t) -> cython.bint:
        """Whether ``add`` would find room for so many, whatever their ends."""
        return self._free_chunks + (self._capacity - self._used) // CHUNK >= count

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def has_room(self, end: cython.longlong) -> cython.bint:
        """Whether ``add`` would find room now, if need be that of others that reach farther."""
        chunk: cython.longlong = self._lists[(end >> 18) & 16383]
        if self._free_chunk >= 0 or self._used + CHUNK <= self._capacity:
            return True
        if chunk >= 0 and self._rows[chunk + 1] < ENTRIES:
            return True
        while self._farthest_list > self._current_list and (
            self._lists[self._farthest_list & 16383] < 0
        ):
            self._farthest_list -= 1
        return end >> 18 < self._farthest_list

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def add(
        self,
        position: cython.longlong,
        end: cython.longlong,
        demanded: cython.uint,
        is_message: cython.bint,
    ) -> cython.void:
        """Let a candidate wait, or count it as given up."""
        number: cython.longlong = end >> 18
        chunk: cython.longlong = self._lists[number & 16383]
        following: cython.longlong = chunk
        row: cython.longlong
        word: cython.longlong = end & 0x3FFFF
        if chunk < 0 or self._rows[chunk + 1] == ENTRIES:
            if not self._makes_room(end):
                self.given_up += 1
                return
            chunk = self._free_chunk
            if chunk >= 0:
                self._free_chunk = self._rows[chunk]
                self._free_chunks -= 1
            else:
                chunk = self._used
                self._used += CHUNK
            self._rows[chunk] = following
            self._rows[chunk + 1] = 0
            self._lists[number & 16383] = chunk
        row = chunk + 2 + 2 * self._rows[chunk + 1]
        self._rows[chunk + 1] += 1
        self._rows[row] = position
        self._rows[row + 1] = word << 33 | cython.cast(cython.longlong, is_message) << 32 | demanded
        self._farthest_list = max(self._farthest_list, number)
        self.count += 1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _makes_room(self, end: cython.longlong) -> cython.bint:
        """Whether there is a free chunk, if need be one of those that reach farthest."""
        chunk: cython.longlong
        following: cython.longlong
        if self._free_chunk >= 0 or self._used + CHUNK <= self._capacity:
            return True
        if not self.has_room(end):
            return False
        chunk = self._lists[self._farthest_list & 16383]
        self._lists[self._farthest_list & 16383] = -1
        while chunk >= 0:
            self.count -= self._rows[chunk + 1]
            self.given_up += self._rows[chunk + 1]
            following = self._rows[chunk]
            self._rows[chunk] = self._free_chunk
            self._free_chunk = chunk
            self._free_chunks += 1
            chunk = following
        return True

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def judge(
        self,
        registers: PrefixRegisters,
        origin: cython.longlong,
        size: cython.Py_ssize_t,
        found: cython.longlong,
    ) -> cython.longlong:
        """Judge the candidates that end in a window; one list has some that end behind it.

        Args:
            registers: of the window.
            origin: position in the file of its first byte.
            size: of the window.
            found: where the first sound one that is known begins; -1 without.

        Returns:
            the position of the first sound one now.
        """
        chunk: cython.longlong
        following: cython.longlong
        kept: cython.longlong
        here: cython.longlong
        last: cython.longlong = (origin + size) >> 18
        if self._current_list < 0:
            self._current_list = self._farthest_list = origin >> 18
        if self.count == 0:
            self._current_list = last
            return found
        while True:
            here = self._current_list & 16383
            chunk = self._lists[here]
            kept = -1
            while chunk >= 0:
                following = self._rows[chunk]
                found = self._judge_chunk(chunk, registers, origin, size, found)
                if self._rows[chunk + 1] == 0:
                    self._rows[chunk] = self._free_chunk
                    self._free_chunk = chunk
                    self._free_chunks += 1
                else:
                    self._rows[chunk] = kept
                    kept = chunk
                chunk = following
            self._lists[here] = kept
            if self._current_list >= last:
                return found
            self._current_list += 1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _judge_chunk(
        self,
        chunk: cython.longlong,
        registers: PrefixRegisters,
        origin: cython.longlong,
        size: cython.Py_ssize_t,
        found: cython.longlong,
    ) -> cython.longlong:
        """Judge those of a chunk that end in the window, and keep the others."""
        entry: cython.Py_ssize_t
        row: cython.longlong = chunk + 2
        stop: cython.longlong = row + 2 * self._rows[chunk + 1]
        kept: cython.longlong = row
        ending: cython.Py_ssize_t = 0
        position: cython.longlong
        word: cython.longlong
        end: cython.longlong
        all_ones: cython.longlong = 0xFFFF_FFFF
        before: cython.longlong = (self._current_list << 18) - origin
        while row < stop:
            position = self._rows[row]
            word = self._rows[row + 1]
            row += 2
            end = before + (word >> 33)
            if end > size:
                self._rows[kept] = position
                self._rows[kept + 1] = word
                kept += 2
                continue
            self._ending[2 * ending] = position
            self._ending[2 * ending + 1] = word & all_ones
            if (word >> 32) & 1:
                end = ~end
            self._ends[ending] = cython.cast(cython.int, end)
            ending += 1
        self.count -= ending
        self._rows[chunk + 1] = (kept - chunk - 2) // 2
        registers.at_ends(self._registers, self._ends, ending)
        for entry in range(ending):
            position = self._ending[2 * entry]
            if self._registers[entry] == self._ending[2 * entry + 1] and (
                found < 0 or position < found
            ):
                found = position
        return found
