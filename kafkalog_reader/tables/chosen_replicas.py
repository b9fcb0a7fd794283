"""Which copies of each partition a table reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkalog_reader.io.remote_part import with_remote
from kafkalog_reader.scan.damage import Damage
from kafkalog_reader.tables.best_replica import chosen_by_partition
from kafkalog_reader.tables.current_topics import CurrentTopics

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kafkalog_reader.io.evidence import Evidence, LogDirectory, PartitionDirectory
    from kafkalog_reader.tables.request import ReadRequest


def chosen_replicas(
    evidence: Evidence,
    request: ReadRequest,
    prepare: Callable[[LogDirectory], None] | None = None,
) -> Iterator[PartitionDirectory]:
    """Yield the live partition directories that ``request.replica`` asks for.

    The best copy is one of the topic that exists, if the metadata log was supplied. With it comes
    the remote part of the partition.

    Args:
        evidence: the supplied paths.
        request: which partitions and replicas.
        prepare: reads what must be older than the logs, before folders of its log directory are
            listed.

    Raises:
        UnreadableFileError: a directory cannot be listed or a log cannot be read.
    """
    damage = Damage(request.mode)
    topics = CurrentTopics(evidence=evidence)
    supplied = with_remote(evidence)
    for _, chosen, _ in chosen_by_partition(supplied, request, damage, prepare, topics.copies):
        yield from chosen
