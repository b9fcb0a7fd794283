"""The leader of one partition, and what is lost with it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from kafkalog_reader.audits.comparison.committed import CommitCount
from kafkalog_reader.audits.election.unseen import UnseenRole

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from kafkalog_reader.audits.election.unseen import Unseen
    from kafkalog_reader.audits.integrity.file_repair import Repair
    from kafkalog_reader.audits.partition.epoch_rows import EpochRows
    from kafkalog_reader.audits.partition.merge_outcome import MergeOutcome
    from kafkalog_reader.audits.plan.start_loss import StartLoss
    from kafkalog_reader.io.checkpoints import TopicPartition


@dataclass(frozen=True, slots=True, kw_only=True)
class Alternative:
    """Another leader, and what its election loses.

    Attributes:
        never_in_sync: brokers that would not get in sync with it.
    """

    broker_id: int
    lost: CommitCount
    never_in_sync: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LostRecords:
    """Records that no running broker has after the plan.

    Attributes:
        brokers: node ids of the brokers that hold them now.
        first_offset, next_offset: half-open.
        by_reassignment: whether a copy that stays different keeps them until it is replaced.
    """

    brokers: tuple[int, ...]
    first_offset: int
    next_offset: int
    records: CommitCount
    by_reassignment: bool = False

    def divided(self, lost_before: Collection[LostRecords]) -> tuple[LostRecords, ...]:
        """What of them is lost before, and the rest, which a reassignment loses."""
        inside = sorted(
            (
                each
                for each in lost_before
                if each.brokers == self.brokers
                and self.first_offset <= each.first_offset
                and each.next_offset <= self.next_offset
            ),
            key=lambda each: each.first_offset,
        )
        left = sum((each.records for each in inside), CommitCount())
        records = self.records - left
        if not records:
            return tuple(inside)
        first, following = self.first_offset, self.next_offset
        if inside and inside[0].first_offset == first:
            first = inside[0].next_offset
        if inside and inside[-1].next_offset == following:
            following = inside[-1].first_offset
        rest = replace(
            self,
            first_offset=first,
            next_offset=following,
            records=records,
            by_reassignment=True,
        )
        return tuple(sorted((*inside, rest), key=lambda each: each.first_offset))


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """The leader of one partition, and the brokers that must wait for it.

    Attributes:
        leader: node id of the broker whose copy is ranked first.
        equals: brokers whose election loses exactly the same, ``leader`` among them.
        others: brokers whose copy must not lead: they start once one of ``equals`` leads.
        electable: node ids that the controller may elect by itself: the ISR, the ELR and the last
            known ELR; None if that is unknown.
        led_by: the leader by the metadata log; None if there is none, or it is unknown.
        why_unknown: why ``electable`` is unknown; empty if no metadata log was supplied.
        stays_leaderless: whether the controller elects nobody by itself: only eligible leader
            replicas (ELR) may lead, and each of them crashed, which takes it from the ELR as soon
            as it registers.
        lost: records lost with ``leader`` leading, by offset.
        lost_with_copies: the same if the other copies are also replaced.
        refetching: brokers that truncate and fetch the same records for ever, because the leader's
            epoch checkpoint lacks an epoch of its batches.
        apart: brokers whose copies stay different from the leader's: KL-517.
        alternatives: the other elections, best first.
        is_forced: whether every election loses records that are or may be committed, or copies
            differ silently in such records: then which of them are right is for a person to say.
        merge: what merging the copies would give, if no leader has every record intact.
        repairs: by broker, what makes its start serve a copy that it would hide or set aside.
        renames: by broker, how segments get their names back before its start deletes them.
        not_supplied: assigned brokers of which nothing was supplied.
        lacking: brokers that were supplied and have no folder of the partition: each creates an
            empty replica.
        replaced: those whose copy was moved aside, while a copy here reaches as far.
        only_copy: the broker with the only copy that has records, and its log start; None if other
            copies have some, too.
        unseen: brokers without a copy here that may hold more than the copies here.
        set_aside: brokers whose copy must be moved away while they are stopped: otherwise the
            broker does not start, or the copy never gets in sync, or nobody knows what it holds.
        not_compared: those among them whose copy cannot be compared with the others.
        outvoted: those among them whose records other copies outvote (KL-505): a follower would
            keep them for ever.
        outdated: those among them whose copy is of a deleted topic of the same name.
        start_losses: what the brokers' starts remove.
        adding, removing: node ids, of a reassignment in flight by the metadata log.
        expiring_later: brokers whose start right after the newest record deletes nothing, but a
            start at the time of the files does, by retention; empty if a start time was given.
        assigned: brokers of the assignment, the preferred leader first; empty if that is unknown.
        epoch_rows: by broker, what its ``leader-epoch-checkpoint`` should hold, where it does not.
        log_start_rows: by broker, the rows of its ``log-start-offset-checkpoint``; None if they
            cannot be read.
        paths: partition directories by broker.
        new_paths: where brokers of ``lacking`` would have theirs, by broker.
        size_in_bytes: of the leader's log.
        allows_unclean: whether the topic's own configuration allows unclean election.
        is_sound: whether the leader's copy has no damaged batch.
        unreadable_from: the first damage that a leader's log still has after its start; no other
            copy can be made of that log then.
        damaged: brokers whose damaged copy is made again from one that is whole once all are in
            sync: followers of a sound leader, or the leader, where each follower is whole then.
        spoiled: brokers among ``set_aside`` whose copy gets equal to the leader's by the likeliest
            truncation rule only, and the other possible rules, by which it does not.
        zeros_at_end: how many zero bytes end the longest copies, where records may have been.
        log_starts: log start offsets by broker.
        cluster_id: of the copies; None if it is unknown.
    """

    topic: str
    partition: int
    leader: int
    equals: frozenset[int]
    others: frozenset[int]
    electable: frozenset[int] | None
    led_by: int | None = None
    why_unknown: str = ""
    stays_leaderless: bool = False
    lost: tuple[LostRecords, ...] = ()
    lost_with_copies: tuple[LostRecords, ...] = ()
    refetching: tuple[int, ...] = ()
    apart: tuple[int, ...] = ()
    alternatives: tuple[Alternative, ...] = ()
    merge: MergeOutcome | None = None
    repairs: Mapping[int, tuple[Repair, ...]] = field(default_factory=dict)
    renames: Mapping[int, tuple[Repair, ...]] = field(default_factory=dict)
    is_forced: bool = False
    not_supplied: tuple[int, ...] = ()
    lacking: tuple[int, ...] = ()
    replaced: tuple[int, ...] = ()
    only_copy: tuple[int, int] | None = None
    unseen: Unseen | None = None
    set_aside: frozenset[int] = frozenset()
    not_compared: frozenset[int] = frozenset()
    outvoted: frozenset[int] = frozenset()
    outdated: frozenset[int] = frozenset()
    start_losses: tuple[StartLoss, ...] = ()
    expiring_later: tuple[int, ...] = ()
    adding: tuple[int, ...] = ()
    removing: tuple[int, ...] = ()
    assigned: tuple[int, ...] = ()
    epoch_rows: Mapping[int, EpochRows] = field(default_factory=dict)
    log_start_rows: Mapping[int, Mapping[TopicPartition, int] | None] = field(default_factory=dict)
    paths: Mapping[int, str] = field(default_factory=dict)
    new_paths: Mapping[int, str] = field(default_factory=dict)
    size_in_bytes: int = 0
    allows_unclean: bool = False
    is_sound: bool = True
    unreadable_from: int | None = None
    damaged: tuple[int, ...] = ()
    spoiled: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    zeros_at_end: int = 0
    log_starts: Mapping[int, int] = field(default_factory=dict)
    cluster_id: str | None = None

    @property
    def name(self) -> str:
        return f"{self.topic}-{self.partition}"

    def path_on(self, broker: int) -> str:
        """The partition directory that a broker has, or would have."""
        if broker in self.paths:
            return self.paths[broker]
        unknown = f"LOG_DIRECTORY_OF_BROKER_{broker}/{self.name}"
        return self.new_paths.get(broker, unknown)

    @property
    def unseen_in_sync(self) -> tuple[int, ...]:
        """The in-sync replicas, where no copy of any was supplied; maybe they are lost."""
        if self.unseen is None or self.unseen.role is not UnseenRole.ALL_IN_SYNC:
            return ()
        return self.unseen.brokers

    @property
    def may_be_intact_elsewhere(self) -> bool:
        """Whether a broker that was not supplied may have an intact copy of a damaged one."""
        return len(self.paths) == 1 and len(self.assigned) != 1

    @property
    def reassigned(self) -> tuple[int, ...]:
        """Brokers whose copy stays different, or damaged, until it is made again."""
        apart = self.apart if self.unreadable_from is None else ()
        return tuple(sorted({*apart, *self.damaged}))

    @property
    def stays_unreadable(self) -> bool:
        """Whether consumers never get past the damage of the leader's log."""
        return self.unreadable_from is not None and self.leader not in self.damaged

    @property
    def waits_for_files(self) -> bool:
        """Whether files must be put right before another plan decides about this partition."""
        return self.merge is not None or bool(self.repairs or self.renames)

    @property
    def first_repairs(self) -> frozenset[Repair]:
        """What is repaired before another plan decides about this partition."""
        of_brokers = (
            () if self.merge is not None else (*self.repairs.values(), *self.renames.values())
        )
        return frozenset(repair for repairs in of_brokers for repair in repairs)

    @property
    def preferred_leader(self) -> int | None:
        """None where the assignment is not known."""
        return self.assigned[0] if self.assigned else None

    @property
    def lost_records(self) -> CommitCount:
        return sum((lost.records for lost in self.lost), CommitCount())

    @property
    def is_automatic(self) -> bool:
        """Whether the controller elects only copies that may lead, in any order of starts.

        While all brokers stop, the controller fences them one by one, and the in-sync replica that
        it fences last stays in the ISR alone: it may then elect any of them. Source: Kafka 4.0,
        ReplicationControlManager#handleBrokerFenced.
        """
        if self.stays_leaderless:
            return False
        if self.set_aside - self.outdated or self.electable is None or self.allows_unclean:
            return not self.others
        return bool(self.electable) and self.electable <= self.equals

    def may_lack_leader(self, leaders: Collection[int]) -> bool:
        """Whether the controller may elect none of these brokers when they run alone."""
        if self.electable is None or self.stays_leaderless:
            return True
        return not self.electable <= set(leaders)

    def waiting(self, *, by_membership: bool) -> frozenset[int]:
        """Brokers that must not start before a copy that may lead is the leader.

        Args:
            by_membership: return none if, by the metadata log, the controller elects no wrong copy
                by itself; unclean election must then be disabled.
        """
        if self.is_automatic and (by_membership or not self.lost):
            return frozenset()
        return self.others
