"""Leave the page cache as it was: what a broker serves its consumers from must not be pushed out.

Pages that were in the cache before a read stay in it; those that only the read brought in are let
go. ``cachestat(2)`` (Linux 6.5) counts the pages of a range and touches none. Older kernels, and
files of other users, are asked by ``preadv2(RWF_NOWAIT)`` for the first byte of each piece.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
from functools import cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE: Final = os.sysconf("SC_PAGE_SIZE")
PIECE: Final = 256 << 10
"""Where warm and cold pages alternate, pieces of this size are judged alone; mixed ones stay."""
_CACHESTAT: Final = 451  # the same number on every architecture
_NOT_NOW: Final = getattr(os, "RWF_NOWAIT", 0)


def cold_pieces(descriptor: int, start: int, stop: int) -> Iterator[tuple[int, int]]:
    """Yield the ranges of [start, stop) of which no page is in the cache.

    One system call where all pages are there or none is.
    """
    if stop <= start:
        return
    first = start - start % PAGE
    pages = (stop - first + PAGE - 1) // PAGE
    cached = _cached_pages(descriptor, first, stop)
    if cached is None:
        yield from _cold_by_first_page(descriptor, start, stop)
    elif cached == 0:
        yield start, stop
    elif cached < pages and stop - start > PIECE:
        middle = first + pages // 2 * PAGE
        yield from cold_pieces(descriptor, start, middle)
        yield from cold_pieces(descriptor, middle, stop)


def stop_reading_ahead(descriptor: int) -> None:
    """Have the kernel bring in what is asked for: more would look as if it had been there."""
    with contextlib.suppress(OSError):
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_RANDOM)


def let_go(descriptor: int, start: int, stop: int) -> None:
    """Let go of the pages of [start, stop); those that somebody maps or writes stay."""
    first = start - start % PAGE
    last = stop + -stop % PAGE
    with contextlib.suppress(OSError):
        os.posix_fadvise(descriptor, first, last - first, os.POSIX_FADV_DONTNEED)


class _Range(ctypes.Structure):
    _fields_ = (("start", ctypes.c_uint64), ("size", ctypes.c_uint64))


class _Counts(ctypes.Structure):
    _fields_ = tuple(
        (name, ctypes.c_uint64)
        for name in ("cached", "dirty", "writeback", "evicted", "recently_evicted")
    )


@cache
def _system_call() -> ctypes._NamedFuncPointer | None:
    with contextlib.suppress(OSError, AttributeError):
        call = ctypes.CDLL(None).syscall
        call.restype = ctypes.c_long
        return call
    return None


def _cached_pages(descriptor: int, start: int, stop: int) -> int | None:
    """How many pages of a range are in memory; None where the kernel refuses to say."""
    call = _system_call()
    if call is None:
        return None
    asked, counts = _Range(start, stop - start), _Counts()
    failed = call(
        ctypes.c_long(_CACHESTAT), descriptor, ctypes.byref(asked), ctypes.byref(counts), 0
    )
    return None if failed else int(counts.cached)


def _cold_by_first_page(descriptor: int, start: int, stop: int) -> Iterator[tuple[int, int]]:
    if not _NOT_NOW:
        return
    target = bytearray(1)
    while start < stop:
        end = min(start - start % PIECE + PIECE, stop)
        try:
            os.preadv(descriptor, [target], start, _NOT_NOW)
        except BlockingIOError:
            yield start, end
        except OSError:  # a file system that cannot tell
            return
        start = end
