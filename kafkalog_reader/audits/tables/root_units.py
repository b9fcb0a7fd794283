"""Units of work about whole log directories: what is wrong with them, or with the supply."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.election.missing_directories import (
    directory_missing_finding,
    missing_directories,
)
from kafkalog_reader.audits.integrity.directory_findings import directory_findings
from kafkalog_reader.audits.integrity.identity_findings import (
    exchange_findings,
    exchanged_disk_findings,
    identity_finding,
)
from kafkalog_reader.audits.integrity.partial_copy import named_partitions
from kafkalog_reader.audits.partition.metadata_absent import metadata_absent_findings
from kafkalog_reader.audits.partition.mixed_clusters import cluster_findings
from kafkalog_reader.audits.partition.node_identity import lines_of_meta_properties
from kafkalog_reader.audits.partition.partition_unit import cluster_metadata
from kafkalog_reader.audits.partition.set_aside import set_aside_findings
from kafkalog_reader.audits.partition.unread_replicas import (
    empty_directory_findings,
    skipped_findings,
)
from kafkalog_reader.io.log_directory import exchanged_labels
from kafkalog_reader.tables.table import Unit

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from kafkalog_reader.audits.election.metadata_log import ClusterMetadata
    from kafkalog_reader.audits.integrity.finding import Finding
    from kafkalog_reader.audits.integrity.partial_copy import Partition
    from kafkalog_reader.io.directories import LogDirectory
    from kafkalog_reader.io.evidence import Evidence
    from kafkalog_reader.tables.request import ReadRequest

_OF_ALL_PARTITIONS: Final = "CHM"
"""Severities of findings about a log directory that are reported for a selection, too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RootUnit(Unit):
    """One log directory that was supplied completely."""

    root: LogDirectory
    found: tuple[Finding, ...] = ()
    """Findings that were made while the work was planned."""
    lost: tuple[Finding, ...] = ()
    """Findings about requested partitions of which no copy was supplied."""
    reported: frozenset[Partition] = frozenset()
    """Partitions whose units report that their replica here is missing or was not read."""
    unassigned: frozenset[Partition] = frozenset()
    """Partitions in its checkpoints that by the metadata log only other brokers have."""
    selection: ReadRequest | None = None
    """The selected partitions; None for all."""
    holds_selected: bool = True
    """Whether there is one of them in the directory."""

    @property
    def findings(self) -> list[Finding]:
        """All findings of the directory, in order; of a selection those that concern it."""
        own = directory_findings(self.root, self.reported, self.unassigned)
        found = (each for each in (*self.found, *own) if self._is_asked(each))
        return sorted((*self.lost, *found), key=lambda each: each.order)

    def _is_asked(self, each: Finding) -> bool:
        """Whatever is wrong with a whole directory concerns all of its partitions."""
        if self.selection is None:
            return True
        evidence = dict(each.evidence)
        if "topic" in evidence:
            return self.selection.selects(evidence["topic"], int(evidence["partition"]))
        return self.holds_selected and each.severity in _OF_ALL_PARTITIONS


def root_units(
    evidence: Evidence,
    request: ReadRequest,
    clusters: Mapping[str | None, ClusterMetadata],
    unread: Iterable[Finding],
    lost: Sequence[Finding],
    found: Sequence[Finding],
) -> Iterator[RootUnit]:
    """Yield a unit for each log directory that was supplied completely.

    Args:
        evidence: the supplied paths.
        request: the selected partitions.
        clusters: metadata logs by cluster id.
        unread: findings about replicas that are missing or were not read.
        lost: findings about partitions of which no copy was supplied.
        found: what is reported of those: the same, or that a folder has another name (KL-014).
    """
    reported: dict[LogDirectory, set[Partition]] = defaultdict(set)
    for place in (each.directory for each in unread):
        if place is not None and place.topic is not None:
            reported[place.log_directory].add((place.topic, place.partition or 0))
    for place in (each.directory for each in lost):
        if place is not None and place.topic is not None:
            for root in evidence.roots:
                if root.cluster_id == place.log_directory.cluster_id:
                    reported[root].add((place.topic, place.partition or 0))
    is_whole = (request.topics, request.partitions, request.assigned) == (None, None, None)
    holders = {each.log_directory for each in evidence.partition_directories(request)}
    missing = map(directory_missing_finding, missing_directories(evidence, clusters))
    mixed = (*missing, *_mixed_clusters(evidence, request), *_wrong_identities(evidence))
    mixed += (*set_aside_findings(evidence, request, clusters),)
    mixed += (*empty_directory_findings(evidence, holders),)
    mixed += (*metadata_absent_findings(evidence, request), *skipped_findings(evidence, holders))
    for root in evidence.roots:
        yield RootUnit(
            size_in_bytes=0, root=root, found=_of_root(root, mixed), lost=_of_root(root, found),
            reported=frozenset(reported[root]),
            unassigned=_unassigned(root, clusters.get(root.cluster_id)),
            selection=None if is_whole else request, holds_selected=root in holders,
        )  # fmt: skip


def _of_root(root: LogDirectory, found: Iterable[Finding]) -> tuple[Finding, ...]:
    """The findings whose place is in a log directory."""
    return tuple(
        each
        for each in found
        if each.directory is not None and each.directory.log_directory == root
    )


def _unassigned(root: LogDirectory, cluster: ClusterMetadata | None) -> frozenset[Partition]:
    """Partitions in the checkpoints of a log directory that only other brokers have."""
    if cluster is None or root.broker_id is None:
        return frozenset()
    known = {place: cluster.partitions.get(place) for place in named_partitions(root)}
    return frozenset(
        place
        for place, each in known.items()
        if each is not None and root.broker_id not in each.replicas
    )


def _wrong_identities(evidence: Evidence) -> Iterator[Finding]:
    """KL-312, with the file as the metadata log shows that it should be."""
    exchanged = exchanged_labels(evidence.roots)
    of_exchange = [*exchange_findings(evidence.roots, exchanged)]
    yield from of_exchange
    yield from exchanged_disk_findings(evidence.roots)
    wrong = [
        root
        for root in evidence.roots
        if identity_finding(root, has_label=root not in exchanged) is not None
    ]
    clusters = cluster_metadata(evidence) if wrong else {}
    has_zookeeper = any(root.meta_version == 0 for root in evidence.roots)
    for root in wrong:
        known = clusters.get(root.cluster_id)
        lines = () if known is None else lines_of_meta_properties(root, evidence.roots, known)
        found = identity_finding(
            root, lines, is_kraft=known is not None, has_zookeeper=has_zookeeper,
            has_label=root not in exchanged,
        )  # fmt: skip
        if found is not None and found.actions not in [each.actions for each in of_exchange]:
            yield found


def _mixed_clusters(evidence: Evidence, request: ReadRequest) -> Iterator[Finding]:
    """KL-008, which only all directories together show."""
    if len({root.cluster_id for root in evidence.roots}) > 1:
        live = (d for d in evidence.partition_directories(request) if d.is_replica)
        yield from cluster_findings(evidence.roots, live, cluster_metadata(evidence))
