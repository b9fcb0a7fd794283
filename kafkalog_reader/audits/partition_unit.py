"""Units of work of the audit tables: a topic partition with all its live replicas."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kafkalog_reader.tables.table import Unit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kafkalog_reader.io.evidence import Evidence, PartitionDirectory
    from kafkalog_reader.tables.request import ReadRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionUnit(Unit):
    """One topic partition; its size is not known before its files are listed: 0."""

    directories: tuple[PartitionDirectory, ...]


def partition_units(evidence: Evidence, request: ReadRequest) -> Iterator[PartitionUnit]:
    """Yield the topic partitions asked for, each once."""
    for _, directories in evidence.topic_partitions(request):
        yield PartitionUnit(size_in_bytes=0, directories=directories)
