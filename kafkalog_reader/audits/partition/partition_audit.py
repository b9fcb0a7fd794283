"""Audits one topic partition: reads its replicas once, compares them, simulates every election.

The result is plain values, which tables, terminal and JSON all show.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.comparison.committed import (
    CommitBounds,
    History,
    commit_bounds,
    newest_replica,
)
from kafkalog_reader.audits.comparison.comparison import compare
from kafkalog_reader.audits.comparison.difference import KeyCheck
from kafkalog_reader.audits.comparison.key_check import check_keys
from kafkalog_reader.audits.comparison.missing_committed import missing_committed
from kafkalog_reader.audits.comparison.replica_history import history_of
from kafkalog_reader.audits.comparison.scan import Scan, scan_of, spoilt
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
from kafkalog_reader.audits.integrity.replica_checks import Checked, check_replica
from kafkalog_reader.audits.log.batch_stream import BatchStream
from kafkalog_reader.audits.log.epoch_log import EpochLog
from kafkalog_reader.audits.log.lineage import declared_lineage
from kafkalog_reader.audits.log.record_count import count_records, first_batch_cut
from kafkalog_reader.audits.log.replica_inspection import inspect_replica
from kafkalog_reader.audits.log.tail_stream import TailStream, first_compared
from kafkalog_reader.audits.recovery.outcome import Outcome
from kafkalog_reader.audits.recovery.recovery import LoadedReplica, Recovery
from kafkalog_reader.audits.recovery.start_prediction import predict_starts
from kafkalog_reader.errors import LocatedError
from kafkalog_reader.io.names import METADATA_TOPIC
from kafkalog_reader.io.one_look import one_look
from kafkalog_reader.io.progress import Progress, no_progress

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kafkalog_reader.audits.comparison.difference import Comparison
    from kafkalog_reader.audits.comparison.missing_committed import MissingCommitted
    from kafkalog_reader.audits.election.membership import PartitionMembership
    from kafkalog_reader.audits.log.read_segment import ReadSegment
    from kafkalog_reader.audits.log.replica import Replica
    from kafkalog_reader.audits.log.retry_duplicates import RetryWatch
    from kafkalog_reader.audits.recovery.rule import ClusterTopics
    from kafkalog_reader.io.evidence import PartitionDirectory

_MIN_COMPARED: Final = 2
_ANY_END: Final[int] = (1 << 63) - 1
_WINDOW: Final[int] = 8 << 20
_ALL_WINDOWS: Final[int] = 64 << 20
_MIN_WINDOW: Final[int] = 256 << 10


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionAudit:
    """The audit of one partition. Sequences have one item for each replica, in the same order.

    Attributes:
        comparison: None if topic ids differ, so that nothing was compared.
        elections: best candidate first; empty if the verdict is undecidable, and for the metadata
            log.
        reason: why the verdict is undecidable; empty otherwise.
        checked: findings of the other files and the batch headers of each replica; empty if these
            were not checked.
        recoveries: what the next start does to each replica, or why that is unknown; empty if the
            verdict is undecidable, and for the metadata log.
        rules: those by which followers may truncate; ``elections`` use the first.
        membership: by the cluster metadata; None if none was supplied.
        compared_from: the first offset that was read; starts are then not predicted. None: all were
            read.
        retries: for each replica, the batches that are stored more than once.
        read_segments: for each replica, the results of reading whole segments, by path.
        keys: the result of comparing the keys of a compacted partition.
        set_aside: audits of single replicas whose content is unknown, each with its reason;
            everything else here is about the others.
        compared_verdict: how the compared copies relate, where ``verdict`` is worse: copies are set
            aside, or committed records are on none of them.
        missing: committed records that no copy holds.
        started_at: when brokers start, in milliseconds; None: right after their newest records.
    """

    cluster_id: str | None
    topic: str | None
    partition: int | None
    replicas: tuple[Replica, ...]
    scans: tuple[Scan, ...]
    histories: tuple[History, ...]
    bounds: tuple[CommitBounds, ...]
    comparisons: tuple[Comparison, ...]
    candidates: tuple[Candidate, ...]
    elections: tuple[Election, ...]
    verdict: Verdict
    reason: str = ""
    checked: tuple[Checked, ...] = ()
    recoveries: tuple[Recovery | LocatedError, ...] = ()
    rules: tuple[TruncationRule, ...] = (TruncationRule.CURRENT,)
    membership: PartitionMembership | None = None
    compared_from: int | None = None
    retries: tuple[RetryWatch, ...] = ()
    read_segments: tuple[Mapping[str, ReadSegment], ...] = ()
    keys: KeyCheck = field(default_factory=KeyCheck)
    set_aside: tuple[PartitionAudit, ...] = ()
    compared_verdict: Verdict | None = None
    missing: MissingCommitted | None = None
    started_at: int | None = None

    @property
    def relation(self) -> Verdict:
        """How the copies that could be compared relate to each other."""
        return self.verdict if self.compared_verdict is None else self.compared_verdict

    @property
    def everyone(self) -> tuple[Replica, ...]:
        """Every replica supplied; those set aside come last."""
        return (*self.replicas, *(alone.replicas[0] for alone in self.set_aside))

    @property
    def newest(self) -> int | None:
        """The index of the replica that leads by the greatest known leader epoch."""
        named = named_leader(self.replicas, self.histories, self.membership)
        return newest_replica(self.histories, named)

    @property
    def is_metadata(self) -> bool:
        """Whether it is the metadata log, whose files are audited, but not its elections."""
        return self.topic == METADATA_TOPIC

    @property
    def comparison(self) -> Comparison | None:
        return self.comparisons[0] if len(self.comparisons) == 1 else None

    @property
    def fork_offset(self) -> int | None:
        """The lowest offset at which replicas hold different content."""
        if self.comparison is None or self.verdict is Verdict.UNDECIDABLE:
            return None
        everyone = range(len(self.replicas))
        offsets = [self.comparison.content_fork(i, j) for i in everyone for j in everyone if i < j]
        return min((offset for offset in offsets if offset is not None), default=None)

    def names(self, members: Sequence[int]) -> str:
        """The replicas as text: ``broker 1``, ``brokers 1, 2 and 3``."""
        everyone = self.everyone
        return joined_names([everyone[member].name for member in members])


def joined_names(names: Sequence[str]) -> str:
    """Replica names joined for a sentence."""
    numbers = [name.removeprefix("broker ") for name in names]
    if len(names) > 1 and all(number.isdigit() for number in numbers):
        return f"brokers {', '.join(numbers[:-1])} and {numbers[-1]}"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


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
    audited = partial(
        _audited,
        progress=progress,
        check_files=check_files,
        checks=checks,
        topics=topics,
        membership=membership,
        rule=rule,
        quick=quick,
        started_at=started_at,
    )
    together = audited(directories)
    unusable = unusable_copies(together.replicas, together.scans)
    if not unusable or together.reason not in unusable.values():
        return together
    others = [each for index, each in enumerate(directories) if index not in unusable]
    further = reaches_further(together.replicas, together.histories, unusable)
    if len(others) < _MIN_COMPARED or further:
        reason = "; ".join([together.reason, *([further] if further else [])])
        return replace(together, reason=reason)
    rest = audited(others)
    if rest.reason:
        return together
    return replace(
        rest,
        verdict=max(rest.verdict, Verdict.DAMAGED_RECOVERABLE, key=lambda each: each.badness),
        compared_verdict=rest.relation,
        set_aside=tuple(audited([directories[index]]) for index in unusable),
    )


def _audited(
    directories: Sequence[PartitionDirectory],
    *,
    progress: Progress,
    check_files: bool,
    checks: FileChecks,
    topics: ClusterTopics | None,
    membership: PartitionMembership | None,
    rule: TruncationRule | None,
    quick: bool,
    started_at: int | None,
) -> PartitionAudit:
    replicas = tuple(inspect_replica(directory) for directory in directories)
    size = max(_MIN_WINDOW, min(_WINDOW, _ALL_WINDOWS // len(replicas)))
    streams: list[BatchStream]
    watched = [
        WatchedStream(
            replica,
            checks,
            window_size=size,
            columns_only=len(replicas) == 1,
            progress=progress,
        )
        for replica in replicas
        if check_files
    ]
    compared_from = first_compared(replicas) if quick else None
    streams = [*watched] or [
        (BatchStream if compared_from is None else TailStream)(
            replica.directory,
            max(replica.log_start_offset, compared_from or 0),
            window_size=size,
            progress=progress,
        )
        for replica in replicas
    ]
    same_topic = len({replica.topic_id for replica in replicas} - {None}) <= 1
    groups = [range(len(replicas))] if same_topic else [[i] for i in range(len(replicas))]
    comparisons = tuple(_compare(replicas, streams, group) for group in groups)
    histories = tuple(map(history_of, replicas, streams))
    keys = KeyCheck()
    if same_topic and not quick:
        keys = check_keys(directories, histories, comparisons[0])
        comparisons = (comparisons[0].with_differences(keys.missing),)
    named = named_leader(replicas, histories, membership)
    members = in_sync(replicas, membership)
    bounds = commit_bounds(histories, members, named) if same_topic else ()
    scans = tuple(map(scan_of, streams))
    unusable = unusable_copies(replicas, scans)
    reason = reason_of_all(replicas, comparisons, same_topic=same_topic)
    reason = reason or next(iter(unusable.values()), "")
    read_segments = tuple(stream.read_segments for stream in streams)
    verdict = Verdict.UNDECIDABLE
    recoveries: tuple[Recovery | LocatedError, ...] = ()
    if not reason and directories[0].topic != METADATA_TOPIC:
        recoveries = (
            tuple(map(_taken_for_loaded, replicas, histories))
            if quick
            else predict_starts(directories, topics, known=read_segments, started_at=started_at)
        )
    rules = possible_rules(replicas, histories) if rule is None else (rule,)
    candidates: tuple[Candidate, ...] = ()
    held: tuple[Election, ...] = ()
    cluster_id, topic, partition = directories[0].identity
    if not reason:
        verdict = verdict_of(histories, bounds, comparisons[0], [scan.stops for scan in scans])
        if topic != METADATA_TOPIC:
            candidates = tuple(
                replace(
                    _candidate(replica, history, recovery, batches.alone),
                    damaged=comparisons[0].damaged[index].count + spoilt(streams[index]),
                    cut_transactions=(
                        _cut_transactions(index, recovery, replicas, histories, comparisons[0])
                        if any(stream.has_transactions for stream in streams)
                        else ()
                    ),
                    is_member=is_member(membership, replica.broker_id),
                )
                for index, (replica, history, recovery, batches) in enumerate(
                    zip(replicas, histories, recoveries, comparisons[0].damaged, strict=True)
                )
            )
            if not any(isinstance(recovery, LocatedError) for recovery in recoveries):
                greatest = max((max(h.leader_epochs, default=-1) for h in histories), default=-1)
                greatest = max(greatest, -1 if membership is None else membership.leader_epoch)
                held = elections(candidates, bounds, comparisons[0], rules, greatest)
        elif verdict in (Verdict.FORKED, Verdict.PENDING_TRUNCATION):  # KRaft truncates by votes
            verdict = Verdict.UNDECIDABLE
            reason = "the copies diverge, and the controllers' quorum decides which records stay"
    relation = None
    missing = None if reason else missing_committed(replicas, histories, scans)
    if missing is not None:
        verdict, relation = Verdict.COMMITTED_MISSING, verdict
    return PartitionAudit(
        cluster_id=cluster_id,
        topic=topic,
        partition=partition,
        replicas=replicas,
        scans=scans,
        histories=histories,
        bounds=tuple(bounds),
        comparisons=comparisons,
        candidates=candidates,
        elections=held,
        recoveries=recoveries,
        rules=rules,
        membership=membership,
        compared_from=compared_from,
        keys=keys,
        verdict=verdict,
        compared_verdict=relation,
        missing=missing,
        reason=reason,
        retries=tuple(stream.retries for stream in streams),
        read_segments=read_segments,
        started_at=started_at,
        checked=tuple(
            check_replica(replica, stream)
            for replica, stream in zip(replicas, watched, strict=False)
        ),
    )


def _cut_transactions(
    index: int,
    recovery: Recovery | LocatedError,
    replicas: Sequence[Replica],
    histories: Sequence[History],
    comparison: Comparison,
) -> tuple[int, ...]:
    if isinstance(recovery, LocatedError) or recovery.loaded is None:
        return ()
    from kafkalog_reader.audits.election.cut_transactions import cut_transactions  # seldom needed

    end = recovery.loaded.log.log_end_offset
    return cut_transactions(index, end, replicas, histories, comparison)


def _compare(
    replicas: Sequence[Replica], streams: Sequence[BatchStream], group: Sequence[int]
) -> Comparison:
    return compare(
        [streams[index] for index in group],
        [
            declared_lineage(replicas[index].cache, replicas[index].log_start_offset, _ANY_END)
            for index in group
        ],
        [replicas[index].cleaner_offset or 0 for index in group],
        [replicas[index].log_start_offset for index in group],
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


def _candidate(
    replica: Replica,
    history: History,
    recovery: Recovery | LocatedError,
    unreplaceable: int,
) -> Candidate:
    directory = replica.directory
    start = None if isinstance(recovery, LocatedError) else recovery
    return Candidate(
        log=None if start is None or start.loaded is None else start.loaded.log,
        log_start_offset=history.log_start_offset,
        log_end_offset=history.log_end_offset,
        records_cut_at_start=0 if start is None else start.records_cut,
        last_leader_epoch=-1 if history.last_leader_epoch is None else history.last_leader_epoch,
        broker_id=replica.broker_id,
        unreplaceable=unreplaceable,
        records=lambda first, following: count_records(directory, first, following),
        batch_start=lambda target: first_batch_cut(directory, target),
    )
