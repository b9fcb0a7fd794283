"""Parses the names of directories and files that Kafka writes.

Source: Kafka 4.0, LocalLog#parseTopicPartitionName, LogFileUtils, Topic#validate.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from kafkalog_reader.errors import shortened as shortened
from kafkalog_reader.errors import shown as shown  # errors show names too
from kafkalog_reader.format.offset_limits import MAX_OFFSET

if TYPE_CHECKING:
    from collections.abc import Iterator

_LIVE: Final = re.compile(r"([a-zA-Z0-9._-]{1,249})-([0-9]{1,20})", re.ASCII)
_RENAMED: Final = re.compile(
    r"([a-zA-Z0-9._-]{1,249})-([0-9]{1,20})\.[^.\s]{1,64}-(delete|future|stray)", re.ASCII
)
_NUMBERED: Final = re.compile(r"-[0-9]{1,10}(?![0-9])", re.ASCII)
_SEGMENT_FILE: Final = re.compile(
    r"([0-9]{20})\.(log|index|timeindex|txnindex)(?:\.(deleted|cleaned|swap))?", re.ASCII
)
_SNAPSHOT_FILE: Final = re.compile(r"([0-9]{20})\.snapshot", re.ASCII)
_METADATA_SNAPSHOT: Final = re.compile(r"([0-9]{20})-([0-9]{10})\.checkpoint", re.ASCII)

MAX_PARTITION: Final = 2**31 - 1

OFFSETS_TOPIC: Final = "__consumer_offsets"
TRANSACTION_STATE_TOPIC: Final = "__transaction_state"
SHARE_GROUP_STATE_TOPIC: Final = "__share_group_state"
REMOTE_LOG_METADATA_TOPIC: Final = "__remote_log_metadata"
METADATA_TOPIC: Final = "__cluster_metadata"
"""The log of the controllers, which has its own rules."""
INTERNAL_TOPICS: Final = frozenset({
    OFFSETS_TOPIC, TRANSACTION_STATE_TOPIC, SHARE_GROUP_STATE_TOPIC, METADATA_TOPIC,
})  # fmt: skip
"""Topics that consumers see only by name (``Topic.INTERNAL_TOPICS``), or never."""
META_PROPERTIES: Final = "meta.properties"
QUORUM_STATE: Final = "quorum-state"
CLEAN_SHUTDOWN: Final = ".kafka_cleanshutdown"
BOOTSTRAP_CHECKPOINT: Final = "bootstrap.checkpoint"
LOCK: Final = ".lock"
LEADER_EPOCHS: Final = "leader-epoch-checkpoint"
LOG_START_CHECKPOINT: Final = "log-start-offset-checkpoint"
PARTITION_METADATA: Final = "partition.metadata"
OFFSET_CHECKPOINTS: Final = (
    "cleaner-offset-checkpoint",
    "log-start-offset-checkpoint",
    "recovery-point-offset-checkpoint",
    "replication-offset-checkpoint",
)
ASIDE: Final = "aside"
"""The folder into which `kafkalog plan` and A6 let people move copies, beside a log directory."""
MANIFEST: Final = "manifest.json"
MANIFEST_KEY: Final = "kafkalogVersion"
"""In each folder that ``kafkalog salvage`` wrote, and the key that its content begins with."""
TEXT_FILES: Final = frozenset(
    (*OFFSET_CHECKPOINTS, LEADER_EPOCHS, META_PROPERTIES, PARTITION_METADATA, CLEAN_SHUTDOWN)
)
"""Small files of lines."""
REMOTE: Final = "remote"
"""The state of a folder with the remote part of a partition (KIP-405)."""
REMOTE_INDEX_CACHE: Final = "remote-log-index-cache"
LOST_AND_FOUND: Final = "lost+found"
OF_FILE_SYSTEM: Final = frozenset({LOST_AND_FOUND, ".snapshot"})
"""Folders that a file system or a filer has in its root."""
"""At the root of a disk; a broker whose log directory that is does not start, a controller does."""
NOT_A_PARTITION: Final = frozenset({REMOTE_INDEX_CACHE, LOST_AND_FOUND})
"""Directories in which no logs are searched."""


@dataclass(frozen=True, slots=True)
class DirectoryName:
    """The parts of a partition directory's name.

    Attributes:
        topic: may be shortened in a ``delete`` or ``stray`` directory, so that its name has at most
            255 characters.
        state: None if live; otherwise ``delete``, ``future`` or ``stray``.
    """

    topic: str
    partition: int
    state: str | None


@dataclass(frozen=True, slots=True)
class SegmentFileName:
    """The parts of a segment file's name; ``suffix`` is None for a live file."""

    base_offset: int
    kind: str
    suffix: str | None


def parse_directory_name(name: str) -> DirectoryName | None:
    """Parse the name of a partition directory; None if Kafka would not write it."""
    match = _LIVE.fullmatch(name)
    state = None
    if match is None:
        match = _RENAMED.fullmatch(name)
        if match is None:
            return None
        state = match[3]
    topic, partition = match[1], int(match[2])
    if partition > MAX_PARTITION or topic in (".", "..") or len(name) > 255:
        return None
    return DirectoryName(topic, partition, state)


def original_names(name: str) -> Iterator[DirectoryName]:
    """Partitions whose folder may have been renamed to this, such as ``t-0`` to ``t-0.bak``.

    Yields:
        Every partition with whose name it begins, the longest first.
    """
    for match in reversed(list(_NUMBERED.finditer(name))):
        parsed = parse_directory_name(name[: match.end()])
        if parsed is not None and match.end() < len(name):
            yield parsed


@lru_cache(maxsize=4096)  # all partitions begin with the same names
def parse_segment_file_name(name: str) -> SegmentFileName | None:
    """Parse the name of a segment's log or index; None if Kafka would not write it."""
    match = _SEGMENT_FILE.fullmatch(name)
    if match is None or (base_offset := int(match[1])) > MAX_OFFSET:
        return None
    return SegmentFileName(base_offset, match[2], match[3])


def parse_snapshot_file_name(name: str) -> int | None:
    """The offset in the name of a producer snapshot; None for another name."""
    match = _SNAPSHOT_FILE.fullmatch(name)
    if match is None or (offset := int(match[1])) > MAX_OFFSET:
        return None
    return offset


def is_replica_file(name: str) -> bool:
    """Whether Kafka gives a file of a partition this name."""
    return name in (LEADER_EPOCHS, PARTITION_METADATA, QUORUM_STATE) or any(
        parsed is not None
        for parsed in (
            parse_segment_file_name(name),
            parse_snapshot_file_name(name),
            parse_metadata_snapshot_name(name),
        )
    )


def segment_file_name(base_offset: int, kind: str, suffix: str | None = None) -> str:
    """The name that Kafka gives a segment's ``log``, ``index``, ``timeindex`` or ``txnindex``."""
    return f"{base_offset:020d}.{kind}" + (f".{suffix}" if suffix else "")


def parse_metadata_snapshot_name(name: str) -> tuple[int, int] | None:
    """(end offset, leader epoch) in the name of a KRaft snapshot; None for another name.

    Source: Kafka 4.0, org.apache.kafka.snapshot.Snapshots.
    """
    match = _METADATA_SNAPSHOT.fullmatch(name)
    if match is None or (end_offset := int(match[1])) > MAX_OFFSET:
        return None
    return end_offset, int(match[2])
