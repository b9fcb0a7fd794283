"""The quorum of one cluster: its voters, the copies of their logs, who votes for whom.

A voter grants its vote, and before it its pre-vote (KIP-996), to a candidate whose log ends at
least where its own does: the last leader epoch decides, then the log end offset. A vote that is
already given, or a known leader, only lasts until the next leader epoch, so that neither decides
who wins in the end. Source: Kafka 4.4, KafkaRaftClient#handleVoteRequest, EpochState#canGrantVote.
"""

from __future__ import annotations

import shlex
from collections import Counter
from dataclasses import dataclass, field, replace
from itertools import product
from typing import TYPE_CHECKING

from kafkalog_reader.audits.election.missing_directories import missing_directories
from kafkalog_reader.audits.integrity.partial_copy import had_metadata_log
from kafkalog_reader.audits.integrity.refused_file import is_refused
from kafkalog_reader.audits.quorum.held_topics import read_leading_logs, read_leading_metadata
from kafkalog_reader.audits.quorum.leading_logs import UNDISPUTED, LeadingLogs
from kafkalog_reader.audits.quorum.metadata_batches import Parting, parting
from kafkalog_reader.audits.quorum.metadata_copy import (
    MetadataCopy,
    as_loaded,
    missing_log,
    read_metadata_copy,
)
from kafkalog_reader.audits.quorum.rolled_back import RolledBack, rolled_back
from kafkalog_reader.audits.recovery.node_releases import UNKNOWN, NodeReleases
from kafkalog_reader.errors import LocatedError, UsageError
from kafkalog_reader.io.log_directory import are_disks_exchanged, exchanged_labels
from kafkalog_reader.io.names import METADATA_TOPIC, shown
from kafkalog_reader.tables.request import ReadRequest

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from kafkalog_reader.audits.election.missing_directories import MissingDirectory
    from kafkalog_reader.audits.quorum.voter_set import Voter, VoterSet
    from kafkalog_reader.io.directories import LogDirectory, PartitionDirectory
    from kafkalog_reader.io.evidence import Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class UnreadCopy:
    """A copy that could not be read, and why."""

    directory: PartitionDirectory
    problem: str

    @property
    def node_id(self) -> int | None:
        """Of the controller or broker; None if unknown."""
        return self.directory.log_directory.broker_id

    @property
    def is_refused(self) -> bool:
        """Whether another user may read it."""
        return is_refused(self.problem)


