"""Findings about log directories: entries that do not belong, rows that name missing folders."""

from __future__ import annotations

import math
import os
import posixpath
import stat
from collections import defaultdict
from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.catalogue.actions import (
    START_WITHOUT_CHECKPOINT,
    SUPPLY_WHAT_IS_MISSING,
    USE_SUBFOLDER,
)
from kafkalog_reader.audits.catalogue.checkpoint_rules import (
    CHECKPOINT_MISSING,
    CHECKPOINT_ROW_WITHOUT_DIRECTORY,
    CHECKPOINT_TEMPORARY_LEFT,
    REPLICA_DIRECTORY_MISSING,
)
from kafkalog_reader.audits.catalogue.input_rules import (
    DUPLICATE_REPLICA_DIRECTORY,
    HOSTILE_NAME,
    UNCLEAN_SHUTDOWN,
    UNREADABLE_FILE,
    UNSAFE_PATH_SKIPPED,
)
from kafkalog_reader.audits.integrity.checkpoint_findings import (
    CLEANER_OFFSETS,
    HIGH_WATERMARKS,
    RECOVERY_POINTS,
    checkpoint_problem,
    temporary_files,
)
from kafkalog_reader.audits.integrity.file_repair import Move, RunAgain, move_aside
from kafkalog_reader.audits.integrity.finding import Finding, finding
from kafkalog_reader.audits.integrity.other_folders import other_folder_finding
from kafkalog_reader.audits.integrity.partial_copy import (
    folders_of_siblings,
    is_partial_copy,
    named_partitions,
)
from kafkalog_reader.audits.integrity.refused_file import actions_of_refusal
from kafkalog_reader.audits.log.release_signs import LOG_STARTS, release_signs
from kafkalog_reader.audits.recovery.duplicates import futures_beside
from kafkalog_reader.audits.recovery.names import (
    renamed_partition,
    serves_partitions,
    stops_start,
    why_it_stops,
)
from kafkalog_reader.errors import LocatedError
from kafkalog_reader.io.checkpoints import checkpointed_offsets, is_absent, is_empty
from kafkalog_reader.io.directories import PartitionDirectory
from kafkalog_reader.io.names import (
    METADATA_TOPIC,
    NOT_A_PARTITION,
    OF_FILE_SYSTEM,
    OFFSET_CHECKPOINTS,
    parse_directory_name,
    shown,
)
from kafkalog_reader.io.partition_directory import readable_segments

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from kafkalog_reader.audits.integrity.partial_copy import Partition
    from kafkalog_reader.io.directories import LogDirectory

_EFFECTS: Final = {
    CLEANER_OFFSETS: "the log cleaner begins at the log starts again",
    LOG_STARTS: "records come back that were deleted by kafka-delete-records, if their segment is "
    "still there",
    RECOVERY_POINTS: "after an unclean stop the start recovers every segment, and cuts each log at "
    "its first damaged batch",
    HIGH_WATERMARKS: "high watermarks begin at the log starts, and consumers wait until the "
    "followers have fetched",
}
"""What a start does without the rows of a checkpoint."""
_SECONDS_UNTIL_WRITTEN: Final = {HIGH_WATERMARKS: 5, RECOVERY_POINTS: 60, LOG_STARTS: 60}
"""replica.high.watermark.checkpoint.interval.ms, log.flush.[start.]offset.checkpoint.interval.ms"""
_MAX_LISTED: Final = 1000
"""Maximum findings of one kind for a log directory, which may hold a million strange names."""


def directory_findings(
    root: LogDirectory,
    reported: Collection[Partition] = (),
    unassigned: Collection[Partition] = (),
) -> Iterator[Finding]:
    """Yield the findings of one log directory that was supplied completely.

    Args:
        root: the log directory.
        reported: partitions that other brokers have and whose audits report that the replica here
            is missing or was not read.
        unassigned: partitions that other brokers have by the metadata log, and not this one.
    """
    place = PartitionDirectory.whole(root)
    try:
        with os.scandir(root.path) as listed:
            entries = sorted(listed, key=lambda entry: entry.name)
    except OSError as error:
        yield finding(
            UNREADABLE_FILE,
            f"{shown(root.path)}: {error.strerror}",
            directory=place,
            actions=actions_of_refusal(str(error.strerror)),
        )
        return
    if root.clean_shutdown is False and serves_partitions(entry.name for entry in entries):
        yield finding(
            UNCLEAN_SHUTDOWN, f"{shown(root.path)}: no clean-shutdown marker", directory=place
        )
    yield from _unsafe_and_strange(entries, place, reported, follow_links=root.follow_links)
    for name in temporary_files(root.path, root.context):
        yield finding(
            CHECKPOINT_TEMPORARY_LEFT,
            f"{name}: left over from replacing a file",
            directory=place,
            file=name,
        )
    names = {entry.name for entry in entries}
    yield from _checkpoints(root, place, names, reported, unassigned)


