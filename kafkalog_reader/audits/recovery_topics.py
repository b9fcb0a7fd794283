"""Topic ids and topic configurations from a copy of the metadata log, where one was supplied.

Three kinds of records are looked at: topics, their removal, and settings. Source: Kafka 4.0,
TopicRecord, RemoveTopicRecord, ConfigRecord; flexible encoding, KIP-482.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.recovery_rule import ClusterTopics
from kafkalog_reader.errors import KafkaLogError
from kafkalog_reader.format.uuid import UUID_SIZE, uuid_text
from kafkalog_reader.tables.records import RecordsTable
from kafkalog_reader.tables.request import Mode, ReadRequest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kafkalog_reader.io.evidence import Evidence

logger = logging.getLogger(__name__)

METADATA_TOPIC: Final = "__cluster_metadata"
_TOPIC_RECORD: Final = 2
_CONFIG_RECORD: Final = 4
_REMOVE_TOPIC_RECORD: Final = 9
_TOPIC_RESOURCE: Final = 2
_LONGEST_VARINT: Final = 5
_FIRST_OFFSETS: Final = 1
"""A log that is whole begins at 0, or at 1 behind the marker of its first leader."""


def read_cluster_topics(evidence: Evidence) -> dict[str | None, ClusterTopics]:
    """By cluster id: what the most advanced copy of its metadata log says of the topics.

    A copy is replayed from its first record; one whose beginning was replaced by a snapshot knows
    too little and counts as none.
    """
    copies: dict[str, _Topics] = {}
    table = RecordsTable()
    for unit in table.units(evidence, _REQUEST):
        try:
            for rows in table.read(unit, _REQUEST):
                columns = (rows[name].to_pylist() for name in _COLUMNS)
                for path, cluster_id, offset, value in zip(*columns, strict=True):
                    copies.setdefault(path, _Topics(cluster_id, offset)).apply(offset, value or b"")
        except KafkaLogError as error:
            logger.warning("%s", error)
    best: dict[str | None, _Topics] = {}
    for copy in copies.values():
        if copy.first_offset <= _FIRST_OFFSETS and (
            copy.cluster_id not in best or copy.last_offset > best[copy.cluster_id].last_offset
        ):
            best[copy.cluster_id] = copy
    return {cluster_id: copy.result() for cluster_id, copy in best.items()}


_COLUMNS: Final = ("logDirectory", "clusterId", "offset", "value")
_REQUEST: Final = ReadRequest(
    columns=_COLUMNS,
    topics=frozenset({METADATA_TOPIC}),
    include_control_records=False,
    mode=Mode.DROPMALFORMED,
)


class _Topics:
    """The topics so far."""

    def __init__(self, cluster_id: str | None, first_offset: int) -> None:
        self.cluster_id = cluster_id
        self.first_offset = self.last_offset = first_offset
        self.ids: dict[str, str] = {}
        self.configs: dict[str, dict[str, str]] = {}

    def apply(self, offset: int, value: bytes) -> None:
        """Replay one record; one that cannot be read changes nothing."""
        self.last_offset = offset
        try:
            fields = _Fields(value)
            fields.varint()  # frame version
            kind, _ = fields.varint(), fields.varint()
            if kind == _TOPIC_RECORD:
                name = fields.text() or ""
                self.ids[name] = fields.uuid()
            elif kind == _REMOVE_TOPIC_RECORD:
                gone = fields.uuid()
                for name in [name for name, topic_id in self.ids.items() if topic_id == gone]:
                    del self.ids[name]
                    self.configs.pop(name, None)
            elif kind == _CONFIG_RECORD and fields.byte() == _TOPIC_RESOURCE:
                topic, name, setting = fields.text() or "", fields.text() or "", fields.text()
                if setting is None:
                    self.configs.get(topic, {}).pop(name, None)
                else:
                    self.configs.setdefault(topic, {})[name] = setting
        except (IndexError, ValueError):
            logger.warning("a metadata record cannot be read, left out")

    def result(self) -> ClusterTopics:
        return ClusterTopics(topic_ids=self.ids, configs=self.configs)


class _Fields:
    """Fields of one metadata record, one after another; IndexError where they end too early."""

    def __init__(self, value: bytes) -> None:
        self._bytes = iter(value)

    def byte(self) -> int:
        try:
            return next(self._bytes)
        except StopIteration:
            raise IndexError from None

    def varint(self) -> int:
        number = 0
        for shift in range(_LONGEST_VARINT):
            byte = self.byte()
            number |= (byte & 0x7F) << (7 * shift)
            if byte < 0x80:
                return number
        raise ValueError("endless varint")

    def text(self) -> str | None:
        size = self.varint()
        return None if size == 0 else bytes(self._take(size - 1)).decode("utf-8")

    def uuid(self) -> str:
        return uuid_text(bytes(self._take(UUID_SIZE)))

    def _take(self, size: int) -> Iterator[int]:
        return (self.byte() for _ in range(size))
