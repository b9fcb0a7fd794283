"""Findings about leader epochs of several replicas: ends that a newer leader lacks, collisions."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from kafkalog_reader.audits.catalogue.replica_rules import (
    EPOCH_NUMBER_COLLISION,
    FOLLOWER_MAY_LOOP,
    METADATA_BEHIND,
    METADATA_EPOCH_AHEAD,
    SUPERSEDED_TAIL,
    UNCLEAN_ELECTION_EVIDENCE,
    UNCOVERED_FIELD_MISMATCH,
)
from kafkalog_reader.audits.comparison.committed import CommitCount, fork_of
from kafkalog_reader.audits.comparison.compared_replicas import Comparison
from kafkalog_reader.audits.integrity.finding import Finding, finding
from kafkalog_reader.audits.log.moved_start import possible_log_start
from kafkalog_reader.audits.log.record_count import records_text
from kafkalog_reader.audits.partition.newest_leader import (
    epoch_unknown_to_leader,
    newest_leader,
    reached_by_newest,
)
from kafkalog_reader.format.broker_words import joined

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kafkalog_reader.audits.election.membership import PartitionMembership
    from kafkalog_reader.audits.log.lineage import Lineage
    from kafkalog_reader.audits.partition.partition_audit import PartitionAudit
    from kafkalog_reader.audits.partition.replica_audit import ReplicaAudit
    from kafkalog_reader.format.checkpoint import LeaderEpochEntry


def lineage_findings(audit: PartitionAudit) -> Iterator[Finding]:
    """Yield what leader epochs say about the replicas of a partition that were compared."""
    yield from _superseded(audit)
    yield from _collisions(audit)
    yield from _restamped(audit)
    yield from _metadata_epochs(audit)


def _superseded(audit: PartitionAudit) -> Iterator[Finding]:
    newest = newest_leader(audit)
    newest_end = -1 if newest is None else newest.log_end
    for replica in audit.replicas:
        bound, candidate = replica.bounds, replica.candidate
        if bound.superseded is None or candidate is None:
            continue
        offsets = (bound.superseded, bound.log_end)
        if newest_end <= bound.superseded:
            count = candidate.records(*offsets)
            known = min(max(bound.known, bound.superseded), bound.log_end)
            committed = candidate.records(bound.superseded, known)
            possible = candidate.records(known, max(known, bound.possible))
            state = CommitCount(
                known=committed, possible=possible, only_if_unclean=count - committed - possible
            ).state
            leader = "the newer leader" if newest is None else newest.name
            yield finding(
                SUPERSEDED_TAIL,
                f"{replica.name}: a newer leader's history ends at offset {bound.superseded}; "
                f"{records_text(count)} from there on{_committed_text(committed, possible)} would "
                f"be cut if {leader} led",
                confidence="likely" if committed or possible else "proven",
                directory=replica.directory,
                offsets=offsets,
                records_at_risk=count,
                committed=state,
            )
        unclean = -1 if audit.membership is None else audit.membership.unclean_epoch or -1
        if unclean > replica.history.last_epoch and bound.known <= bound.superseded:
            yield finding(
                UNCLEAN_ELECTION_EVIDENCE,
                f"{replica.name} has records from offset {bound.superseded} on that the newest "
                "leader does not have, and that may be committed: according to the metadata log "
                f"the leader of epoch {unclean} was elected uncleanly, from outside the ISR",
                directory=replica.directory,
                offsets=(bound.superseded, bound.log_end),
                evidence={"uncleanEpoch": unclean, "superseded": bound.superseded},
                records_at_risk=candidate.records(*offsets),
                committed="possible",
            )
        if bound.known > bound.superseded and not _lost_its_end(audit, bound.superseded):
            is_proven = _is_proven(audit, newest, bound.superseded)
            unknown = epoch_unknown_to_leader(audit)
            yield finding(
                UNCLEAN_ELECTION_EVIDENCE,
                f"{replica.name} has only committed records below offset {bound.known}, and the "
                f"newest leader's history diverges at {bound.superseded}: "
                + (_causes(is_proven=is_proven) if unknown is None else _older(audit, unknown)),
                severity=None if unknown is None else "H",
                confidence="proven" if is_proven and unknown is None else "likely",
                directory=replica.directory,
                offsets=(bound.superseded, bound.known),
                evidence={"highWatermarkLow": bound.known, "superseded": bound.superseded},
                records_at_risk=candidate.records(bound.superseded, bound.known),
                committed="known",
            )


def _causes(*, is_proven: bool) -> str:
    restarted = "" if is_proven else ", or one after it that restarted before it wrote"
    return f"an unclean election, a leader that had lost data{restarted}"


def _older(audit: PartitionAudit, leader_epoch: int) -> str:
    """The leader has lost data, or never had it: no unclean election is needed to explain it."""
    newest = newest_leader(audit)
    assert newest is not None
    return (
        f"{newest.name} leads in epoch {leader_epoch} by the metadata log, and its files do not "
        "have that epoch; they are probably older than its election: an old disk or a backup was "
        "put back, or the log has lost data since"
    )


def _committed_text(known: int, possible: int) -> str:
    """How many of the records were committed, in the words of the table of candidates."""
    parts = [f"{known:,} committed"] if known else []
    if possible:
        parts.append(f"{possible:,} possibly{'' if known else ' committed'}")
    return f" ({', '.join(parts)})" if parts else ""


def _lost_its_end(audit: PartitionAudit, superseded: int) -> bool:
    """Whether the newest leader's log was damaged since its broker last ran.

    So the others go on where its log ends, without any election.
    """
    newest = newest_leader(audit)
    if newest is None or newest.log_end > superseded:
        return False
    return reached_by_newest(audit) is not None


def _is_proven(audit: PartitionAudit, newest: ReplicaAudit | None, superseded: int) -> bool:
    """Whether no later leader can have continued the branch that the newest leader left.

    A leader that was elected, wrote nothing and restarted leaves no trace in any log. The cluster
    metadata would name it; and no later leader removed what the newest leader's branch committed.
    """
    if newest is None:
        return True
    epoch = newest.history.greatest_leader_epoch
    if audit.membership is not None and (epoch is None or audit.membership.leader_epoch >= epoch):
        return True
    return newest.bounds.known > superseded


def _collisions(audit: PartitionAudit) -> Iterator[Finding]:
    """Leader epochs with two start offsets, and lineages that diverge and meet again."""
    reported: dict[tuple[int, int], list[str]] = {}
    for one, other in combinations(audit.replicas, 2):
        left, right = one.history, other.history
        fork = fork_of(left, right)
        if fork.met_again and _rises(left.data) and _rises(right.data):
            yield finding(
                EPOCH_NUMBER_COLLISION,
                f"the leader epochs of {one.name} and {other.name} diverge at offset "
                f"{fork.offset:,} and agree again after it",
                offsets=(fork.offset, fork.next_offset),
                evidence={"copies": f"{one.name} | {other.name}"},
            )
        for leader_epoch, starts in _two_starts(one, other):
            names = reported.setdefault((leader_epoch, min(starts)), [])
            names += [
                f"{start:,} on {replica.name}"
                for replica, start in zip((one, other), starts, strict=True)
            ]
    for (leader_epoch, first), names in sorted(reported.items()):
        each = ", ".join(dict.fromkeys(names))
        yield finding(
            EPOCH_NUMBER_COLLISION,
            f"leader epoch {leader_epoch} begins at different offsets by the epoch checkpoints: at "
            f"{each}",
            offsets=(first, first),
            evidence={"leaderEpoch": leader_epoch, "starts": each},
        )


def _restamped(audit: PartitionAudit) -> Iterator[Finding]:
    """Equal records under different leader epochs: a damaged epoch, or a client's second send."""
    assert isinstance(audit.comparison, Comparison)
    for offset in audit.comparison.restamped:
        yield finding(
            UNCOVERED_FIELD_MISMATCH,
            f"at offset {offset:,}, where histories diverge, the copies hold the same records "
            "under different leader epochs: one epoch is wrong, or a client sent them to both "
            "leaders",
            confidence="likely",
            offsets=(offset, offset + 1),
        )


