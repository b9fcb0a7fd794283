"""Finds folders of one broker whose names were exchanged, such as ``t-0`` and ``t-1``.

Only where copies of a partition hold different records from their first batches on.
"""

from __future__ import annotations

import posixpath
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.comparison.compared_replicas import Comparison
from kafkalog_reader.audits.partition.misnamed import Misnamed, name_of
from kafkalog_reader.audits.partition.same_content import fits_rows, is_content_of
from kafkalog_reader.format.broker_words import joined
from kafkalog_reader.io.folder import is_folder
from kafkalog_reader.io.names import METADATA_TOPIC, parse_directory_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kafkalog_reader.audits.partition.partition_audit import PartitionAudit
    from kafkalog_reader.io.directories import LogDirectory, PartitionDirectory

_MOST_COMPARED: Final = 64
"""Other partitions of the topic that one folder is compared with, the nearest first."""
_LONGEST: Final = 8
"""Folders of a circle that is followed."""


def swapped_folders(audit: PartitionAudit) -> tuple[Misnamed, ...]:
    """The folders of the topic whose names were exchanged with that of a copy of this partition."""
    comparison = audit.comparison
    is_alike = not isinstance(comparison, Comparison) or not comparison.has_two_contents
    if is_alike or audit.topic in (None, METADATA_TOPIC) or len(audit.everyone) < 2:
        return ()
    topic = _Topic([each.directory for each in audit.everyone])
    found = [misnamed for each in topic.copies for misnamed in topic.circles(each)]
    return decided(found, topic.copies)


def decided(
    found: Sequence[Misnamed], copies: Sequence[PartitionDirectory]
) -> tuple[Misnamed, ...]:
    """Of brokers that each may be the one, that whose checkpoints show it.

    If none do, the first one is returned with the others named in it.
    """
    if not found:
        return ()
    fitting = [each for each in found if _fits_renamed(each)]
    if len(fitting) == 1:
        return tuple(fitting)
    first = found[0]
    if len(found) == 1 and not _contradicts_renamed(first):
        return (first,)
    name = first.folders[0][0].replica_name
    others = tuple(each.replica_name for each in copies if each.replica_name != name)
    return (replace(first, others=others, confidence="possible"),)


def _fits_renamed(misnamed: Misnamed) -> bool:
    """Whether the log ends contradict the checkpoints by the names, and fit by the content."""
    by_name, by_content = _fits(misnamed)
    return False in by_name and False not in by_content


def _contradicts_renamed(misnamed: Misnamed) -> bool:
    """The opposite."""
    by_name, by_content = _fits(misnamed)
    return False in by_content and False not in by_name


def _fits(misnamed: Misnamed) -> tuple[list[bool | None], list[bool | None]]:
    by_name = [
        fits_rows(folder, folder.topic or "", folder.partition or 0)
        for folder, _ in misnamed.folders
    ]
    return by_name, [fits_rows(folder, *held) for folder, held in misnamed.folders]


class _Topic:
    """The folders of one topic in the log directories of the copies of one partition."""

    def __init__(self, copies: Sequence[PartitionDirectory]) -> None:
        self.copies = copies
        self._folders = {each.log_directory.path: dict(_folders(each)) for each in copies}

    def circles(self, copy: PartitionDirectory) -> Iterator[Misnamed]:
        """The circle of folders that begins with a copy; none if its name is right."""
        root, partition = copy.log_directory, copy.partition or 0
        if self._is_of(copy, partition) is not False:
            return
        own = self._folders[root.path]
        holds: dict[int, int] = {}
        at = partition
        while at not in holds and len(holds) < _LONGEST:
            held = self._held_by(own[at]) if at in own else None
            if held is None:
                return
            holds[at] = held
            at = held
        if at != partition or any(each == held for each, held in holds.items()):
            return
        yield self._found(root, holds)

    def _is_of(self, folder: PartitionDirectory, partition: int) -> bool | None:
        """Whether a folder holds what the other brokers have in that of a partition."""
        return is_content_of(folder, self._copies_of(folder.log_directory, partition))

    def _copies_of(self, root: LogDirectory, partition: int) -> list[PartitionDirectory]:
        """Those in other log directories."""
        return [
            folders[partition]
            for path, folders in self._folders.items()
            if path != root.path and partition in folders
        ]

    def _held_by(self, folder: PartitionDirectory) -> int | None:
        """The partition whose records a folder holds, one other than its name says."""
        root, partition = folder.log_directory, folder.partition or 0
        others = sorted({*self._folders[root.path]} - {partition}, key=lambda p: abs(p - partition))
        for other in others[:_MOST_COMPARED]:
            if self._is_of(folder, other):
                return other
        return None

    def _found(self, root: LogDirectory, holds: dict[int, int]) -> Misnamed:
        folders = self._folders[root.path]
        topic = folders[next(iter(holds))].topic or ""
        order = _from_lowest(holds)
        pairs = tuple((folders[each], (topic, holds[each])) for each in order)
        reasons = [
            f"the first batches of {name_of((topic, each))} are those of "
            f"{name_of((topic, holds[each]))} on "
            f"{joined([c.replica_name for c in self._copies_of(root, holds[each])])}"
            for each in order
        ]
        misnamed = Misnamed(
            folders=pairs,
            reasons=tuple(reasons),
            effect="After the next start the broker would serve each as the other, and no "
            "checksum shows it",
        )
        if _fits_renamed(misnamed):
            more = "the log ends are those of the checkpoints once the folders are renamed"
            misnamed = replace(misnamed, reasons=(*reasons, more))
        return misnamed


def _from_lowest(holds: dict[int, int]) -> list[int]:
    """The folders of a circle in order, so that each partition reports the same."""
    order = [min(holds)]
    while holds[order[-1]] != order[0]:
        order.append(holds[order[-1]])
    return order


def _folders(copy: PartitionDirectory) -> Iterator[tuple[int, PartitionDirectory]]:
    """The live folders of the topic of a copy in its log directory, by partition."""
    root = copy.log_directory
    yield copy.partition or 0, copy
    if root.clean_shutdown is None:  # it was not supplied as a whole
        return
    try:
        entries = root.context.entries(root.path)
    except OSError:  # has its own finding
        return
    for entry in entries:
        name = parse_directory_name(entry.name)
        if name is None or (name.topic, name.state) != (copy.topic, None):
            continue
        if name.partition != copy.partition and is_folder(entry, root.context):
            path = posixpath.join(root.path, entry.name)
            yield name.partition, replace(copy, path=path, partition=name.partition)
