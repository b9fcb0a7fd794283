"""Findings about offsets that groups committed and that do not hold: KL-801 to 803, 806 and 810."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.catalogue.actions import (
    COPY_AGAIN,
    DO_NOT_START,
    LOOK_FOR_A_COPY,
    RENAME_FOLDER,
    RESTORE_OLD_SEGMENTS,
    SET_GROUP_OFFSET,
    SET_NO_OFFSET_YET,
    SUPPLY_WHAT_IS_MISSING,
)
from kafkalog_reader.audits.catalogue.commit_rules import (
    COMMIT_BEFORE_START,
    COMMIT_BEYOND_END,
    COMMIT_FOR_UNKNOWN_PARTITION,
    COMMIT_ON_LOST_BRANCH,
    GROUPS_HIT_BY_ELECTION,
)
from kafkalog_reader.audits.comparison.copied_earlier import is_after_copy
from kafkalog_reader.audits.integrity.damage import is_severe
from kafkalog_reader.audits.integrity.file_repair import SetOffset
from kafkalog_reader.audits.integrity.finding import Finding, finding
from kafkalog_reader.audits.partition.group_outcomes import (
    NO_EPOCH,
    GroupEnding,
    group_outcomes,
    held_commits,
)
from kafkalog_reader.audits.partition.partition_audit import best_copy
from kafkalog_reader.io.names import shown
from kafkalog_reader.tables.commit_place import CommittedLog, Place

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kafkalog_reader.audits.partition.commit import Commit
    from kafkalog_reader.audits.partition.group_outcomes import GroupOutcome
    from kafkalog_reader.audits.partition.partition_audit import PartitionAudit
    from kafkalog_reader.audits.partition.replica_audit import ReplicaAudit

_NAMED: Final = 3
"""Groups named in a message; the evidence names more."""
_IN_EVIDENCE: Final = 100
_RESET: Final = 20
"""Groups whose offsets printed commands set; for more there is ``groups --reset-file``."""
_MAY_BRING_BACK: Final = frozenset(
    {DO_NOT_START, RESTORE_OLD_SEGMENTS, RENAME_FOLDER, LOOK_FOR_A_COPY}
)
"""Actions after which the log may begin or end elsewhere."""
_ENDINGS: Final = {
    GroupEnding.RESET: "auto.offset.reset decides where it continues",
    GroupEnding.UNNOTICED: "no consumer notices",
    GroupEnding.TRUNCATION_DETECTED: "consumers detect the truncation by the leader epoch",
}


def commit_findings(audit: PartitionAudit, found: Iterable[Finding] = ()) -> Iterator[Finding]:
    """Yield one finding for each way in which commits of a partition do not hold.

    The log is that of the best copy, as in the table ``group_offsets``. As long as other findings
    say how records may come back, none advises to set the offset of a group.

    Args:
        audit: the partition, with what groups committed.
        found: its other findings.
    """
    instead = _instead_of_setting(audit, found)
    for each in _as_the_files_are(audit):
        if instead and each.actions[0] == SET_GROUP_OFFSET:
            yield replace(each, actions=instead, repairs=())
        else:
            yield each


def _instead_of_setting(audit: PartitionAudit, found: Iterable[Finding]) -> tuple[str, ...]:
    """What to do before the offset of a group is set; nothing if the files show it already."""
    if audit.unseen is not None:
        return SUPPLY_WHAT_IS_MISSING, SET_GROUP_OFFSET
    if any(is_severe(each) and not _MAY_BRING_BACK.isdisjoint(each.actions) for each in found):
        return (SET_NO_OFFSET_YET,)
    return ()


def _as_the_files_are(audit: PartitionAudit) -> Iterator[Finding]:
    if not audit.commits or not audit.replicas:
        return
    best = best_copy(audit)
    topic_id = best.files.topic_id
    if topic_id is not None:
        of_other = [each for each in audit.commits if each.topic_id not in (None, topic_id)]
        if of_other:
            yield _of_deleted_topic(best, of_other)
    log = _log_of(best)
    places: dict[Place, list[Commit]] = defaultdict(list)
    for each in held_commits(audit):
        places[log.place_of(each.offset, each.leader_epoch)].append(each)
    if beyond := places[Place.ABOVE_LOG_END]:
        yield _beyond(audit, best, log, beyond)
    if below := places[Place.BELOW_LOG_START]:
        yield _below(best, log, below)
    if lost := places[Place.ON_LOST_BRANCH]:
        yield _lost(best, log, lost)
    yield from _after_election(audit, places[Place.OK])


def _log_of(replica: ReplicaAudit) -> CommittedLog:
    entries = replica.files.epoch_entries or ()
    return CommittedLog(
        log_start=replica.log_start,
        log_end=replica.log_end,
        epochs=[(entry.leader_epoch, entry.start_offset) for entry in entries],
    )


def _beyond(
    audit: PartitionAudit, best: ReplicaAudit, log: CommittedLog, commits: Sequence[Commit]
) -> Finding:
    furthest = max(commit.offset for commit in commits)
    further = [each.name for each in audit.replicas if each.log_end >= furthest]
    of_other = f"; {further[0]} reaches it, but with an older leader epoch" if further else ""
    is_stopped = bool(best.directory.log_directory.clean_shutdown)  # else it may be a hot copy
    is_this_topic = all(commit.topic_id is not None for commit in commits)
    was_running = best.ran_while_copied or _read_on(best, commits)
    why = ": the broker ran while it was copied, and the group went on" if was_running else ""
    return finding(
        COMMIT_BEYOND_END,
        f"{_committed(commits)} above the log end, {best.log_end:,}{of_other}{why}",
        severity="L" if was_running else None,
        actions=(COPY_AGAIN,) if was_running else None,
        confidence="proven" if is_stopped and is_this_topic else "possible",
        directory=best.directory,
        offsets=(best.log_end, furthest),
        evidence={**_evidence(commits), "logEndOffset": best.log_end, "safeOffset": best.log_end},
        repairs=() if was_running else _resets(best, _safe(log, commits)),
    )


def _read_on(best: ReplicaAudit, commits: Sequence[Commit]) -> bool:
    """Whether groups committed after the best copy was taken from a running broker."""
    return best.moment is not None and all(
        each.committed_at is not None and is_after_copy(each.committed_at, best.moment)
        for each in commits
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


def _below(best: ReplicaAudit, log: CommittedLog, commits: Sequence[Commit]) -> Finding:
    lowest = min(commit.offset for commit in commits)
    unread = best.log_start - lowest
    what = "1 offset" if unread == 1 else f"up to {unread:,} offsets"
    return finding(
        COMMIT_BEFORE_START,
        f"{_committed(commits)} below the log start, {best.log_start:,}: {what} went unread",
        directory=best.directory,
        offsets=(lowest, best.log_start),
        evidence={
            **_evidence(commits), "logStartOffset": best.log_start, "safeOffset": best.log_start,
        },
        repairs=_resets(best, _safe(log, commits)),
    )  # fmt: skip


def _lost(best: ReplicaAudit, log: CommittedLog, commits: Sequence[Commit]) -> Finding:
    offsets = _safe(log, commits)
    safe = min(offset for _, offset in offsets)
    epochs = sorted({each.leader_epoch for each in commits})
    named = ", ".join(map(str, epochs))
    return finding(
        COMMIT_ON_LOST_BRANCH,
        f"{_committed(commits)} after records of leader epoch {named} that {best.name} does not "
        f"have: go on at offset {safe:,}",
        directory=best.directory,
        offsets=(safe, max(each.offset for each in commits)),
        evidence={**_evidence(commits), "leaderEpochs": named, "safeOffset": safe},
        repairs=_resets(best, offsets),
    )


def _after_election(audit: PartitionAudit, commits: Sequence[Commit]) -> Iterator[Finding]:
    """What the election of the candidate that loses least does to commits that hold now."""
    election = next((each for each in audit.elections if each.rank == 1), None)
    if election is None:
        return
    now = frozenset(commits)
    outcomes = [
        each
        for each in group_outcomes(audit, election)
        if each.loses_its_place and each.commit in now
    ]
    if not outcomes:
        return
    leader = election.candidate
    hit = [each.commit for each in outcomes]
    safe = min(each.safe_offset for each in outcomes)
    without = sum(each.leader_epoch == NO_EPOCH for each in hit)
    yield finding(
        GROUPS_HIT_BY_ELECTION,
        f"with {leader.name} leading, {_committed(hit)} after records that {leader.name} does "
        "not have: "
        f"{_endings(outcomes)}; {'the group' if len(_names(hit)) == 1 else 'they'} can go on at "
        f"offset {safe:,}",
        confidence="possible" if without else "likely",
        directory=leader.replica.directory,
        offsets=(safe, max(each.offset for each in hit)),
        evidence={
            **_evidence(hit), "leader": leader.name, "safeOffset": safe,
            "withoutLeaderEpoch": without,
            **{ending.value: _count_of(ending, outcomes) for ending in _ENDINGS},
        },
        repairs=_resets(
            audit.of(leader.replica), [(each.commit, each.safe_offset) for each in outcomes]
        ),
    )  # fmt: skip


def _endings(outcomes: Sequence[GroupOutcome]) -> str:
    """How the groups go on by themselves, with their number where they differ."""
    counts = {ending: _count_of(ending, outcomes) for ending in _ENDINGS}
    said = [
        words if count == len(outcomes) else f"{words} ({count:,})"
        for ending, words in _ENDINGS.items()
        if (count := counts[ending])
    ]
    return ", ".join(said)


def _count_of(ending: GroupEnding, outcomes: Iterable[GroupOutcome]) -> int:
    return sum(each.ending is ending for each in outcomes)


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


def _safe(log: CommittedLog, commits: Sequence[Commit]) -> list[tuple[Commit, int]]:
    """Where each group can go on."""
    return [(each, log.safe_offset(each.offset, each.leader_epoch)) for each in commits]


def _resets(best: ReplicaAudit, offsets: Sequence[tuple[Commit, int]]) -> tuple[SetOffset, ...]:
    """Commits of the offsets where groups can go on; none if there are too many to print."""
    groups: dict[int, set[str]] = defaultdict(set)
    for commit, offset in offsets:
        groups[offset].add(commit.group)
    topic, partition = best.directory.topic, best.directory.partition
    if len({each.group for each, _ in offsets}) > _RESET or topic is None or partition is None:
        return ()
    return tuple(
        SetOffset(groups=tuple(sorted(of_same)), topic=topic, partition=partition, offset=offset)
        for offset, of_same in sorted(groups.items())
    )


def _evidence(commits: Sequence[Commit]) -> dict[str, object]:
    named = [
        f"{shown(commit.group)}@{commit.offset}" for commit in _in_order(commits)[:_IN_EVIDENCE]
    ]
    return {"groups": len(commits), "commits": ", ".join(named)}
