"""Leaves the page cache as it was, so that a broker can still serve its consumers from it.

Pages that were in the cache before a read stay; those that only the read brought in are evicted.
``cachestat(2)`` (Linux 6.5) counts the pages of a range without touching any. On older kernels, and
for files of other users, ``preadv2(RWF_NOWAIT)`` tries the first byte of each range.
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
CHECKED_SIZE: Final = 256 << 10
"""Size of the ranges that are checked if warm and cold pages alternate; mixed ones stay."""
_CACHESTAT: Final = ctypes.c_long(451)  # the same number on every architecture
_NOT_NOW: Final = getattr(os, "RWF_NOWAIT", 0)


def cold_ranges(descriptor: int, start: int, stop: int) -> Iterator[tuple[int, int]]:
    """Yield the ranges of [start, stop) without a page in the cache.

    This is one system call if all pages are in the cache or none is.
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
    elif cached < pages and stop - start > CHECKED_SIZE:
        middle = first + pages // 2 * PAGE
        yield from cold_ranges(descriptor, start, middle)
        yield from cold_ranges(descriptor, middle, stop)


def stop_reading_ahead(descriptor: int) -> None:
    """Disable readahead: pages that were read ahead would look as if they had been there before."""
    with contextlib.suppress(OSError):
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_RANDOM)


def let_go(descriptor: int, start: int, stop: int) -> None:
    """Evict the pages of [start, stop), except those that are mapped or being written."""
    first = start - start % PAGE
    last = stop + -stop % PAGE
    with contextlib.suppress(OSError):
        os.posix_fadvise(descriptor, first, last - first, os.POSIX_FADV_DONTNEED)


def read_page(descriptor: int, size: int) -> bytes:
    """The bytes of a file that has at most one page, which stays out of the cache if it was not in.

    One system call reads it and says whether it was there; of many small files most are.

    Raises:
        OSError: the read failed.
    """
    content = bytearray(size)
    try:
        count = os.preadv(descriptor, [content], 0, _NOT_NOW)
    except OSError as error:  # not there; a file system that cannot tell; a failure
        is_cold = isinstance(error, BlockingIOError) or any(cold_ranges(descriptor, 0, size))
        count = os.preadv(descriptor, [content], 0)
        if is_cold:
            let_go(descriptor, 0, size)
    return bytes(content) if count == size else bytes(content[:count])


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
    """Number of pages of a range in memory; None if the kernel does not say."""
    call = _system_call()
    if call is None:
        return None
    asked, counts = _Range(start, stop - start), _Counts()
    failed = call(_CACHESTAT, descriptor, ctypes.byref(asked), ctypes.byref(counts), 0)
    return None if failed else int(counts.cached)


def _cold_by_first_page(descriptor: int, start: int, stop: int) -> Iterator[tuple[int, int]]:
    if not _NOT_NOW:
        return
    target = bytearray(1)
    while start < stop:
        end = min(start - start % CHECKED_SIZE + CHECKED_SIZE, stop)
        try:
            os.preadv(descriptor, [target], start, _NOT_NOW)
        except BlockingIOError:
            yield start, end
        except OSError:  # a file system that cannot tell
            return
        start = end
