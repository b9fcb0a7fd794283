"""Reads the small files as a starting broker does, and predicts what damage in one causes.

The effect depends on the kind of damage. If Kafka's readers report an I/O error, the log directory
goes offline; an invalid number where they do not expect one is an uncaught exception, which ends
the broker. Source: Kafka 4.3, CheckpointFile, PartitionMetadataReadBuffer, LogManager.
"""

from __future__ import annotations

import posixpath
import re
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.recovery.outcome import (
    DirectoryFailure,
    FailedStep,
    StartFailure,
    attempted,
)
from kafkalog_reader.errors import CorruptCheckpointError
from kafkalog_reader.format.checkpoint import LeaderEpochEntry
from kafkalog_reader.format.uuid import ZERO_UUID
from kafkalog_reader.io.checkpoints import checkpoint_path, file_version, parse_topic_id
from kafkalog_reader.io.names import LEADER_EPOCHS, PARTITION_METADATA, shown
from kafkalog_reader.io.small_file import CHECKPOINT_LIMIT, METADATA_LIMIT, read_if_present

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kafkalog_reader.io.checkpoints import FileVersion
    from kafkalog_reader.io.directories import LogDirectory, PartitionDirectory
    from kafkalog_reader.io.read_context import ReadContext

TopicPartition = tuple[str, int]
RECOVERY_POINTS: Final = "recovery-point-offset-checkpoint"
LOG_STARTS: Final = "log-start-offset-checkpoint"
HIGH_WATERMARKS: Final = "replication-offset-checkpoint"
CLEANER_OFFSETS: Final = "cleaner-offset-checkpoint"

_SMALL: Final = 1 << 20
"""Maximum bytes of a cached checkpoint, about 30,000 rows; many may be in memory."""
_LINE_END: Final = re.compile(rb"\r\n|\n|\r")
_WHITESPACE: Final = re.compile(rb"[ \t\n\x0b\f\r]+")
_INTEGER: Final = re.compile(rb"[+-]?[0-9]+")
_INT32: Final = 31
_INT64: Final = 63
"""Bits of a number, without its sign."""
_MAX_NUMBER: Final = 100
"""Maximum digits: Java accepts leading zeros, but no broker writes this many."""
_SEPARATOR: Final = re.compile(rb":[ \t\n\x0b\f\r]+")


class _NoNumber(Exception):  # noqa: N818  Java's NumberFormatException
    """A field of an entry is not a number."""


class _Malformed(Exception):  # noqa: N818  Java's IOException
    """The version, the count or the fields of a line are not what they should be."""


def read_recovery_points(root: LogDirectory) -> Mapping[TopicPartition, int]:
    """The rows of the recovery point checkpoint; none if it holds an invalid number.

    Raises:
        DirectoryFailure: reading it takes the log directory offline.
        UnreadableFileError: the file is there and cannot be read.
    """
    return _lenient(root, RECOVERY_POINTS)


def read_log_starts(root: LogDirectory) -> Mapping[TopicPartition, int]:
    """The rows of the log start offset checkpoint; errors as for ``read_recovery_points``."""
    return _lenient(root, LOG_STARTS)


def read_high_watermarks(root: LogDirectory) -> Mapping[TopicPartition, int]:
    """The high watermarks.

    Raises:
        DirectoryFailure: reading it takes the log directory offline, or leaves its partitions
            without a leader: the broker runs, but serves nothing.
        UnreadableFileError: the file is there and cannot be read.
    """
    try:
        return _read(root, HIGH_WATERMARKS)
    except _NoNumber as problem:
        raise DirectoryFailure(f"{problem}: the broker runs, but serves no partition") from None


def check_cleaner_offsets(root: LogDirectory) -> None:
    """Raise the failure that the log cleaner would meet.

    Raises:
        DirectoryFailure: reading it takes the log directory offline.
        UnreadableFileError: the file is there and cannot be read.
    """
    try:
        _read(root, CLEANER_OFFSETS)
    except _NoNumber:
        return  # only the cleaner fails; the partitions are served


def read_epochs(directory: PartitionDirectory) -> tuple[LeaderEpochEntry, ...]:
    """The rows of the leader epoch checkpoint, unchanged; none if there is no file.

    Raises:
        DirectoryFailure: reading it takes the log directory offline.
        StartFailure: reading it ends the broker.
        UnreadableFileError: the file is there and cannot be read.
    """
    path = posixpath.join(directory.path, LEADER_EPOCHS)
    _check_file(path)
    content = read_if_present(path, CHECKPOINT_LIMIT, context=directory.context)
    try:
        rows = tuple(
            LeaderEpochEntry(leader_epoch=int(epoch), start_offset=int(offset))
            for epoch, offset in _entries(content or b"", (_INT32, _INT64))
        )
    except _NoNumber as problem:
        raise StartFailure(f"{shown(path)}: {problem}") from None
    except _Malformed as problem:
        raise DirectoryFailure(f"{shown(path)}: {problem}") from None
    for number, entry in enumerate(rows, 3):
        if entry.leader_epoch < 0 or entry.start_offset < 0:  # LeaderEpochFileCache#assign
            raise StartFailure(f"{shown(path)}: line {number}: a negative leader epoch or offset")
    _check_temporary(path)
    return rows


def _check_file(path: str) -> None:
    """Raise the I/O error that a broker gets from a directory in the place of a file.

    Raises:
        DirectoryFailure: there is one.
    """
    if Path(path).is_dir():
        raise DirectoryFailure(f"{shown(path)}: a directory in the place of a file")


