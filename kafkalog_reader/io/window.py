"""Reads a file in windows: ``pread`` into one buffer that is reused.

It does not use ``mmap``: if a mapped file shrinks, SIGBUS kills the process, while a short
``pread`` is just an error.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from kafkalog_reader.errors import KafkaLogError, LogPosition, UnreadableFileError
from kafkalog_reader.io.chunked_log import (
    MANIFEST_LIMIT,
    ChunkedLog,
    manifest_beside,
    manifest_of,
)
from kafkalog_reader.io.foreign_file import GIT_LFS_ADVICE, GIT_LFS_POINTER, MAX_POINTER_SIZE
from kafkalog_reader.io.names import shown
from kafkalog_reader.io.object_file import is_object, object_at
from kafkalog_reader.io.page_cache import PAGE, cold_ranges, let_go, read_page, stop_reading_ahead

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, Self

    from kafkalog_reader.io.read_context import ReadContext
    from kafkalog_reader.io.read_rate import ReadRate

WINDOW_SIZE: Final = 8 << 20
_ZEROS: Final = bytes(256 << 10)
_MAX_READ: Final = 1 << 30  # Linux transfers at most 2,147,479,552 bytes a call


class Windows:
    """Reads a byte range of one regular file, a window at a time.

    Args:
        path: the file; a symbolic link is refused unless the context follows them.
        start, stop: the byte range; ``stop`` is None for the end of the file, and at most that.
        size: of the buffer in bytes; it grows if ``read`` needs more.
        allocate: allocates the buffer; a pool that reuses memory avoids page faults.
        may_be_pointer: whether a pointer of git-lfs may be read.

    Raises:
        UnreadableFileError: the file cannot be opened, is not regular (a FIFO would hang), or is
            only a pointer of git-lfs.
    """

    def __init__(
        self,
        path: str,
        start: int = 0,
        stop: int | None = None,
        *,
        size: int = WINDOW_SIZE,
        context: ReadContext,
        allocate: Callable[[int], Any] = bytearray,
        may_be_pointer: bool = False,
    ) -> None:
        self.path = path
        self._allocate = allocate
        self._rate = context.rate
        self._descriptor, status = _opened(path, context)
        self.size_in_bytes = status.st_size
        self._object = object_at(path, status.st_size, status.st_mtime_ns)
        self._chunks: ChunkedLog | None = None
        try:
            self._use_manifest(context)
        except KafkaLogError:
            self.close()
            raise
        self.start = min(max(start, 0), self.size_in_bytes)
        self.stop = self.size_in_bytes if stop is None else min(stop, self.size_in_bytes)
        self._size = max(1, min(size, self.stop - self.start))
        may_look_so = len(GIT_LFS_POINTER) <= self.size_in_bytes <= MAX_POINTER_SIZE
        self._holds_file = may_look_so and not may_be_pointer
        length = self.size_in_bytes if self._holds_file else self._size
        self._buffer = memoryview(allocate(length)).cast("B")
        if self._holds_file:
            self._refuse_pointer()

    def _use_manifest(self, context: ReadContext) -> None:
        """Read the segment that a log of remote storage stands for, if it is stored in chunks."""
        beside = manifest_beside(self.path)
        if beside is None:
            return
        content = read_small_file(beside, MANIFEST_LIMIT, context=context)
        manifest = manifest_of(self.path, content, self.size_in_bytes)
        if manifest.is_compressed:
            self._chunks = ChunkedLog(self.path, manifest, self._read_stored, context.limits)
            self.size_in_bytes = manifest.size

    def _read_stored(self, position: int, size: int) -> memoryview:
        """Bytes of a file that is stored in chunks, as they are stored."""
        stored = memoryview(bytearray(size))
        self._fill(stored, position, self._read_file_into, self._rate)
        return stored

    def _refuse_pointer(self) -> None:
        """Refuse a git-lfs pointer, which otherwise looks like a log that ends at once.

        The file is so small that the buffer takes all of it.
        """
        try:
            self._fill_window(self._buffer, 0)
        except UnreadableFileError:
            self.close()
            raise
        if bytes(self._buffer[: len(GIT_LFS_POINTER)]) == GIT_LFS_POINTER:
            self.close()
            raise UnreadableFileError(GIT_LFS_ADVICE, LogPosition(shown(self.path)))

    def read(self, position: int, at_least: int = 0, *, at_most: int | None = None) -> memoryview:
        """The bytes from ``position`` on: a full buffer, or ``at_least`` if that is more.

        It is shorter only at the end of the range, or if ``at_most`` is smaller. Valid until the
        next call.

        Raises:
            UnreadableFileError: the read failed, or the file has shrunk since it was opened.
        """
        left = max(0, self.stop - position)
        wanted = min(max(self._size, at_least), left)
        if at_most is not None:
            wanted = min(wanted, at_most)
        if self._holds_file:
            return self._buffer[position : position + wanted]
        if wanted > self._size:  # a record batch larger than the window
            self._size = wanted
            self._buffer = memoryview(self._allocate(wanted)).cast("B")
        window = self._buffer[:wanted]
        self._fill_window(window, position)
        return window

    def _fill_window(self, window: memoryview, position: int) -> None:
        if self._chunks is not None:
            self._fill(window, position, self._chunks.read_into, None)
            return
        cold: tuple[tuple[int, int], ...] = ()
        if self._object is None:
            cold = tuple(cold_ranges(self._descriptor, position, position + len(window)))
        if cold:
            stop_reading_ahead(self._descriptor)
        try:
            self._fill(window, position, self._read_file_into, self._rate)
        finally:
            for start, stop in cold:
                let_go(self._descriptor, start, stop)

    def _fill(
        self,
        window: memoryview,
        position: int,
        read_into: Callable[[memoryview, int], int],
        limit: ReadRate | None,
    ) -> None:
        at_once = _MAX_READ if limit is None else min(limit.burst, _MAX_READ)
        filled = 0
        while filled < len(window):
            part = window[filled : filled + at_once]
            if limit is not None:
                limit.take(len(part))
            try:
                count = read_into(part, position + filled)
            except OSError as error:
                where = LogPosition(shown(self.path), position + filled)
                raise UnreadableFileError(_reason(error), where) from error
            if count == 0:
                where = LogPosition(shown(self.path), position + filled)
                raise UnreadableFileError(
                    f"the file ends here, but was {self.size_in_bytes} bytes long when opened",
                    where,
                )
            filled += count

    def _read_file_into(self, part: memoryview, position: int) -> int:
        if self._object is not None:
            stop = self.stop if self._chunks is None else position + len(part)
            return self._object.read_into(part, position, stop)
        return os.preadv(self._descriptor, [part], position)

    def next_data(self, position: int) -> int:
        """The first position from here on that is not in a hole; ``stop`` if there is none.

        For a sparse file of a terabyte this is one call, while reading its zeros would take an
        hour.
        """
        if self._object is not None or self._chunks is not None:
            return position
        try:
            found = os.lseek(self._descriptor, position, os.SEEK_DATA)
        except OSError as error:  # ENXIO: only holes; other errors: a file system without holes
            return self.stop if error.errno == errno.ENXIO else position
        return min(max(found, position), self.stop)

    def only_zeros(self, position: int) -> bool:
        """Whether only zeros follow; the last window becomes invalid."""
        reading = 4096  # data usually begins soon
        while (position := self.next_data(position)) < self.stop:
            window = self.read(position, at_most=reading)
            if not _ZEROS.startswith(window):
                return False
            position += len(window)
            reading = min(4 * reading, len(_ZEROS))
        return True

    def close(self) -> None:
        """Close the file; the last window stays valid."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@contextmanager
