"""Names of directories and files as Kafka writes them, and hostile names made safe to show.

Source: Kafka 4.0, LocalLog#parseTopicPartitionName, LogFileUtils, Topic#validate.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from kafkalog_reader.errors import shown as shown  # errors show names too

_LIVE: Final = re.compile(r"([a-zA-Z0-9._-]{1,249})-([0-9]{1,20})", re.ASCII)
_RENAMED: Final = re.compile(
    r"([a-zA-Z0-9._-]{1,249})-([0-9]{1,20})\.[^.\s]{1,64}-(delete|future|stray)", re.ASCII
)
_SEGMENT_FILE: Final = re.compile(
    r"([0-9]{20})\.(log|index|timeindex|txnindex)(?:\.(deleted|cleaned|swap))?", re.ASCII
)
_SNAPSHOT_FILE: Final = re.compile(r"([0-9]{20})\.snapshot", re.ASCII)
_METADATA_SNAPSHOT: Final = re.compile(r"([0-9]{20})-([0-9]{10})\.checkpoint", re.ASCII)

MAX_PARTITION: Final = 2**31 - 1
MAX_OFFSET: Final = 2**63 - 1

METADATA_TOPIC: Final = "__cluster_metadata"
"""The log of the controllers; it follows rules of its own."""
INTERNAL_TOPICS: Final = frozenset({
    "__consumer_offsets", "__transaction_state", "__share_group_state", METADATA_TOPIC,
})  # fmt: skip
"""What consumers see by name only (``Topic.INTERNAL_TOPICS``), and what they never see."""
META_PROPERTIES: Final = "meta.properties"
CLEAN_SHUTDOWN: Final = ".kafka_cleanshutdown"
LEADER_EPOCHS: Final = "leader-epoch-checkpoint"
PARTITION_METADATA: Final = "partition.metadata"
OFFSET_CHECKPOINTS: Final = (
    "cleaner-offset-checkpoint",
    "log-start-offset-checkpoint",
    "recovery-point-offset-checkpoint",
    "replication-offset-checkpoint",
)
TEXT_FILES: Final = frozenset(
    (*OFFSET_CHECKPOINTS, LEADER_EPOCHS, META_PROPERTIES, PARTITION_METADATA, CLEAN_SHUTDOWN)
)
"""Small files of lines."""
NOT_A_PARTITION: Final = frozenset({"remote-log-index-cache", "lost+found"})
"""Directories that stand beside partitions in a sound log directory or on the top of a disk."""


@dataclass(frozen=True, slots=True)
class DirectoryName:
    """What the name of a partition directory says.

    Attributes:
        topic: of a ``delete`` or ``stray`` directory possibly cut, so that the name fits 255.
        state: None live; ``delete``, ``future`` or ``stray``.
    """

    topic: str
    partition: int
    state: str | None


@dataclass(frozen=True, slots=True)
class SegmentFileName:
    """What the name of a segment's file says: ``suffix`` is None on a live file."""

    base_offset: int
    kind: str
    suffix: str | None


def parse_directory_name(name: str) -> DirectoryName | None:
    """Take a partition directory's name apart; None when Kafka would not write it."""
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


def parse_segment_file_name(name: str) -> SegmentFileName | None:
    """Take the name of a segment's log or index apart; None when Kafka would not write it."""
    match = _SEGMENT_FILE.fullmatch(name)
    if match is None or (base_offset := int(match[1])) > MAX_OFFSET:
        return None
    return SegmentFileName(base_offset, match[2], match[3])


def parse_snapshot_file_name(name: str) -> int | None:
    """The offset in the name of a producer snapshot; None when it is none."""
    match = _SNAPSHOT_FILE.fullmatch(name)
    if match is None or (offset := int(match[1])) > MAX_OFFSET:
        return None
    return offset


def segment_file_name(base_offset: int, kind: str, suffix: str | None = None) -> str:
    """The name that Kafka gives a segment's ``log``, ``index``, ``timeindex`` or ``txnindex``."""
    return f"{base_offset:020d}.{kind}" + (f".{suffix}" if suffix else "")


def parse_metadata_snapshot_name(name: str) -> tuple[int, int] | None:
    """(end offset, leader epoch) in the name of a KRaft snapshot; None when it is none.

    Source: Kafka 4.0, org.apache.kafka.snapshot.Snapshots.
    """
    match = _METADATA_SNAPSHOT.fullmatch(name)
    if match is None or (end_offset := int(match[1])) > MAX_OFFSET:
        return None
    return end_offset, int(match[2])
