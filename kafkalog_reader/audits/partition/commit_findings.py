"""Findings about offsets that groups committed and that do not hold: KL-801 to 803, 806 and 810."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final, NamedTuple

from kafkalog_reader.audits.catalogue.commit_rules import (
    COMMIT_BEFORE_START,
    COMMIT_BEYOND_END,
    COMMIT_FOR_UNKNOWN_PARTITION,
    COMMIT_ON_LOST_BRANCH,
    GROUPS_HIT_BY_ELECTION,
)
from kafkalog_reader.audits.comparison.difference import Comparison
from kafkalog_reader.audits.integrity.finding import Finding, finding
from kafkalog_reader.audits.partition.partition_audit import best_copy
from kafkalog_reader.io.names import shown
from kafkalog_reader.tables.commit_place import CommittedLog, Place

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kafkalog_reader.audits.partition.partition_audit import PartitionAudit
    from kafkalog_reader.audits.partition.replica_audit import ReplicaAudit

_NAMED: Final = 3
"""Groups named in a message; the evidence names more."""
_IN_EVIDENCE: Final = 100
_NO_EPOCH: Final = -1


class Commit(NamedTuple):
    """What a group committed of one partition.

    Attributes:
        leader_epoch: of the last record that it read; -1 if unknown.
        topic_id: None if it is not recorded.
        offsets_partition: partition of ``__consumer_offsets`` that holds it.
    """

    group: str
    offset: int
    leader_epoch: int
    topic_id: str | None
    offsets_partition: int


def commit_findings(audit: PartitionAudit, commits: Sequence[Commit]) -> Iterator[Finding]:
    """Yield one finding for each way in which commits of a partition do not hold.

    The log is that of the best copy, as in the table ``group_offsets``.
    """
    if not commits or not audit.replicas:
        return
    best = best_copy(audit)
    topic_id = best.files.topic_id
    held = [each for each in commits if each.topic_id in (None, topic_id)]
    if len(held) < len(commits) and topic_id is not None:
        of_other = [each for each in commits if each.topic_id not in (None, topic_id)]
        yield _of_deleted_topic(best, of_other)
    log = _log_of(best)
    places: dict[Place, list[Commit]] = defaultdict(list)
    for each in held:
        places[log.place_of(each.offset, each.leader_epoch)].append(each)
    if beyond := places[Place.ABOVE_LOG_END]:
        yield _beyond(audit, best, beyond)
    if below := places[Place.BELOW_LOG_START]:
        yield _below(best, below)
    if lost := places[Place.ON_LOST_BRANCH]:
        yield _lost(best, log, lost)
    yield from _after_election(audit, best, places[Place.OK])


def _log_of(replica: ReplicaAudit) -> CommittedLog:
    entries = replica.files.epoch_entries or ()
    return CommittedLog(
        log_start=replica.log_start,
        log_end=replica.log_end,
        epochs=[(entry.leader_epoch, entry.start_offset) for entry in entries],
    )


def _beyond(audit: PartitionAudit, best: ReplicaAudit, commits: Sequence[Commit]) -> Finding:
    furthest = max(commit.offset for commit in commits)
    further = [each.name for each in audit.replicas if each.log_end >= furthest]
    of_other = f"; {further[0]} reaches it, but with an older leader epoch" if further else ""
    is_stopped = bool(best.directory.log_directory.clean_shutdown)  # else it may be a hot copy
    is_this_topic = all(commit.topic_id is not None for commit in commits)
    return finding(
        COMMIT_BEYOND_END,
        f"{_committed(commits)} above the log end, {best.log_end:,}{of_other}",
        confidence="proven" if is_stopped and is_this_topic else "possible",
        directory=best.directory,
        offsets=(best.log_end, furthest),
        evidence={**_evidence(commits), "logEndOffset": best.log_end, "safeOffset": best.log_end},
    )


def _of_deleted_topic(best: ReplicaAudit, commits: Sequence[Commit]) -> Finding:
    return finding(
        COMMIT_FOR_UNKNOWN_PARTITION,
        f"{_committed(commits)[:-1]} of a topic with this name that was deleted: this one has "
        "another topic id",
        directory=best.directory,
        evidence={
            **_evidence(commits), "topicId": best.files.topic_id,
            "committedTopicIds": ", ".join(sorted({str(each.topic_id) for each in commits})),
        },
        lookalikes=(),
    )  # fmt: skip


def _below(best: ReplicaAudit, commits: Sequence[Commit]) -> Finding:
    lowest = min(commit.offset for commit in commits)
    unread = best.log_start - lowest
    what = "1 offset" if unread == 1 else f"up to {unread:,} offsets"
    return finding(
        COMMIT_BEFORE_START,
        f"{_committed(commits)} below the log start, {best.log_start:,}: {what} expired unread",
        directory=best.directory,
        offsets=(lowest, best.log_start),
        evidence={
            **_evidence(commits), "logStartOffset": best.log_start, "safeOffset": best.log_start,
        },
    )  # fmt: skip


def _lost(best: ReplicaAudit, log: CommittedLog, commits: Sequence[Commit]) -> Finding:
    safe = min(log.safe_offset(each.offset, each.leader_epoch) for each in commits)
    epochs = sorted({each.leader_epoch for each in commits})
    named = ", ".join(map(str, epochs))
    return finding(
        COMMIT_ON_LOST_BRANCH,
        f"{_committed(commits)} after records of leader epoch {named} that {best.name} does not "
        f"have: go on at offset {safe:,}",
        directory=best.directory,
        offsets=(safe, max(each.offset for each in commits)),
        evidence={**_evidence(commits), "leaderEpochs": named, "safeOffset": safe},
    )


def _after_election(
    audit: PartitionAudit, best: ReplicaAudit, commits: Sequence[Commit]
) -> Iterator[Finding]:
    """What the election of the candidate that loses least does to commits that hold now."""
    election = next((each for each in audit.elections if each.rank == 1), None)
    if election is None or election.candidate.log is None:
        return
    leader = audit.of(election.candidate.replica)
    shared = election.candidate.log.log_end_offset
    if isinstance(audit.comparison, Comparison) and leader is not best:
        fork = audit.comparison.content_fork(best.files, leader.files)
        shared = shared if fork is None else min(fork, shared)
    hit = [each for each in commits if each.offset > shared]
    if not hit:
        return
    safe = max(leader.log_start, shared)
    without = sum(each.leader_epoch == _NO_EPOCH for each in hit)
    reset = ""
    if without:
        which = "without" if len(hit) == 1 else f"{without:,} of them without"
        reset = f"; {which} a leader epoch, so that no consumer notices"
    yield finding(
        GROUPS_HIT_BY_ELECTION,
        f"with {leader.name} leading, {_committed(hit)} after records that it does not have: go on "
        f"at offset {safe:,}{reset}",
        confidence="possible" if without else "likely",
        directory=leader.directory,
        offsets=(safe, max(each.offset for each in hit)),
        evidence={
            **_evidence(hit), "leader": leader.name, "safeOffset": safe,
            "withoutLeaderEpoch": without,
        },
    )  # fmt: skip


def _committed(commits: Sequence[Commit]) -> str:
    """``group billing has committed offset 7``, or the number of groups and the range."""
    offsets = sorted({commit.offset for commit in commits})
    where = f"offset {offsets[0]:,}"
    if len(offsets) > 1:
        where = f"offsets {offsets[0]:,} to {offsets[-1]:,}"
    names = _names(commits)
    if len(names) == 1:
        return f"group {names[0]} has committed {where},"
    named = ", ".join(names[:_NAMED])
    more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
    return f"{len(names):,} groups ({named}{more}) have committed {where},"


def _names(commits: Iterable[Commit]) -> list[str]:
    return [shown(commit.group) or '""' for commit in _in_order(commits)]


def _in_order(commits: Iterable[Commit]) -> list[Commit]:
    return sorted(commits, key=lambda each: (each.group, each.offset, each.leader_epoch))


def _evidence(commits: Sequence[Commit]) -> dict[str, object]:
    named = [
        f"{shown(commit.group)}@{commit.offset}" for commit in _in_order(commits)[:_IN_EVIDENCE]
    ]
    return {"groups": len(commits), "commits": ", ".join(named)}
