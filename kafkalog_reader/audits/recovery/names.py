"""Finds names of files and directories that make a broker's start fail.

Source: Kafka 4.3, LocalLog#parseTopicPartitionName, LogFileUtils#offsetFromFileName.
"""

from __future__ import annotations

import os
import posixpath
import re
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.recovery.outcome import DirectoryFailure, StartFailure
from kafkalog_reader.errors import LocatedError, LogPosition, UnreadableFileError
from kafkalog_reader.io.checkpoints import checkpointed_offsets, file_version, read_topic_id
from kafkalog_reader.io.names import (
    METADATA_TOPIC,
    OFFSET_CHECKPOINTS,
    original_names,
    parse_directory_name,
    shown,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kafkalog_reader.io.checkpoints import FileVersion
    from kafkalog_reader.io.directories import LogDirectory, PartitionDirectory
    from kafkalog_reader.io.read_context import ReadContext

_REMOTE_INDEXES: Final = "remote-log-index-cache"
_RENAMED: Final = re.compile(r"(\S+)-(\S+)\.(\S+)-(?:delete|future|stray)")
_NUMBER: Final = re.compile(r"[+-]?[0-9]+")
_LOADED_ENDINGS: Final = (
    ".log", ".index", ".timeindex", ".txnindex", ".cleaned", ".swap", ".snapshot",
)  # fmt: skip
_INDEXES: Final = (".index", ".timeindex")
_NAME_EVERY_REPLICA: Final = ("recovery-point-offset-checkpoint", "replication-offset-checkpoint")


def check_directories(root: LogDirectory) -> None:
    """Look for a directory whose name is not a partition's.

    Raises:
        StartFailure: there is one.
        UnreadableFileError: the log directory cannot be listed.
    """
    context = root.context.following_links()
    version = file_version(root.path, context=context)
    strange = _strange_directory(root.path, context.looking_again(), version)
    if strange is not None:
        path = shown(posixpath.join(root.path, strange))
        raise StartFailure(f"{path}: {why_it_stops(root, strange)}")


@lru_cache(maxsize=64)
def _strange_directory(path: str, context: ReadContext, _version: FileVersion | None) -> str | None:
    """Its name; cached until the log directory changes."""
    names = (each.name for each in _entries(path, context) if each.is_dir())
    return min(filter(stops_start, names), default=None)


def serves_partitions(names: Iterable[str]) -> bool:
    """Whether files of these names are in a log directory of a broker.

    A node that is only a controller loads no partitions and writes no checkpoint of offsets.
    """
    return any(
        name in OFFSET_CHECKPOINTS
        or ((parsed := parse_directory_name(name)) is not None and parsed.topic != METADATA_TOPIC)
        for name in names
    )


def is_of_broker(root: LogDirectory) -> bool:
    """Whether a whole log directory is a broker's; False if it cannot be listed."""
    try:
        return serves_partitions(entry.name for entry in root.context.entries(root.path))
    except OSError:  # has its own finding
        return False


def stops_start(name: str) -> bool:
    """Whether a broker does not start with a folder of this name in a log directory."""
    return name != _REMOTE_INDEXES and not _is_partition(name)


def renamed_partition(root: LogDirectory, name: str) -> str | None:
    """The partition without a folder whose folder this may be, renamed; None if there is none."""
    for original in original_names(name):
        partition = f"{original.topic}-{original.partition}"
        if not _has_folder(root, partition):
            return partition
    return _partition_by_topic_id(root, name)


def _has_folder(root: LogDirectory, partition: str) -> bool:
    paths = (posixpath.join(path, partition) for path in (root.path, *root.siblings))
    return any(map(os.path.lexists, paths))


def _partition_by_topic_id(root: LogDirectory, name: str) -> str | None:
    """The only partition without a folder that the checkpoints name, if its topic has this id."""
    try:
        topic_id = read_topic_id(posixpath.join(root.path, name), context=root.context)
        if topic_id is None:
            return None
        alone = replace(root, context=root.context.looking_again())
        missing = _without_folder(alone, file_version(root.path, context=alone.context))
    except (LocatedError, OSError):  # has its own finding
        return None
    same = [partition for of_topic, partition in missing if of_topic == topic_id]
    return same[0] if len(same) == 1 else None


@lru_cache(maxsize=64)
def _without_folder(
    root: LogDirectory, _version: FileVersion | None
) -> tuple[tuple[str | None, str], ...]:
    """The topic ids and names of these partitions; cached until the log directory changes."""
    rows = [checkpointed_offsets(root, each) for each in _NAME_EVERY_REPLICA]
    return tuple(
        (_topic_id(root, topic), f"{topic}-{partition}")
        for topic, partition in rows[0].keys() & rows[1].keys()
        if topic != METADATA_TOPIC and not _has_folder(root, f"{topic}-{partition}")
    )


def _topic_id(root: LogDirectory, topic: str) -> str | None:
    """The topic id in the first folder of a topic in a log directory; None without a folder."""
    for entry in root.context.entries(root.path):
        parsed = parse_directory_name(entry.name)
        if parsed is not None and (parsed.topic, parsed.state) == (topic, None):
            return read_topic_id(entry.path, context=root.context)
    return None


def why_it_stops(root: LogDirectory, name: str) -> str:
    """What is wrong with such a folder, and which partition's it may be."""
    partition = renamed_partition(root, name)
    whose = "" if partition is None else f"; {partition} has no folder, and this may be it"
    return f"a folder whose name is not a partition's{whose}"


def check_files(directory: PartitionDirectory) -> None:
    """Look for a file with the suffix of a segment file but without an offset in its name.

    Raises:
        StartFailure: there is one.
        DirectoryFailure: a directory is in the place of a segment's index.
        UnreadableFileError: the directory cannot be listed.
    """
    logs, folders = set(), []
    for entry in _entries(directory.path, directory.context):
        prefix = entry.name.partition(".")[0]
        is_loaded = entry.name.endswith(_LOADED_ENDINGS) and entry.is_file()
        if is_loaded and not _is_number(prefix, 63):
            raise StartFailure(f"{shown(entry.path)}: no offset before the first dot")
        if is_loaded and entry.name.endswith(".log"):
            logs.add(prefix)
        elif entry.name.endswith(_INDEXES) and not entry.is_file():
            folders.append(entry)
    for entry in folders:
        if entry.name.partition(".")[0] in logs and entry.is_dir():
            raise DirectoryFailure(f"{shown(entry.path)}: a directory in the place of a file")


def _is_partition(name: str) -> bool:
    if name.endswith(("-delete", "-future", "-stray")):
        if not _RENAMED.fullmatch(name):
            return False
        name = name.rpartition(".")[0]
    topic, _, partition = name.rpartition("-")
    return bool(topic) and _is_number(partition, 31)


def _is_number(text: str, bits: int) -> bool:
    """Whether Java's parseInt or parseLong accepts it; file names have at most 255 bytes."""
    return _NUMBER.fullmatch(text) is not None and -(1 << bits) <= int(text) < 1 << bits


def _entries(path: str, context: ReadContext) -> Iterator[os.DirEntry[str]]:
    try:
        yield from context.entries(path)
    except OSError as error:
        where = LogPosition(shown(path))
        raise UnreadableFileError(error.strerror or str(error), where) from error
