"""Predicts the next start of every replica of an audit, and what each election loses then."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kafkalog_reader.audits.comparison.log_summary import spoilt
from kafkalog_reader.audits.comparison.verdict import is_damage
from kafkalog_reader.audits.election.candidate import Candidate
from kafkalog_reader.audits.election.candidates import Election, elections
from kafkalog_reader.audits.election.membership import is_member
from kafkalog_reader.audits.log.epoch_log import EpochLog
from kafkalog_reader.audits.log.record_count import count_records, first_batch_cut, hidden_offsets
from kafkalog_reader.audits.partition.lost_start import first_base
from kafkalog_reader.audits.recovery.outcome import StartOutcome
from kafkalog_reader.audits.recovery.recovery import LoadedReplica, Recovery
from kafkalog_reader.audits.recovery.start_prediction import predict_starts
from kafkalog_reader.errors import LocatedError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kafkalog_reader.audits.comparison.committed import History
    from kafkalog_reader.audits.comparison.compared_replicas import Comparison
    from kafkalog_reader.audits.election.membership import PartitionMembership
    from kafkalog_reader.audits.log.batch_stream import BatchStream
    from kafkalog_reader.audits.log.replica import Replica
    from kafkalog_reader.audits.partition.partition_audit import PartitionAudit
    from kafkalog_reader.audits.partition.replica_audit import ReplicaAudit
    from kafkalog_reader.audits.recovery.rule import ClusterTopics


def with_elections(
    audit: PartitionAudit,
    comparison: Comparison,
    streams: Mapping[Replica, BatchStream],
    topics: ClusterTopics | None,
    *,
    quick: bool,
) -> PartitionAudit:
    """The audit with the next start of each replica and all elections, best first.

    Args:
        audit: of replicas that can be compared.
        comparison: of these replicas.
        streams: the batches of each, read to their ends.
        topics: those of the cluster, if its metadata log was supplied.
        quick: assume harmless starts.
    """
    started = _candidates(audit, comparison, streams, topics, quick=quick)
    audit = replace(audit, replicas=tuple(started))
    return replace(audit, elections=_elections(audit, comparison))


def _candidates(
    audit: PartitionAudit,
    comparison: Comparison,
    streams: Mapping[Replica, BatchStream],
    topics: ClusterTopics | None,
    *,
    quick: bool,
) -> Iterator[ReplicaAudit]:
    """The same replicas with their next start, and as candidates of elections."""
    replicas, membership = audit.replicas, audit.membership
    starts = (
        [_taken_for_loaded(each.files, each.history) for each in replicas]
        if quick
        else predict_starts(
            [each.directory for each in replicas],
            topics,
            known=[each.read_segments for each in replicas],
            started_at=audit.started_at,
        )
    )
    histories = {each.files: each.history for each in replicas}
    has_transactions = any(stream.has_transactions for stream in streams.values())
    outvoted = comparison.outvoted(
        [each.files for each in replicas if is_member(membership, each.broker_id)]
    )
    for replica, start in zip(replicas, starts, strict=True):
        outvoted_from = outvoted.get(replica.files)
        candidate = replace(
            _candidate(replica, start),
            bounds=replica.bounds.below(outvoted_from),
            outvoted_from=outvoted_from,
            damaged=replica.damaged.count
            + spoilt(streams[replica.files])
            + comparison.wrong_headers(replica.files),
            cut_transactions=(
                _cut_transactions(replica.files, start, histories, comparison)
                if has_transactions
                else ()
            ),
            is_start_lost=bool(audit.kept_because) and first_base(replica.files) is not None,
            is_assigned=not _is_foreign(membership, replica, start),
            is_member=is_member(membership, replica.broker_id),
        )
        yield replace(replica, start=start, candidate=candidate)


def _is_foreign(
    membership: PartitionMembership | None,
    replica: ReplicaAudit,
    start: Recovery | LocatedError,
) -> bool:
    """Whether the start sets the copy aside because other brokers have the partition."""
    return (
        membership is not None
        and replica.broker_id not in membership.replicas
        and isinstance(start, Recovery)
        and start.outcome is StartOutcome.STRAY
    )


def _elections(audit: PartitionAudit, comparison: Comparison) -> tuple[Election, ...]:
    """Every election, best first; none if a start cannot be predicted."""
    if any(isinstance(each.start, LocatedError) for each in audit.replicas):
        return ()
    of_metadata = -1 if audit.membership is None else audit.membership.leader_epoch
    known_epoch = max(audit.greatest_leader_epoch, of_metadata)
    return elections(audit.candidates, comparison, audit.rules, known_epoch=known_epoch)


def _cut_transactions(
    leader: Replica,
    start: Recovery | LocatedError,
    histories: Mapping[Replica, History],
    comparison: Comparison,
) -> tuple[int, ...]:
    if isinstance(start, LocatedError) or start.loaded is None:
        return ()
    from kafkalog_reader.audits.election.cut_transactions import cut_transactions  # seldom needed

    return cut_transactions(leader, start.loaded.log.log_end_offset, histories, comparison)


def _taken_for_loaded(replica: Replica, history: History) -> Recovery:
    """What a harmless start leaves; no file is read."""
    cache = replica.cache.truncate_from_end(history.log_end_offset)
    log = EpochLog(
        cache=cache,
        log_start_offset=history.log_start_offset,
        log_end_offset=history.log_end_offset,
        high_watermark=min(replica.checkpointed_high_watermark or 0, history.log_end_offset),
    )
    return Recovery(
        directory=replica.directory,
        outcome=StartOutcome.LOADS,
        sound_end_offset=history.log_end_offset,
        loaded=LoadedReplica(directory=replica.directory, log=log),
    )


def _candidate(replica: ReplicaAudit, start: Recovery | LocatedError) -> Candidate:
    directory, history = replica.directory, replica.history
    recovery = None if isinstance(start, LocatedError) else start
    loaded = None if recovery is None or recovery.loaded is None else recovery.loaded.log
    damage = _damage_left(replica, loaded)
    return Candidate(
        replica=replica.files,
        bounds=replica.bounds,
        log=loaded,
        log_start_offset=history.log_start_offset,
        log_end_offset=history.log_end_offset,
        records_cut_at_start=0 if recovery is None else recovery.records_cut,
        last_leader_epoch=-1 if history.last_leader_epoch is None else history.last_leader_epoch,
        unreplaceable=(
            replica.damaged.alone
            if loaded is None
            else replica.damaged.alone_below(loaded.log_end_offset)
        ),
        unreadable_from=damage[0] if damage else None,
        damaged_until=damage[1] if damage else 0,
        hidden=hidden_offsets(replica.summary.stops),
        records=lambda first, following: count_records(
            directory, first, following, replica.summary.stops
        ),
        batch_start=lambda target: first_batch_cut(directory, target),
    )


def _damage_left(replica: ReplicaAudit, log: EpochLog | None) -> tuple[int, int] | None:
    """The offsets from the first to one past the last damage of the log that a start leaves."""
    if log is None:
        return None
    start, end = log.log_start_offset, log.log_end_offset
    rows = replica.damaged.rows()
    served = (rows.first_offset < end) & (rows.next_offset > start)
    spans = [
        (stop.where.offset, end if stop.next_offset is None else stop.next_offset)
        for stop in replica.summary.stops
        if is_damage(stop) and stop.where.offset is not None
    ]
    spans = [(first, following) for first, following in spans if first < end and following > start]
    if served.any():
        until = end if replica.damaged.left_out else int(rows.next_offset[served].max())
        spans.append((int(rows.first_offset[served].min()), until))
    if not spans:
        return None
    return min(first for first, _ in spans), min(end, max(following for _, following in spans))