def _two_starts(one: ReplicaAudit, other: ReplicaAudit) -> Iterator[tuple[int, tuple[int, int]]]:
    """Epochs in both checkpoints whose start offsets differ and are above both log starts."""
    left, right = one.history, other.history
    low = max(left.log_start_offset, right.log_start_offset)
    high = min(left.log_end_offset, right.log_end_offset)
    theirs = {entry.leader_epoch: entry.start_offset for entry in other.files.epoch_entries or ()}
    for entry in one.files.epoch_entries or ():
        if entry.leader_epoch not in theirs:
            continue
        starts = (max(entry.start_offset, low), max(theirs[entry.leader_epoch], low))
        if starts[0] == starts[1] or min(starts) >= high:
            continue
        later, its_entries = (
            (right, other.files.epoch_entries)
            if starts[0] < starts[1]
            else (left, one.files.epoch_entries)
        )
        begins_with_it = (its_entries or (entry,))[0].leader_epoch == entry.leader_epoch
        if _is_blank(later.data, min(starts), max(starts)):
            continue  # copied from a leader whose first batches were cleaned away (T38)
        data = (left, right)[starts.index(min(starts))].data
        if _is_blank(data, min(starts), max(starts)):
            continue  # cleaned away: a copy made later begins at the first batch that is left
        if begins_with_it and max(starts) == _moved_start(other if later is right else one):
            continue  # records were deleted there, and its log start was not written yet
        yield entry.leader_epoch, starts