@dataclass(frozen=True, kw_only=True)
class Quorum:
    """The voters of a cluster and every supplied copy of its metadata log.

    Attributes:
        copies: by node id; those of brokers, which do not vote, too.
        voters: the set in force: the one that the copy with the last record names.
        missing_directories: of the nodes that were supplied.
        exchanged: log directories that are mounted at another node, by their labels.
        rolled_back: what partitions prove about copies that lost their ends.
        releases: of the nodes.
        without_log: node ids of which log directories were supplied, and no metadata log.
        leading: which copies may lead, by the partitions on the brokers' disks.
        strangers: controllers of other clusters without partitions, where brokers of this one are
            here and no controller: they may be meant to replace the lost ones.
        brokers_of: the cluster for which its controllers are such strangers; else empty.
    """

    cluster_id: str | None
    copies: tuple[MetadataCopy, ...]
    unread: tuple[UnreadCopy, ...]
    voters: VoterSet | None
    missing_directories: tuple[MissingDirectory, ...] = ()
    exchanged: tuple[LogDirectory, ...] = ()
    rolled_back: RolledBack = field(default_factory=RolledBack)
    releases: NodeReleases = UNKNOWN
    without_log: frozenset[int] = frozenset()
    leading: LeadingLogs = UNDISPUTED
    strangers: tuple[MetadataCopy, ...] = ()
    brokers_of: str = ""
    _partings: dict[tuple[int, int], Parting] = field(default_factory=dict, compare=False)

    def voter_of(self, copy: MetadataCopy) -> Voter | None:
        """The voter whose log this copy is; None if it has no vote."""
        if self.voters is None:
            return None
        return self.voters.voter_at(copy.node_id, copy.directory_id)

    def is_younger(self, copy: MetadataCopy) -> bool:
        """Whether a copy must not lead, because it never named topics that others did."""
        return copy.directory.path in self.leading.younger

    @property
    def older(self) -> tuple[MetadataCopy, ...]:
        """The copies that are not younger; all, where none is."""
        return tuple(each for each in self.copies if not self.is_younger(each))

    @property
    def seated(self) -> tuple[MetadataCopy, ...]:
        """The copies of voters."""
        return tuple(each for each in self.copies if self.voter_of(each) is not None)

    @property
    def startable(self) -> tuple[MetadataCopy, ...]:
        """Those with which a controller starts."""
        return tuple(each for each in self.seated if not each.refusal)

    def lacking(self, copy: MetadataCopy) -> tuple[MissingDirectory, ...]:
        """The log directories without which a controller, which is a broker too, does not start."""
        return tuple(
            each
            for each in self.missing_directories
            if each.broker_id == copy.node_id and not each.is_alone
        )

    @property
    def missing(self) -> tuple[Voter, ...]:
        """Voters of which no copy was supplied and read."""
        if self.voters is None:
            return ()
        here = {self.voter_of(each) for each in self.seated}
        return tuple(each for each in self.voters.voters if each not in here)

    @property
    def unknown_votes(self) -> int:
        """Voters whose log, as it was when they last ran, these files do not show."""
        forgotten = (each for each in self.seated if self.has_forgotten(each))
        return len(self.missing) + sum(1 for _ in forgotten)

    def has_forgotten(self, copy: MetadataCopy) -> bool:
        """Whether a voter's copy lacks what it may have held: its disk is new, damaged or older.

        If no copy has the end of the log, it is not known which voters had it.
        """
        is_new = copy.is_empty and any(not each.is_empty for each in self.copies)
        is_older = bool(self.rolled_back.lost_end) or copy.node_id in self.rolled_back.nodes
        return is_new or is_older or bool(copy.batches.damage)

    def naming_as_leader(self, copy: MetadataCopy) -> tuple[MetadataCopy, ...]:
        """Voters whose ``quorum-state`` names a controller that has forgotten that it leads.

        When it hears of that, it stops: "inconsistent with current leader". Source: Kafka 4.4,
        KafkaRaftClient#hasConsistentLeader.
        """
        state = copy.state
        own = max(copy.end.leader_epoch, -1 if state is None else state.leader_epoch)
        if state is not None and state.leader_epoch == own and state.leader_id == copy.node_id:
            return ()
        return tuple(
            each
            for each in self.startable
            if each is not copy
            and each.state is not None
            and each.state.leader_id == copy.node_id
            and each.state.leader_epoch >= own
        )

    def parting(self, one: MetadataCopy, other: MetadataCopy) -> Parting:
        """Where two copies part."""
        key = self.copies.index(one), self.copies.index(other)
        if key not in self._partings:
            self._partings[key] = _parting(one, other)
        return self._partings[key]

    def voters_for(self, candidate: MetadataCopy) -> VoterSet | None:
        """The voters that a candidate asks: those that its own copy names.

        An empty copy names none. Then they are in the configuration, unless the log names them.
        """
        if candidate.voters is not None or self.voters is None or self.voters.is_dynamic:
            return candidate.voters
        return self.voters

    def granting(self, candidate: MetadataCopy) -> tuple[MetadataCopy, ...]:
        """The voters that vote for a candidate: their logs end no later than its own."""
        voters = self.voters_for(candidate)
        if voters is None or voters.voter_at(candidate.node_id, candidate.directory_id) is None:
            return ()
        return tuple(
            each
            for each in self.startable
            if voters.voter_at(each.node_id, each.directory_id) and candidate.end >= each.end
        )

    def winners(self, started: Collection[MetadataCopy] | None = None) -> tuple[MetadataCopy, ...]:
        """The controllers that can be elected while some of them run; all that can, if None."""
        running = self.startable if started is None else tuple(started)
        return tuple(
            each
            for each in running
            if (voters := self.voters_for(each)) is not None
            and sum(voter in running for voter in self.granting(each)) >= voters.majority
        )


