"""Partitions in the notation of the reference's scenarios, audited."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

import pytest

from fixtures.builder import Replica, cluster
from kafkalog_reader.audits.partition.auditor import audit_partition
from kafkalog_reader.audits.partition.partition_audit import PartitionAudit
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.tables.request import ReadRequest

if TYPE_CHECKING:
    from pathlib import Path

    from kafkalog_reader.io.read_context import ReadContext

Audited = Callable[..., PartitionAudit]


def audit_of(root: Path, topic: str = "t", context: ReadContext | None = None) -> PartitionAudit:
    """The audit of partition 0 of a topic below a folder."""
    request = ReadRequest(topics=frozenset({topic}))
    ((_, directories),) = discover([str(root)], context).topic_partitions(request)
    return audit_partition(directories)


@pytest.fixture
def audited(tmp_path: Path) -> Audited:
    """Write replicas of brokers 0, 1, … and audit them; the files stay in ``tmp_path``."""

    def audited(*replicas: Replica, clean: Collection[int] = ()) -> PartitionAudit:
        cluster(tmp_path, dict(enumerate(replicas)), clean=clean)
        return audit_of(tmp_path)

    return audited