def duplicate_findings(directories: Sequence[PartitionDirectory]) -> Iterator[Finding]:
    """Yield KL-007 for one partition in two log directories of the same broker.

    It names the shorter copy, which is the one to move away.

    Args:
        directories: the live replicas of one partition.
    """
    by_broker = defaultdict(list)
    for directory in directories:
        root = directory.log_directory
        is_replica = directory.topic not in (None, METADATA_TOPIC)
        if is_replica and root.broker_id is not None and root.disk is not None:
            by_broker[root.broker_id].append(directory)
    for broker_id, same in by_broker.items():
        roots = {directory.log_directory.directory_id for directory in same}
        if len(same) > 1 and len(roots) == len(same):  # else copies of one disk
            paths = ", ".join(shown(directory.path) for directory in same)
            yield finding(
                DUPLICATE_REPLICA_DIRECTORY,
                f"broker {broker_id} has the partition twice and will not start: {paths}",
                directory=min(reversed(same), key=_reach),
                evidence={"directories": paths},
                repairs=tuple(_compared_alone(same, directories)),
            )


def _compared_alone(
    same: Sequence[PartitionDirectory], directories: Sequence[PartitionDirectory]
) -> Iterator[RunAgain]:
    """Compare each copy of a broker with those of the others; nothing if there are no others."""
    others = [each.log_directory.path for each in directories if each not in same]
    for each in same if others else ():
        yield RunAgain(
            why=f"only the copy in {each.log_directory.path}, and those of other brokers",
            paths=(each.log_directory.path, *others),
            topic=each.topic or "",
            partition=each.partition or 0,
        )


def _reach(directory: PartitionDirectory) -> tuple[int, int]:
    """Base offset and size of the last segment."""
    return max(
        ((each.base_offset, each.log_size or 0) for each in readable_segments(directory)),
        default=(-1, 0),
    )


def _unsafe_and_strange(
    entries: Sequence[os.DirEntry[str]],
    place: PartitionDirectory,
    reported: Collection[Partition],
    *,
    follow_links: bool,
) -> Iterator[Finding]:
    listed = 0
    futures = {future for _, future in futures_beside(place.log_directory)}
    is_of_broker = serves_partitions(entry.name for entry in entries)
    for entry in entries:
        if listed == _MAX_LISTED:
            return
        if _partition_of(entry.name) in reported:
            continue
        try:
            mode = entry.stat(follow_symlinks=follow_links).st_mode
        except OSError:
            continue
        name = parse_directory_name(entry.name)
        file = shown(entry.name)
        found = None
        if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
            found = finding(
                UNSAFE_PATH_SKIPPED, f"{file}: not a file or folder", directory=place, file=file
            )
        elif is_of_broker and stat.S_ISDIR(mode) and stops_start(entry.name):
            why = why_it_stops(place.log_directory, entry.name)
            problem = f"{file}: the broker does not start: {why}"
            stays = entry.name in OF_FILE_SYSTEM
            found = finding(
                HOSTILE_NAME,
                problem,
                severity="H",
                directory=place,
                file=file,
                actions=(USE_SUBFOLDER,) if stays else None,
                repairs=() if stays else (_leave_or_rename(place.log_directory, entry.name),),
            )
        elif (
            stat.S_ISDIR(mode) and name is None and entry.name not in NOT_A_PARTITION
        ) or file != entry.name:
            problem = f"{file}: not a name that Kafka gives a file or folder here"
            found = finding(HOSTILE_NAME, problem, directory=place, file=file)
        elif name is not None and name.state is not None:
            found = other_folder_finding(
                place.log_directory, entry, futures, is_loaded=is_of_broker
            )
        if found is not None:
            listed += 1
            yield found


def _leave_or_rename(root: LogDirectory, name: str) -> Move:
    """Give a folder the name of the partition that it may be; otherwise move it away."""
    partition = renamed_partition(root, name)
    if partition is None:
        return move_aside(root.path, name)
    return Move(path=posixpath.join(root.path, name), target=posixpath.join(root.path, partition))


def _partition_of(name: str) -> Partition | None:
    """The partition whose live replica a folder is, by its name."""
    parsed = parse_directory_name(name)
    return None if parsed is None or parsed.state else (parsed.topic, parsed.partition)


