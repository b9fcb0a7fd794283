"""KL-419: log files of one copy that have each other's names."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.catalogue.catalogue import codes_with
from kafkalog_reader.audits.catalogue.log_rules import LOG_FILES_EXCHANGED
from kafkalog_reader.audits.catalogue.role import Role
from kafkalog_reader.audits.integrity.file_repair import renames
from kafkalog_reader.audits.integrity.finding import Finding, finding
from kafkalog_reader.io.exchanged_logs import exchanged_logs
from kafkalog_reader.io.names import segment_file_name
from kafkalog_reader.io.partition_directory import readable_segments

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kafkalog_reader.audits.partition.replica_audit import ReplicaAudit
    from kafkalog_reader.io.checkpoints import TopicPartition
    from kafkalog_reader.io.directories import PartitionDirectory
    from kafkalog_reader.tables.request import ReadRequest

OF_SEVERAL: Final = codes_with(Role.SEVERAL_REPLICAS) | codes_with(Role.OF_CONSUMERS)
OF_ITS_FILES: Final = (
    codes_with(Role.BY_FOLDER_NAME)
    | codes_with(Role.FOLLOWS_IN_REPLICA)
    | codes_with(Role.FOLLOWS_IN_SEGMENT)
    | codes_with(Role.MISLEADS_LOG_END)
)
"""Findings that may follow from log files whose offsets are not what Kafka takes them for."""
_PAIR: Final = 2
_SHOWN: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class MisreadCopy:
    """A copy whose files must be put right before the copies of its partition are compared.

    Attributes:
        directory: the copy.
    """

    directory: PartitionDirectory

    def explains(self, each: Finding) -> bool:
        """Whether a finding follows from the wrong files or offsets."""
        is_here = each.directory is not None and each.directory.path == self.directory.path
        return each.code in OF_SEVERAL or (is_here and each.code in OF_ITS_FILES)

    def is_reported_by(self, place: TopicPartition, _request: ReadRequest) -> bool:
        """Whether the findings of this partition report it."""
        return place == (self.directory.topic or "", self.directory.partition or 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class MisnamedLogs(MisreadCopy):
    """The log files of one copy that have each other's names.

    Attributes:
        exchanged: by the base offset in the name of a file, that of the segment in it.
    """

    exchanged: Mapping[int, int]

    @property
    def text(self) -> str:
        """Which file is which."""
        names = [segment_file_name(each, "log") for each in sorted(self.exchanged)]
        if len(names) == _PAIR:
            return f"{names[0]} and {names[1]} have each other's names"
        held = [
            f"{name} holds the segment that begins at {self.exchanged[each]:,}"
            for name, each in zip(names[:_SHOWN], sorted(self.exchanged), strict=False)
        ]
        more = f", and so on for {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else ""
        return f"{len(names)} log files have each other's names: {', '.join(held)}{more}"

    @property
    def why_not_compared(self) -> str:
        """Why the copies of the partition are not compared."""
        return (
            f"on {self.directory.replica_name}, {self.text} ({LOG_FILES_EXCHANGED}): rename first, "
            "then compare again"
        )

    def finding(self) -> Finding:
        """KL-419, with the commands that rename the files."""
        path = self.directory.path.rstrip("/")
        names = {name: segment_file_name(name, "log") for name in self.exchanged}
        held = [f"{names[name]}: {base}" for name, base in self.exchanged.items()]
        return finding(
            LOG_FILES_EXCHANGED,
            f"{self.text}: their batches are in order once they are renamed",
            directory=self.directory,
            file=posixpath.join(posixpath.basename(path), names[min(names)]),
            evidence={"files": ", ".join(held)},
            repairs=tuple(
                renames(
                    {
                        posixpath.join(path, names[name]): posixpath.join(path, names[base])
                        for name, base in self.exchanged.items()
                    }
                )
            ),
        )


def misnamed_logs(replicas: Iterable[ReplicaAudit]) -> tuple[MisnamedLogs, ...]:
    """The copies of a partition with such files; only where offsets fall, files are read again."""
    found = []
    for replica in replicas:
        directory = replica.directory
        if replica.summary.regression_count and directory.only is None and not directory.remote:
            exchanged = exchanged_logs(readable_segments(directory), directory.context)
            if exchanged:
                found.append(MisnamedLogs(directory=directory, exchanged=exchanged))
    return tuple(found)
