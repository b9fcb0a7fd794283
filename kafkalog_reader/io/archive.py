"""Archives as paths: unpacked once into a private folder.

The folder's name follows from the archive's path, size and time, so that processes of one machine
share it.
"""

from __future__ import annotations

import hashlib
import io
import logging
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from kafkalog_reader.errors import LogPosition, UnreadableFileError, as_argument, show_as
from kafkalog_reader.io.names import shown
from kafkalog_reader.io.object_file import is_object
from kafkalog_reader.io.private_folder import base_folder, hold
from kafkalog_reader.io.read_context import ReadContext
from kafkalog_reader.io.unpacking import Unpacking, free_space
from kafkalog_reader.io.window import Windows

if TYPE_CHECKING:
    from kafkalog_reader.io.read_rate import ReadRate

logger = logging.getLogger(__name__)

_LARGE: Final = 256 << 20
"""Bytes of an archive whose unpacking takes so long that it is announced."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Archive:
    """An archive as it was found, and its folder.

    A process that unpickles it, such as a worker of Spark, unpacks it first where that is needed.

    Attributes:
        path: absolute, links resolved.
        shown_as: as given, without the query of an object's URI.
        query: of the URI, with its question mark.
        size_in_bytes, modified_at_ns: of the archive, so that no other one is read for it.
        home: the folder of the folder and its marker.
    """

    path: str
    shown_as: str
    query: str = ""
    size_in_bytes: int
    modified_at_ns: int
    home: str

    @property
    def folder(self) -> str:
        """Where its members are; has the archive's name."""
        return os.path.join(self.home, os.path.basename(self.path))

    @property
    def written_at_ns(self) -> int:
        """When it was last written, as a rule when the last of its files was copied."""
        return self.modified_at_ns

    def fill(self, rate: ReadRate | None) -> None:
        """Unpack it.

        Raises:
            UnreadableFileError: it is damaged, hostile, too large or has changed.
        """
        Path(self.folder).mkdir(mode=0o700, parents=True)
        if self.size_in_bytes >= _LARGE:
            size = f"{self.size_in_bytes:,}"
            logger.warning("%s: %s bytes, being unpacked first", shown(self.shown_as), size)
        started = time.monotonic()
        _check_unchanged(self, os.stat(self.path))
        with Windows(self.path, size=1, context=ReadContext(rate=rate)) as windows:
            unpacking = Unpacking(self.shown_as, self.folder, free_space(self.home))
            unpacking.run(_Content(windows))
        logger.warning(
            "%s: unpacked %s, %s bytes (%s on disk), in %.1f s to %s, deleted at the end",
            shown(self.shown_as), _counted(unpacking.members), f"{unpacking.size:,}",
            f"{unpacking.written:,}", time.monotonic() - started, self.home,
        )  # fmt: skip

    def __reduce__(self) -> tuple[object, ...]:
        return _restored, (
            self.path, self.shown_as, self.query, self.size_in_bytes,
            self.modified_at_ns, self.home,
        )  # fmt: skip


def _restored(
    path: str, shown_as: str, query: str, size_in_bytes: int, modified_at_ns: int, home: str
) -> Archive:
    archive = Archive(
        path=path, shown_as=shown_as, query=query, size_in_bytes=size_in_bytes,
        modified_at_ns=modified_at_ns, home=home,
    )  # fmt: skip
    _hold(archive)
    return archive


def unpacked(path: str, rate: ReadRate | None = None) -> Archive:
    """Unpack an archive, unless a process of this machine has done so and it has not changed.

    Args:
        path: of the archive.
        rate: limits the bytes per second that are read of it; None does not.

    Raises:
        UnreadableFileError: it is damaged or hostile, or there is not enough space.
    """
    real = os.path.realpath(path)
    try:
        found = os.stat(real)
        base = base_folder()
    except OSError as error:
        raise UnreadableFileError(str(error.strerror), LogPosition(shown(path))) from error
    name, mark, query = path, "", ""
    if is_object(path):
        name, mark, query = as_argument(path).partition("?")
    words = (real, found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)
    key = hashlib.sha256(repr(words).encode("utf-8", "surrogateescape")).hexdigest()[:20]
    archive = Archive(
        path=real, shown_as=name, query=mark + query, size_in_bytes=found.st_size,
        modified_at_ns=found.st_mtime_ns, home=os.path.join(base, key),
    )  # fmt: skip
    _hold(archive, rate)
    return archive


def _hold(archive: Archive, rate: ReadRate | None = None) -> None:
    show_as(archive.folder, archive.shown_as, archive.query)
    hold(archive, rate)


def _counted(members: int) -> str:
    return "1 member" if members == 1 else f"{members:,} members"


def _check_unchanged(archive: Archive, found: os.stat_result) -> None:
    if (found.st_size, found.st_mtime_ns) != (archive.size_in_bytes, archive.modified_at_ns):
        raise UnreadableFileError(
            "not the archive that was planned with: it has changed, or differs between machines",
            LogPosition(shown(archive.shown_as)),
        )


class _Content(io.RawIOBase):
    """The bytes of an archive, wherever it is."""

    def __init__(self, windows: Windows) -> None:
        super().__init__()
        self._windows = windows
        self._position = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        end = self._windows.stop
        start = {os.SEEK_SET: 0, os.SEEK_CUR: self._position, os.SEEK_END: end}[whence]
        if start + offset < 0:
            raise ValueError("a position before the start of the file")
        self._position = start + offset
        return self._position

    def tell(self) -> int:
        return self._position

    def readinto(self, target: Any) -> int:  # noqa: ANN401  a writable buffer
        part = memoryview(target).cast("B")
        read = self._windows.read(self._position, len(part), at_most=len(part))
        part[: len(read)] = read
        self._position += len(read)
        return len(read)
