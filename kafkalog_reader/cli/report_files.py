"""The files behind a report: what was supplied, and whether it changed while it was read."""

from __future__ import annotations

import hashlib
import os
import stat
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from kafkalog_reader.cli.options import read_context
from kafkalog_reader.errors import KafkaLogError
from kafkalog_reader.io.window import Windows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kafkalog_reader.io.directories import LogDirectory
    from kafkalog_reader.io.evidence import Evidence
    from kafkalog_reader.io.progress import Progress
    from kafkalog_reader.tables.request import ReadRequest

MAX_FILES: Final = 400_000
"""Files that are watched; a report of more says so."""
MAX_LISTED: Final = 5_000
"""Files that a report lists; of the others it has the number and the size."""


class _Seen(NamedTuple):
    size_in_bytes: int
    modified_ns: int


@dataclass(slots=True)
class Total:
    """The files of a log directory, also those that are not watched."""

    files: int = 0
    size_in_bytes: int = 0


@dataclass(slots=True)
class Files:
    """The regular files of log directories and partitions, as they were at one time.

    Attributes:
        seen: those that are watched, by path.
        totals: by log directory.
        left_out: number of files that are not watched.
    """

    seen: dict[str, _Seen] = field(default_factory=dict)
    totals: defaultdict[str, Total] = field(default_factory=lambda: defaultdict(Total))
    left_out: int = 0

    @classmethod
    def now(cls, evidence: Evidence, request: ReadRequest) -> Files:
        """Look at them; nothing is opened."""
        files = cls()
        folders = [(root.path, root) for root in evidence.roots]
        folders += [(d.path, d.log_directory) for d in evidence.partition_directories(request)]
        for path, root in folders:
            files._take(path, root)
        return files

    def _take(self, folder: str, root: LogDirectory) -> None:
        try:
            with os.scandir(folder) as entries:
                ordered = sorted(entries, key=lambda entry: entry.name)
        except OSError:  # a finding
            return
        for entry in ordered:
            try:
                status = entry.stat(follow_symlinks=False)
            except OSError:
                continue
            if not stat.S_ISREG(status.st_mode):
                continue
            total = self.totals[root.path]
            total.files += 1
            total.size_in_bytes += status.st_size
            if len(self.seen) >= MAX_FILES:
                self.left_out += 1
            else:
                self.seen[entry.path] = _Seen(status.st_size, status.st_mtime_ns)

    def changed_since(self, before: Files) -> list[str]:
        """Paths that grew, shrank, were written, appeared or vanished in between."""
        both = self.seen.keys() | before.seen.keys()
        return sorted(path for path in both if self.seen.get(path) != before.seen.get(path))

    @property
    def size_in_bytes(self) -> int:
        """Of the watched files together."""
        return sum(each.size_in_bytes for each in self.seen.values())

    def rows(self, *, hashes: bool, progress: Progress) -> Iterator[dict[str, Any]]:
        """The first files, with their hash if that is asked for."""
        for path, each in list(self.seen.items())[:MAX_LISTED]:
            yield {
                "path": path,
                "sizeInBytes": each.size_in_bytes,
                "sha256": _sha256(path, each.size_in_bytes, progress) if hashes else None,
            }


def _sha256(path: str, size: int, progress: Progress) -> str | None:
    """The hash of the first ``size`` bytes; None if they cannot be read."""
    digest = hashlib.sha256()
    try:
        with Windows(path, context=read_context()) as windows:
            position = 0
            while position < size:
                window = windows.read(position)
                part = bytes(window[: size - position])
                if not part:
                    return None
                digest.update(part)
                progress(len(part))
                position += len(part)
    except KafkaLogError:
        return None
    return digest.hexdigest()
