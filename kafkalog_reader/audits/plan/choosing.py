"""Decides for one partition which copies may lead, which must not, and what is lost."""

from __future__ import annotations

import posixpath
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.catalogue.catalogue import codes_with
from kafkalog_reader.audits.catalogue.election_rules import EVERY_LEADER_LOSES_COMMITTED
from kafkalog_reader.audits.catalogue.role import Role
from kafkalog_reader.audits.comparison.compared_replicas import Comparison
from kafkalog_reader.audits.election.election_loss import lost_ranges
from kafkalog_reader.audits.election.follow import FollowingEnd
from kafkalog_reader.audits.partition.epoch_advice import advised_epoch_rows, once_written
from kafkalog_reader.audits.partition.epoch_rows import epoch_rows
from kafkalog_reader.audits.partition.torn_records import torn_records
from kafkalog_reader.audits.plan.choice import Alternative, Choice, LostRecords
from kafkalog_reader.audits.plan.electable import electable, stays_leaderless, why_unknown
from kafkalog_reader.audits.plan.first_repairs import repairs_of, without_markers
from kafkalog_reader.audits.plan.renames import renames_of
from kafkalog_reader.audits.plan.start_loss import start_losses
from kafkalog_reader.audits.plan.unanswered import (
    Unanswered,
    unanswered,
    why_all_fail,
    why_not_read,
    why_unanswered,
)
from kafkalog_reader.audits.recovery.files import read_log_starts
from kafkalog_reader.audits.recovery.outcome import FAILURES, FailedStep, attempted
from kafkalog_reader.audits.recovery.recovery import Recovery

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from kafkalog_reader.audits.election.candidate import Candidate
    from kafkalog_reader.audits.election.candidates import Election
    from kafkalog_reader.audits.election.follower_outcome import FollowerOutcome
    from kafkalog_reader.audits.integrity.finding import Finding
    from kafkalog_reader.audits.log.replica import Replica
    from kafkalog_reader.audits.partition.epoch_rows import EpochRows
    from kafkalog_reader.audits.partition.partition_audit import PartitionAudit
    from kafkalog_reader.audits.partition.replica_audit import ReplicaAudit
    from kafkalog_reader.io.checkpoints import TopicPartition
    from kafkalog_reader.io.directories import LogDirectory

_NOT_READ: Final = codes_with(Role.NOT_READ)
_SEVERE: Final = "CH"
_NEEDS_EMPTY_LOG: Final = frozenset({FollowingEnd.STUCK, FollowingEnd.LOOPS})
"""Endings of a follower that never gets in sync with its log; with an empty one it would."""