def _checkpoints(
    root: LogDirectory,
    place: PartitionDirectory,
    names: set[str],
    reported: Collection[Partition],
    unassigned: Collection[Partition],
) -> Iterator[Finding]:
    folders = {(n.topic, n.partition): n.state for n in map(parse_directory_name, names) if n}
    holds_replicas = any(topic != METADATA_TOPIC for topic, _ in folders)
    rows: dict[tuple[str, int], list[str]] = defaultdict(list)
    for name in OFFSET_CHECKPOINTS:
        if name not in names:
            if holds_replicas and (name != LOG_STARTS or release_signs(root.path).leader_epochs):
                yield _without_rows(place, name, "missing")
            continue
        if holds_replicas and _lost_its_rows(root, name, names):
            yield _without_rows(place, name, "empty, which a start reads as without rows")
        try:
            for key in checkpointed_offsets(root, name):
                if key not in folders:
                    rows[key].append(name)
        except LocatedError as error:
            yield checkpoint_problem(root, name, error)
    named = named_partitions(root)
    elsewhere = folders_of_siblings(root)
    is_partial = is_partial_copy(named, elsewhere | folders.keys())
    strange = map(shown, filter(stops_start, names))
    renamed = {renamed_partition(root, name): name for name in strange} if holds_replicas else {}
    if is_partial:
        yield _partial(place, named, elsewhere | folders.keys())
    for (topic, partition), files in sorted(rows.items())[:_MAX_LISTED]:
        # The two that name every replica; the next write removes a deleted topic from both.
        is_elsewhere = (topic, partition) in elsewhere
        is_missing = {HIGH_WATERMARKS, RECOVERY_POINTS} <= set(files) and not is_elsewhere
        if is_missing and (is_partial or (topic, partition) in reported):
            continue
        is_lost = is_missing and (topic, partition) not in unassigned
        if is_elsewhere:
            instead = "its folder is in another log directory of this broker"
        elif is_missing and not is_lost:
            instead = "there is no such folder: according to the metadata log other brokers have it"
        elif is_missing and f"{topic}-{partition}" in renamed:
            instead = f"there is no such folder: {renamed[f'{topic}-{partition}']} may be it"
        elif is_missing:
            instead = "there is no such folder: the broker will create an empty replica"
        else:
            instead = "there is no such folder"
        yield finding(
            REPLICA_DIRECTORY_MISSING if is_lost else CHECKPOINT_ROW_WITHOUT_DIRECTORY,
            f"{shown(topic)}-{partition}: named by {', '.join(files)}, but {instead}",
            confidence="proven" if root.clean_shutdown else "possible",
            directory=place,
            file=files[0],
            evidence={
                "topic": shown(topic),
                "partition": partition,
                "checkpoints": " ".join(files),
            },
        )


def _lost_its_rows(root: LogDirectory, name: str, names: Iterable[str]) -> bool:
    """Whether a checkpoint is empty although the broker wrote rows or their number.

    A broker creates the files empty. It writes those of recovery points and log starts together,
    once a minute, the high watermarks more often, and all at a clean stop; the cleaner's offsets
    are written when a log was cleaned. A power cut can empty all of them.
    """
    if name == CLEANER_OFFSETS or not is_empty(root, name):
        return False
    together = (each for each in (RECOVERY_POINTS, LOG_STARTS) if each != name)
    return (
        bool(root.clean_shutdown)
        or any(not is_absent(root, each) and not is_empty(root, each) for each in together)
        or _was_used_for(root, names, seconds=_SECONDS_UNTIL_WRITTEN[name])
    )


def _was_used_for(root: LogDirectory, names: Iterable[str], *, seconds: float) -> bool:
    """Whether files of replicas were written longer than that apart, by their times."""
    first, last = math.inf, -math.inf
    for name in names:
        if _partition_of(name) is None:
            continue
        try:
            with os.scandir(posixpath.join(root.path, name)) as entries:
                times = [entry.stat(follow_symlinks=False).st_mtime for entry in entries]
        except OSError:
            continue
        first, last = min(first, *times, math.inf), max(last, *times, -math.inf)
        if last - first > seconds:
            return True
    return False


def _without_rows(place: PartitionDirectory, name: str, what: str) -> Finding:
    """KL-302, with what the next start does."""
    return finding(
        CHECKPOINT_MISSING,
        f"{name}: {what}: {_EFFECTS[name]}",
        severity="M" if name == HIGH_WATERMARKS else "L",
        actions=(START_WITHOUT_CHECKPOINT,),
        directory=place,
        file=name,
    )


def _partial(
    place: PartitionDirectory, named: Collection[Partition], folders: Collection[Partition]
) -> Finding:
    """One finding for all folders that the broker may have, although the copy does not."""
    missing = sorted(f"{shown(topic)}-{number}" for topic, number in set(named) - set(folders))
    return finding(
        REPLICA_DIRECTORY_MISSING,
        f"only part of this log directory was supplied: {len(missing):,} of {len(named):,} "
        "partitions that its checkpoints name have no folder here; if they have none on the broker "
        "either, it will create empty replicas",
        severity="L",
        confidence="possible",
        directory=place,
        file=HIGH_WATERMARKS,
        evidence={
            "missing": len(missing),
            "named": len(named),
            "partitions": " ".join(missing[:_MAX_LISTED]),
        },
        actions=(SUPPLY_WHAT_IS_MISSING,),
    )
