"""KL-010: folders that are no live replicas, and whether the next start fails at one.

A broker loads them like replicas before it deletes or keeps them (Kafka 4.3, LogManager#loadLog).
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from kafkalog_reader.audits.catalogue.actions import MOVE_FUTURE_COPY, MOVE_OUT
from kafkalog_reader.audits.catalogue.input_rules import NOT_A_REPLICA_DIRECTORY
from kafkalog_reader.audits.integrity.file_repair import move_aside
from kafkalog_reader.audits.integrity.finding import Finding, finding
from kafkalog_reader.audits.recovery.outcome import FAILURES
from kafkalog_reader.audits.recovery.start import predict_start
from kafkalog_reader.errors import LocatedError
from kafkalog_reader.io.directories import PartitionDirectory
from kafkalog_reader.io.names import METADATA_TOPIC, parse_directory_name, shown

if TYPE_CHECKING:
    from collections.abc import Collection

    from kafkalog_reader.io.directories import LogDirectory


def other_folder_finding(
    root: LogDirectory, entry: os.DirEntry[str], futures: Collection[str], *, is_loaded: bool
) -> Finding | None:
    """The finding of a folder that ends in ``-delete``, ``-future`` or ``-stray``; else None.

    Args:
        root: the log directory.
        entry: a folder in it.
        futures: names of future copies beside their replicas, at which a start fails.
        is_loaded: whether it is the log directory of a broker; a controller loads no replica.
    """
    name = parse_directory_name(entry.name)
    if name is None or name.state is None:
        return None
    file, size = shown(entry.name), _size(entry.path)
    text, actions = f"{file}: {size:,} bytes, not a replica", None
    if is_loaded and entry.name in futures:
        text = (
            f"{file}: the broker does not start: it fails to rename this future copy, because its "
            "replica is in the same log directory"
        )
        actions = (MOVE_FUTURE_COPY,)
    elif is_loaded and name.topic != METADATA_TOPIC:
        directory = PartitionDirectory(
            path=entry.path,
            log_directory=root,
            topic=name.topic,
            partition=name.partition,
            state=name.state,
        )
        if why := _why_start_fails(directory):
            text = f"{file}: not a replica, but the start loads it, too, and fails at it: {why}"
            actions = (MOVE_OUT,)
    return finding(
        NOT_A_REPLICA_DIRECTORY,
        text,
        severity=None if actions is None else "H",
        directory=PartitionDirectory.whole(root),
        file=file,
        size_in_bytes=size,
        actions=actions,
        repairs=() if actions is None else (move_aside(root.path, entry.name),),
    )


def _why_start_fails(directory: PartitionDirectory) -> str:
    try:
        (recovery,) = predict_start([directory])
    except LocatedError:  # the operating system refuses a file; whether to the broker, is unknown
        return ""
    return recovery.reason if recovery.is_own_failure and recovery.outcome in FAILURES else ""


def _size(path: str) -> int:
    try:
        with os.scandir(path) as entries:
            return sum(entry.stat(follow_symlinks=False).st_size for entry in entries)
    except OSError:
        return 0