def choice_of(
    audit: PartitionAudit,
    wanted: int | None = None,
    *,
    allows_unclean: bool = False,
    found: Sequence[Finding] = (),
    lacking: Sequence[int] = (),
    lacking_roots: Mapping[int, LogDirectory] = MappingProxyType({}),
    down: Mapping[int, str] = MappingProxyType({}),
    has_metadata: bool = False,
) -> Choice | Unanswered:
    """Decide one partition.

    Args:
        audit: of the partition with all its copies.
        wanted: the broker that the user chose; None for the election that is ranked first.
        allows_unclean: whether the topic's own configuration allows unclean election.
        found: all findings of the partition.
        lacking: brokers that were supplied without a folder of the partition.
        lacking_roots: where each of those would have its folder.
        down: why some of those do not start, by broker.
        has_metadata: whether a metadata log was supplied.
    """
    elections = [each for each in audit.elections if wanted in (None, _broker(each.candidate))]
    replicas = audit.everyone
    brokers = [_broker(each) for each in replicas]
    if reason := (
        why_unanswered(audit, brokers, down)
        or why_not_read(each for each in found if each.code in _NOT_READ)
        or (not elections and _why_none_leads(audit, brokers, wanted, found))
    ):
        return unanswered(audit, brokers, reason, down)
    topic, partition = audit.topic or "", audit.partition or 0
    roots = [each.directory.log_directory for each in replicas]
    best = elections[0]
    epoch_files = _epoch_rows(audit, _equals(audit, best, audit.elections), found)
    refetching = _refetching(best)
    held = [once_written(audit, each, epoch_files) for each in audit.elections]
    best = next(each for each in held if each.candidate is best.candidate)
    equals = _equals(audit, best, held)
    membership = audit.membership
    assigned = () if membership is None else membership.replicas
    outdated = _outdated(audit)
    here = {*brokers, *lacking, *outdated}
    not_supplied = tuple(each for each in assigned if each not in here)
    not_compared = frozenset(_broker(alone.replicas[0]) for alone in audit.set_aside) - {-1}
    outvoted = _outvoted(audit, best)
    aside = _moved_away(audit, best) | not_compared | outvoted | frozenset(outdated)
    others = (frozenset((*brokers, *not_supplied, *lacking)) - equals) | aside
    lost_at_start = start_losses(audit)
    apart = _apart(best, aside)
    unreadable_from = _unreadable_from(held, equals)
    lost = _lost_by_steps(audit, best, aside, apart if unreadable_from is None else ())
    return Choice(
        topic=topic,
        partition=partition,
        leader=_broker(best.candidate),
        equals=equals - aside,
        others=others,
        electable=electable(audit),
        led_by=None if membership is None or membership.leader < 0 else membership.leader,
        why_unknown=why_unknown(audit, has_metadata=has_metadata),
        stays_leaderless=stays_leaderless(audit),
        lost=lost,
        lost_with_copies=_lost(audit, best, []),
        refetching=refetching,
        apart=apart,
        alternatives=_alternatives(held, equals),
        spoiled={
            _broker(each.follower): tuple(rule.value for rule in each.spoiling)
            for each in best.followers
            if _is_spoiled(each, best)
        },
        zeros_at_end=audit.zeros_at_end,
        merge=audit.merge,
        repairs=without_markers(found, lost_at_start)
        | repairs_of(found, is_lossy=bool(best.lacking_ranges)),
        renames=renames_of(found),
        is_forced=audit.loses_whoever_leads
        or any(each.by_reassignment and each.records.may_be_committed for each in lost)
        or any(each.code == EVERY_LEADER_LOSES_COMMITTED for each in found),
        not_supplied=not_supplied,
        lacking=tuple(lacking),
        replaced=audit.replaced,
        only_copy=_only_copy(audit),
        unseen=audit.unseen,
        set_aside=aside,
        not_compared=not_compared,
        outvoted=outvoted,
        outdated=frozenset(outdated),
        start_losses=lost_at_start,
        adding=() if membership is None else membership.adding,
        removing=() if membership is None else membership.removing,
        expiring_later=_expiring_later(audit),
        assigned=tuple(assigned),
        epoch_rows={
            _broker(each): rows for each, rows in epoch_files.items() if _broker(each) not in aside
        },
        log_start_rows={
            broker: _log_start_rows(root)
            for broker, root in (
                *zip(brokers, roots, strict=True),
                *lacking_roots.items(),
                *((each, copy.directory.log_directory) for each, copy in outdated.items()),
            )
        },
        paths={_broker(each): each.directory.path for each in (*replicas, *outdated.values())},
        new_paths={
            broker: posixpath.join(root.path, f"{topic}-{partition}")
            for broker, root in lacking_roots.items()
        },
        size_in_bytes=best.candidate.replica.size_in_bytes,
        allows_unclean=allows_unclean,
        is_sound=not best.candidate.damaged,
        unreadable_from=unreadable_from,
        damaged=_damaged(best, equals, aside),
        log_starts={_broker(replica): replica.log_start for replica in audit.replicas},
        cluster_id=best.candidate.replica.directory.log_directory.cluster_id,
    )