def _parting(one: MetadataCopy, other: MetadataCopy) -> Parting:
    if one.is_truncated_to_snapshot or other.is_truncated_to_snapshot:
        return Parting(offset=min(one.end.offset, other.end.offset), is_compared=False)
    return parting(one.batches, other.batches)


def read_quorums(evidence: Evidence) -> Iterator[Quorum]:
    """The quorum of each cluster of which a copy of the metadata log was supplied.

    Raises:
        UsageError: two copies of one node, of which its controller can start with only one.
        UnreadableFileError: a log directory cannot be listed.
    """
    found = [*_quorums(evidence)]
    lost = [each for each in found if each.leading.held and not each.seated and not each.unread]
    new = [each for each in found if each.seated and not each.leading.held]
    strangers = tuple(copy for each in new for copy in each.seated)
    for each in found:
        if each in lost:
            yield replace(each, strangers=strangers)
        elif each in new and lost:
            yield replace(each, brokers_of=lost[0].cluster_id or "")
        else:
            yield each


def _quorums(evidence: Evidence) -> Iterator[Quorum]:
    clusters: dict[str | None, _Copies] = {}
    metadata = read_leading_metadata(evidence, is_silent=True)
    missing = missing_directories(evidence, metadata)
    request = ReadRequest(topics=frozenset({METADATA_TOPIC}))
    for directory in evidence.partition_directories(request):
        if directory.is_replica and directory.partition == 0:
            cluster_id = directory.log_directory.cluster_id
            known = metadata.get(cluster_id)
            releases = UNKNOWN if known is None else known.releases()
            clusters.setdefault(cluster_id, _Copies()).read(directory, releases)
    for group in _same_clusters(clusters, Counter(each.cluster_id for each in evidence.roots)):
        copies = [_of_cluster(group[0], copy) for each in group for copy in clusters[each].copies]
        unread = [each for cluster_id in group for each in clusters[cluster_id].unread]
        roots = [each for each in evidence.roots if each.cluster_id in group]
        leading = read_leading_logs(evidence, group, copies)
        if unread:  # it may have named anything
            leading = replace(leading, unknown=())
        quorum = _read_quorum(group[0], copies, unread, roots, leading)
        newest = metadata.get(group[0])
        of_cluster = tuple(each for each in missing if each.root.cluster_id in group)
        yield replace(
            quorum,
            missing_directories=of_cluster,
            exchanged=_exchanged_disks(roots),
            rolled_back=rolled_back(evidence, group[0], quorum.older, leading.unknown),
            releases=UNKNOWN if newest is None else newest.releases(),
        )


def _exchanged_disks(roots: Sequence[LogDirectory]) -> tuple[LogDirectory, ...]:
    exchanged = exchanged_labels(roots)
    return exchanged if are_disks_exchanged(roots, exchanged) else ()


@dataclass(slots=True)
class _Copies:
    """Copies in log directories with one cluster id."""

    copies: list[MetadataCopy] = field(default_factory=list)
    unread: list[UnreadCopy] = field(default_factory=list)

    def read(self, directory: PartitionDirectory, releases: NodeReleases) -> None:
        try:
            self.copies.append(as_loaded(read_metadata_copy(directory), releases))
        except LocatedError as error:
            self.unread.append(UnreadCopy(directory=directory, problem=str(error)))

    def has_batch_of(self, other: _Copies) -> bool:
        """Whether a copy has a batch of another one: no two clusters write the same."""
        pairs = product(self.copies, other.copies)
        return any(
            parting(one.batches, another.batches).offset
            > max(one.batches.start or 0, another.batches.start or 0)
            for one, another in pairs
        )


