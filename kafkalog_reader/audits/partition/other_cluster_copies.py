"""Copies that were supplied, but with the cluster id of another cluster in ``meta.properties``.

KL-008 says which id is wrong; nothing is to be supplied besides.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cached_property
from typing import TYPE_CHECKING

from kafkalog_reader.io.checkpoints import topic_id_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kafkalog_reader.io.directories import Identity, PartitionDirectory
    from kafkalog_reader.io.evidence import Evidence
    from kafkalog_reader.tables.request import ReadRequest


class OtherClusterCopies:
    """Finds them by topic id, which is random; listed when one is first asked for."""

    def __init__(self, evidence: Evidence, request: ReadRequest) -> None:
        self._evidence = evidence
        self._request = request

    @cached_property
    def _replicas(self) -> Mapping[tuple[str | None, int | None], Sequence[PartitionDirectory]]:
        found = defaultdict(list)
        if len({root.cluster_id for root in self._evidence.log_directories}) > 1:
            for each in self._evidence.partition_directories(self._request):
                if each.is_replica:
                    found[each.topic, each.partition].append(each)
        return found

    def brokers(self, identity: Identity, topic_id: str | None) -> frozenset[int]:
        """Node ids of the brokers that hold a copy of a partition under another cluster id."""
        if topic_id is None:
            return frozenset()
        cluster_id, place = identity[0], identity[1:]
        return frozenset(
            each.log_directory.broker_id
            for each in self._replicas.get(place, ())
            if each.log_directory.cluster_id != cluster_id
            and each.log_directory.broker_id is not None
            and topic_id_of(each) == topic_id
        )
