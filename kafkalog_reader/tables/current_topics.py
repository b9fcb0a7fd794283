"""Copies of the topic that exists, where a deleted topic of the same name has left some.

Source: KIP-516; Kafka's LogManager sets copies of another topic id aside as stray.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from kafkalog_reader.io.checkpoints import topic_id_of
from kafkalog_reader.io.names import shown
from kafkalog_reader.io.progress import no_progress
from kafkalog_reader.scan.damage import Mode
from kafkalog_reader.tables.metadata_history import metadata_history, metadata_units
from kafkalog_reader.tables.partition_states import PartitionStatesTable
from kafkalog_reader.tables.request import ReadRequest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kafkalog_reader.io.directories import PartitionDirectory
    from kafkalog_reader.io.evidence import Evidence

logger = logging.getLogger(__name__)


@dataclass(kw_only=True)
class CurrentTopics:
    """Tells copies of one topic from those of another of its name.

    The metadata log is read at the first question that needs it.
    """

    evidence: Evidence

    def copies(self, supplied: Sequence[PartitionDirectory]) -> Sequence[PartitionDirectory]:
        """The copies of a partition that are of the topic by the metadata log.

        All of them if they have one topic id, or none, or if no supplied metadata log has the
        topic. A warning names copies of another topic.
        """
        ids = [topic_id_of(each) for each in supplied] if len(supplied) > 1 else []
        if len({each for each in ids if each is not None}) < 2:
            return supplied
        root, topic = supplied[0].log_directory, supplied[0].topic
        name = f"{shown(topic or '?')}-{supplied[0].partition}"
        current = self._ids.get((root.cluster_id, topic))
        kept = [each for each, id_ in zip(supplied, ids, strict=True) if id_ in (None, current)]
        if current is None or not kept:
            held = zip(supplied, ids, strict=True)
            logger.warning(
                "%s: copies of different topics of this name; which of them exists is unknown: %s",
                name,
                ", ".join(f"{each.replica_name} has topic id {id_}" for each, id_ in held),
            )
            return supplied
        logger.warning(
            "%s: not read from %s: a copy of a deleted topic of this name",
            name,
            ", ".join(each.replica_name for each in supplied if each not in kept),
        )
        return kept

    def members(self, copies: Sequence[PartitionDirectory]) -> Sequence[PartitionDirectory]:
        """The copies that are in the ISR, or eligible leader replicas, by the metadata log."""
        directory = copies[0]
        place = directory.log_directory.cluster_id, directory.topic, directory.partition
        brokers = self._members.get(place, frozenset())
        return [each for each in copies if each.log_directory.broker_id in brokers]

    @cached_property
    def _members(self) -> Mapping[tuple[str | None, str | None, int | None], frozenset[int]]:
        table, request = PartitionStatesTable(), ReadRequest(mode=Mode.PERMISSIVE)
        found: dict[tuple[str | None, str | None, int | None], frozenset[int]] = {}
        for unit in table.units(self.evidence, request):
            for part in table.read(unit, request):
                for row in part.to_pylist():
                    if row["endOffset"] is None and row["change"] != "removed":
                        members = (*(row["isr"] or ()), *(row["eligibleLeaderReplicas"] or ()))
                        found[row["clusterId"], row["topic"], row["partition"]] = frozenset(members)
        return found

    @cached_property
    def _ids(self) -> Mapping[tuple[str | None, str | None], str]:
        """Topic ids by cluster id and name."""
        request = ReadRequest(mode=Mode.PERMISSIVE)
        found: dict[tuple[str | None, str | None], str] = {}
        for unit in metadata_units(self.evidence, request):
            for record in metadata_history(unit, request, no_progress):
                if record.name == "TopicRecord":
                    fields = record.fields
                    found[record.place["clusterId"], fields["name"]] = fields["topicId"]
        return found