def _same_clusters(
    clusters: Mapping[str | None, _Copies], directories: Mapping[str | None, int]
) -> Iterator[list[str | None]]:
    """Cluster ids together of which all but one are wrong, the most frequent one first."""
    groups: list[list[str | None]] = []
    for cluster_id in sorted(clusters, key=lambda each: (-directories[each], each or "")):
        for group in groups:
            if any(clusters[cluster_id].has_batch_of(clusters[each]) for each in group):
                group.append(cluster_id)
                break
        else:
            groups.append([cluster_id])
    yield from sorted(groups, key=lambda group: group[0] or "")


def _of_cluster(cluster_id: str | None, copy: MetadataCopy) -> MetadataCopy:
    """A copy; of a node with another cluster id, whose requests all others refuse."""
    own = copy.directory.log_directory.cluster_id
    if own == cluster_id or copy.refusal:
        return copy
    return replace(
        copy,
        refusal=f"cluster.id in its meta.properties is {shown(own or '?')}, and its log is that of "
        f"cluster {shown(cluster_id or '?')}: kafkalog verify says how to correct it",
    )


def _read_quorum(
    cluster_id: str | None,
    copies: list[MetadataCopy],
    unread: Sequence[UnreadCopy],
    roots: Sequence[LogDirectory],
    leading: LeadingLogs,
) -> Quorum:
    nodes: dict[int, MetadataCopy] = {}
    for copy in copies:
        if copy.node_id is None:
            continue
        if (first := nodes.setdefault(copy.node_id, copy)) is not copy:
            raise UsageError(
                f"node {copy.node_id} has two metadata logs, {shown(first.directory.path)} and "
                f"{shown(copy.directory.path)}: give only the one that it would start with, "
                f"as in `{_without(copy, roots)}` or `{_without(first, roots)}`"
            )
    known = {*nodes, *(each.node_id for each in unread)}
    named = [each for each in copies if each.voters is not None and each.voters.voters]
    named = [e for e in named if e.directory.path not in leading.younger] or named
    newest = max(named, key=lambda each: each.end, default=None)
    voters = None if newest is None else newest.voters
    if voters is not None:
        held = {each.directory.log_directory.path for each in copies}
        held |= {each.directory.log_directory.path for each in unread}
        spare = (each for each in roots if each.path not in held and each.broker_id not in known)
        seats = [each.directory.log_directory for each in copies]
        seats = [each for each in seats if voters.voter_at(each.broker_id, each.directory_id)]
        emptied = {e.broker_id: e for e in reversed([*spare]) if _is_emptied(e, voters, seats)}
        copies += map(missing_log, emptied.values())
    return Quorum(
        cluster_id=cluster_id,
        copies=tuple(sorted(copies, key=_order)),
        unread=tuple(unread),
        voters=voters,
        leading=leading,
        without_log=frozenset(
            each.broker_id for each in roots if each.broker_id is not None
        ).difference(known, (each.node_id for each in copies)),
    )


def _without(copy: MetadataCopy, roots: Sequence[LogDirectory]) -> str:
    """The command without one of two copies."""
    left_out = copy.directory.log_directory.path
    paths = (shown(each.path) for each in roots if each.path != left_out)
    return shlex.join(["kafkalog", "quorum", *paths])


def _is_emptied(root: LogDirectory, voters: VoterSet, seats: Sequence[LogDirectory]) -> bool:
    """Whether a log directory without a metadata log is a voter's: it starts with an empty one.

    With voters from the configuration only the node id tells, so that a directory of a broker's
    partitions may be of a node whose metadata log is elsewhere.
    """
    if voters.voter_at(root.broker_id, root.directory_id) is None:
        return False
    return voters.is_dynamic or had_metadata_log(root, seats)


def _order(copy: MetadataCopy) -> tuple[float, str]:
    node = float("inf") if copy.node_id is None else copy.node_id
    return node, copy.directory.path
