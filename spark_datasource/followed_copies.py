"""The copies that a stream reads: one of each partition, the same as long as it exists."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from kafkalog_reader.io.discovery import discover
from kafkalog_reader.io.read_context import ReadContext
from kafkalog_reader.io.remote_part import with_remote
from kafkalog_reader.scan.damage import Damage
from kafkalog_reader.scan.expected_end import ExpectedEnds
from kafkalog_reader.scan.log_tail import scan_tail
from kafkalog_reader.tables.asked_offsets import warn_of_no_high_watermark
from kafkalog_reader.tables.chosen_replicas import chosen_replicas
from kafkalog_reader.tables.selection import check_selection, without_metadata
from spark_datasource.clusters import check_one_cluster, of_cluster
from spark_datasource.stale_copies import StaleCopies

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kafkalog_reader.io.directories import PartitionDirectory
    from kafkalog_reader.io.evidence import Evidence
    from kafkalog_reader.tables.request import ReadRequest, TopicPartition
    from spark_datasource.options import SourceOptions


@dataclass(slots=True)
class FollowedCopies:
    """Finds the copy of each partition again at every trigger.

    Attributes:
        options: of the stream.
        request: what is read; without the topics that are left out, once it was looked for.
    """

    options: SourceOptions
    request: ReadRequest
    _kept: dict[TopicPartition, str] = field(default_factory=dict)
    _stale: StaleCopies = field(default_factory=StaleCopies)

    def find(self) -> dict[TopicPartition, PartitionDirectory]:
        """One copy of each existing partition: the one read before, if it still exists."""
        context = ReadContext(follow_links=self.options.follow_links)
        supplied = of_cluster(discover(self.options.paths, context), self.options.cluster_id)
        evidence = with_remote(supplied)
        if not self._kept:
            check_selection(evidence, self.request)
            self.request = without_metadata(evidence, self.request)
        check_one_cluster(evidence, self.request)
        found: dict[TopicPartition, PartitionDirectory] = {}
        kept_of: list[tuple[PartitionDirectory, Sequence[PartitionDirectory]]] = []
        new: set[str] = set()
        for (_, topic, partition), copies in evidence.topic_partitions(self.request):
            if topic is None or partition is None:
                continue
            kept = [each for each in copies if each.path == self._kept.get((topic, partition))]
            if kept:
                found[topic, partition] = kept[0]
                kept_of.append((kept[0], copies))
            else:
                new.add(topic)
        self._stale.look(kept_of)
        if new:
            for key, replica in self._chosen(evidence, new):
                found.setdefault(key, replica)
        if self.request.assigned is not None:
            found = {key: each for key, each in found.items() if key in self.request.assigned}
        self._kept.update({key: replica.path for key, replica in found.items()})
        return found

    def _chosen(
        self, evidence: Evidence, topics: set[str]
    ) -> Iterator[tuple[TopicPartition, PartitionDirectory]]:
        """The best copy of each partition of these topics; warn of what it may lack."""
        asked = replace(self.request, topics=frozenset(topics), assigned=None, topic_pattern=None)
        expected = ExpectedEnds()
        for replica in chosen_replicas(evidence, asked, expected):
            if replica.topic is not None and replica.partition is not None:
                yield (replica.topic, replica.partition), replica
                if not self._kept:  # later, its broker may not have written one yet
                    warn_of_no_high_watermark(replica, self.request)
                # Only a warning: a directory that is copied again may still get the records.
                lost = expected.missing_at_end(replica, scan_tail(replica).next_offset)
                if lost is not None:
                    Damage(self.request.mode, fail_on_data_loss=False).missing(lost)