def _moved_start(replica: ReplicaAudit) -> int:
    return possible_log_start(replica.files, replica.history.data.intervals, replica.log_end)


def _is_blank(data: Lineage, first_offset: int, next_offset: int) -> bool:
    return not data.clipped(first_offset, next_offset).intervals


def _rises(lineage: Lineage) -> bool:
    """Whether the epochs of the batches increase; a damaged field has findings of its own."""
    epochs = [interval.leader_epoch for interval in lineage.intervals]
    return epochs == sorted(epochs)


def _metadata_epochs(audit: PartitionAudit) -> Iterator[Finding]:
    """Leader epochs that either the cluster metadata or the logs lack, or their leader has lost."""
    membership = audit.membership
    if membership is None:
        return
    greatest = audit.greatest_leader_epoch
    if membership.leader_epoch > greatest >= 0:
        yield finding(
            METADATA_EPOCH_AHEAD,
            f"the cluster metadata has leader epoch {membership.leader_epoch}, the greatest in "
            f"a log is {greatest}",
            evidence={
                "leader": membership.leader,
                "metadataLeaderEpoch": membership.leader_epoch,
                "greatestLeaderEpoch": greatest,
            },
        )
    if audit.is_metadata_older:  # its leader need not be the latest one
        yield _metadata_behind(audit, membership)
        return
    by_broker = {replica.broker_id: replica for replica in audit.replicas}
    leader = by_broker.get(membership.leader)
    latest = None if leader is None else _latest_in_log(leader)
    if leader is None or latest is None:
        return
    for replica in audit.replicas:
        asked = _latest_in_log(replica)
        if replica is not leader and asked is not None and asked.leader_epoch > latest.leader_epoch:
            yield finding(
                FOLLOWER_MAY_LOOP,
                f"{replica.name} has leader epoch {asked.leader_epoch}, and its leader, "
                f"{leader.name}, has none after {latest.leader_epoch}: while {leader.name} leads, "
                f"{replica.name} asks it again and again where epoch {asked.leader_epoch} ends, "
                "and copies nothing",
                directory=replica.directory,
                evidence={
                    "asked": asked.leader_epoch,
                    "leaderKnows": latest.leader_epoch,
                    "leader": leader.name,
                    "follower": replica.name,
                },
            )


def _latest_in_log(replica: ReplicaAudit) -> LeaderEpochEntry | None:
    """The newest entry that is not beyond the log end.

    No running broker has one there, and a start removes it: Kafka 4.4, LogLoader#load
    (truncateFromEndAsyncFlush).
    """
    return replica.files.cache.truncate_from_end(replica.log_end + 1).latest


def _metadata_behind(audit: PartitionAudit, membership: PartitionMembership) -> Finding:
    """Copies with leader epochs that only the controllers can have created."""
    newer = {
        each.name: max(epochs)
        for each in audit.replicas
        if (
            epochs := [
                epoch
                for epoch in each.history.leader_epochs
                if epoch > membership.leader_epoch and not each.is_contradicted(epoch)
            ]
        )
    }
    return finding(
        METADATA_BEHIND,
        f"{joined([*newer])} {'has' if len(newer) == 1 else 'have'} leader epoch "
        f"{max(newer.values())}, and the metadata log ends with leader epoch "
        f"{membership.leader_epoch}, before that election",
        evidence={
            "copies": joined([*newer]),
            "leaderEpoch": max(newer.values()),
            "metadataLeaderEpoch": membership.leader_epoch,
            "metadataLog": membership.source,
            "metadataOffset": membership.source_offset,
        },
    )
