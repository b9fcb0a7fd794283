"""Which topics the log cleaner compacts, by the metadata log and the cleaner's checkpoint.

Source: Kafka 4.4, LogConfig, DynamicLogConfig; LogCleanerManager has a row for each cleaned log.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Final

from kafkalog_reader.errors import LocatedError
from kafkalog_reader.io.checkpoints import checkpointed_offsets, topic_id_of
from kafkalog_reader.io.progress import no_progress
from kafkalog_reader.scan.damage import Mode
from kafkalog_reader.tables.compacted_since_creation import compacted_since_creation
from kafkalog_reader.tables.metadata_history import metadata_history, metadata_units
from kafkalog_reader.tables.request import ReadRequest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kafkalog_reader.io.directories import PartitionDirectory
    from kafkalog_reader.io.evidence import Evidence
    from kafkalog_reader.tables.compacted_since_creation import TopicIds
    from kafkalog_reader.tables.metadata_history import MetadataRecord

_CLEANER_OFFSETS: Final = "cleaner-offset-checkpoint"
_OF_TOPIC: Final = "cleanup.policy"
_OF_BROKER: Final = "log.cleanup.policy"
_OF_RETENTION: Final = "retention.ms", "retention.bytes", "remote.storage.enable"
_TOPIC, _BROKER = 2, 4
_ALL_BROKERS: Final = ""


@dataclass(kw_only=True)
class CleanupPolicies:
    """The cleanup policies of topics. The metadata log is read at the first question."""

    evidence: Evidence

    def is_compacted(self, directory: PartitionDirectory) -> bool | None:
        """Whether the log cleaner removes superseded records of a replica.

        A topic without a policy of its own has the brokers'. If that is from ``server.properties``,
        only the cleaner's checkpoint shows it.

        Returns:
            None if no supplied metadata log has the topic.
        """
        is_compacted, _ = self._of(directory)
        return is_compacted

    def is_only_compacted(self, directory: PartitionDirectory) -> bool | None:
        """Whether nothing else removes records of a replica: retention deletes no segment.

        Returns:
            None if no supplied metadata log has the topic, or its policy.
        """
        _, policy = self._of(directory)
        return None if policy is None else policy.strip() == "compact"

    def is_compacted_since_creation(self, directory: PartitionDirectory) -> bool:
        """Whether a replica is of a topic whose log begins at 0 for ever; False: not known."""
        ids = self._since_creation.get(directory.log_directory.cluster_id, frozenset())
        return bool(ids) and topic_id_of(directory) in ids

    def has_unlimited_retention(self, directory: PartitionDirectory) -> bool:
        """Whether the topic's own settings keep its records for ever, on the broker's disk."""
        cluster = self._clusters.get(directory.log_directory.cluster_id)
        return (
            cluster is not None
            and directory.topic is not None
            and cluster.is_unlimited(directory.topic)
        )

    def _of(self, directory: PartitionDirectory) -> tuple[bool | None, str | None]:
        """Whether a replica is compacted, and the policy if the metadata log has one."""
        root, topic = directory.log_directory, directory.topic
        cluster = self._clusters.get(root.cluster_id)
        if topic is None or cluster is None or topic not in cluster.names.values():
            return None, None
        policy = cluster.policy(topic, root.broker_id)
        if policy is not None:
            return "compact" in policy, policy
        try:
            rows = checkpointed_offsets(root, _CLEANER_OFFSETS)
        except LocatedError:  # `kafkalog verify` reports it
            return None, None
        return (topic, directory.partition) in rows, None

    @cached_property
    def _since_creation(self) -> Mapping[str | None, TopicIds]:
        return compacted_since_creation(self.evidence)

    @cached_property
    def _clusters(self) -> Mapping[str | None, _Cluster]:
        request = ReadRequest(mode=Mode.PERMISSIVE)
        found: dict[str | None, _Cluster] = {}
        for unit in metadata_units(self.evidence, request):
            for record in metadata_history(unit, request, no_progress):
                found.setdefault(record.place["clusterId"], _Cluster()).apply(record)
        return found


@dataclass(slots=True)
class _Cluster:
    """The topics of a cluster by id, and the policies that were set."""

    names: dict[str, str] = field(default_factory=dict)
    _set: dict[tuple[int, str], str] = field(default_factory=dict)
    _retention: dict[str, dict[str, str]] = field(default_factory=dict)

    def apply(self, record: MetadataRecord) -> None:
        fields = record.fields
        match record.name:
            case "TopicRecord":
                self.names[fields["topicId"]] = fields["name"]
            case "RemoveTopicRecord":
                name = self.names.pop(fields["topicId"], "")
                self._set.pop((_TOPIC, name), None)
                self._retention.pop(name, None)
            case "ConfigRecord" if fields["name"] in (_OF_TOPIC, _OF_BROKER):
                resource = fields["resourceType"], fields["resourceName"]
                self._set.pop(resource, None)
                if fields["value"] is not None:
                    self._set[resource] = fields["value"]
            case "ConfigRecord" if (
                fields["resourceType"] == _TOPIC and fields["name"] in _OF_RETENTION
            ):
                said = self._retention.setdefault(fields["resourceName"], {})
                said.pop(fields["name"], None)
                if fields["value"] is not None:
                    said[fields["name"]] = fields["value"]
            case _:
                pass

    def is_unlimited(self, topic: str) -> bool:
        said = self._retention.get(topic, {})
        return (
            said.get("retention.ms") == "-1" == said.get("retention.bytes", "-1")
            and said.get("remote.storage.enable") != "true"
        )

    def policy(self, topic: str, broker_id: int | None) -> str | None:
        """The policy of a topic on a broker; None: no record says it."""
        places = (_TOPIC, topic), (_BROKER, str(broker_id)), (_BROKER, _ALL_BROKERS)
        return next((self._set[place] for place in places if place in self._set), None)
