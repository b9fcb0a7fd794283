"""Archives as paths: unpacked once into a private folder, deleted when no process needs it.

All that reads works on folders, with file descriptors, holes and times of files; so an archive is
made one, here, instead of in each reader. The folder's name follows from the archive's path, size
and time, so that processes of one machine share it: each holds a lock as long as it runs, the last
one deletes it, and what a killed process left is deleted by a later one.
"""

from __future__ import annotations

import atexit
import fcntl
import hashlib
import io
import logging
import os
import shutil
import stat
import tempfile
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from kafkalog_reader.errors import LogPosition, UnreadableFileError, show_as
from kafkalog_reader.io.names import shown
from kafkalog_reader.io.unpacking import Unpacking, free_space

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kafkalog_reader.io.read_rate import ReadRate

logger = logging.getLogger(__name__)

_COMPLETE: Final = "complete"
_ABANDONED_AFTER: Final = 3600.0
"""Seconds: between the plan of a Spark query and its tasks, no process may hold a folder."""
_LARGE: Final = 256 << 20
"""Bytes of an archive whose unpacking takes so long that it is announced."""
_held: dict[str, int] = {}
"""Folders that this process needs, and the descriptors of their locks."""
_holding: Final = threading.Lock()
_holder: int | None = None
"""The process that holds them; a fork of it must not delete them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Archive:
    """An archive as it was found, and its folder.

    A process that unpickles it, such as a worker of Spark, unpacks it first where that is needed.

    Attributes:
        path: absolute, links resolved.
        shown_as: as given.
        size_in_bytes, modified_at_ns: of the archive, so that no other one is read for it.
        home: the folder of the folder and its marker.
    """

    path: str
    shown_as: str
    size_in_bytes: int
    modified_at_ns: int
    home: str

    @property
    def folder(self) -> str:
        """Where its members are; has the archive's name."""
        return os.path.join(self.home, os.path.basename(self.path))

    def __reduce__(self) -> tuple[object, ...]:
        return _restored, (
            self.path, self.shown_as, self.size_in_bytes, self.modified_at_ns, self.home,
        )  # fmt: skip


def _restored(
    path: str, shown_as: str, size_in_bytes: int, modified_at_ns: int, home: str
) -> Archive:
    archive = Archive(
        path=path, shown_as=shown_as, size_in_bytes=size_in_bytes,
        modified_at_ns=modified_at_ns, home=home,
    )  # fmt: skip
    hold(archive)
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
        base = _base()
    except OSError as error:
        raise UnreadableFileError(str(error.strerror), LogPosition(shown(path))) from error
    words = (real, found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)
    key = hashlib.sha256(repr(words).encode("utf-8", "surrogateescape")).hexdigest()[:20]
    archive = Archive(
        path=real, shown_as=path, size_in_bytes=found.st_size, modified_at_ns=found.st_mtime_ns,
        home=os.path.join(base, key),
    )  # fmt: skip
    hold(archive, rate)
    return archive


def hold(archive: Archive, rate: ReadRate | None = None) -> None:
    """Make sure that its folder is there until this process ends.

    Raises:
        UnreadableFileError: it is not, and cannot be unpacked again.
    """
    with _holding:
        _hold(archive, rate)


def _hold(archive: Archive, rate: ReadRate | None) -> None:
    global _holder
    if _holder != os.getpid():
        _held.clear()  # of the process that this one was forked from
        _holder = os.getpid()
        atexit.register(_release_all)
    show_as(archive.folder, archive.shown_as)
    if archive.home in _held:
        return
    try:
        base = _private(os.path.dirname(archive.home))
        _delete_abandoned(base)
        _held[archive.home] = _locked(archive, rate)
    except OSError as error:
        problem = f"cannot be unpacked: {error.strerror or error}"
        raise UnreadableFileError(problem, LogPosition(shown(archive.shown_as))) from error


def _base() -> str:
    chosen = os.environ.get("TMPDIR")
    large = "/var/tmp"  # noqa: S108  on disk, where /tmp may be memory; used only if private
    if not chosen and os.access(large, os.W_OK | os.X_OK):
        chosen = large
    return _private(
        os.path.join(os.path.abspath(chosen or tempfile.gettempdir()), f"kafkalog-{os.geteuid()}")
    )


def _private(folder: str) -> str:
    """Create a folder that only this user can enter; refuse one that somebody else prepared."""
    with suppress(FileExistsError):
        Path(folder).mkdir(mode=0o700)
    status = os.lstat(folder)
    is_own = status.st_uid == os.geteuid() and stat.S_IMODE(status.st_mode) & 0o077 == 0
    if not stat.S_ISDIR(status.st_mode) or not is_own:
        raise PermissionError(0, f"{shown(folder)} is not a folder of this user alone")
    return folder


