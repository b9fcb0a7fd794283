"""``meta.properties``: the cluster, node and directory ids of a log directory.

Source: Kafka 4.0, metadata.properties.MetaProperties and MetaPropertiesVersion.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from kafkalog_reader.errors import CorruptCheckpointError, LogPosition, UnsupportedFormatError
from kafkalog_reader.format.java_properties import parse_java_properties

if TYPE_CHECKING:
    from collections.abc import Mapping

NEWEST_VERSION: Final[int] = 1
_INTEGER: Final = re.compile(r"[+-]?[0-9]{1,10}", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class MetaProperties:
    """Version 0 (ZooKeeper) may lack node and cluster id; version 1 (KRaft) has both."""

    version: int
    cluster_id: str | None
    node_id: int | None
    directory_id: str | None


def parse_meta_properties(content: bytes, where: LogPosition) -> MetaProperties:
    """Parse a ``meta.properties`` file.

    Raises:
        CorruptCheckpointError: a required key is missing, or a number or an escape is malformed.
        UnsupportedFormatError: the version is newer than 1.
    """
    properties = parse_java_properties(content, where)
    version = _integer(properties, "version", where) or 0
    if version > NEWEST_VERSION:
        raise UnsupportedFormatError(
            f"meta.properties version {version}: only 0 and 1 are known", where
        )
    node_id = _integer(properties, "node.id" if version else "broker.id", where)
    cluster_id = properties.get("cluster.id")
    for key, value in (("node.id", node_id), ("cluster.id", cluster_id)):
        if version and value is None:
            raise CorruptCheckpointError(f"{key} is missing, which version 1 requires", where)
    return MetaProperties(
        version=version,
        cluster_id=cluster_id,
        node_id=node_id,
        directory_id=properties.get("directory.id"),
    )


def _integer(properties: Mapping[str, str], key: str, where: LogPosition) -> int | None:
    text = properties.get(key)
    if text is None:
        return None
    if _INTEGER.fullmatch(text) is None or not 0 <= int(text) < 2**31:
        raise CorruptCheckpointError(
            f"{key} is not a number from 0 to 2147483647: {text[:60]!r}", where
        )
    return int(text)
