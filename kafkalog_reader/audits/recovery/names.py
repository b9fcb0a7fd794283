"""Finds names of files and directories that make a broker's start fail.

Source: Kafka 4.3, LocalLog#parseTopicPartitionName, LogFileUtils#offsetFromFileName.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.recovery.outcome import DirectoryFailure, StartFailure
from kafkalog_reader.errors import LogPosition, UnreadableFileError
from kafkalog_reader.io.checkpoints import file_version
from kafkalog_reader.io.names import shown

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator

    from kafkalog_reader.io.checkpoints import FileVersion
    from kafkalog_reader.io.evidence import LogDirectory, PartitionDirectory
    from kafkalog_reader.io.read_context import ReadContext

_REMOTE_INDEXES: Final = "remote-log-index-cache"
_RENAMED: Final = re.compile(r"(\S+)-(\S+)\.(\S+)-(?:delete|future|stray)")
_NUMBER: Final = re.compile(r"[+-]?[0-9]+")
_LOADED_ENDINGS: Final = (
    ".log", ".index", ".timeindex", ".txnindex", ".cleaned", ".swap", ".snapshot",
)  # fmt: skip
_INDEXES: Final = (".index", ".timeindex")


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
        raise StartFailure(f"{strange}: a directory whose name is not a partition's")


@lru_cache(maxsize=64)
def _strange_directory(path: str, context: ReadContext, _version: FileVersion | None) -> str | None:
    """The first such directory; cached until the log directory changes."""
    for entry in _entries(path, context):
        if entry.is_dir() and stops_start(entry.name):
            return shown(entry.path)
    return None


def stops_start(name: str) -> bool:
    """Whether a broker does not start with a folder of this name in a log directory."""
    return name != _REMOTE_INDEXES and not _is_partition(name)


def check_files(directory: PartitionDirectory) -> None:
    """Look for a file with the suffix of a segment file but without an offset in its name.

    Raises:
        StartFailure: there is one.
        DirectoryFailure: a directory is in the place of a segment's index.
        UnreadableFileError: the directory cannot be listed.
    """
    logs, folders = set(), []
    for entry in _entries(directory.path, directory.context):
        prefix = entry.name.split(".", 1)[0]
        is_loaded = entry.name.endswith(_LOADED_ENDINGS) and entry.is_file()
        if is_loaded and not _is_number(prefix, 63):
            raise StartFailure(f"{shown(entry.path)}: no offset before the first dot")
        if is_loaded and entry.name.endswith(".log"):
            logs.add(prefix)
        elif entry.name.endswith(_INDEXES) and not entry.is_file():
            folders.append(entry)
    for entry in folders:
        if entry.name.split(".", 1)[0] in logs and entry.is_dir():
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
