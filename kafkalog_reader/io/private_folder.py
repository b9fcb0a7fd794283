"""Private folders that stand for other paths, deleted when no process needs them.

All that reads works on folders, with file descriptors, holes and times of files. So what is not a
folder gets one: an archive its members, an object store the names, sizes and times of its objects.
Each process that needs a folder holds a lock as long as it runs, the last one deletes the folder,
and what a killed process left is deleted by a later one.
"""

from __future__ import annotations

import atexit
import fcntl
import os
import random
import shutil
import stat
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from kafkalog_reader.errors import LogPosition, UnreadableFileError
from kafkalog_reader.io.names import shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kafkalog_reader.io.read_rate import ReadRate

_COMPLETE: Final = "complete"
_ABANDONED_AFTER: Final = 3600.0
"""Seconds: between the plan of a Spark query and its tasks, no process may hold a folder."""
_PAUSE: Final = (0.01, 0.05)
"""Seconds until a process tries again to fill a folder that another one looks at."""
_held: dict[str, int] = {}
"""Folders that this process needs, and the descriptors of their locks."""
_holding: Final = threading.RLock()
_holder: int | None = None
"""The process that holds them; a fork of it must not delete them."""


class Source(Protocol):
    """What a private folder stands for. A process that unpickles it holds the folder.

    Attributes:
        home: the folder of the folder and its marker.
        shown_as: the path as given.
        written_at_ns: when its content was last written; None if each of its files has such a time.
    """

    @property
    def home(self) -> str: ...
    @property
    def shown_as(self) -> str: ...
    @property
    def written_at_ns(self) -> int | None: ...

    def fill(self, rate: ReadRate | None) -> None:
        """Create the content of ``home``, which does not exist; runs in one process only."""


def hold(source: Source, rate: ReadRate | None = None) -> None:
    """Make sure that its folder is there until this process ends.

    Raises:
        UnreadableFileError: it is not, and cannot be filled again.
    """
    with _holding:
        _hold(source, rate)


def _hold(source: Source, rate: ReadRate | None) -> None:
    global _holder
    if _holder != os.getpid():
        _held.clear()  # of the process that this one was forked from
        _holder = os.getpid()
        atexit.register(_release_all)
    if source.home in _held:
        return
    try:
        base = _private(os.path.dirname(source.home))
        _delete_abandoned(base)
        _held[source.home] = _locked(source, rate)
    except OSError as error:
        problem = f"its private folder cannot be used: {error.strerror or error}"
        raise UnreadableFileError(problem, LogPosition(shown(source.shown_as))) from error


def base_folder() -> str:
    """The folder in which all of them are: of this user, on disk.

    Raises:
        OSError: it cannot be created, or is not of this user alone.
    """
    chosen = os.environ.get("TMPDIR")
    large = "/var/tmp"  # noqa: S108  on disk, where /tmp may be memory; used only if private
    if not chosen and os.access(large, os.W_OK | os.X_OK):
        chosen = large
    place = os.path.abspath(chosen or tempfile.gettempdir())
    if not os.access(place, os.W_OK | os.X_OK):
        problem = "cannot be written to" if os.path.isdir(place) else "is not a folder"
        raise PermissionError(
            0, f"{shown(place)} {problem}; set TMPDIR to a folder that can hold temporary files"
        )
    return _private(os.path.join(place, f"kafkalog-{os.geteuid()}"))


def _private(folder: str) -> str:
    """Create a folder that only this user can enter; refuse one that somebody else prepared."""
    with suppress(FileExistsError):
        Path(folder).mkdir(mode=0o700)
    status = os.lstat(folder)
    is_own = status.st_uid == os.geteuid() and stat.S_IMODE(status.st_mode) & 0o077 == 0
    if not stat.S_ISDIR(status.st_mode) or not is_own:
        raise PermissionError(0, f"{shown(folder)} is not a folder of this user alone")
    return folder


def _locked(source: Source, rate: ReadRate | None) -> int:
    """The descriptor of a shared lock on its complete folder."""
    marker = Path(source.home, _COMPLETE)
    while True:
        descriptor = _open_lock(source.home)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH)
            if _is_current(descriptor) and marker.exists():
                os.utime(descriptor)
                return descriptor
            # Not to wait: who filled it just now holds a shared lock as long as it runs.
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_current(descriptor) and not marker.exists():
                shutil.rmtree(source.home, ignore_errors=True)  # of a process that was killed
                try:
                    source.fill(rate)
                except BaseException:
                    shutil.rmtree(source.home, ignore_errors=True)
                    raise
                marker.touch()
        except BlockingIOError:
            time.sleep(random.uniform(*_PAUSE))  # noqa: S311  or two would try in step
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)  # and once more with a shared lock


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
