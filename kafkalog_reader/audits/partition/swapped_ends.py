"""Finds folders of one broker whose names were exchanged, by its recovery points alone.

A clean shutdown leaves each log end as recovery point. A log that is longer than that, and another
one that is shorter, where each ends at the recovery point of the other, is nothing that damage
leaves: damage only takes records. No other copy and no metadata log is needed.
"""

from __future__ import annotations

import posixpath
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.comparison.compared_replicas import Comparison
from kafkalog_reader.audits.integrity.checkpoint_findings import RECOVERY_POINTS
from kafkalog_reader.audits.partition.misnamed import Misnamed, name_of
from kafkalog_reader.audits.partition.same_content import fits_rows
from kafkalog_reader.errors import LocatedError
from kafkalog_reader.io.checkpoints import checkpointed_offsets
from kafkalog_reader.io.names import METADATA_TOPIC
from kafkalog_reader.scan.log_tail import scan_tail

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kafkalog_reader.audits.partition.partition_audit import PartitionAudit
    from kafkalog_reader.io.checkpoints import TopicPartition
    from kafkalog_reader.io.directories import PartitionDirectory

_MOST_COMPARED: Final = 64
"""Partitions whose recovery point is the log end of one folder; of more, nothing is concluded."""


def swapped_by_ends(audit: PartitionAudit) -> tuple[Misnamed, ...]:
    """The pairs of folders with each other's names, one of which is a copy of this partition."""
    comparison = audit.comparison
    is_alike = isinstance(comparison, Comparison) and not comparison.has_two_contents
    if audit.topic in (None, METADATA_TOPIC) or (is_alike and len(audit.everyone) > 1):
        return ()
    found = []
    for replica in audit.everyone:
        try:
            pairs = [*_pairs(replica.directory)]
        except LocatedError:  # has its own finding
            continue
        if len(pairs) == 1:  # of several, nothing says which
            found += pairs
    return tuple(found)


def _pairs(folder: PartitionDirectory) -> Iterator[Misnamed]:
    root, own = folder.log_directory, (folder.topic or "", folder.partition or 0)
    points = checkpointed_offsets(root, RECOVERY_POINTS)
    if not root.clean_shutdown or own not in points:
        return
    end = scan_tail(folder).next_offset
    if end == points[own]:
        return
    equal = [place for place, point in points.items() if point == end]
    for place in equal if len(equal) <= _MOST_COMPARED else ():
        path = posixpath.join(root.path, name_of(place, printable=False))
        other = replace(folder, path=path, topic=place[0], partition=place[1])
        is_other_way = scan_tail(other).next_offset == points[own]
        if is_other_way and fits_rows(other, *own) and fits_rows(folder, *place):
            yield _found((folder, place), (other, own))


def _found(*folders: tuple[PartitionDirectory, TopicPartition]) -> Misnamed:
    names = [name_of((folder.topic or "", folder.partition or 0)) for folder, _ in folders]
    pairs = sorted(zip(names, folders, strict=True), key=lambda each: each[0])
    serves = "After the next start the broker would serve each as the other"
    is_one_topic = len({topic for _, (topic, _) in folders}) == 1
    return Misnamed(
        folders=tuple(each for _, each in pairs),
        reasons=tuple(
            f"the log end of {name} is the recovery point of {name_of(held)}, and the broker shut "
            "down cleanly"
            for name, (_, held) in pairs
        ),
        effect=f"{serves}, and no checksum shows it"
        if is_one_topic
        else f"{serves}, or set both aside because of their topic ids",
    )
