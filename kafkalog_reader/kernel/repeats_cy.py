# cython: boundscheck=False, wraparound=False, initializedcheck=False, nonecheck=False
# ruff: noqa: ANN401  numpy arrays, whose types the compiled kernel checks itself
"""Finds records that are stored several times, by hashes in a window of recent records."""

from __future__ import annotations

from typing import Any

import cython
from cython.cimports.kafkalog_reader.kernel.primitives import (
    int64_at,
    read_bytes,
    read_int32,
    read_int64,
    write_int32,
    write_int64,
)


def hash_ranges(
    source: cython.const[cython.uchar][::1],
    offsets: cython.const[cython.int][::1],
    found: cython.longlong[::1],
) -> None:
    """Replace each number of ``found`` by a hash of it and of its bytes, from 0 to 2^63 - 1.

    Args:
        source: all bytes.
        offsets: ``source[offsets[i]:offsets[i + 1]]`` belongs to ``found[i]``.
        found: numbers from 0 on.
    """
    data: cython.p_const_uchar = read_bytes(source)
    size: cython.longlong = len(source)
    places: cython.p_const_int = read_int32(offsets)
    numbers: cython.p_longlong = write_int64(found)
    count: cython.Py_ssize_t = len(found)
    row: cython.Py_ssize_t
    if len(offsets) != count + 1:
        raise ValueError("there must be one more offset than hashes")
    for row in range(count):
        if not 0 <= places[row] <= places[row + 1] <= size:
            raise ValueError(f"{places[row]} to {places[row + 1]} of {size} bytes")
    with cython.nogil:
        for row in range(count):
            numbers[row] = _hash(numbers[row], data, places[row], places[row + 1])


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _hash(
    seed: cython.longlong,
    data: cython.p_const_uchar,
    start: cython.Py_ssize_t,
    stop: cython.Py_ssize_t,
) -> cython.longlong:
    """As MurmurHash64A does: a word at a time, multiplied and shifted."""
    factor: cython.ulonglong = 0xC6A4_A793_5BD1_E995
    low_bits: cython.ulonglong = 0x7FFF_FFFF_FFFF_FFFF
    mask: cython.ulonglong = 0xFFFF_FFFF_FFFF_FFFF
    golden: cython.ulonglong = 0x9E37_79B1
    state: cython.ulonglong = (seed ^ ((stop - start) * golden)) & mask
    word: cython.ulonglong
    while stop - start >= 8:
        word = int64_at(data, start) & mask
        word = (word * factor) & mask
        word ^= word >> 47
        word = (word * factor) & mask
        state = ((state ^ word) * factor) & mask
        start += 8
    word = 0
    while start < stop:
        word = (word << 8) | data[start]
        start += 1
    state = ((state ^ word) * factor) & mask
    state ^= state >> 47
    state = (state * factor) & mask
    state ^= state >> 47
    return state & low_bits


@cython.final
@cython.cclass
class RecentRecords:
    """The most recent records of a log by their hash, in a ring: chains lead from new to old.

    Args:
        heads: int64, all -1: the newest record of each chain.
        links, hashes, batches: int64, as long as ``heads``, which is a power of two.
        copies, repeats: int32, as long.
        near: how many records back a copy may be; at most the length of ``heads``.
    """

    _owners: object
    _heads: cython.p_longlong
    _links: cython.p_longlong
    _hashes: cython.p_longlong
    _batches: cython.p_longlong
    _copies: cython.p_int
    _repeats: cython.p_int
    _mask: cython.longlong
    _near: cython.longlong
    _begin: cython.longlong
    _rows: cython.longlong

    def __init__(
        self, heads: Any, links: Any, hashes: Any, batches: Any, copies: Any, repeats: Any,
        near: cython.longlong,
    ) -> None:  # fmt: skip
        size = len(heads)
        if size < 1 or size & (size - 1) or not 0 <= near <= size:
            raise ValueError(f"a ring of {size} for {near} records")
        if not size == len(links) == len(hashes) == len(batches) == len(copies) == len(repeats):
            raise ValueError("the columns of the ring differ in length")
        self._owners = (heads, links, hashes, batches, copies, repeats)  # pointers lead into them
        self._heads = write_int64(heads)
        self._links = write_int64(links)
        self._hashes = write_int64(hashes)
        self._batches = write_int64(batches)
        self._copies = write_int32(copies)
        self._repeats = write_int32(repeats)
        self._mask = size - 1
        self._near = near
        self._begin = self._rows = 0

    def forget(self) -> None:
        """Begin another log."""
        self._begin = self._rows

    def add(
        self,
        hashes: cython.const[cython.longlong][::1],
        batches: cython.const[cython.longlong][::1],
        previous: cython.longlong[::1],
        copies: cython.int[::1],
    ) -> None:
        """Add records in log order, and say which were there before.

        The same content twice in one batch is no copy, because a batch is stored as a whole: the
        second one is compared with the second ones in other batches.

        Args:
            hashes: of their content, from 0 on.
            batches: base offset of the batch of each.
            previous: receives the number of the newest copy before each, -1 for none; the records
                that were ever added are numbered from 0 on.
            copies: receives how many copies there are up to each, itself included.
        """
        if not len(hashes) == len(batches) == len(previous) == len(copies):
            raise ValueError("the columns differ in length")
        contents: cython.p_const_longlong = read_int64(hashes)
        of_batches: cython.p_const_longlong = read_int64(batches)
        before: cython.p_longlong = write_int64(previous)
        so_far: cython.p_int = write_int32(copies)
        count: cython.Py_ssize_t = len(hashes)
        row: cython.Py_ssize_t
        with cython.nogil:
            for row in range(count):
                before[row] = self._add(contents[row], of_batches[row])
                so_far[row] = self._copies[(self._rows - 1) & self._mask]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _add(self, content: cython.longlong, batch: cython.longlong) -> cython.longlong:
        low_bits: cython.longlong = 0x7FFF_FFFF_FFFF_FFFF
        golden: cython.longlong = 0x9E37_79B1
        slot: cython.longlong
        match: cython.longlong = self._find(content)
        if match >= 0 and self._batches[match & self._mask] == batch:
            slot = match & self._mask
            self._repeats[slot] += 1
            content = (content ^ (self._repeats[slot] * golden)) & low_bits
            match = self._find(content)
        slot = self._rows & self._mask
        self._copies[slot] = self._copies[match & self._mask] + 1 if match >= 0 else 1
        self._hashes[slot] = content
        self._batches[slot] = batch
        self._repeats[slot] = 0
        self._links[slot] = self._heads[content & self._mask]
        self._heads[content & self._mask] = self._rows
        self._rows += 1
        return match

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _find(self, content: cython.longlong) -> cython.longlong:
        """The number of the newest record with that hash that is near; -1 if there is none.

        At most 64 records are compared, so that crafted hashes cost no more time.
        """
        oldest: cython.longlong = max(self._begin, self._rows - self._near)
        row: cython.longlong = self._heads[content & self._mask]
        _: cython.int
        for _ in range(64):
            if row < oldest:
                return -1
            if self._hashes[row & self._mask] == content:
                return row
            row = self._links[row & self._mask]
        return -1
