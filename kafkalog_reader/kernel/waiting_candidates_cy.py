# cython: boundscheck=False, wraparound=False, initializedcheck=False, nonecheck=False
# cython: cdivision=True
# ruff: noqa: ANN401  numpy arrays, whose types the compiled kernel checks itself
"""Candidates that wait for the window with their end, in a list for each 256 KiB.

Their number is bounded: for want of room those go that reach farthest, and they are counted, not
forgotten in silence.
"""

from __future__ import annotations

from array import array
from typing import Any

import cython
from cython.cimports.kafkalog_reader.kernel.codes import ENTRIES
from cython.cimports.kafkalog_reader.kernel.prefix_registers_cy import PrefixRegisters  # noqa: TC002
from cython.cimports.kafkalog_reader.kernel.primitives import (
    int32_at,
    write_int32,
    write_int64,
    write_uint32,
)


@cython.final
@cython.cclass
class WaitingCandidates:
    """Lists of candidates by their last byte; what C needs to know stands in the ``.pxd``.

    A list is a chain of chunks of 32 entries, and is known by where its next entry goes: a multiple
    of 32, its newest chunk is full; 0, it has none. An entry is the position of a candidate, and in
    one number the register that is demanded at its end, whether it is a message, and its last byte.

    Args:
        room: has numpy arrays, int64: ``waiting``, 64 numbers for each chunk, and for one that
            none of the lists gets; ``waiting_lists``, 16384 entries, more than a batch has
            quarters of a mebibyte.

    Attributes:
        count: how many wait.
        given_up: how many went, or did not come in, for want of room.
    """

    def __init__(self, room: Any) -> None:
        self._chunks = len(room.waiting) // (2 * ENTRIES) - 1
        if self._chunks < 0:
            raise ValueError(f"room for {len(room.waiting)} numbers")
        chains = array("i", bytes(8 * self._chunks + 8))
        ends = array("i", bytes(4 * ENTRIES))
        registers = array("I", bytes(4 * ENTRIES))
        self._owners = (room, chains, ends, registers)  # the pointers lead into them
        self._positions = write_int64(room.waiting)
        self._words = write_int64(room.waiting[ENTRIES * (self._chunks + 1) :])
        self._lists = write_int64(room.waiting_lists)
        room.waiting_lists[:] = 0
        self._chains = write_int32(chains)
        self._ends = write_int32(ends)
        self._registers = write_uint32(registers)
        self._current_list = self._farthest_list = self._free_chunk = -1
        self._used = self._free_chunks = 0
        self.count = 0
        self.given_up = 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def is_roomy(self, count: cython.Py_ssize_t) -> cython.bint:
        """Whether ``add`` would find room for so many, whatever their ends."""
        return self._free_chunks + self._chunks - self._used >= count

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def has_room(self, end: cython.longlong) -> cython.bint:
        """Whether ``add`` would find room now, if need be that of others that reach farther."""
        number: cython.longlong = (end - 1) >> 18
        if self._free_chunk >= 0 or self._used < self._chunks:
            return True
        if self._lists[number & 16383] % ENTRIES != 0:
            return True
        while self._farthest_list > self._current_list and (
            self._lists[self._farthest_list & 16383] == 0
        ):
            self._farthest_list -= 1
        return number < self._farthest_list

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def add(
        self,
        positions: cython.pointer[cython.const[cython.int]],
        demanded: cython.pointer[cython.const[cython.uint]],
        count: cython.Py_ssize_t,
        source: cython.p_const_uchar,
        size: cython.Py_ssize_t,
        origin: cython.longlong,
    ) -> cython.void:
        """Let those of a window's candidates wait that end behind it, or count them as given up.

        Args:
            positions: in the window.
            demanded: what the register at the end shall be, of each.
            count: how many.
            source: the window.
            size: its bytes.
            origin: position in the file of its first byte.
        """
        row: cython.Py_ssize_t
        at: cython.Py_ssize_t
        last: cython.longlong
        number: cython.longlong
        entry: cython.longlong
        word: cython.longlong
        is_message: cython.bint
        added: cython.Py_ssize_t = 0
        lists: cython.p_longlong = self._lists
        entry_positions: cython.p_longlong = self._positions
        words: cython.p_longlong = self._words
        for row in range(count):
            at = positions[row]
            last = int32_at(source, at + 8)
            last += at + 11
            if last < size:
                continue
            last += origin
            number = (last >> 18) & 16383
            entry = lists[number]
            if entry % ENTRIES == 0:
                if not self._begins_chunk(last):
                    self.given_up += 1
                    continue
                entry = lists[number]
            is_message = source[at + 16] != 2
            word = (last & 0x3FFFF) << 33
            word |= cython.cast(cython.longlong, is_message) << 32
            entry_positions[entry] = origin + at
            words[entry] = word | demanded[row]
            lists[number] = entry + 1
            added += 1
        self.count += added

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _begins_chunk(self, last: cython.longlong) -> cython.bint:
        """Whether the list of those with their last byte there got a chunk, not yet counted."""
        number: cython.longlong = last >> 18
        here: cython.longlong = number & 16383
        chunk: cython.longlong
        if self._free_chunk < 0 and self._used == self._chunks:
            if not self.has_room(last + 1):
                return False
            self._give_up_farthest()
        chunk = self._free_chunk
        if chunk >= 0:
            self._free_chunk = self._chains[2 * chunk]
            self._free_chunks -= 1
        else:
            chunk = self._used
            self._used += 1
        self._chains[2 * chunk] = cython.cast(cython.int, self._lists[here] // ENTRIES - 1)
        self._chains[2 * chunk + 1] = ENTRIES
        self._lists[here] = ENTRIES * chunk
        self._farthest_list = max(self._farthest_list, number)
        return True

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _give_up_farthest(self) -> cython.void:
        """Free the chunks of the list that reaches farthest; ``has_room`` found which it is."""
        here: cython.longlong = self._farthest_list & 16383
        count: cython.Py_ssize_t
        while self._lists[here] > 0:
            count = self._newest(here)
            self.count -= count
            self.given_up += count
            self._drop_newest(here)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _newest(self, here: cython.longlong) -> cython.Py_ssize_t:
        """How many are in the newest chunk of a list that has one."""
        return (self._lists[here] - 1) % ENTRIES + 1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _drop_newest(self, here: cython.longlong) -> cython.void:
        """Free the newest chunk of a list."""
        chunk: cython.longlong = (self._lists[here] - 1) // ENTRIES
        before: cython.longlong = self._chains[2 * chunk]
        self._lists[here] = 0
        if before >= 0:
            self._lists[here] = ENTRIES * before + self._chains[2 * before + 1]
        self._chains[2 * chunk] = cython.cast(cython.int, self._free_chunk)
        self._free_chunk = chunk
        self._free_chunks += 1

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
        """Judge the candidates that end in a window.

        Args:
            registers: of the window.
            origin: position in the file of its first byte.
            size: of the window.
            found: where the first sound one that is known begins; -1 without.

        Returns:
            the position of the first sound one now.
        """
        last: cython.longlong = (origin + size) >> 18
        here: cython.longlong
        if self._current_list < 0:
            self._current_list = self._farthest_list = origin >> 18
        if self.count == 0:
            self._current_list = last
            return found
        while self._current_list < last:
            here = self._current_list & 16383
            while self._lists[here] > 0:
                found = self._judge_newest(here, registers, origin, found)
            self._current_list += 1
        if (origin + size) & 0x3FFFF != 0:
            found = self._judge_some(registers, origin, size, found)
        return found

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _judge_newest(
        self,
        here: cython.longlong,
        registers: PrefixRegisters,
        origin: cython.longlong,
        found: cython.longlong,
    ) -> cython.longlong:
        """Judge all of a list's newest chunk, and free it."""
        count: cython.Py_ssize_t = self._newest(here)
        found = self._judge_entries(self._lists[here] - count, count, registers, origin, found)
        self._drop_newest(here)
        return found

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _judge_some(
        self,
        registers: PrefixRegisters,
        origin: cython.longlong,
        size: cython.Py_ssize_t,
        found: cython.longlong,
    ) -> cython.longlong:
        """Judge those of the current list that end in the window, which ends before the list."""
        here: cython.longlong = self._current_list & 16383
        limit: cython.longlong = (origin + size) & 0x3FFFF
        spare: cython.longlong = ENTRIES * self._chunks
        newest: cython.longlong = -1
        chunk: cython.longlong
        entry: cython.longlong
        kept: cython.longlong
        ending: cython.Py_ssize_t
        while self._lists[here] > 0:
            chunk = (self._lists[here] - 1) // ENTRIES
            kept = ENTRIES * chunk
            ending = 0
            for entry in range(kept, self._lists[here]):
                if (self._words[entry] >> 33) < limit:
                    self._positions[spare + ending] = self._positions[entry]
                    self._words[spare + ending] = self._words[entry]
                    ending += 1
                else:
                    self._positions[kept] = self._positions[entry]
                    self._words[kept] = self._words[entry]
                    kept += 1
            found = self._judge_entries(spare, ending, registers, origin, found)
            self._drop_newest(here)
            if kept > ENTRIES * chunk:  # it is taken back, behind those that were newer
                self._free_chunk = self._chains[2 * chunk]
                self._free_chunks -= 1
                self._chains[2 * chunk] = cython.cast(cython.int, newest)
                self._chains[2 * chunk + 1] = cython.cast(cython.int, kept - ENTRIES * chunk)
                newest = chunk
        if newest >= 0:
            self._lists[here] = ENTRIES * newest + self._chains[2 * newest + 1]
        return found

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _judge_entries(
        self,
        first: cython.longlong,
        count: cython.Py_ssize_t,
        registers: PrefixRegisters,
        origin: cython.longlong,
        found: cython.longlong,
    ) -> cython.longlong:
        """Judge entries, 32 at most, of which all end in the window."""
        entry: cython.Py_ssize_t
        word: cython.longlong
        position: cython.longlong
        register: cython.longlong
        all_ones: cython.longlong = 0xFFFF_FFFF
        behind: cython.longlong = (self._current_list << 18) - origin + 1
        words: cython.p_longlong = self._words
        ends: cython.p_int = self._ends
        for entry in range(count):
            word = words[first + entry]
            ends[entry] = cython.cast(cython.int, (behind + (word >> 33)) ^ -((word >> 32) & 1))
        registers.at_ends(self._registers, self._ends, count)
        self.count -= count
        for entry in range(count):
            register = self._registers[entry]
            if (self._words[first + entry] & all_ones) == register:
                position = self._positions[first + entry]
                if found < 0 or position < found:
                    found = position
        return found