def _apart(election: Election, aside: Collection[int]) -> tuple[int, ...]:
    """Followers whose copies stay different from the leader's, or lack its beginning."""
    lacking_start = {_broker(each) for each in election.without_start}
    return tuple(
        _broker(each.follower)
        for each in election.followers
        if (each.silent_divergence is not None or _broker(each.follower) in lacking_start)
        and _broker(each.follower) not in aside
    )


def _refetching(election: Election) -> tuple[int, ...]:
    """Followers that fetch the same records for ever."""
    return tuple(
        _broker(each.follower)
        for each in election.followers
        if each.following.outcome is FollowingEnd.REFETCHES
    )


def _outdated(audit: PartitionAudit) -> dict[int, ReplicaAudit]:
    """By broker, the copies of a deleted topic whose place a replica of the existing one takes."""
    copies = (alone.replicas[0] for alone in audit.outdated)
    return {_broker(each): each for each in copies if each.broker_id in audit.to_copy_again}


def _alternatives(held: Iterable[Election], equals: Collection[int]) -> tuple[Alternative, ...]:
    """The elections with another effect than that of the best one."""
    return tuple(
        Alternative(
            broker_id=_broker(each.candidate),
            lost=each.lacking,
            never_in_sync=tuple(_broker(never.follower) for never in each.out_of_sync),
        )
        for each in held
        if _broker(each.candidate) not in equals
    )


def _expiring_later(audit: PartitionAudit) -> tuple[int, ...]:
    """Brokers whose retention deletes segments some time after the start."""
    return tuple(
        sorted(
            _broker(each)
            for each in audit.replicas
            if isinstance(each.start, Recovery) and each.start.expires_later
        )
    )


def _why_none_leads(
    audit: PartitionAudit, brokers: Sequence[int], wanted: int | None, found: Sequence[Finding]
) -> str:
    if wanted is not None:
        return f"broker {wanted} has no copy that can lead"
    return why_all_fail(audit, brokers, repairs_of(found, is_lossy=True))


def _equals(audit: PartitionAudit, best: Election, elections: Iterable[Election]) -> frozenset[int]:
    """The brokers whose election has the same effect as the best one."""
    effect = _effect(audit, best)
    return frozenset(
        _broker(each.candidate) for each in elections if _effect(audit, each) == effect
    )


def _only_copy(audit: PartitionAudit) -> tuple[int, int] | None:
    only = audit.only_copy
    return None if only is None else (_broker(only), only.log_start)


def _epoch_rows(
    audit: PartitionAudit, leaders: Collection[int], found: Sequence[Finding]
) -> dict[ReplicaAudit, EpochRows]:
    """Of the copies that findings name, and of leaders from which a follower fetches for ever."""
    refetched = [
        audit.of(each.candidate.replica)
        for each in audit.elections
        if _broker(each.candidate) in leaders
        and any(f.following.outcome is FollowingEnd.REFETCHES for f in each.followers)
    ]
    of_leaders = ((each, epoch_rows(audit, each)) for each in refetched)
    return {
        **{each: rows for each, rows in of_leaders if rows is not None},
        **advised_epoch_rows(audit, found, _SEVERE),
    }


def _effect(audit: PartitionAudit, election: Election) -> tuple[object, ...]:
    """A key that is equal for two elections if it makes no difference which of them is held."""
    candidate = election.candidate
    ranges = election.lacking_ranges
    return (
        [(each.first_offset, each.next_offset, each.replicas) for each in ranges],
        frozenset(
            _broker(each.follower)
            for each in election.followers
            if each.silent_divergence is not None
        ),
        candidate.cut_transactions,
        election.cost,
    )


def _unreadable_from(held: Iterable[Election], leaders: Collection[int]) -> int | None:
    """The first damaged offset of the logs that may lead; None if they have none."""
    candidates = [each.candidate for each in held if _broker(each.candidate) in leaders]
    return min(
        (c.unreadable_from for c in candidates if c.unreadable_from is not None), default=None
    )


