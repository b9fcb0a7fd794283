"""Predicts from the files of a broker what its next start does to its replicas.

The prediction follows the broker step by step (``recovery.load``), including its gaps: what the
broker does not check is not checked here. Tested against real 4.3.1 brokers that were started on
damaged copies, see ``fixtures/recovery``. Source: Kafka 4.3, LogManager#loadLogs, LogLoader.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

from kafkalog_reader.audits.log.epoch_log import EpochLog
from kafkalog_reader.audits.log.held_records import HeldRecords, sum_of
from kafkalog_reader.audits.log.leader_epoch_cache import LeaderEpochCache
from kafkalog_reader.audits.log.record_count import records_text
from kafkalog_reader.audits.log.torn_batch import readable_in_torn_batch
from kafkalog_reader.audits.recovery.files import (
    check_cleaner_offsets,
    read_epochs,
    read_high_watermarks,
    read_log_starts,
    read_recovery_points,
    read_topic_id_at_start,
)
from kafkalog_reader.audits.recovery.index_rebuild import index_rebuild
from kafkalog_reader.audits.recovery.load import LogLoad
from kafkalog_reader.audits.recovery.loss import LostBytes
from kafkalog_reader.audits.recovery.names import check_directories, check_files
from kafkalog_reader.audits.recovery.outcome import FailedStep, StartOutcome, attempted
from kafkalog_reader.audits.recovery.recovery import LoadedReplica, Recovery
from kafkalog_reader.audits.recovery.retention import (
    StartTime,
    count_expired,
    expires_later,
    retention_text,
    segments_text,
    start_time,
)
from kafkalog_reader.audits.recovery.segment import LoadingSegment
from kafkalog_reader.audits.recovery.sound_prefix import sound_prefix
from kafkalog_reader.audits.recovery.stray import why_stray
from kafkalog_reader.io.partition_directory import readable_segments

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kafkalog_reader.audits.log.read_segment import ReadSegment
    from kafkalog_reader.audits.recovery.rule import ClusterTopics, LogConfig, StartRule
    from kafkalog_reader.audits.recovery.stray import Stray
    from kafkalog_reader.io.directories import LogDirectory, PartitionDirectory
    from kafkalog_reader.io.progress import Progress

_T = TypeVar("_T")
Peers = Callable[["PartitionDirectory"], "Sequence[PartitionDirectory]"]
_SERVED: Final = (StartOutcome.LOADS, StartOutcome.CUT, StartOutcome.HIDDEN)


def _effect(recovery: Recovery) -> tuple[object, ...]:
    """The parts that are compared between two releases."""
    return recovery.outcome, recovery.log_end_offset_after_start, recovery.bytes_cut


def _with_other(recovery: Recovery, other: Recovery, next_to: StartRule, rule: StartRule) -> str:
    """The reason, and what a release with the other rule would do."""
    older, newer = sorted((next_to, rule), key=lambda each: each.order)
    which = f"before {newer.release}" if rule is older else f"from {newer.release} on"
    end = other.log_end_offset_after_start
    reported = f"a broker {which}: {other.outcome.value}"
    reported += "" if end is None else f", log end {end:,}"
    reported += f" ({other.reason})" if other.reason else ""
    return f"{recovery.reason}; {reported}" if recovery.reason else reported


class DirectoryStart:
    """The start of one log directory.

    Attributes:
        offline: why it is taken offline, as far as known; empty if it is not.
        fails_early: before it loads a log, so that strays are not set aside.
        fails_loading: while it loads its logs, in an order that differs between file systems.
        fatal: why it ends the broker; empty if it does not.
    """

    def __init__(
        self,
        root: LogDirectory,
        topics: ClusterTopics | None,
        peers: Peers,
        rules: Sequence[StartRule],
        progress: Progress,
        known: Callable[[PartitionDirectory], Mapping[str, ReadSegment]],
        refused: str = "",
    ) -> None:
        self.offline, self.fatal = refused, ""
        self._root = root
        self._topics = topics
        self._peers = peers
        self._rule, *self._other_rules = rules
        self._progress = progress
        self._known = known
        self._may_differ = True
        self._readable_torn: dict[tuple[str, int, int], tuple[int, int]] = {}
        self._records_lost: dict[tuple[str, int, int], HeldRecords] = {}
        nothing: Mapping[tuple[str, int], int] = {}
        self._recovery_points = self._log_starts = self._high_watermarks = nothing
        self._is_refused = bool(refused)
        self.fails_early, self.fails_loading = self._is_refused, False
        if refused:
            return
        counts = self._rule.loses_disks
        self._recovery_points = self._tried(lambda: read_recovery_points(root), nothing, counts)
        self._log_starts = self._tried(lambda: read_log_starts(root), nothing, counts)
        self.fails_early = bool(self.offline)
        self._high_watermarks = self._tried(lambda: read_high_watermarks(root), nothing)
        self._tried(lambda: check_cleaner_offsets(root), None, counts)
        if root.clean_shutdown is not None:  # else the log directory itself was not supplied
            self._tried(lambda: check_directories(root), None)

    def predict(self, directory: PartitionDirectory) -> Recovery:
        """Predict what happens to one of its replicas."""
        if self._is_refused:
            failure = FailedStep(self.offline, ends_broker=False)
            return self._not_loaded(directory, failure, is_own=False)
        recovery = self._predicted(directory, self._rule)
        if recovery.outcome is StartOutcome.BROKER_ABORTS:
            self.fatal = self.fatal or recovery.reason
        elif recovery.outcome is StartOutcome.DIRECTORY_OFFLINE:
            self.fails_loading = True
            self.offline = self.offline or recovery.reason
        effect, next_to = _effect(recovery), self._rule
        for rule in self._other_rules:
            if not self._may_differ and rule.starts_like(self._rule):
                continue
            other = self._predicted(directory, rule)
            if _effect(other) != effect:
                recovery = replace(recovery, reason=_with_other(recovery, other, next_to, rule))
            effect, next_to = _effect(other), rule
        return recovery

    def _predicted(self, directory: PartitionDirectory, rule: StartRule) -> Recovery:
        loaded = attempted(lambda: self._load(directory, rule))
        if not isinstance(loaded, FailedStep):
            return loaded
        ends_broker = loaded.ends_broker or not rule.loses_disks
        return self._not_loaded(directory, replace(loaded, ends_broker=ends_broker), is_own=True)

    def _not_loaded(
        self, directory: PartitionDirectory, failure: FailedStep, *, is_own: bool
    ) -> Recovery:
        """A replica of which nothing changes: its end is that of the files as readers see them."""
        *_, last = (None, *readable_segments(directory))
        segment = None if last is None else LoadingSegment.of(last, directory)
        return Recovery(
            directory=directory,
            outcome=(
                StartOutcome.BROKER_ABORTS
                if failure.ends_broker
                else StartOutcome.DIRECTORY_OFFLINE
            ),
            sound_end_offset=sound_prefix(segment, self._progress).next_offset,
            reason=failure.reason,
            is_own_failure=is_own,
        )

    def _tried(self, read: Callable[[], _T], otherwise: _T, counts: bool = True) -> _T:
        found = attempted(read)
        if not isinstance(found, FailedStep):
            return found
        if found.ends_broker:
            self.fatal = self.fatal or found.reason
        elif counts:
            self.offline = self.offline or found.reason
        return otherwise

    def _load(self, directory: PartitionDirectory, rule: StartRule) -> Recovery:
        config = rule.config_of(directory.topic, self._topics)
        check_files(directory)
        topic_id = read_topic_id_at_start(directory)
        log_load = self._log_load(directory, rule, config)
        load = log_load()
        self._may_differ = True
        load.run()
        self._may_differ = load.may_differ
        sound_end = load.sound_end()
        if self._root.clean_shutdown is None:
            load.reasons.append(
                "the log directory was not supplied: an unclean shutdown is assumed"
            )
        started = start_time(load.segments, rule)
        fate = self._fate(directory, load, rule, config, started, topic_id)
        load.reasons += _end_reasons(load, fate, sound_end)
        later = ""
        if rule.started_at is None and fate.outcome in _SERVED:
            later = expires_later(load.segments, config, started)
            load.reasons += [later] if later else []
        cut = sum_of(self._records(lost, directory) for lost in (*load.lost, *fate.aside))
        stays_torn = bool(
            fate.outcome in (StartOutcome.LOADS, StartOutcome.HIDDEN)
            and self._root.clean_shutdown
            and load.ends_torn
        )
        readable = self._readable(load.lost, directory) if cut.torn else (0, 0)
        if stays_torn:
            last = load.segments[-1]
            left = LostBytes.after(last, last.start, sound_end)
            readable = self._readable([left], directory)
        rebuild = None
        if fate.outcome is StartOutcome.HIDDEN or stays_torn:
            count = partial(self._records, directory=directory)
            rebuild = index_rebuild(directory, log_load, fate.hidden + cut.sound, count)
        return Recovery(
            directory=directory,
            outcome=fate.outcome,
            expires_later=later,
            sound_end_offset=sound_end,
            segments_read=tuple(sorted(load.read)),
            records_cut=fate.hidden + cut.sound,
            max_cut_in_damaged_batches=cut.damaged,
            max_cut_in_torn_batch=cut.torn,
            readable_in_torn_batch=readable,
            bytes_cut=sum(lost.size_in_bytes for lost in load.lost),
            reason="; ".join(load.reasons),
            stray=fate.stray,
            rebuild=rebuild,
            unknown=load.unknown,
            loaded=LoadedReplica(
                directory=directory,
                log=(
                    _NOTHING
                    if fate.stray is not None
                    else _loaded_log(load, self._high_watermarks.get(_key(directory), 0))
                ),
            ),
        )

    def _log_load(
        self, directory: PartitionDirectory, rule: StartRule, config: LogConfig
    ) -> partial[LogLoad]:
        """What makes the load of a log, as often as it is tried."""
        key = _key(directory)
        return partial(
            LogLoad,
            directory,
            LeaderEpochCache.loaded(read_epochs(directory)),
            recovery_point=self._recovery_points.get(key, 0),
            log_start=self._log_starts.get(key, 0),
            is_clean=bool(self._root.clean_shutdown),
            is_deleted=directory.state == "delete",
            config=config,
            rule=rule,
            progress=self._progress,
            known=self._known(directory),
        )

    def _fate(
        self,
        directory: PartitionDirectory,
        load: LogLoad,
        rule: StartRule,
        config: LogConfig,
        started: StartTime,
        topic_id: str | None,
    ) -> _Fate:
        """What becomes of a log that was loaded; the reasons of the load say why."""
        if rule.sets_strays_aside:
            stray = why_stray(directory, topic_id, self._topics, self._peers(directory))
            if stray is not None:
                load.reasons.append(stray.reason)
                aside = tuple(LostBytes.of(segment) for segment in load.segments)
                return _Fate(StartOutcome.STRAY, stray=stray, aside=aside)
        outcome = (
            StartOutcome.EMPTIED
            if load.is_emptied
            else StartOutcome.CUT
            if load.lost
            else StartOutcome.LOADS
        )
        expired = _expired(load, config, started)
        if expired:
            self._expire(load, expired, config, started)
            return _Fate(StartOutcome.EXPIRED)
        hidden = load.hidden_records()
        if hidden and outcome is StartOutcome.LOADS:
            outcome = StartOutcome.HIDDEN
        return _Fate(outcome, hidden=hidden)

    def _readable(
        self, lost: Sequence[LostBytes], directory: PartitionDirectory
    ) -> tuple[int, int]:
        """The whole records of a torn batch, searched once for all rules."""
        if not lost:
            return 0, 0
        last = lost[-1]
        key = (last.files.path("log"), last.start, last.stop)
        if key not in self._readable_torn:
            self._readable_torn[key] = readable_in_torn_batch(
                directory, last.files, last.start, last.first_offset
            )
        return self._readable_torn[key]

    def _records(self, lost: LostBytes, directory: PartitionDirectory) -> HeldRecords:
        """How many records a range loses, counted once for all rules."""
        path = lost.files.path("log")
        key = (path, lost.start, lost.stop)
        if key not in self._records_lost:
            known = self._known(directory).get(path)
            later = (each.base_offset for each in readable_segments(directory))
            next_base = next((each for each in later if each > lost.files.base_offset), None)
            self._records_lost[key] = lost.records(self._progress, known, next_base)
        return self._records_lost[key]

    def _expire(self, load: LogLoad, count: int, config: LogConfig, started: StartTime) -> None:
        gone = load.segments[:count]
        load.lost += [LostBytes.of(segment) for segment in gone]
        load.reasons.append(
            f"by the largest timestamps in the time index, {retention_text(config)} deletes "
            f"{segments_text(gone)} right after a start at {started}"
        )
        load.segments = load.segments[count:]
        start = load.segments[0].base_offset if load.segments else load.log_end_offset
        load.log_start_offset = max(load.log_start_offset, start)
        load.cache = load.cache.truncate_from_start(load.log_start_offset)


class _Fate(NamedTuple):
    """What the start does to a log that it has loaded.

    Attributes:
        hidden: number of records in the last segment that will not be served.
        stray: why it is set aside; None if it is not.
        aside: the byte ranges that are set aside.
    """

    outcome: StartOutcome
    hidden: int = 0
    stray: Stray | None = None
    aside: tuple[LostBytes, ...] = ()


def _end_reasons(load: LogLoad, fate: _Fate, sound_end: int) -> Iterator[str]:
    """Why the broker sees another end than that of the sound batches, and what that hides."""
    is_other = load.log_end_offset != sound_end
    if is_other and (fate.hidden or fate.outcome is StartOutcome.LOADS):
        yield (
            f"the broker sees the end at {load.log_end_offset:,}, the sound batches end at "
            f"{sound_end:,}"
        )
    if fate.hidden:
        what = f"{records_text(fate.hidden)} in the last segment will not be served"
        yield (
            f"{what}, and new records will take their offsets"
            if is_other
            else f"{what}: by their base offset, which no checksum covers, they are not below "
            f"the log end {sound_end:,}"
        )


def _key(directory: PartitionDirectory) -> tuple[str, int]:
    """The row of a replica in offset checkpoints."""
    return directory.topic or "", -1 if directory.partition is None else directory.partition


_NOTHING: Final = EpochLog(cache=LeaderEpochCache(), log_start_offset=0, log_end_offset=0)


def _expired(load: LogLoad, config: LogConfig, started: StartTime) -> int:
    """How many segments retention deletes that no running broker would have kept until then."""
    count = partial(count_expired, load.segments, config, assumes_default=started.is_given)
    return count(now=started.milliseconds) if count(now=started.retention_ran_at) else 0


def _loaded_log(load: LogLoad, high_watermark: int) -> EpochLog:
    return EpochLog(
        cache=load.cache,
        log_start_offset=load.log_start_offset,
        log_end_offset=load.log_end_offset,
        high_watermark=max(min(high_watermark, load.log_end_offset), load.log_start_offset),
    )
