"""Audits one topic partition: reads all its replicas once, compares them, simulates elections."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.comparison.committed import History, commit_bounds
from kafkalog_reader.audits.comparison.compared_replicas import Comparison, NotCompared
from kafkalog_reader.audits.comparison.comparison import compare
from kafkalog_reader.audits.comparison.copied_earlier import copied_earlier, moment_of
from kafkalog_reader.audits.comparison.difference import KeyCheck
from kafkalog_reader.audits.comparison.key_check import check_keys
from kafkalog_reader.audits.comparison.log_summary import log_summary
from kafkalog_reader.audits.comparison.missing_committed import missing_committed
from kafkalog_reader.audits.comparison.replica_history import history_of
from kafkalog_reader.audits.comparison.undecided import (
    reaches_further,
    reason_of_all,
    unusable_copies,
)
from kafkalog_reader.audits.comparison.verdict import Verdict, verdict_of
from kafkalog_reader.audits.election.membership import in_sync, named_leader
from kafkalog_reader.audits.election.truncation_rule import TruncationRule, possible_rules
from kafkalog_reader.audits.integrity.file_checks import FileChecks
from kafkalog_reader.audits.integrity.log_watch import WatchedStream
from kafkalog_reader.audits.integrity.replica_checks import check_replica
from kafkalog_reader.audits.log.batch_stream import BatchStream
from kafkalog_reader.audits.log.replica_inspection import inspect_replica
from kafkalog_reader.audits.log.tail_stream import TailStream, first_compared
from kafkalog_reader.audits.partition.flipped_offsets import flipped_offsets
from kafkalog_reader.audits.partition.misnamed_logs import misnamed_logs
from kafkalog_reader.audits.partition.partition_audit import PartitionAudit
from kafkalog_reader.audits.partition.predicted_elections import with_elections
from kafkalog_reader.audits.partition.replica_audit import ReplicaAudit
from kafkalog_reader.audits.partition.several_topics import (
    outdated_copies,
    why_not_compared,
    with_outdated_copies,
)
from kafkalog_reader.audits.partition.swapped_ends import swapped_by_ends
from kafkalog_reader.audits.partition.swapped_folders import swapped_folders
from kafkalog_reader.audits.partition.swapped_topics import swapped_topics
from kafkalog_reader.io.compaction import may_be_compacted
from kafkalog_reader.io.one_look import one_look
from kafkalog_reader.io.progress import Progress, no_progress

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kafkalog_reader.audits.comparison.copied_earlier import Moments
    from kafkalog_reader.audits.comparison.damaged_batches import DamagedBatches
    from kafkalog_reader.audits.election.membership import PartitionMembership
    from kafkalog_reader.audits.log.replica import Replica
    from kafkalog_reader.audits.partition.flipped_offsets import FlippedOffsets
    from kafkalog_reader.audits.partition.misnamed import Misnamed
    from kafkalog_reader.audits.partition.misnamed_logs import MisnamedLogs
    from kafkalog_reader.audits.recovery.rule import ClusterTopics
    from kafkalog_reader.io.directories import PartitionDirectory

_MIN_COMPARED: Final = 2
_OF_VOTES: Final = frozenset({Verdict.FORKED, Verdict.PENDING_TRUNCATION})
"""What the quorum resolves in its own log, unless the leader epochs are equal there."""
_WINDOW: Final[int] = 8 << 20
_ALL_WINDOWS: Final[int] = 64 << 20
_MIN_WINDOW: Final[int] = 256 << 10


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
    misnamed: tuple[Misnamed, ...] = (),
    moments: Moments | None = None,
) -> PartitionAudit:
    """Audit the live replicas of one partition; every byte of their logs is read once.

    A file that cannot be read is a finding, not an error. A copy whose content is unknown is set
    aside if two others remain and it shows no sign of records that they lack: they are read again
    without it. So are those of a topic that exists without the copies of a deleted topic of its
    name. Otherwise the verdict is ``undecidable``.

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
        misnamed: folders with a wrong name that concern it. Those whose names were exchanged are
            recognised here.
        moments: of which the copies of each node are, by the metadata logs.
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
        moments=moments or {},
    )
    with one_look(directories) as looked_at:
        audit = _audited(auditor, looked_at)
        found = misnamed or misnamed_logs(audit.everyone)
        found = found or swapped_folders(audit) or swapped_topics(audit) or swapped_by_ends(audit)
        is_open = bool(audit.reason) and not audit.is_metadata  # of that, kafkalog quorum says it
        return _not_compared(audit, found or (flipped_offsets(audit.everyone) if is_open else ()))


