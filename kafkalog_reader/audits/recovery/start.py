"""Predicts the start of a broker, in which one log directory can stop all others.

Source: Kafka 4.4, KafkaRaftServer#initializeLogDirs, LogManager#loadLogs.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kafkalog_reader.audits.recovery.directory_start import DirectoryStart, Peers
from kafkalog_reader.audits.recovery.disks import disk_failures
from kafkalog_reader.audits.recovery.duplicates import (
    refused_duplicates,
    refused_folders,
    refused_future,
)
from kafkalog_reader.audits.recovery.outcome import StartOutcome
from kafkalog_reader.audits.recovery.release import possible_rules
from kafkalog_reader.io.names import shown
from kafkalog_reader.io.progress import Progress, no_progress
from kafkalog_reader.io.read_context import ReadContext

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from kafkalog_reader.audits.log.read_segment import ReadSegment
    from kafkalog_reader.audits.recovery.recovery import Recovery
    from kafkalog_reader.audits.recovery.rule import ClusterTopics, StartRule
    from kafkalog_reader.io.directories import LogDirectory, PartitionDirectory


def _nothing_known(_directory: PartitionDirectory) -> Mapping[str, ReadSegment]:
    return {}


def predict_start(
    directories: Sequence[PartitionDirectory],
    topics: ClusterTopics | None = None,
    *,
    others: Sequence[PartitionDirectory] = (),
    roots: Sequence[LogDirectory] = (),
    peers: Peers = lambda _: (),
    rule: StartRule | None = None,
    started_at: int | None = None,
    progress: Progress = no_progress,
    known: Callable[[PartitionDirectory], Mapping[str, ReadSegment]] = _nothing_known,
) -> tuple[Recovery, ...]:
    """Predict the start of one broker, from all the replicas in all its log directories.

    Args:
        directories: live replicas. A replica that is left out may still stop the broker.
        topics: those of the cluster; without them a topic id is only compared with those of
            ``peers``.
        others: ``-delete``, ``-future`` and ``-stray`` directories, which are loaded, too, and can
            stop the broker.
        roots: log directories of the broker besides those of the replicas: one without a replica
            can stop it too.
        peers: the replicas of the same partition on other brokers.
        rule: that of the broker's release; None: derived from the files of a log directory. If
            several may apply, ``reason`` says what the less likely ones would do differently.
        started_at: milliseconds; None: that of the rule.
        progress: receives the number of bytes read.
        known: returns the segments of a replica that were already read, by the path of their log
            file.

    Raises:
        UnreadableFileError: the operating system refuses a file that decides the outcome.
    """
    recoveries, fatal = _started(
        directories, topics, others, roots, peers, rule, started_at, progress, known
    )
    if fatal:
        for directory in directories:
            recoveries[directory] = _failed(
                recoveries[directory], StartOutcome.BROKER_ABORTS, fatal
            )
    return tuple(recoveries[directory] for directory in directories)


def why_no_start(
    roots: Sequence[LogDirectory],
    topics: ClusterTopics | None = None,
    *,
    others: Sequence[PartitionDirectory] = (),
) -> str:
    """Why a broker without live replicas does not start; empty if it does.

    Args:
        roots: all its log directories that were supplied as a whole.
        topics: those of the cluster.
        others: ``-delete``, ``-future`` and ``-stray`` directories.

    Raises:
        UnreadableFileError: the operating system refuses a file that decides the outcome.
    """
    return _started((), topics, others, roots)[1]


def _started(
    directories: Sequence[PartitionDirectory],
    topics: ClusterTopics | None,
    others: Sequence[PartitionDirectory],
    roots: Sequence[LogDirectory],
    peers: Peers = lambda _: (),
    rule: StartRule | None = None,
    started_at: int | None = None,
    progress: Progress = no_progress,
    known: Callable[[PartitionDirectory], Mapping[str, ReadSegment]] = _nothing_known,
) -> tuple[dict[PartitionDirectory, Recovery], str]:
    """What each replica's own log directory does to it, and what ends the broker."""
    by_root: dict[LogDirectory, list[PartitionDirectory]] = {root: [] for root in roots}
    for directory in (*directories, *others):
        by_root.setdefault(directory.log_directory, []).append(directory)
    recoveries: dict[PartitionDirectory, Recovery] = {}
    context = next((root.context for root in by_root), ReadContext())
    node_id = next((root.broker_id for root in by_root), None)
    topics = None if topics is None else topics.of_node(node_id)
    disks = disk_failures(
        _whole_directories(by_root), context, is_kraft=topics is not None, node_id=node_id
    )
    fatal, whole = disks.fatal, []
    if topics is not None:  # it replays the metadata log before it loads a replica
        fatal = fatal or topics.ends
    supported = {} if topics is None or node_id is None else topics.releases.supported
    registered = supported.get(-1 if node_id is None else node_id, 0)
    for root, inside in by_root.items():
        rules = possible_rules(root, registered) if rule is None else (rule,)
        if started_at is not None:
            rules = tuple(replace(each, started_at=started_at) for each in rules)
        refused = disks.offline.get(root.path, "")
        start = DirectoryStart(root, topics, peers, rules, progress, known, refused)
        recoveries.update((directory, start.predict(directory)) for directory in inside)
        fatal = fatal or start.fatal
        if start.offline:
            strays = [each for each in inside if recoveries[each].outcome is StartOutcome.STRAY]
            if strays and start.fails_loading and not start.fails_early:
                fatal = fatal or _stray_in_failed_directory(strays[0], start.offline)
            for directory in inside:
                if start.fails_early or directory not in strays:
                    recoveries[directory] = _failed(
                        recoveries[directory], StartOutcome.DIRECTORY_OFFLINE, start.offline
                    )
        elif root.clean_shutdown is not None:
            whole.append(root)
    if topics is not None and topics.ends:
        recoveries = {key: replace(each, reason="") for key, each in recoveries.items()}
    fatal = fatal or refused_duplicates(
        directory
        for directory, each in recoveries.items()
        if each.loaded is not None and each.outcome is not StartOutcome.STRAY
    )
    fatal = fatal or refused_folders(disks.directory_ids, context, topics)
    fatal = fatal or next(filter(None, (refused_future(root, topics) for root in whole)), "")
    return recoveries, fatal


def _failed(recovery: Recovery, outcome: StartOutcome, reason: str) -> Recovery:
    """A replica that is not served because its broker, its directory or itself fails."""
    if recovery.outcome in (outcome, StartOutcome.BROKER_ABORTS):
        return recovery
    if recovery.reason:
        reason = f"{reason}; then: {recovery.reason}"
    return replace(recovery, outcome=outcome, loaded=None, reason=reason, is_own_failure=False)


def _whole_directories(roots: Collection[LogDirectory]) -> list[str]:
    """Paths of the log directories that start together, as far as they were supplied as a whole."""
    own = [root.path for root in roots if root.clean_shutdown is not None]
    return sorted({*own, *(path for root in roots for path in root.siblings)})


def _stray_in_failed_directory(stray: PartitionDirectory, failure: str) -> str:
    """Why a broker that cannot rename a stray ends; the worst order of loading is assumed."""
    return (
        f"{shown(stray.path)}: the broker sets it aside, but its log directory fails ({failure}), "
        "and the broker ends unless it loads this replica before the failing one"
    )


def broker_key(root: LogDirectory) -> tuple[str, ...]:
    """The key of log directories that start together: their broker, or else their path."""
    name = root.broker_label or (None if root.broker_id is None else str(root.broker_id))
    return (root.cluster_id or "", root.path if name is None else name)
