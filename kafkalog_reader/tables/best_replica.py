"""Which replicas to read: all, those of one broker, or of each partition the best copy."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from kafkalog_reader.errors import UsageError
from kafkalog_reader.tables.batch_scan import scan_tail

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kafkalog_reader.io.evidence import Evidence, PartitionDirectory
    from kafkalog_reader.tables.request import ReadRequest

logger = logging.getLogger(__name__)


def chosen_replicas(evidence: Evidence, request: ReadRequest) -> Iterator[PartitionDirectory]:
    """Yield the partition directories that ``request.replica`` asks for."""
    for _, replicas in evidence.topic_partitions(request):
        yield from replicas
