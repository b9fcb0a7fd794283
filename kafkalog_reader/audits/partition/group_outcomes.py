"""Predicts where each consumer group goes on under each candidate leader.

A consumer that has a leader epoch for its committed offset first asks the leader where that epoch
ended (KIP-320, Kafka 2.1 and later). If it ended below the offset, the consumer goes on there under
every reset policy but ``none``. Otherwise it fetches from its offset. The leader refuses one below
its log start or above its log end: then ``auto.offset.reset`` decides. Where the leader has other
records below the offset than the consumer has read, it may notice nothing, even with a leader
epoch: of one that the leader does not know, the answer is where the one before it ended.

Source: Kafka 4.4, SubscriptionState#maybeCompleteValidation, FetchCollector#handleInitializeErrors.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from enum import Enum
from functools import cache
from operator import attrgetter
from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.comparison.compared_replicas import Comparison
from kafkalog_reader.audits.election.branch_records import records_between
from kafkalog_reader.audits.election.follow import elected
from kafkalog_reader.audits.partition.partition_audit import best_copy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from kafkalog_reader.audits.election.candidates import Election
    from kafkalog_reader.audits.log.epoch_log import EpochLog
    from kafkalog_reader.audits.partition.commit import Commit
    from kafkalog_reader.audits.partition.partition_audit import PartitionAudit
    from kafkalog_reader.audits.partition.replica_audit import ReplicaAudit

NO_EPOCH: Final = -1


class GroupEnding(Enum):
    """How a group goes on under a new leader."""

    UNCHANGED = "unchanged"
    """At its offset, and below it the leader has what the group has read."""
    UNNOTICED = "unnoticed"
    """At its offset, but the leader has other records below it, which the group never reads."""
    TRUNCATION_DETECTED = "truncation-detected"
    """Where its leader epoch ended; with ``auto.offset.reset=none``: LogTruncationException."""
    RESET = "reset"
    """By ``auto.offset.reset``; with ``none``: OffsetOutOfRangeException."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Continuation:
    """Where a group goes on.

    Attributes:
        next_offset: the offset that it reads next.
        safe_offset: of ``GroupOutcome``.
        records: counts the leader's client records in a range of offsets, which may read headers.
    """

    next_offset: int
    safe_offset: int
    records: Callable[[int, int], int] = field(compare=False)

    @property
    def records_reread(self) -> int:
        """Client records that it has read and reads again."""
        return self.records(self.next_offset, self.safe_offset)

    @property
    def records_skipped(self) -> int:
        """Client records of the leader that it has not read and never reads."""
        return self.records(self.safe_offset, self.next_offset)


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupOutcome:
    """How one group goes on if one candidate leads.

    Attributes:
        safe_offset: the leader has what the group has read below it, and nothing else: going on
            there, the group reads nothing again and skips nothing.
        earliest, latest: with this ``auto.offset.reset``; equal unless the group is reset.
    """

    commit: Commit
    ending: GroupEnding
    safe_offset: int
    earliest: Continuation
    latest: Continuation

    @property
    def loses_its_place(self) -> bool:
        """Whether the leader lacks records that the group has read."""
        return self.safe_offset < self.commit.offset


def group_outcomes(audit: PartitionAudit, election: Election) -> tuple[GroupOutcome, ...]:
    """How each group goes on if the candidate of an election leads, by group.

    Commits of a deleted topic of the same name are left out. Nothing if the copies were not
    compared.
    """
    if not audit.commits or not isinstance(audit.comparison, Comparison):
        return ()
    return tuple(_Leader(audit, election).outcomes())


def groups_affected(audit: PartitionAudit, election: Election) -> tuple[GroupOutcome, ...]:
    """The groups that an election makes lose their place.

    Without those whose next records have expired on the best copy, too, whoever leads (KL-802).
    """
    log_start = best_copy(audit).log_start if audit.commits else 0
    return tuple(
        each
        for each in group_outcomes(audit, election)
        if each.ending is not GroupEnding.UNCHANGED and each.commit.offset >= log_start
    )