def _damaged(best: Election, leaders: Collection[int], aside: Collection[int]) -> tuple[int, ...]:
    """Brokers whose copy is made again because it is damaged, where another one is whole."""
    if best.heirs and len(leaders) == 1:
        heirs = {_broker(each) for each in best.heirs}
        return () if heirs & {*aside} else (_broker(best.candidate),)
    copies = {_broker(each) for each in best.keeping_damage}
    return tuple(sorted(copies - {*leaders, *aside}))


def _lost_by_steps(
    audit: PartitionAudit, election: Election, aside: Collection[int], apart: Collection[int]
) -> tuple[LostRecords, ...]:
    """What is lost once all brokers run, and what is lost when copies are assigned again.

    A copy that stays different keeps what it does not truncate until a reassignment deletes it.
    """
    following = [each for each in election.followers if _broker(each.follower) not in aside]
    kept = [each for each in following if _broker(each.follower) not in apart]
    lost = _lost(audit, election, kept)
    if not apart:
        return lost
    before = _lost(audit, election, following)
    return tuple(
        part
        for each in lost
        for part in (each.divided(before) if {*each.brokers} & {*apart} else (each,))
    )


def _lost(
    audit: PartitionAudit,
    election: Election,
    followers: Sequence[FollowerOutcome],
) -> tuple[LostRecords, ...]:
    """The records that no copy has if only these followers keep theirs."""
    comparison = audit.comparison
    assert isinstance(comparison, Comparison)
    ranges, _ = lost_ranges(
        election.candidate, followers, audit.candidates, comparison, by_content=True
    )
    of_batches = tuple(
        LostRecords(
            brokers=tuple(map(_broker, each.replicas)),
            first_offset=each.first_offset,
            next_offset=each.next_offset,
            records=each.records,
        )
        for each in ranges
        if each.records
    )
    return (*of_batches, *_lost_with_torn_batch(audit))


def _lost_with_torn_batch(audit: PartitionAudit) -> Iterator[LostRecords]:
    if torn := torn_records(audit):
        yield LostRecords(
            brokers=tuple(map(_broker, torn.holders)),
            first_offset=torn.first_offset,
            next_offset=torn.next_offset,
            records=torn.records,
        )


def _moved_away(audit: PartitionAudit, election: Election) -> frozenset[int]:
    """Brokers whose copy prevents a start, theirs or a log directory's, or never gets in sync.

    Also where it only may stay different, or out of sync, by the rule that its broker follows.
    """
    failing = frozenset(
        _broker(replica)
        for replica in audit.replicas
        if isinstance(replica.start, Recovery) and replica.start.outcome in FAILURES
    )
    return failing | {
        _broker(each.follower)
        for each in election.followers
        if each.following.outcome in _NEEDS_EMPTY_LOG or _is_spoiled(each, election)
    }


def _is_spoiled(outcome: FollowerOutcome, election: Election) -> bool:
    """Whether a copy gets equal to the leader's by the likeliest rule only.

    Not where the leader's log is damaged: no copy can be made of that.
    """
    is_readable = election.candidate.unreadable_from is None
    return is_readable and outcome.becomes_equal and bool(outcome.spoiling)


def _outvoted(audit: PartitionAudit, election: Election) -> frozenset[int]:
    """Brokers whose copy holds records that the others outvote; none if the leader's does."""
    if election.candidate.outvoted_from is not None:
        return frozenset()
    return frozenset(
        _broker(each) for each in audit.candidates if each.outvoted_from is not None
    ) - {-1}


def _broker(replica: Replica | ReplicaAudit | Candidate) -> int:
    """The node id; -1 if it is unknown."""
    return -1 if replica.broker_id is None else replica.broker_id


def _log_start_rows(root: LogDirectory) -> Mapping[TopicPartition, int] | None:
    """Rows as they stand; none where there is no file, or the directory itself was not given."""
    if root.clean_shutdown is None:
        return {}
    found = attempted(lambda: read_log_starts(root))
    return None if isinstance(found, FailedStep) else found  # a release that starts without it
