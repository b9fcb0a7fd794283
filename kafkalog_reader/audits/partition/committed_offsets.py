"""Adds to the units of findings what consumer groups committed, and findings about the groups."""

from __future__ import annotations

import contextlib
from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.partition.commit import Commit
from kafkalog_reader.audits.partition.group_findings import group_findings
from kafkalog_reader.audits.partition.unknown_commits import (
    unknown_commit_findings,
    unknown_partitions,
)
from kafkalog_reader.errors import KafkaLogError
from kafkalog_reader.io.names import OFFSETS_TOPIC
from kafkalog_reader.io.progress import no_progress
from kafkalog_reader.scan.damage import Damage, Mode
from kafkalog_reader.tables.best_replica import best_and_lacking
from kafkalog_reader.tables.internal_topic import log_request
from kafkalog_reader.tables.log_unit import LogUnit, slices_of
from kafkalog_reader.tables.request import ReadRequest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import pyarrow as pa

    from kafkalog_reader.audits.integrity.finding import Finding
    from kafkalog_reader.audits.partition.partition_unit import PartitionUnit
    from kafkalog_reader.io.directories import Identity, PartitionDirectory
    from kafkalog_reader.io.evidence import Evidence

_REQUEST: Final = ReadRequest(mode=Mode.DROPMALFORMED)
"""Damage of that topic has findings of its own."""
_COLUMNS: Final = (
    "clusterId", "groupId", "topic", "partition", "committedOffset", "committedLeaderEpoch",
    "topicId", "offsetsPartition",
)  # fmt: skip


@dataclass(slots=True)
class CommittedOffsets:
    """What all supplied partitions of ``__consumer_offsets`` hold.

    Attributes:
        commits: by the partition that they are of.
        groups: the groups in each partition of ``__consumer_offsets``.
        partitions: the number of its partitions, by cluster, as far as folders show it.
    """

    commits: dict[Identity, list[Commit]] = field(default_factory=lambda: defaultdict(list))
    groups: dict[str | None, dict[int, set[str]]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(set))
    )
    partitions: dict[str | None, int] = field(default_factory=lambda: defaultdict(int))

    def add(self, rows: pa.Table) -> None:
        """Take the valid commits of one partition of ``__consumer_offsets``."""
        times = rows["commitTime"].cast("int64").to_pylist()  # which may be in no year of a date
        for row, time in zip(rows.select(list(_COLUMNS)).to_pylist(), times, strict=True):
            cluster_id = row["clusterId"]
            epoch = row["committedLeaderEpoch"]
            self.commits[cluster_id, row["topic"], row["partition"]].append(
                Commit(
                    row["groupId"], row["committedOffset"], -1 if epoch is None else epoch,
                    row["topicId"], row["offsetsPartition"], _milliseconds(time),
                )
            )  # fmt: skip
            self.groups[cluster_id][row["offsetsPartition"]].add(row["groupId"])


def with_commits(units: Iterable[PartitionUnit], evidence: Evidence) -> Iterator[PartitionUnit]:
    """Yield the units with the commits of their partitions, and with findings about groups."""
    found = committed_offsets(evidence)
    unknown: frozenset[Identity] | None = None
    for unit in units:
        directory = unit.directories[0]
        cluster_id, topic, partition = directory.identity
        commits = tuple(found.commits.get(directory.identity, ()))
        of_groups: tuple[Finding, ...] = ()
        if topic == OFFSETS_TOPIC and partition is not None:
            count = _partition_count(unit, found.partitions[cluster_id])
            if unknown is None:
                unknown = unknown_partitions(evidence, found.commits)
            of_groups = (
                *group_findings(directory, found.groups.get(cluster_id, {}), count),
                *unknown_commit_findings(directory, unknown, found.commits),
            )
        yield replace(unit, commits=commits, of_groups=of_groups)


def committed_offsets(evidence: Evidence) -> CommittedOffsets:
    """Read the best copy of each partition of ``__consumer_offsets``; damage is left out."""
    found = CommittedOffsets()
    asked = log_request(_REQUEST, OFFSETS_TOPIC)
    for (cluster_id, _topic, partition), replicas in evidence.topic_partitions(asked):
        found.partitions[cluster_id] = max(found.partitions[cluster_id], (partition or 0) + 1)
        with contextlib.suppress(KafkaLogError):
            rows = _read(replicas, asked)
            if rows is not None:
                found.add(rows)
    return found


def _read(replicas: Sequence[PartitionDirectory], asked: ReadRequest) -> pa.Table | None:
    from kafkalog_reader.tables.group_offsets import current_commits  # imports the decoder

    best, _ = best_and_lacking(replicas, Damage(asked.mode))
    if best is None:
        return None
    slices = tuple(slices_of(best, asked, asked.damage))
    return current_commits(LogUnit(size_in_bytes=0, slices=slices), _REQUEST, no_progress)


def _milliseconds(microseconds: int | None) -> int | None:
    return None if microseconds is None else microseconds // 1000


def _partition_count(unit: PartitionUnit, folders: int) -> int | None:
    """How many partitions the topic has; by the metadata log, or by the highest folder."""
    if unit.topics is not None and unit.topics.replicas is not None:
        known = [partition for topic, partition in unit.topics.replicas if topic == OFFSETS_TOPIC]
        if known:
            return max(known) + 1
    return folders or None
