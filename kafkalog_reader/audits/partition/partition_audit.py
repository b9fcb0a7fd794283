"""The audit of one topic partition: its replicas, how they compare, and all possible elections.

The result is plain values; the tables, the terminal and JSON show the same ones.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib import import_module
from itertools import combinations
from typing import TYPE_CHECKING

from kafkalog_reader.audits.comparison.compared_replicas import Comparison, NotCompared
from kafkalog_reader.audits.comparison.difference import KeyCheck
from kafkalog_reader.audits.comparison.verdict import Verdict
from kafkalog_reader.audits.election.candidates import ElectionKind
from kafkalog_reader.audits.election.truncation_rule import TruncationRule
from kafkalog_reader.audits.election.unseen import Unseen, UnseenRole, unseen_brokers
from kafkalog_reader.audits.recovery.recovery import Recovery
from kafkalog_reader.io.names import METADATA_TOPIC

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.figure import Figure

    from kafkalog_reader.audits.comparison.missing_committed import MissingCommitted
    from kafkalog_reader.audits.election.candidate import Candidate
    from kafkalog_reader.audits.election.candidates import Election
    from kafkalog_reader.audits.election.membership import PartitionMembership
    from kafkalog_reader.audits.log.replica import Replica
    from kafkalog_reader.audits.partition.commit import Commit
    from kafkalog_reader.audits.partition.flipped_offsets import FlippedOffsets
    from kafkalog_reader.audits.partition.merge_outcome import MergeOutcome
    from kafkalog_reader.audits.partition.misnamed import Misnamed
    from kafkalog_reader.audits.partition.misnamed_logs import MisnamedLogs
    from kafkalog_reader.audits.partition.replica_audit import ReplicaAudit
    from kafkalog_reader.audits.recovery.rule import ClusterTopics
    from kafkalog_reader.io.directories import PartitionDirectory


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PartitionAudit:
    """The replicas of one partition, and what follows from comparing them.

    Attributes:
        replicas: those that were compared.
        comparison: who holds what, or why that is not known.
        elections: best candidate first; empty if the verdict is undecidable, and for the metadata
            log.
        reason: why the verdict is undecidable; empty otherwise.
        rules: those by which followers may truncate; ``elections`` use the first.
        membership: by the cluster metadata; None if none was supplied.
        compared_from: the first offset that was read; starts are then not predicted. None: all were
            read.
        keys: the result of comparing the keys of a compacted partition.
        unknown_copies: copies whose content is unknown and that may hold what no other copy has;
            without them, the others could be compared.
        set_aside: audits of single replicas whose content is unknown, each with its reason;
            everything else here is about the others.
        outdated: audits of single copies of a deleted topic of the same name, by the metadata log;
            ``everyone`` is without them.
        topics: those of the cluster, if its metadata log was supplied.
        compared_verdict: how the compared copies relate, where ``verdict`` is worse: copies are set
            aside, or committed records are on none of them.
        missing: committed records that no copy holds.
        started_at: when brokers start, in milliseconds; None: right after their newest records.
        merge: what merging the copies would give, where no leader has every record intact and
            merging helps; ``salvage.merge_trial`` tries it.
        may_be_compacted: whether the log cleaner may have removed records, by the files and the
            metadata log; None if nothing says how the topic is cleaned up.
        kept_because: why retention deletes nothing from the topic, by the metadata log; else empty.
        lacking: brokers that were supplied and have no folder of the partition.
        replaced: those whose copy was moved aside, while a copy here reaches as far.
        commits: what consumer groups committed of it.
        deleting: folders of it that brokers marked for deletion, where that shows that its topic is
            being deleted.
        misnamed: folders and log files with a wrong name that concern it, and batches with a
            flipped bit in their base offset; then its copies are not compared.
    """

    cluster_id: str | None
    topic: str | None
    partition: int | None
    replicas: tuple[ReplicaAudit, ...]
    comparison: Comparison | NotCompared
    elections: tuple[Election, ...]
    verdict: Verdict
    reason: str = ""
    rules: tuple[TruncationRule, ...] = (TruncationRule.CURRENT,)
    membership: PartitionMembership | None = None
    compared_from: int | None = None
    keys: KeyCheck = field(default_factory=KeyCheck)
    set_aside: tuple[PartitionAudit, ...] = ()
    unknown_copies: tuple[PartitionDirectory, ...] = ()
    outdated: tuple[PartitionAudit, ...] = ()
    topics: ClusterTopics | None = None
    compared_verdict: Verdict | None = None
    missing: MissingCommitted | None = None
    started_at: int | None = None
    may_be_compacted: bool | None = None
    kept_because: str = ""
    merge: MergeOutcome | None = None
    lacking: tuple[int, ...] = ()
    replaced: tuple[int, ...] = ()
    commits: tuple[Commit, ...] = ()
    deleting: tuple[PartitionDirectory, ...] = ()
    misnamed: tuple[Misnamed | MisnamedLogs | FlippedOffsets, ...] = ()

    def __repr__(self) -> str:
        fork = self.fork_offset
        at = "" if fork is None else f" at offset {fork}"
        name = f"{self.topic}-{self.partition}"
        copies = "1 copy" if len(self.everyone) == 1 else f"{len(self.everyone)} copies"
        return f"<PartitionAudit of {name}: {self.verdict.value}{at}, {copies}>"

    @property
    def relation(self) -> Verdict:
        """How the copies that could be compared relate to each other."""
        return self.verdict if self.compared_verdict is None else self.compared_verdict

    @property
    def everyone(self) -> tuple[ReplicaAudit, ...]:
        """Every replica supplied; those set aside come last."""
        return (*self.replicas, *(alone.replicas[0] for alone in self.set_aside))

    @property
    def to_copy_again(self) -> tuple[int, ...]:
        """Brokers with a copy of a deleted topic that have a replica of the one that exists."""
        known = None if self.membership is None else self.membership.replicas
        ids = [alone.replicas[0].broker_id for alone in self.outdated]
        return tuple(sorted(e for e in ids if e is not None and (known is None or e in known)))

    @property
    def readable_after_end(self) -> tuple[int, int]:
        """The offsets [first, next) of whole records in torn batches after the longest log.

        ``kafkalog salvage`` keeps them, and the starts cut them; equal if there are none.
        """
        end = max((each.log_end for each in self.replicas), default=0)
        spans = [
            each.start.readable_in_torn_batch
            for each in self.replicas
            if isinstance(each.start, Recovery)
        ]
        return end, max((end, *(following for first, following in spans if first <= end)))

    @property
    def zeros_at_end(self) -> int:
        """How many zero bytes follow the end of the longest copies: records may have been there.

        0 if one of these copies ends without zeros, or with those of a preallocated file.
        """
        end = max((each.log_end for each in self.replicas), default=0)
        return min((each.zeros_at_end for each in self.replicas if each.log_end == end), default=0)

    @property
    def without_copy(self) -> tuple[int, ...]:
        """Assigned brokers that were not supplied; none if that is unknown."""
        here = {*self.lacking, *(each.broker_id for each in self.everyone)}
        if self.membership is None or None in here:
            return ()
        return tuple(sorted({*self.membership.replicas} - here))

    @property
    def may_have_other_copies(self) -> bool:
        """Whether there may be copies that were not supplied: a metadata log alone excludes it."""
        is_unnamed = any(each.broker_id is None for each in self.everyone)
        return self.membership is None or is_unnamed or bool(self.without_copy)

    @property
    def only_copy(self) -> ReplicaAudit | None:
        """The only one of several replicas that has records; None if others have some, too."""
        holding = [each for each in self.everyone if not each.history.is_empty]
        others = len(self.everyone) + len(self.lacking) - len(self.replaced) - 1
        if len(holding) != 1 or not others or self.without_copy:
            return None
        (only,) = holding
        ends = [each.log_end for each in self.everyone if each is not only]
        return only if max(ends, default=0) < only.log_end else None

    @property
    def unseen(self) -> Unseen | None:
        """Brokers that may hold more than the copies here; None if the metadata log names none.

        It does not if it is older than the copies.
        """
        known = self.membership
        here = {*self.replaced, *(each.broker_id for each in self.everyone)}
        if known is None or self.is_metadata_older or None in here:
            return None
        unseen = unseen_brokers(known, here, is_lacking=self.is_lacking)
        if unseen is None or unseen.role is UnseenRole.ALL_IN_SYNC:
            return unseen
        return unseen_brokers(known, here | {*self.lacking}, is_lacking=self.is_lacking)

    @property
    def is_metadata_older(self) -> bool:
        """Whether a copy has a later leader epoch than the metadata log.

        An entry of an epoch checkpoint that later batches contradict is no sign of that.
        """
        known = self.membership
        return known is not None and any(
            known.leader_epoch < epoch
            for each in self.replicas
            for epoch in each.history.leader_epochs
            if not each.is_contradicted(epoch)
        )

    @property
    def is_lacking(self) -> bool:
        """Whether every copy here lacks committed records, or has damaged batches."""
        return (
            self.missing is not None
            or self.relation is Verdict.DAMAGED_UNRECOVERABLE
            or (bool(self.elections) and self.loses_whoever_leads)
        )

    @property
    def is_misplaced(self) -> bool:
        """Whether every copy is on a broker that the metadata log does not assign it to."""
        return self.membership is not None and all(
            each.candidate is not None and not each.candidate.is_assigned for each in self.replicas
        )

    @property
    def loses_whoever_leads(self) -> bool:
        """Whether every copy here that can lead lacks committed records."""
        return all(each.kind is ElectionKind.UNCLEAN for each in self.elections)

    @property
    def is_metadata(self) -> bool:
        """Whether it is the metadata log, whose files are audited, but not its elections."""
        return self.topic == METADATA_TOPIC

    @property
    def candidates(self) -> tuple[Candidate, ...]:
        """The replicas as logs of an election; empty like ``elections``."""
        return tuple(each.candidate for each in self.replicas if each.candidate is not None)

    @property
    def greatest_leader_epoch(self) -> int:
        """The greatest one that a log or an epoch checkpoint has; -1 if there is none."""
        epochs = (epoch for each in self.replicas for epoch in each.history.leader_epochs)
        return max(epochs, default=-1)

    @property
    def fork_offset(self) -> int | None:
        """The lowest offset at which replicas hold different content, or one has a gap."""
        return self._lowest(Comparison.content_fork)

    @property
    def record_fork(self) -> int | None:
        """The lowest offset at which replicas hold different records: a gap is no fork."""
        return self._lowest(Comparison.record_fork)

    def _lowest(self, fork: Callable[[Comparison, Replica, Replica], int | None]) -> int | None:
        if isinstance(self.comparison, NotCompared) or self.verdict is Verdict.UNDECIDABLE:
            return None
        pairs = combinations(self.comparison.replicas, 2)
        offsets = [fork(self.comparison, *pair) for pair in pairs]
        return min((offset for offset in offsets if offset is not None), default=None)

    @property
    def is_only_replica(self) -> bool:
        """Whether the metadata log assigns the partition to one broker, whose copy this is."""
        known = self.membership
        return (
            known is not None
            and known.replicas == tuple(each.broker_id for each in self.everyone)
            and len(known.replicas) == 1
        )

    def figure(self) -> Figure:
        """The copies as lanes, one bar each, for a notebook.

        Raises:
            MissingPackageError: matplotlib, which the extra ``notebook`` brings, is not installed.
        """
        # By name: pictures belong to a later layer, which this one must not import.
        lanes = import_module("kafkalog_reader.report.lanes").lanes_of(self)
        drawn: Figure = import_module("kafkalog_reader.report.figures").lanes_figure(lanes)
        return drawn

    def of(self, replica: Replica) -> ReplicaAudit:
        """The audit of a replica that a branch or an election names."""
        return next(each for each in self.replicas if each.files == replica)


def outvoted_copies(audit: PartitionAudit) -> tuple[ReplicaAudit, ...]:
    """The copies whose records others outvote; none if the best leader is one of them."""
    if not audit.elections or audit.elections[0].candidate.outvoted_from is not None:
        return ()
    return tuple(
        each
        for each in audit.replicas
        if each.candidate is not None and each.candidate.outvoted_from is not None
    )


def best_copy(audit: PartitionAudit) -> ReplicaAudit:
    """The copy that tables read, as ``best_replica`` ranks them; the audit has one at least."""

    def rank(replica: ReplicaAudit) -> tuple[bool, int, int]:
        epoch, candidate = replica.history.last_leader_epoch, replica.candidate
        is_outvoted = candidate is not None and candidate.outvoted_from is not None
        return not is_outvoted, -1 if epoch is None else epoch, replica.log_end

    return max(audit.replicas, key=rank)
