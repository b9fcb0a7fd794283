"""What a read leaves in the page cache, as the operating system shows through ``mincore``."""

from __future__ import annotations

import ctypes
import errno
import mmap
import os
from typing import TYPE_CHECKING

import numpy as np
import pytest

from kafkalog_reader.io import page_cache
from kafkalog_reader.io.read_context import ReadContext
from kafkalog_reader.io.window import Windows, read_small_page

if TYPE_CHECKING:
    from pathlib import Path

MIB = 1 << 20
SIZE = 8 * MIB
ATTEMPTS = 8
"""A busy kernel does not evict each page at once; a reader that evicts none fails every time."""


def pages_in_memory(path: Path) -> int:
    """Number of pages in memory by ``mincore``, independent of the code under test."""
    libc = ctypes.CDLL(None)
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as mapping:
        view = np.frombuffer(mapping, np.uint8)
        there = (ctypes.c_ubyte * -(-len(view) // mmap.PAGESIZE))()
        address = ctypes.c_void_p(view.ctypes.data)
        assert libc.mincore(address, ctypes.c_size_t(len(view)), there) == 0
        del view
        return sum(page & 1 for page in there)


@pytest.fixture
def cold(tmp_path: Path) -> Path:
    """A file without pages in memory."""
    path = tmp_path / "00000000000000000000.log"
    path.write_bytes(os.urandom(MIB) * (SIZE // MIB))
    evict(path)
    if pages_in_memory(path):
        pytest.skip("a file system that lives in memory")
    return path


def evict(path: Path) -> None:
    descriptor = os.open(path, os.O_RDWR)
    os.fsync(descriptor)  # dirty pages are not evicted
    os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(descriptor)


def read_all(path: Path, size: int = 3 * MIB + 1) -> None:
    with Windows(str(path), size=size, context=ReadContext()) as windows:
        position = 0
        while position < windows.size_in_bytes:
            position += len(windows.read(position))


@pytest.fixture(params=["cachestat", "first_page"])
def way_to_ask(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "first_page":
        monkeypatch.setattr(page_cache, "_system_call", lambda: None)
    return str(request.param)


def test_a_cold_file_is_cold_again_after_it_was_read(cold: Path, way_to_ask: str) -> None:
    allowed = 0 if way_to_ask == "cachestat" else 64
    left: list[int] = []
    while len(left) < ATTEMPTS and (not left or left[-1] > allowed):
        evict(cold)
        read_all(cold)
        left.append(pages_in_memory(cold))
    assert left[-1] <= allowed, left


@pytest.mark.usefixtures("way_to_ask")
def test_pages_that_were_there_before_stay(cold: Path) -> None:
    warm = 2 * MIB // mmap.PAGESIZE
    # The ranges at both ends are partly warm, and stay.
    mixed = 2 * page_cache.CHECKED_SIZE // mmap.PAGESIZE
    there: list[int] = []
    while len(there) < ATTEMPTS and (not there or there[-1] > warm + mixed):
        evict(cold)
        with cold.open("rb", buffering=0) as file:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_RANDOM)  # no read-ahead
            os.pread(file.fileno(), 2 * MIB, 5 * MIB)
        before = pages_in_memory(cold)
        read_all(cold)
        there.append(pages_in_memory(cold))
        assert warm <= before <= there[-1]
    assert there[-1] <= warm + mixed, there


@pytest.mark.usefixtures("way_to_ask")
def test_a_warm_file_stays_warm(cold: Path) -> None:
    cold.read_bytes()
    read_all(cold)
    assert pages_in_memory(cold) == SIZE // mmap.PAGESIZE


@pytest.fixture
def small(cold: Path) -> Path:
    """A file of less than a page, without pages in memory."""
    os.truncate(cold, 870)
    return cold


def left_by_a_cold_read(small: Path) -> int:
    """Pages in memory after a page that was not there was read, at least of some attempts."""
    content = small.read_bytes()
    left: list[int] = []
    while len(left) < ATTEMPTS and (not left or left[-1]):
        evict(small)
        was_cold = not pages_in_memory(small)
        assert read_small_page(str(small), context=ReadContext()) == content
        left.append(pages_in_memory(small) if was_cold else 1)
    return left[-1]


def test_a_cold_page_is_cold_again_after_it_was_read(small: Path) -> None:
    assert left_by_a_cold_read(small) == 0


def test_a_warm_page_stays_warm(small: Path) -> None:
    content = small.read_bytes()
    assert read_small_page(str(small), context=ReadContext()) == content
    assert pages_in_memory(small) == 1


@pytest.mark.parametrize("error", [errno.EOPNOTSUPP, errno.EIO])
def test_a_page_is_read_where_the_file_system_cannot_tell(
    small: Path, monkeypatch: pytest.MonkeyPatch, error: int
) -> None:
    read = os.preadv

    def preadv(descriptor: int, buffers: list[bytearray], position: int, flags: int = 0) -> int:
        if flags:
            raise OSError(error, "refused")
        return read(descriptor, buffers, position)

    monkeypatch.setattr(os, "preadv", preadv)
    assert left_by_a_cold_read(small) == 0