def _check_temporary(path: str) -> None:
    """Raise the failure of writing a checkpoint if its temporary file is a directory.

    Raises:
        DirectoryFailure: every start writes the file, at the latest when the broker becomes leader.
    """
    temporary = f"{path}.tmp"
    if Path(temporary).is_dir():
        raise DirectoryFailure(
            f"{shown(temporary)}: a directory, so that {LEADER_EPOCHS} cannot be written"
        )


def read_topic_id_at_start(directory: PartitionDirectory) -> str | None:
    """The topic id; None if there is no file.

    Raises:
        DirectoryFailure: reading it takes the log directory offline.
        StartFailure: reading it ends the broker.
        UnreadableFileError: the file is there and cannot be read.
    """
    path = posixpath.join(directory.path, PARTITION_METADATA)
    _check_file(path)
    content = read_if_present(path, METADATA_LIMIT, context=directory.context)
    if content is None:
        return None
    try:
        return parse_topic_id(content, path)
    except CorruptCheckpointError as error:
        failure = StartFailure if _ends_broker(content) else DirectoryFailure
        raise failure(str(error)) from None


def topic_id_of_peer(directory: PartitionDirectory) -> str | None:
    """The topic id of another broker's copy; None if its file has none."""
    found = attempted(lambda: read_topic_id_at_start(directory))
    return None if isinstance(found, FailedStep) else found  # only that broker's start fails


def _ends_broker(metadata: bytes) -> bool:
    """Whether a line is missing or an id is malformed, an error that Kafka does not catch."""
    lines = _lines(metadata)
    if len(lines) < 2:
        return True
    values = [_SEPARATOR.split(line) for line in lines[:2]]
    if any(len(value) != 2 for value in values) or not _is_number(values[0][1], _INT32):
        return False
    return values[1][1] != ZERO_UUID.encode() and int(values[0][1]) >= 0


def _lenient(root: LogDirectory, name: str) -> Mapping[TopicPartition, int]:
    try:
        return _read(root, name)
    except _NoNumber:
        return {}


def _read(root: LogDirectory, name: str) -> Mapping[TopicPartition, int]:
    """The rows of one checkpoint; cached until the file changes, because every partition needs it.

    Raises:
        _NoNumber: a field of an entry is not a number.
        DirectoryFailure: it is malformed in another way.
        UnreadableFileError: the file is there and cannot be read.
    """
    path = checkpoint_path(root, name)
    version = file_version(path, context=root.context)
    if version is None:  # absent or not readable: reading it shows which
        read = _parsed(path, root.context)
    else:
        read = (_read_small if version.size_in_bytes <= _SMALL else _read_large)(
            path, root.context.looking_again(), version
        )
    if isinstance(read, Exception):
        raise read.with_traceback(None)
    return read


def _parsed(path: str, context: ReadContext) -> Mapping[TopicPartition, int] | Exception:
    content = read_if_present(path, CHECKPOINT_LIMIT, context=context)
    try:
        return MappingProxyType(
            {
                (topic.decode("utf-8", "replace"), int(partition)): int(offset)
                for topic, partition, offset in _entries(content or b"", (None, _INT32, _INT64))
            }
        )
    except _NoNumber as problem:
        return _NoNumber(f"{shown(path)}: {problem}")
    except _Malformed as problem:
        return DirectoryFailure(f"{shown(path)}: {problem}")


def _version_parsed(
    path: str, context: ReadContext, _version: FileVersion
) -> Mapping[TopicPartition, int] | Exception:
    return _parsed(path, context)


_read_small = lru_cache(maxsize=64)(_version_parsed)
_read_large = lru_cache(maxsize=12)(_version_parsed)


def _entries(content: bytes, bits: Sequence[int | None]) -> list[list[bytes]]:
    """The rows, split into fields; ``bits`` is the width of each number field, None for text."""
    lines = _lines(content)
    if not lines:
        return []
    version = _head(lines[0], 1)
    if version != 0:
        raise _Malformed(f"line 1: checkpoint version {version}, 0 expected")
    if len(lines) == 1:
        return []
    count = _head(lines[1], 2)
    if count < 0:  # new ArrayList(-1) throws an uncaught exception
        raise _NoNumber(f"line 2: {count} entries")
    entries = []
    for number, line in enumerate(lines[2:], 3):
        fields = _WHITESPACE.split(line)
        while len(fields) > 1 and fields[-1] == b"":  # as java.util.regex.Pattern#split
            fields.pop()
        if len(fields) != len(bits):
            raise _Malformed(f"line {number}: {len(fields)} fields, {len(bits)} expected")
        if not all(
            size is None or _is_number(field, size)
            for field, size in zip(fields, bits, strict=True)
        ):
            raise _NoNumber(f"line {number}: a field is not a number that Java can read")
        entries.append(fields)
    if len(entries) != count:
        raise _Malformed(f"line 2 announces {count} entries, found {len(entries)}")
    return entries


def _lines(content: bytes) -> list[bytes]:
    lines = _LINE_END.split(content)
    if lines[-1] == b"":  # a terminator at the very end does not start another line
        lines.pop()
    return lines


def _head(line: bytes, number: int) -> int:
    if not _is_number(line, _INT32):
        raise _Malformed(f"line {number}: not a number")
    return int(line)


def _is_number(field: bytes, bits: int) -> bool:
    """Whether Java's parseInt or parseLong accepts it."""
    if len(field) > _MAX_NUMBER or not _INTEGER.fullmatch(field):
        return False
    return -(1 << bits) <= int(field) < 1 << bits
