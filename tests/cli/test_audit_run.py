"""What replica-diff and report have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
import pytest

from fixtures.builder import cluster, replica
from kafkalog_reader.audits.partition.partition_unit import PartitionUnit
from kafkalog_reader.cli.audit_run import audits, fleet_of, links_of, requested
from kafkalog_reader.cli.replica_diff import replica_diff
from kafkalog_reader.errors import UsageError
from kafkalog_reader.registry import table

if TYPE_CHECKING:
    from pathlib import Path


def test_every_partition_is_audited_once_and_counted(tmp_path: Path) -> None:
    copies = [replica("a@0/e0", partition=number, high_watermark=1) for number in (0, 1)]
    cluster(tmp_path, {1: copies, 2: copies})
    evidence, request = requested("divergence", [str(tmp_path)], {"topic": ("t",)})
    units = [
        unit for unit in table("findings").units(evidence, request)
        if isinstance(unit, PartitionUnit)
    ]  # fmt: skip
    with click.Context(replica_diff):
        fleet = fleet_of([str(tmp_path)], evidence, request, {"rule": None, "started_at": None})
        found = list(audits(units, request, fleet, done="read"))
    assert [(audit.topic, audit.partition) for audit, _, _ in found] == [("t", 0), ("t", 1)]
    assert fleet.planned == 2
    assert links_of(evidence) == []


def test_a_topic_that_no_copy_has_is_refused(tmp_path: Path) -> None:
    cluster(tmp_path, {1: replica("a@0/e0")})
    with pytest.raises(UsageError, match="no topic 'orders'"):
        requested("divergence", [str(tmp_path)], {"topic": ("orders",)})
