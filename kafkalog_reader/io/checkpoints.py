"""Reads the small files about a partition: offsets, leader epochs, topic id, producers."""

from __future__ import annotations

import contextlib
import os
import threading
from collections import OrderedDict
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

from kafkalog_reader.errors import CorruptCheckpointError, LocatedError, LogPosition
from kafkalog_reader.format.checkpoint import parse_leader_epoch_checkpoint, parse_offset_rows
from kafkalog_reader.format.partition_metadata import parse_partition_metadata
from kafkalog_reader.io.names import LEADER_EPOCHS, PARTITION_METADATA, shown
from kafkalog_reader.io.small_file import CHECKPOINT_LIMIT, METADATA_LIMIT, read_if_present

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kafkalog_reader.format.checkpoint import LeaderEpochEntry
    from kafkalog_reader.io.directories import LogDirectory, PartitionDirectory
    from kafkalog_reader.io.read_context import ReadContext

TopicPartition = tuple[str, int]

_MAX_KEPT: Final = 64 << 20
"""Bytes of checkpoints whose rows are kept, which take about ten times as much memory."""
_ALWAYS_KEPT: Final = 4
"""Of checkpoints that are larger together."""
_METADATA_KEPT: Final = 256
"""Maximum bytes of a ``partition.metadata`` whose topic id is cached; Kafka writes 43."""
_VERSION_ALONE: Final = 2
"""Maximum bytes of a checkpoint without the number of its rows."""

_ABOUT_THE_END: Final = frozenset(
    {"replication-offset-checkpoint", "recovery-point-offset-checkpoint"}
)


def read_offset_checkpoint(path: str, *, context: ReadContext) -> dict[TopicPartition, int]:
    """The offsets of an offset checkpoint by topic partition; empty if there is no such file.

    If a partition is listed twice, the last offset counts, as for the broker.

    Raises:
        CorruptCheckpointError: the grammar is violated, which makes every row doubtful.
        UnsupportedFormatError: a newer version.
        UnreadableFileError: the file is there and cannot be read.
    """
    content = read_if_present(path, CHECKPOINT_LIMIT, context=context)
    if content is None:
        return {}
    return parse_offset_rows(content, LogPosition(shown(path)))


def checkpointed_offsets(root: LogDirectory, name: str) -> Mapping[TopicPartition, int]:
    """One offset checkpoint of a log directory, cached until the file changes.

    Every unit of work on a log directory needs the same four files.

    Raises:
        KafkaLogError: see ``read_offset_checkpoint``.
    """
    return root.context.once(("checkpoint", root.path, name), lambda: _checkpointed(root, name))


def _checkpointed(root: LogDirectory, name: str) -> Mapping[TopicPartition, int]:
    path, context = checkpoint_path(root, name), root.context
    version = file_version(path, context=context)
    if version is None:  # absent or not readable: reading it shows which
        return MappingProxyType(read_offset_checkpoint(path, context=context))
    return _kept.rows(path, version, context)


class FileVersion(NamedTuple):
    """The attributes that change when a file or folder does."""

    inode: int
    size_in_bytes: int
    modified_at_ns: int


def file_version(path: str, *, context: ReadContext) -> FileVersion | None:
    """The version of a file, read once a look; None if the file is absent."""
    return context.once(("version", path), lambda: _file_version(path, context))


def _file_version(path: str, context: ReadContext) -> FileVersion | None:
    try:
        status = os.stat(path, follow_symlinks=context.follow_links)
    except OSError:
        return None
    return FileVersion(status.st_ino, status.st_size, status.st_mtime_ns)


def checkpoint_path(root: LogDirectory, name: str) -> str:
    """The path of an offset checkpoint of a log directory, whether it exists or not."""
    return os.path.join(root.path, name)


class _Kept:
    """Checkpoints that were read last: all brokers are asked for each partition in turn.

    How many there are does not matter, only their size: a fleet has hundreds of small ones.
    """

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._lock = threading.Lock()
        self._size = 0
        self._rows: OrderedDict[tuple[str, bool, FileVersion], Mapping[TopicPartition, int]] = (
            OrderedDict()
        )

    def rows(
        self, path: str, version: FileVersion, context: ReadContext
    ) -> Mapping[TopicPartition, int]:
        """The rows of this version of a checkpoint.

        Raises:
            KafkaLogError: see ``read_offset_checkpoint``.
        """
        key = (path, context.follow_links, version)
        with self._lock:
            if key in self._rows:
                self._rows.move_to_end(key)
                return self._rows[key]
        rows = MappingProxyType(read_offset_checkpoint(path, context=context.looking_again()))
        with self._lock:
            if key not in self._rows:
                self._rows[key] = rows
                self._size += version.size_in_bytes
            while self._size > self._max_bytes and len(self._rows) > _ALWAYS_KEPT:
                (_, _, dropped), _ = self._rows.popitem(last=False)
                self._size -= dropped.size_in_bytes
        return rows


