"""The output folder of a salvage: new or empty, and never inside an input."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from kafkalog_reader.errors import OptionError, UsageError
from kafkalog_reader.io.names import MANIFEST, shown

if TYPE_CHECKING:
    from kafkalog_reader.io.directories import PartitionDirectory
    from kafkalog_reader.io.evidence import Evidence

UNFINISHED = ".unfinished"
DOUBTFUL = "doubtful-offsets"
"""The folder beside those of partitions: none has a name without a number at its end."""


class OutputFolder:
    """Makes the folders of partitions; each gets its final name when it is complete.

    Raises:
        UsageError: the folder holds something, lies in an input, or cannot be made.
    """

    def __init__(self, path: str, evidence: Evidence, *, option: str = "output") -> None:
        if not path or "\0" in path:
            raise OptionError(option, f"{shown(path)!r} is not a folder: name one")
        self.path = Path(os.path.realpath(path))
        self._given = path
        self._option = option
        self._used: set[str] = set()
        try:
            self._refuse(evidence)
            self._made = [each for each in (self.path, *self.path.parents) if not each.exists()]
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise self._cannot_write(error) from error

    def begin(self, directory: PartitionDirectory) -> Path:
        """Make the folder of a partition, with a name that marks it as unfinished."""
        name = "unnamed" if directory.topic is None else f"{directory.topic}-{directory.partition}"
        number, free = 1, name
        while free in self._used:  # a second replica, or a second cluster
            number += 1
            free = f"{name}~{number}"
        self._used.add(free)
        folder = self.path / f"{free}{UNFINISHED}"
        try:
            folder.mkdir()
        except OSError as error:
            raise self._cannot_write(error) from error
        return folder

    def doubtful(self, folder: Path) -> Path:
        """The folder for a partition's records at doubtful offsets."""
        return self.path / DOUBTFUL / folder.name.removesuffix(UNFINISHED)

    def finish(self, folder: Path) -> Path | None:
        """Give a folder its final name, or remove it if it is empty."""
        if not any(folder.iterdir()):
            folder.rmdir()
            return None
        return folder.rename(folder.with_name(folder.name.removesuffix(UNFINISHED)))

    def discard(self) -> None:
        """Remove the folder again where nothing was written, with those made for it."""
        for folder in self._made:
            if any(folder.iterdir()):
                return
            folder.rmdir()

    def write_manifest(self, text: str) -> None:
        """Write the manifest, the last file of a salvage."""
        (self.path / MANIFEST).write_text(text, encoding="utf-8")

    def _refuse(self, evidence: Evidence) -> None:
        inputs = [*(r.path for r in evidence.log_directories), *(d.path for d in evidence.given)]
        for directory in inputs:
            if self.path.is_relative_to(os.path.realpath(directory)):
                raise OptionError(
                    self._option,
                    f"{shown(self._given)} lies in {shown(directory)}, which is an input: inputs "
                    "are evidence and are never changed",
                )
        if self.path.exists() and not self.path.is_dir():
            raise OptionError(self._option, f"{shown(self._given)} is a file: name a folder")
        if self.path.is_dir() and any(self.path.iterdir()):
            raise OptionError(
                self._option, f"{shown(self._given)} is not empty: a salvage overwrites nothing"
            )

    def _cannot_write(self, error: OSError) -> UsageError:
        return UsageError(f"cannot write {shown(self._given)}: {error.strerror or error}")
