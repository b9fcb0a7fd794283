"""Which copies of each partition a table reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkalog_reader.io.remote_part import with_remote
from kafkalog_reader.tables.current_topics import CurrentTopics
from kafkalog_reader.tables.partition_copies import chosen_by_partition

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kafkalog_reader.io.directories import PartitionDirectory
    from kafkalog_reader.io.evidence import Evidence
    from kafkalog_reader.scan.expected_end import ExpectedEnds
    from kafkalog_reader.tables.request import ReadRequest


def chosen_replicas(
    evidence: Evidence,
    request: ReadRequest,
    expected: ExpectedEnds | None = None,
) -> Iterator[PartitionDirectory]:
    """Yield the live partition directories that ``request.replica`` asks for.

    The best copy is one of the topic that exists, if the metadata log was supplied. With it comes
    the remote part of the partition.

    Args:
        evidence: the supplied paths.
        request: which partitions and replicas.
        expected: where logs must reach; see ``chosen_by_partition``.

    Raises:
        UnreadableFileError: a directory cannot be listed or a log cannot be read.
    """
    damage = request.damage
    topics = CurrentTopics(evidence=evidence)
    supplied = with_remote(evidence)
    found = chosen_by_partition(supplied, request, damage, expected, topics.copies, topics.members)
    for _, chosen, _ in found:
        yield from chosen