def is_absent(root: LogDirectory, name: str) -> bool:
    """Whether a log directory has no such checkpoint."""
    return file_version(checkpoint_path(root, name), context=root.context) is None


def is_empty(root: LogDirectory, name: str) -> bool:
    """Whether a checkpoint holds no byte, or only the version.

    A broker reads it as one without rows, as if it were missing. It creates the file empty, and
    then always writes the number of rows, too.
    """
    version = file_version(checkpoint_path(root, name), context=root.context)
    return version is not None and version.size_in_bytes <= _VERSION_ALONE


_kept: Final = _Kept(_MAX_KEPT)


def read_leader_epochs(
    partition_directory: str, *, context: ReadContext
) -> tuple[LeaderEpochEntry, ...] | None:
    """The rows of a partition's leader epoch checkpoint, unchanged; None if there is no file.

    Raises:
        CorruptCheckpointError: the grammar is broken.
        UnsupportedFormatError: a newer version.
        UnreadableFileError: the file is there and cannot be read.
    """
    path = os.path.join(partition_directory, LEADER_EPOCHS)
    content = read_if_present(path, CHECKPOINT_LIMIT, context=context)
    return (
        None
        if content is None
        else parse_leader_epoch_checkpoint(content, LogPosition(shown(path)))
    )


def checkpointed_row(directory: PartitionDirectory, name: str) -> int | None:
    """The offset of a partition in a checkpoint of its log directory; None without a row.

    None, too, of single segment files for what is about the end of the log: others may follow.

    Raises:
        LocatedError: the checkpoint is damaged, or cannot be read.
    """
    if directory.topic is None or directory.partition is None:
        return None
    if directory.only is not None and name in _ABOUT_THE_END:
        return None
    offsets = checkpointed_offsets(directory.log_directory, name)
    return offsets.get((directory.topic, directory.partition))


def read_topic_id(partition_directory: str, *, context: ReadContext) -> str | None:
    """The topic id in ``partition.metadata``; None if there is no file, as before Kafka 2.8.

    Raises:
        CorruptCheckpointError: it names no topic id.
        UnreadableFileError: the file is there and cannot be read.
    """
    path = os.path.join(partition_directory, PARTITION_METADATA)
    content = read_if_present(path, METADATA_LIMIT, context=context)
    if content is None:
        return None
    return parse_topic_id(content, path)


def topic_id_of(directory: PartitionDirectory) -> str | None:
    """The topic id of a copy; None also if it cannot be read, which ``kafkalog verify`` reports."""
    try:
        return read_topic_id(directory.path, context=directory.context)
    except LocatedError:
        return None


def is_without_topic_ids(directory: PartitionDirectory) -> bool:
    """Whether a copy has no topic id because its broker writes none.

    Brokers of a ZooKeeper cluster do not before Kafka 2.8, nor with an older
    inter.broker.protocol.version; then no folder of the log directory has a partition.metadata.
    """
    root = directory.log_directory
    if root.meta_version != 0:
        return False
    try:
        with os.scandir(root.path) as entries:
            folders = [directory.path, *(each.path for each in entries if each.is_dir())]
    except OSError:
        return False
    return not any(os.path.lexists(os.path.join(each, PARTITION_METADATA)) for each in folders)


def parse_topic_id(content: bytes, path: str) -> str:
    """The topic id in the content of a ``partition.metadata``, the same in all partitions.

    Raises:
        CorruptCheckpointError: it names no topic id.
    """
    if len(content) <= _METADATA_KEPT:
        with contextlib.suppress(CorruptCheckpointError):  # raised with the right place below
            return _parsed_topic_id(content)
    return parse_partition_metadata(content, LogPosition(shown(path))).topic_id


@lru_cache(maxsize=64)
def _parsed_topic_id(content: bytes) -> str:
    return parse_partition_metadata(content, LogPosition("")).topic_id


def read_producer_snapshot(
    partition_directory: str, offset: int, *, context: ReadContext
) -> bytes | None:
    """The content of the producer snapshot taken before ``offset``; None if there is none.

    Raises:
        UnreadableFileError: the file is there and cannot be read.
    """
    path = producer_snapshot_path(partition_directory, offset)
    return read_if_present(path, CHECKPOINT_LIMIT, context=context)


def producer_snapshot_path(partition_directory: str, offset: int) -> str:
    """The path of the producer snapshot taken before ``offset``, whether it exists or not."""
    return os.path.join(partition_directory, f"{offset:020d}.snapshot")
