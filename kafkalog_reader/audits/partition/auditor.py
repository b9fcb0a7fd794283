"""Audits one topic partition: reads all its replicas once, compares them, simulates elections."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.comparison.committed import CommitBounds, History, commit_bounds
from kafkalog_reader.audits.comparison.comparison import compare
from kafkalog_reader.audits.comparison.difference import Comparison, KeyCheck, NotCompared
from kafkalog_reader.audits.comparison.key_check import check_keys
from kafkalog_reader.audits.comparison.missing_committed import missing_committed
from kafkalog_reader.audits.comparison.replica_history import history_of
from kafkalog_reader.audits.comparison.scan import scan_of, spoilt
from kafkalog_reader.audits.comparison.undecided import (
    reaches_further,
    reason_of_all,
    unusable_copies,
)
from kafkalog_reader.audits.comparison.verdict import Verdict, verdict_of
from kafkalog_reader.audits.election.candidate import Candidate
from kafkalog_reader.audits.election.candidates import Election, elections
from kafkalog_reader.audits.election.membership import in_sync, is_member, named_leader
from kafkalog_reader.audits.election.truncation_rule import TruncationRule, possible_rules
from kafkalog_reader.audits.integrity.file_checks import FileChecks
from kafkalog_reader.audits.integrity.log_watch import WatchedStream
from kafkalog_reader.audits.integrity.replica_checks import check_replica
from kafkalog_reader.audits.log.batch_stream import BatchStream
from kafkalog_reader.audits.log.epoch_log import EpochLog
from kafkalog_reader.audits.log.lineage import declared_lineage
from kafkalog_reader.audits.log.record_count import count_records, first_batch_cut
from kafkalog_reader.audits.log.replica_inspection import inspect_replica
from kafkalog_reader.audits.log.tail_stream import TailStream, first_compared
from kafkalog_reader.audits.partition.partition_audit import PartitionAudit
from kafkalog_reader.audits.partition.replica_audit import ReplicaAudit
from kafkalog_reader.audits.recovery.outcome import Outcome
from kafkalog_reader.audits.recovery.recovery import LoadedReplica, Recovery
from kafkalog_reader.audits.recovery.start_prediction import predict_starts
from kafkalog_reader.errors import LocatedError
from kafkalog_reader.io.names import METADATA_TOPIC
from kafkalog_reader.io.one_look import one_look
from kafkalog_reader.io.progress import Progress, no_progress

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kafkalog_reader.audits.comparison.damaged_batches import DamagedBatches
    from kafkalog_reader.audits.election.membership import PartitionMembership
    from kafkalog_reader.audits.log.replica import Replica
    from kafkalog_reader.audits.recovery.rule import ClusterTopics
    from kafkalog_reader.io.evidence import PartitionDirectory

_MIN_COMPARED: Final = 2
_ANY_END: Final[int] = (1 << 63) - 1
_WINDOW: Final[int] = 8 << 20
_ALL_WINDOWS: Final[int] = 64 << 20
_MIN_WINDOW: Final[int] = 256 << 10


@one_look()
def audit_partition(
    directories: Sequence[PartitionDirectory],
    progress: Progress = no_progress,
    *,
    check_files: bool = False,
    checks: FileChecks = FileChecks(),  # noqa: B008  frozen
    topics: ClusterTopics | None = None,
    membership: PartitionMembership | None = None,
    rule: TruncationRule | None = None,
    quick: bool = False,
    started_at: int | None = None,
) -> PartitionAudit:
    """Audit the live replicas of one partition; every byte of their logs is read once.

    A file that cannot be read is a finding, not an error. A copy whose content is unknown is set
    aside if two others remain and it shows no sign of records that they lack: they are read again
    without it. Otherwise the verdict is ``undecidable``.

    Args:
        directories: one for each replica.
        progress: receives the number of bytes read.
        check_files: check the headers, indexes and checkpoints of each replica against each other,
            too.
        checks: which of these files to check.
        topics: those of the cluster, if its metadata log was supplied.
        membership: of this partition, according to that log.
        rule: how followers truncate; None: by the files, or all rules that may apply.
        quick: compare only epochs, ends and tails, and assume harmless starts.
        started_at: when brokers start, in milliseconds; None: right after their newest records.
    """
    auditor = _Auditor(
        progress=progress,
        check_files=check_files,
        checks=checks,
        topics=topics,
        membership=membership,
        rule=rule,
        quick=quick,
        started_at=started_at,
    )
    together = auditor.audit(directories)
    unusable = unusable_copies(
        [each.files for each in together.replicas], [each.scan for each in together.replicas]
    )
    if not unusable or together.reason not in unusable.values():
        return together
    others = [each for index, each in enumerate(directories) if index not in unusable]
    further = reaches_further(
        [each.files for each in together.replicas],
        [each.history for each in together.replicas],
        unusable,
    )
    if len(others) < _MIN_COMPARED or further:
        reason = "; ".join([together.reason, *([further] if further else [])])
        return replace(together, reason=reason)
    rest = auditor.audit(others)
    if rest.reason:
        return together
    return replace(
        rest,
        verdict=max(rest.verdict, Verdict.DAMAGED_RECOVERABLE, key=lambda each: each.badness),
        compared_verdict=rest.relation,
        set_aside=tuple(auditor.audit([directories[index]]) for index in unusable),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Auditor:
    """Audits directories as the replicas of one partition; see ``audit_partition``."""

    progress: Progress
    check_files: bool
    checks: FileChecks
    topics: ClusterTopics | None
    membership: PartitionMembership | None
    rule: TruncationRule | None
    quick: bool
    started_at: int | None

    def audit(self, directories: Sequence[PartitionDirectory]) -> PartitionAudit:
        """Audit replicas, of which none is set aside."""
        cluster_id, topic, partition = directories[0].identity
        files = tuple(map(inspect_replica, directories))
        compared_from = first_compared(files) if self.quick else None
        streams = self._streams(files, compared_from)
        comparison, damaged = _compared(files, streams)
        histories = tuple(map(history_of, files, streams))
        keys = KeyCheck()
        if isinstance(comparison, Comparison) and not self.quick:
            keys = check_keys(directories, histories, comparison)
            comparison = comparison.with_differences(keys.missing)
        replicas = tuple(self._replicas(files, streams, comparison, damaged, histories))
        reason = _reason(replicas, comparison)
        verdict = Verdict.UNDECIDABLE
        rules = possible_rules(files, histories) if self.rule is None else (self.rule,)
        held: tuple[Election, ...] = ()
        if isinstance(comparison, Comparison) and not reason:
            verdict = verdict_of(
                histories,
                [each.bounds for each in replicas],
                comparison,
                [each.scan.stops for each in replicas],
            )
            if topic != METADATA_TOPIC:
                replicas = tuple(self._candidates(replicas, streams, comparison))
                held = self._elections(replicas, comparison, rules)
            elif verdict in (Verdict.FORKED, Verdict.PENDING_TRUNCATION):
                verdict = Verdict.UNDECIDABLE  # KRaft truncates by votes
                reason = "the copies part, and the controllers' quorum decides which records stay"
        missing = (
            None
            if reason
            else missing_committed(files, histories, [each.scan for each in replicas])
        )
        return PartitionAudit(
            cluster_id=cluster_id,
            topic=topic,
            partition=partition,
            replicas=replicas,
            comparison=comparison,
            elections=held,
            rules=rules,
            membership=self.membership,
            compared_from=compared_from,
            keys=keys,
            verdict=verdict if missing is None else Verdict.COMMITTED_MISSING,
            compared_verdict=None if missing is None else verdict,
            missing=missing,
            reason=reason,
            started_at=self.started_at,
        )

    def _streams(
        self, files: Sequence[Replica], compared_from: int | None
    ) -> Sequence[BatchStream]:
        """The batches of each replica, opened; none is read yet."""
        size = max(_MIN_WINDOW, min(_WINDOW, _ALL_WINDOWS // len(files)))
        if self.check_files:
            return [
                WatchedStream(
                    replica,
                    self.checks,
                    window_size=size,
                    columns_only=len(files) == 1,
                    progress=self.progress,
                )
                for replica in files
            ]
        return [
            (BatchStream if compared_from is None else TailStream)(
                replica.directory,
                max(replica.log_start_offset, compared_from or 0),
                window_size=size,
                progress=self.progress,
            )
            for replica in files
        ]

    def _replicas(
        self,
        files: Sequence[Replica],
        streams: Sequence[BatchStream],
        comparison: Comparison | NotCompared,
        damaged: Sequence[DamagedBatches],
        histories: Sequence[History],
    ) -> Iterator[ReplicaAudit]:
        """What reading the replicas showed, without their starts."""
        bounds: Sequence[CommitBounds]
        if isinstance(comparison, Comparison):
            named = named_leader(files, histories, self.membership)
            bounds = commit_bounds(histories, in_sync(files, self.membership), named)
        else:
            bounds = [commit_bounds([history])[0] for history in histories]
        for replica, stream, batches, history, bound in zip(
            files, streams, damaged, histories, bounds, strict=True
        ):
            yield ReplicaAudit(
                files=replica,
                scan=scan_of(stream),
                history=history,
                bounds=bound,
                damaged=batches,
                retries=stream.retries,
                read_segments=stream.read_segments,
                checked=(
                    check_replica(replica, stream) if isinstance(stream, WatchedStream) else None
                ),
            )

    def _candidates(
        self,
        replicas: Sequence[ReplicaAudit],
        streams: Sequence[BatchStream],
        comparison: Comparison,
    ) -> Iterator[ReplicaAudit]:
        """The same replicas with their next start, and as logs of an election."""
        starts = (
            [_taken_for_loaded(each.files, each.history) for each in replicas]
            if self.quick
            else predict_starts(
                [each.directory for each in replicas],
                self.topics,
                known=[each.read_segments for each in replicas],
                started_at=self.started_at,
            )
        )
        has_transactions = any(stream.has_transactions for stream in streams)
        for index, (replica, start, stream) in enumerate(
            zip(replicas, starts, streams, strict=True)
        ):
            candidate = replace(
                _candidate(replica, start),
                damaged=replica.damaged.count + spoilt(stream),
                cut_transactions=(
                    _cut_transactions(index, start, replicas, comparison)
                    if has_transactions
                    else ()
                ),
                is_member=is_member(self.membership, replica.broker_id),
            )
            yield replace(replica, start=start, candidate=candidate)

    def _elections(
        self,
        replicas: Sequence[ReplicaAudit],
        comparison: Comparison,
        rules: Sequence[TruncationRule],
    ) -> tuple[Election, ...]:
        """Every election; none if a start cannot be predicted."""
        if any(isinstance(each.start, LocatedError) for each in replicas):
            return ()
        epochs = [epoch for each in replicas for epoch in each.history.leader_epochs]
        if self.membership is not None:
            epochs.append(self.membership.leader_epoch)
        candidates = [each.candidate for each in replicas if each.candidate is not None]
        bounds = [each.bounds for each in replicas]
        return elections(candidates, bounds, comparison, rules, max(epochs, default=-1))


def _compared(
    files: Sequence[Replica], streams: Sequence[BatchStream]
) -> tuple[Comparison | NotCompared, Sequence[DamagedBatches]]:
    """Read all streams to their ends; also return the damaged batches of each replica.

    Replicas with different topic ids are read one by one.
    """
    if len({replica.topic_id for replica in files} - {None}) <= 1:
        comparison = _read(files, streams)
        return comparison, comparison.damaged
    alone = [_read([replica], [stream]) for replica, stream in zip(files, streams, strict=True)]
    reason = "the replicas have different topic ids: they are different topics of the same name"
    return NotCompared(reason), [each.damaged[0] for each in alone]


def _read(files: Sequence[Replica], streams: Sequence[BatchStream]) -> Comparison:
    return compare(
        streams,
        [declared_lineage(replica.cache, replica.log_start_offset, _ANY_END) for replica in files],
        [replica.cleaner_offset or 0 for replica in files],
        [replica.log_start_offset for replica in files],
    )


def _reason(replicas: Sequence[ReplicaAudit], comparison: Comparison | NotCompared) -> str:
    """Why the verdict is undecidable; empty if it is not."""
    files = [each.files for each in replicas]
    unusable = unusable_copies(files, [each.scan for each in replicas])
    return reason_of_all(files, comparison) or next(iter(unusable.values()), "")


def _cut_transactions(
    index: int,
    start: Recovery | LocatedError,
    replicas: Sequence[ReplicaAudit],
    comparison: Comparison,
) -> tuple[int, ...]:
    if isinstance(start, LocatedError) or start.loaded is None:
        return ()
    from kafkalog_reader.audits.election.cut_transactions import cut_transactions  # seldom needed

    return cut_transactions(
        index,
        start.loaded.log.log_end_offset,
        [each.files for each in replicas],
        [each.history for each in replicas],
        comparison,
    )


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
        outcome=Outcome.LOADS,
        log_end_offset=history.log_end_offset,
        loaded=LoadedReplica(directory=replica.directory, log=log),
    )


def _candidate(replica: ReplicaAudit, start: Recovery | LocatedError) -> Candidate:
    directory, history = replica.directory, replica.history
    recovery = None if isinstance(start, LocatedError) else start
    return Candidate(
        log=None if recovery is None or recovery.loaded is None else recovery.loaded.log,
        log_start_offset=history.log_start_offset,
        log_end_offset=history.log_end_offset,
        records_cut_at_start=0 if recovery is None else recovery.records_cut,
        last_leader_epoch=-1 if history.last_leader_epoch is None else history.last_leader_epoch,
        broker_id=replica.broker_id,
        unreplaceable=replica.damaged.alone,
        records=lambda first, following: count_records(directory, first, following),
        batch_start=lambda target: first_batch_cut(directory, target),
    )
