"""KL-014: folders that have the name of another partition than the one that they hold."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.catalogue.catalogue import codes_with
from kafkalog_reader.audits.catalogue.input_rules import FOLDER_OF_ANOTHER_PARTITION
from kafkalog_reader.audits.catalogue.role import Role
from kafkalog_reader.audits.integrity.file_repair import renames
from kafkalog_reader.audits.integrity.finding import Finding, finding
from kafkalog_reader.io.names import shown

if TYPE_CHECKING:
    from kafkalog_reader.audits.integrity.file_repair import Move
    from kafkalog_reader.io.checkpoints import TopicPartition
    from kafkalog_reader.io.directories import PartitionDirectory
    from kafkalog_reader.tables.request import ReadRequest

_OF_SEVERAL: Final = codes_with(Role.SEVERAL_REPLICAS) | codes_with(Role.OF_CONSUMERS)
_BY_NAME: Final = codes_with(Role.BY_FOLDER_NAME)


@dataclass(frozen=True, slots=True, kw_only=True)
class Misnamed:
    """One renamed folder, or folders whose names were exchanged in a circle.

    Attributes:
        folders: each with the partition that it holds; in a circle, the next one has its name.
        reasons: the evidence, as text.
        effect: what the next start does.
        confidence: of the finding.
        others: further brokers of which the same may be true instead; then nothing says which.
    """

    folders: tuple[tuple[PartitionDirectory, TopicPartition], ...]
    reasons: tuple[str, ...]
    effect: str
    confidence: str = "likely"
    others: tuple[str, ...] = ()

    @property
    def places(self) -> tuple[TopicPartition, ...]:
        """The partitions that it concerns, by the names of the folders first."""
        named = [_place(folder) for folder, _ in self.folders]
        return tuple(dict.fromkeys([*named, *(held for _, held in self.folders)]))

    @property
    def text(self) -> str:
        """Which folder holds what."""
        if len(self.folders) == 1:
            ((folder, held),) = self.folders
            return f"{folder.replica_name} has {name_of(held)} in the folder {_name(folder)}"
        names = [_name(folder) for folder, _ in self.folders]
        listed = f"{', '.join(names[:-1])} and {names[-1]}"
        brokers = " or ".join([self.folders[0][0].replica_name, *self.others])
        return f"on {brokers}, the folders {listed} have each other's names"

    @property
    def why_not_compared(self) -> str:
        """Why the copies of a partition that it concerns are not compared."""
        return f"{self.text} ({FOLDER_OF_ANOTHER_PARTITION}): rename first, then compare again"

    @property
    def moves(self) -> tuple[Move, ...]:
        """How to name the folders after what they hold; none if that is not known."""
        if self.others:
            return ()
        paths = [folder.path.rstrip("/") for folder, _ in self.folders]
        names = [name_of(held, printable=False) for _, held in self.folders]
        targets = [
            posixpath.join(posixpath.dirname(path), name)
            for path, name in zip(paths, names, strict=True)
        ]
        return tuple(renames(dict(zip(paths, targets, strict=True))))

    def explains(self, each: Finding) -> bool:
        """Whether a finding follows from the wrong names.

        So do comparisons, and what compares a misnamed folder with the rows and the assignment of
        the partition in its name.
        """
        path = None if each.directory is None else each.directory.path
        is_here = path in {folder.path for folder, _ in self.folders}
        return each.code in _OF_SEVERAL or (is_here and each.code in _BY_NAME)

    def is_reported_by(self, place: TopicPartition, request: ReadRequest) -> bool:
        """Whether the findings of this partition report it, the first one that is requested."""
        return place == next((each for each in self.places if request.selects(*each)), None)

    def finding(self) -> Finding:
        """KL-014, with the commands that rename the folders."""
        folder, (topic, partition) = self.folders[0]
        return finding(
            FOLDER_OF_ANOTHER_PARTITION,
            f"{self.text}: {'; '.join(self.reasons)}. {self.effect}",
            confidence=self.confidence,
            directory=folder,
            evidence={
                "topic": shown(topic),
                "partition": partition,
                "folders": ", ".join(f"{_name(f)}: {name_of(held)}" for f, held in self.folders),
            },
            repairs=self.moves,
        )


def name_of(place: TopicPartition, *, printable: bool = True) -> str:
    """The name of the folder of a partition."""
    topic, partition = place
    return f"{shown(topic) if printable else topic}-{partition}"


def _place(folder: PartitionDirectory) -> TopicPartition:
    return folder.topic or "", folder.partition or 0


def _name(folder: PartitionDirectory) -> str:
    return name_of(_place(folder))
