"""How thoroughly the files of replicas are checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kafkalog_reader.audits.recovery.rule import CURRENT_RULE, DEFAULT_CONFIG
from kafkalog_reader.io.names import METADATA_TOPIC

if TYPE_CHECKING:
    from kafkalog_reader.audits.recovery.rule import ClusterTopics, LogConfig
    from kafkalog_reader.tables.request import ReadRequest

_MAX_MESSAGE = "max.message.bytes"


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChecks:
    """What is checked besides headers, checksums and the small files.

    Attributes:
        deep: whether to decompress and decode every record.
        from_timestamp, to_timestamp: milliseconds, half-open; segments completely outside are not
            read.
        max_message_bytes: the topic's; None if its configuration is unknown.
        retention: the topic's configuration; None if no time deletes its segments.
    """

    deep: bool = False
    from_timestamp: int | None = None
    to_timestamp: int | None = None
    max_message_bytes: int | None = None
    retention: LogConfig | None = DEFAULT_CONFIG

    @property
    def has_time_range(self) -> bool:
        return self.from_timestamp is not None or self.to_timestamp is not None

    @classmethod
    def asked(
        cls, request: ReadRequest, topic: str | None, topics: ClusterTopics | None
    ) -> FileChecks:
        """The checks that a request asks for on one topic."""
        return cls(
            deep=request.deep,
            from_timestamp=request.from_timestamp,
            to_timestamp=request.to_timestamp,
            max_message_bytes=_max_message_bytes(topic, topics),
            retention=_retention(topic, topics),
        )


def _retention(topic: str | None, topics: ClusterTopics | None) -> LogConfig | None:
    config = CURRENT_RULE.config_of(topic, topics)
    expires = config.retention_ms is not None and topic != METADATA_TOPIC  # by its snapshots
    return config if expires else None


def _max_message_bytes(topic: str | None, topics: ClusterTopics | None) -> int | None:
    if topic is None or topics is None:
        return None
    text = topics.configs.get(topic, {}).get(_MAX_MESSAGE, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 20 else None
