"""What the operating system says of many folders and their files, to prove that none changed."""

from __future__ import annotations

import os
from array import array
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

_SECRET: Final = int.from_bytes(os.urandom(8), "big")
"""Nobody can make two states that look the same here."""


class FolderStates:
    """Device, inode, size, modification and change time of folders and of the files in them.

    A file cannot change without its change time, which only the operating system sets. Folders in
    these folders are not looked into; they count as names.

    Attributes:
        newest_ns: the latest of all times, in nanoseconds since 1970. A change in the same tick of
            the clock does not show: whoever compares states needs files that are older than what
            was read of them.

    Args:
        folders: their paths, each once.

    Raises:
        OSError: one of them cannot be listed, or a file has vanished.
    """

    def __init__(self, folders: Iterable[str]) -> None:
        self.newest_ns = 0
        self._folders: list[tuple[str, tuple[str, ...]]] = []
        self._states = array("q")
        same: dict[tuple[str, ...], tuple[str, ...]] = {}  # most folders have equal file names
        for folder in folders:
            names = self._noted(folder)
            self._folders.append((folder, same.setdefault(names, names)))

    def __len__(self) -> int:
        return len(self._folders)

    def are_unchanged(self) -> bool:
        """Whether every folder and file is still the same."""
        states = iter(self._states)
        stat, lstat = os.stat, os.lstat
        try:
            for folder, names in self._folders:
                if _state(stat(folder)) != next(states):
                    return False
                for name in names:
                    if _state(lstat(f"{folder}/{name}")) != next(states):
                        return False
        except OSError:
            return False
        return True

    def _noted(self, folder: str) -> tuple[str, ...]:
        names = []
        self._note(os.stat(folder))
        with os.scandir(folder) as entries:
            for entry in entries:
                if not entry.is_dir(follow_symlinks=False):
                    names.append(entry.name)
                    self._note(entry.stat(follow_symlinks=False))
        return tuple(names)

    def _note(self, status: os.stat_result) -> None:
        self.newest_ns = max(self.newest_ns, status.st_mtime_ns, status.st_ctime_ns)
        self._states.append(_state(status))


def _state(status: os.stat_result) -> int:
    return hash(
        (
            _SECRET,
            status.st_dev,
            status.st_ino,
            status.st_size,
            status.st_mtime_ns,
            status.st_ctime_ns,
        )
    )