def regular_file(path: str, *, context: ReadContext) -> Iterator[int]:
    """The descriptor of a regular file while the context is open; see ``open_regular_file``."""
    descriptor = open_regular_file(path, context=context)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def open_regular_file(path: str, *, context: ReadContext) -> int:
    """Open a regular file for reading, and nothing else; return its descriptor.

    Raises:
        UnreadableFileError: it is missing, refused, a symbolic link, a directory, FIFO or device.
    """
    return _opened(path, context)[0]


def _opened(path: str, context: ReadContext) -> tuple[int, os.stat_result]:
    """The descriptor of a regular file and its status; see ``open_regular_file``."""
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK  # opening a FIFO must not wait for a writer
    if not context.follow_links:
        flags |= os.O_NOFOLLOW
    try:
        descriptor = os.open(path, flags)
    except OSError as error:
        refused_link = error.errno == errno.ELOOP and not context.follow_links
        problem = "symbolic link, not followed" if refused_link else _reason(error)
        raise UnreadableFileError(problem, LogPosition(shown(path))) from error
    except ValueError as error:  # a NUL in the name
        raise UnreadableFileError(str(error), LogPosition(shown(path))) from error
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        os.close(descriptor)
        raise UnreadableFileError("not a regular file", LogPosition(shown(path)))
    return descriptor, status


def current_size(path: str, *, context: ReadContext) -> int | None:
    """The size of a file in bytes, as its windows have it; None if unknown."""
    try:
        if manifest_beside(path) is None:
            return os.stat(path).st_size
        with Windows(path, size=1, context=context) as windows:
            return windows.size_in_bytes
    except (OSError, KafkaLogError):
        return None


def read_start(path: str, size: int, *, context: ReadContext) -> bytes:
    """The first bytes of a regular file, at most ``size``, also of a pointer of git-lfs.

    Raises:
        UnreadableFileError: it cannot be read.
    """
    with Windows(path, 0, size, size=size, context=context, may_be_pointer=True) as windows:
        return bytes(windows.read(0))


def read_small_file(path: str, limit: int, *, context: ReadContext) -> bytes:
    """The content of a file that is always small: a checkpoint, ``meta.properties``.

    Raises:
        UnreadableFileError: it cannot be read, or holds more than ``limit`` bytes.
    """
    content = read_small_page(path, context=context) if limit >= PAGE else None
    if content is not None:
        return content
    with Windows(path, size=limit + 1, context=context) as windows:
        if windows.size_in_bytes > limit:
            raise UnreadableFileError(
                f"{windows.size_in_bytes:,} bytes where at most {limit:,} are expected",
                LogPosition(shown(path)),
            )
        return bytes(windows.read(0))


def read_small_page(path: str, *, context: ReadContext) -> bytes | None:
    """The content of a file of at most one page; None for others, which ``Windows`` reads.

    Others are also objects, remote segments in chunks, pointers of git-lfs and what cannot be read.

    Raises:
        UnreadableFileError: the file cannot be opened or is not regular.
    """
    if context.rate is not None or is_object(path) or manifest_beside(path) is not None:
        return None
    descriptor, status = _opened(path, context)
    try:
        if not 0 < status.st_size <= PAGE:
            return None
        content = read_page(descriptor, status.st_size)
    except OSError:
        return None
    finally:
        os.close(descriptor)
    is_whole = len(content) == status.st_size and not content.startswith(GIT_LFS_POINTER)
    return content if is_whole else None


def _reason(error: OSError) -> str:
    return error.strerror or str(error)
