"""Units of work made of partition directories, of one log directory each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from kafkalog_reader.io.remote_part import with_remote
from kafkalog_reader.tables.table import Unit

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kafkalog_reader.io.directories import LogDirectory, PartitionDirectory
    from kafkalog_reader.io.evidence import Evidence
    from kafkalog_reader.tables.request import ReadRequest

MAX_DIRECTORIES: Final = 250
"""Partition directories in one unit: some for every worker, few enough tasks for the driver."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectoryUnit(Unit):
    """Partition directories of one log directory, so that its checkpoints are read once."""

    directories: tuple[PartitionDirectory, ...]

    @property
    def opened(self) -> int:
        return len(self.directories)

    def parts(self) -> Sequence[DirectoryUnit]:
        return tuple(
            DirectoryUnit(size_in_bytes=0, directories=(each,)) for each in self.directories
        )


def directory_units(
    evidence: Evidence, request: ReadRequest, *, replicas_only: bool
) -> Iterator[DirectoryUnit]:
    """Yield the requested partition directories by log directory, topic and partition.

    What reading one costs is not known before its files are listed, which is the worker's part:
    the size of a unit is 0.

    Args:
        evidence: what was supplied.
        request: the requested topics, partitions and brokers.
        replicas_only: leave out deleted, future, stray and remote directories.
    """
    by_root: dict[LogDirectory, list[PartitionDirectory]] = {
        root: [] for root in evidence.log_directories
    }
    supplied = evidence if replicas_only else with_remote(evidence)
    for directory in supplied.partition_directories(request):
        if directory.is_replica or not replicas_only:
            by_root.setdefault(directory.log_directory, []).append(directory)
    for directories in by_root.values():
        for start in range(0, len(directories), MAX_DIRECTORIES):
            part = directories[start : start + MAX_DIRECTORIES]
            yield DirectoryUnit(size_in_bytes=0, directories=tuple(part))
