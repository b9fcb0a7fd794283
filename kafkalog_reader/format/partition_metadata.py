"""``partition.metadata``: the topic id, which distinguishes topics with the same name.

Source: Kafka 4.0, storage.internals.checkpoint.PartitionMetadataFile.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from kafkalog_reader.errors import CorruptCheckpointError, LogPosition
from kafkalog_reader.format.text_lines import INT32, TextLine, excerpt, text_lines
from kafkalog_reader.format.uuid import ZERO_UUID, uuid_bytes, uuid_text

_SEPARATOR: Final = re.compile(rb":[ \t\n\x0b\f\r]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionMetadata:
    """Version as stored (Kafka accepts any from 0 on), and the topic id as 22-character text."""

    version: int
    topic_id: str


def parse_partition_metadata(content: bytes, where: LogPosition) -> PartitionMetadata:
    """Parse a ``partition.metadata`` file; Kafka does not check the names of the keys.

    Raises:
        CorruptCheckpointError: fewer than two lines, a malformed value, or the zero id.
    """
    lines = list(_first_two_lines(content, where))
    if len(lines) < 2:
        raise CorruptCheckpointError(
            f"expected the lines 'version: 0' and 'topic_id: ...', found {len(lines)} line(s)",
            where,
        )
    version = lines[0].integer(_value(lines[0]), "version", range(INT32.stop))
    return PartitionMetadata(version=version, topic_id=_topic_id(lines[1]))


def build_partition_metadata(metadata: PartitionMetadata) -> bytes:
    """Build the 43 bytes that Kafka writes, without a newline after the second line."""
    return f"version: {metadata.version}\ntopic_id: {metadata.topic_id}".encode()


def _first_two_lines(content: bytes, where: LogPosition) -> list[TextLine]:
    return [line for _, line in zip(range(2), text_lines(content, where), strict=False)]


def _value(line: TextLine) -> bytes:
    parts = _SEPARATOR.split(line.text)
    if len(parts) != 2:
        raise line.corrupt(f"expected 'key: value', found {excerpt(line.text)}")
    return parts[1]


def _topic_id(line: TextLine) -> str:
    value = _value(line)
    try:
        topic_id = uuid_text(uuid_bytes(value.decode("ascii")))
    except ValueError as error:  # UnicodeDecodeError is one
        raise line.corrupt(f"topic id is not a UUID: {excerpt(value)}") from error
    if topic_id == ZERO_UUID:
        raise line.corrupt("topic id is the zero UUID, which is not an id")
    return topic_id