def _locked(archive: Archive, rate: ReadRate | None) -> int:
    """The descriptor of a shared lock on its complete folder."""
    marker = Path(archive.home, _COMPLETE)
    while True:
        descriptor = _open_lock(archive.home)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH)
            if _is_current(descriptor) and marker.exists():
                os.utime(descriptor)
                return descriptor
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            if _is_current(descriptor) and not marker.exists():
                _unpack(archive, rate)
                marker.touch()
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)  # and once more with a shared lock


def _unpack(archive: Archive, rate: ReadRate | None) -> None:
    shutil.rmtree(archive.home, ignore_errors=True)  # of a process that was killed
    Path(archive.folder).mkdir(mode=0o700, parents=True)
    if archive.size_in_bytes >= _LARGE:
        size = f"{archive.size_in_bytes:,}"
        logger.warning("%s: %s bytes, being unpacked first", shown(archive.shown_as), size)
    started = time.monotonic()
    try:
        with open(archive.path, "rb", buffering=0) as file:
            descriptor = file.fileno()
            _check_unchanged(archive, os.fstat(descriptor))
            unpacking = Unpacking(archive.shown_as, archive.folder, free_space(archive.home))
            unpacking.run(_Content(descriptor, archive.size_in_bytes, rate))
    except BaseException:
        shutil.rmtree(archive.home, ignore_errors=True)
        raise
    logger.warning(
        "%s: unpacked %s, %s bytes (%s on disk), in %.1f s to %s, deleted at the end",
        shown(archive.shown_as), _counted(unpacking.members), f"{unpacking.size:,}",
        f"{unpacking.written:,}", time.monotonic() - started, archive.home,
    )  # fmt: skip


def _counted(members: int) -> str:
    return "1 member" if members == 1 else f"{members:,} members"


def _check_unchanged(archive: Archive, found: os.stat_result) -> None:
    if (found.st_size, found.st_mtime_ns) != (archive.size_in_bytes, archive.modified_at_ns):
        raise UnreadableFileError(
            "not the archive that was planned with: it has changed, or differs between machines",
            LogPosition(shown(archive.shown_as)),
        )


def _open_lock(home: str) -> int:
    return os.open(f"{home}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)


def _is_current(descriptor: int) -> bool:
    """Whether the lock's file has not been deleted by the process that held it before."""
    return os.fstat(descriptor).st_nlink > 0


def _release_all() -> None:
    if _holder == os.getpid():
        for home, descriptor in _held.items():
            _delete_unused(home, descriptor)
        _held.clear()


def _delete_abandoned(base: str) -> None:
    """Delete folders that no process holds, and has not for an hour."""
    oldest = time.time() - _ABANDONED_AFTER
    for lock in _locks(base):
        with suppress(OSError):
            if lock.stat().st_mtime < oldest:
                home = str(lock.with_suffix(""))
                _delete_unused(home, _open_lock(home))


def _locks(base: str) -> Iterator[Path]:
    yield from sorted(Path(base).glob("*.lock"))


def _delete_unused(home: str, descriptor: int) -> None:
    """Delete a folder and its lock, unless another process holds it; close the descriptor."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if _is_current(descriptor):
            shutil.rmtree(home, ignore_errors=True)
            Path(f"{home}.lock").unlink(missing_ok=True)
    except OSError:  # another process needs it
        pass
    finally:
        os.close(descriptor)


class _Content(io.RawIOBase):
    """The bytes of an archive, at the pace of ``--max-rate``."""

    def __init__(self, descriptor: int, size: int, rate: ReadRate | None) -> None:
        super().__init__()
        self._descriptor = descriptor
        self._size = size
        self._rate = rate
        self._position = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        start = {os.SEEK_SET: 0, os.SEEK_CUR: self._position, os.SEEK_END: self._size}[whence]
        if start + offset < 0:
            raise ValueError("a position before the start of the file")
        self._position = start + offset
        return self._position

    def tell(self) -> int:
        return self._position

    def readinto(self, target: Any) -> int:  # noqa: ANN401  a writable buffer
        part = memoryview(target).cast("B")
        if self._rate is not None:
            part = part[: self._rate.burst]
            self._rate.take(min(len(part), max(0, self._size - self._position)))
        count = os.preadv(self._descriptor, [part], self._position)
        self._position += count
        return count