def held_commits(audit: PartitionAudit) -> tuple[Commit, ...]:
    """The commits that are of this topic and not of a deleted one of its name, by group."""
    topic_id = best_copy(audit).files.topic_id
    held = (each for each in audit.commits if each.topic_id in (None, topic_id))
    return tuple(sorted(held, key=attrgetter("group", "offset", "leader_epoch")))


class _Leader:
    """An elected candidate, as consumers see it."""

    def __init__(self, audit: PartitionAudit, election: Election) -> None:
        assert election.candidate.log is not None
        assert isinstance(audit.comparison, Comparison)
        self._candidate = election.candidate
        self._comparison = audit.comparison
        self._commits = held_commits(audit)
        known = max((each.leader_epoch for each in self._commits), default=NO_EPOCH)
        new_epoch = max(election.leader_epoch, known + 1)  # groups have read what no copy has
        self._log: EpochLog = elected(election.candidate.log, new_epoch)
        self._count = cache(self._count_records)
        self._common = cache(self._common_until)
        best = best_copy(audit)
        others = (each for each in audit.replicas if each is not best)
        self._copies: Sequence[ReplicaAudit] = (best, *others)

    def outcomes(self) -> Iterator[GroupOutcome]:
        by_position: dict[tuple[int, int], list[Commit]] = defaultdict(list)
        for commit in self._commits:
            by_position[commit.offset, commit.leader_epoch].append(commit)
        found = []
        for (offset, leader_epoch), commits in by_position.items():
            ending, safe, earliest, latest = self._after(offset, leader_epoch)
            found += [
                GroupOutcome(
                    commit=commit, ending=ending, safe_offset=safe, earliest=earliest, latest=latest
                )
                for commit in commits
            ]
        return iter(sorted(found, key=lambda each: each.commit))

    def _after(
        self, offset: int, leader_epoch: int
    ) -> tuple[GroupEnding, int, Continuation, Continuation]:
        log = self._log
        safe = max(log.log_start_offset, min(offset, self._read_until(offset, leader_epoch)))

        def going_on(at: int) -> Continuation:
            return Continuation(next_offset=at, safe_offset=safe, records=self._count)

        at = min(offset, self._epoch_end(leader_epoch, offset))
        if not log.log_start_offset <= at <= log.log_end_offset:
            earliest, latest = going_on(log.log_start_offset), going_on(log.log_end_offset)
            return GroupEnding.RESET, safe, earliest, latest
        if at < offset:
            ending = GroupEnding.TRUNCATION_DETECTED
        else:
            ending = GroupEnding.UNCHANGED if safe == offset else GroupEnding.UNNOTICED
        return ending, safe, going_on(at), going_on(at)

    def _epoch_end(self, leader_epoch: int, otherwise: int) -> int:
        """Where the leader says that an epoch ended; another offset if there is nothing to ask."""
        if leader_epoch < 0:
            return otherwise
        answer = self._log.cache.end_for(leader_epoch, self._log.log_end_offset)
        return otherwise if answer is None else answer.next_offset

    def _read_until(self, offset: int, leader_epoch: int) -> int:
        """Up to where the leader has what a group with this commit has read."""
        for each in self._copies:
            if leader_epoch >= 0 and each.history.lineage.epoch_at(offset - 1) == leader_epoch:
                return self._common(each)
        reaching = (each for each in self._copies if offset <= each.log_end)
        return self._epoch_end(leader_epoch, self._common(next(reaching, self._copies[0])))

    def _common_until(self, read: ReplicaAudit) -> int:
        """Up to where the leader has what a group has read of a copy.

        Not up to a gap of either: a group that is beyond it has read those records before they
        were gone, and reads nothing again.
        """
        end = self._log.log_end_offset
        if read.files == self._candidate.replica:
            return end
        fork = self._comparison.record_fork(read.files, self._candidate.replica)
        return end if fork is None else min(fork, end)

    def _count_records(self, first_offset: int, next_offset: int) -> int:
        return records_between(self._candidate, first_offset, next_offset, self._comparison)