def _not_compared(
    audit: PartitionAudit, misnamed: tuple[Misnamed | MisnamedLogs | FlippedOffsets, ...]
) -> PartitionAudit:
    """The audit, without what would follow from wrong names of folders or files, or wrong bits."""
    if not misnamed:
        return audit
    reason = "; ".join(each.why_not_compared for each in misnamed)
    return replace(
        audit,
        replicas=audit.everyone,
        set_aside=(),
        comparison=NotCompared(reason),
        elections=(),
        verdict=Verdict.UNDECIDABLE,
        compared_verdict=None,
        reason=reason,
        missing=None,
        unknown_copies=(),
        misnamed=misnamed,
    )


def _audited(auditor: _Auditor, directories: Sequence[PartitionDirectory]) -> PartitionAudit:
    """Audit all copies, and again without those that the others are not to be compared with."""
    together = auditor.audit(directories)
    if outdated := outdated_copies(together.replicas, auditor.topics):
        of_deleted = {each.directory for each in outdated}
        alone = replace(auditor, membership=None)
        return replace(
            _audited(auditor, [each for each in directories if each not in of_deleted]),
            outdated=tuple(alone.audit([each.directory]) for each in outdated),
        )
    unusable = unusable_copies({each.files: each.summary for each in together.replicas})
    if not unusable or together.reason not in unusable.values():
        return with_outdated_copies(together, auditor.topics)
    others = [each.directory for each in together.replicas if each.files not in unusable]
    further = reaches_further({each.files: each.history for each in together.replicas}, unusable)
    if len(others) < _MIN_COMPARED or further:
        reason = "; ".join([together.reason, *([further] if further else [])])
        unknown = tuple(each.directory for each in unusable) if others else ()
        return replace(together, reason=reason, unknown_copies=unknown)
    rest = auditor.audit(others)
    if rest.reason:
        return together
    return replace(
        rest,
        verdict=max(rest.verdict, Verdict.DAMAGED_RECOVERABLE, key=lambda each: each.badness),
        compared_verdict=rest.relation,
        set_aside=tuple(auditor.audit([replica.directory]) for replica in unusable),
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
    moments: Moments

    def audit(self, directories: Sequence[PartitionDirectory]) -> PartitionAudit:
        """Audit replicas, of which none is set aside."""
        cluster_id, topic, partition = directories[0].identity
        files = tuple(map(inspect_replica, directories))
        compared_from = first_compared(files) if self.quick else None
        streams = dict(zip(files, self._streams(files, compared_from), strict=True))
        comparison, damaged = _compared(streams, self.topics)
        histories = {replica: history_of(replica, stream) for replica, stream in streams.items()}
        keys = KeyCheck()
        if isinstance(comparison, Comparison):
            histories = {
                replica: history.without_misread(comparison.misread_epochs.get(replica, {}))
                for replica, history in histories.items()
            }
        if isinstance(comparison, Comparison) and not self.quick:
            keys = check_keys(histories, comparison)
            comparison = comparison.with_differences(keys.missing)
        replicas = tuple(self._replicas(streams, comparison, damaged, histories))
        rules = possible_rules(files, tuple(histories.values()))
        audit = PartitionAudit(
            cluster_id=cluster_id,
            topic=topic,
            partition=partition,
            replicas=replicas,
            comparison=comparison,
            elections=(),
            rules=rules if self.rule is None else (self.rule,),
            membership=self.membership,
            compared_from=compared_from,
            keys=keys,
            verdict=Verdict.UNDECIDABLE,
            reason=_reason(replicas, comparison),
            started_at=self.started_at,
            topics=self.topics,
            may_be_compacted=self._may_be_compacted(directories),
            kept_because="" if self.topics is None else self.topics.kept_because(topic),
        )
        if isinstance(comparison, NotCompared) or audit.reason:
            return audit
        return self._judged(audit, comparison, streams)

    def _may_be_compacted(self, directories: Sequence[PartitionDirectory]) -> bool | None:
        if any(map(may_be_compacted, directories)):
            return True
        return None if self.topics is None else self.topics.is_compacted(directories[0].topic)

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
        streams: Mapping[Replica, BatchStream],
        comparison: Comparison | NotCompared,
        damaged: Mapping[Replica, DamagedBatches],
        histories: Mapping[Replica, History],
    ) -> Iterator[ReplicaAudit]:
        """What reading the replicas showed, without their starts."""
        bounds = {
            replica: bound
            for replica, history in histories.items()
            for bound in commit_bounds({replica: history}).values()
        }
        if isinstance(comparison, Comparison):
            named = named_leader(histories, self.membership)
            unclean = None if self.membership is None else self.membership.unclean_epoch
            bounds = commit_bounds(histories, in_sync(histories, self.membership), named, unclean)
        earlier = copied_earlier(histories, self.moments)
        for replica, stream in streams.items():
            yield ReplicaAudit(
                files=replica,
                summary=log_summary(stream),
                history=histories[replica],
                bounds=bounds[replica],
                damaged=damaged[replica],
                retries=stream.retries.found(stream.context),
                read_segments=stream.read_segments,
                may_have_open_transaction=stream.may_have_open_transaction,
                last_batch_timestamp=stream.last_batch_timestamp,
                checked=(
                    check_replica(replica, stream, was_copied_earlier=replica in earlier)
                    if isinstance(stream, WatchedStream)
                    else None
                ),
                moment=moment_of(replica, self.moments),
                was_copied_earlier=replica in earlier,
            )

    def _judged(
        self,
        audit: PartitionAudit,
        comparison: Comparison,
        streams: Mapping[Replica, BatchStream],
    ) -> PartitionAudit:
        """The audit of replicas that can be compared, with verdict and elections."""
        histories = {each.files: each.history for each in audit.replicas}
        summaries = {each.files: each.summary for each in audit.replicas}
        verdict = verdict_of(
            histories.values(),
            [each.bounds for each in audit.replicas],
            comparison,
            {replica: summary.stops for replica, summary in summaries.items()},
        )
        if not audit.is_metadata:
            audit = with_elections(audit, comparison, streams, self.topics, quick=self.quick)
        elif verdict in _OF_VOTES and not comparison.has_conflict:  # KRaft truncates by votes
            reason = "the copies part, and the controllers' quorum decides which records stay"
            return replace(audit, reason=reason)
        missing = missing_committed(histories, summaries)
        if missing is None:
            return replace(audit, verdict=verdict)
        return replace(
            audit, verdict=Verdict.COMMITTED_MISSING, compared_verdict=verdict, missing=missing
        )


def _compared(
    streams: Mapping[Replica, BatchStream], topics: ClusterTopics | None
) -> tuple[Comparison | NotCompared, Mapping[Replica, DamagedBatches]]:
    """Read all streams to their ends; also return the damaged batches of each replica.

    Replicas with different topic ids are read one by one.
    """
    if len({replica.topic_id for replica in streams} - {None}) <= 1:
        comparison = compare(tuple(streams), tuple(streams.values()))
        return comparison, comparison.damaged
    return NotCompared(why_not_compared(tuple(streams), topics)), {
        replica: compare([replica], [stream]).damaged[replica]
        for replica, stream in streams.items()
    }


def _reason(replicas: Sequence[ReplicaAudit], comparison: Comparison | NotCompared) -> str:
    """Why the verdict is undecidable; empty if it is not."""
    unusable = unusable_copies({each.files: each.summary for each in replicas})
    reason = reason_of_all([each.files for each in replicas], comparison)
    return reason or next(iter(unusable.values()), "")
