"""Parses the names that plugins of tiered storage (KIP-405) give what they copy.

Sources: Kafka 4.3, RemoteLogSegmentFileset (``LocalTieredStorage``, of its tests); Aiven's
tiered-storage-for-apache-kafka, ObjectKeyFactory.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import Final

from kafkalog_reader.format.offset_limits import MAX_OFFSET
from kafkalog_reader.io.names import MAX_PARTITION

MANIFEST_KIND: Final = "rsm-manifest"
"""Only Aiven's plugin writes one, beside each log."""
INDEXES_KIND: Final = "indexes"
EPOCHS_KIND: Final = "leader_epoch_checkpoint"
_UUID: Final = r"[A-Za-z0-9_-]{22}"
_FILE: Final = re.compile(
    rf"([0-9]{{20}})-({_UUID})\."
    r"(log|index|timeindex|txnindex|snapshot|leader_epoch_checkpoint|indexes|rsm-manifest)",
    re.ASCII,
)
_TOPIC: Final = r"([a-zA-Z0-9._-]{1,249})"
_APACHE: Final = re.compile(rf"{_TOPIC}-([0-9]{{1,10}})-({_UUID})", re.ASCII)
_AIVEN_TOPIC: Final = re.compile(rf"{_TOPIC}-({_UUID})", re.ASCII)
_AIVEN_PARTITION: Final = re.compile(r"[0-9]{1,10}", re.ASCII)


@dataclass(frozen=True, slots=True)
class RemoteFileName:
    """The parts of the name of one file of a remote segment."""

    base_offset: int
    segment_id: str
    kind: str


@dataclass(frozen=True, slots=True)
class RemoteFolderName:
    """The partition of a folder of remote segments.

    Attributes:
        store: the folder that holds those of all partitions.
        has_manifests: whether the layout is Aiven's, where each log has a manifest.
    """

    topic: str
    partition: int
    topic_id: str
    store: str
    has_manifests: bool


def parse_remote_file_name(name: str) -> RemoteFileName | None:
    """Parse the name of a file of a remote segment; None for another name."""
    match = _FILE.fullmatch(name)
    if match is None or (base_offset := int(match[1])) > MAX_OFFSET:
        return None
    return RemoteFileName(base_offset, match[2], match[3])


def parse_remote_folder(path: str) -> RemoteFolderName | None:
    """Parse the path of a folder of remote segments; None if it names no partition.

    Args:
        path: ends with ``TOPIC-PARTITION-TOPICID`` (Apache) or ``TOPIC-TOPICID/PARTITION``
            (Aiven).
    """
    above, name = os.path.split(os.path.abspath(path))
    match = _APACHE.fullmatch(name)
    if match is not None:
        return _folder(match[1], match[2], match[3], above, has_manifests=False)
    if _AIVEN_PARTITION.fullmatch(name) is None:
        return None
    store, topic = os.path.split(above)
    match = _AIVEN_TOPIC.fullmatch(topic)
    if match is None:
        return None
    return _folder(match[1], name, match[2], store, has_manifests=True)


def _folder(
    topic: str, partition: str, topic_id: str, store: str, *, has_manifests: bool
) -> RemoteFolderName | None:
    number = int(partition)
    if number > MAX_PARTITION:
        return None
    return RemoteFolderName(topic, number, topic_id, store, has_manifests)
