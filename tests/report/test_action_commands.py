"""Which commands an action has, by what the files of the partition show."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import kafkalog_reader
from fixtures.builder import cluster, replica
from fixtures.builder.metadata_log import PartitionState, metadata_log
from kafkalog_reader.audits.catalogue.actions import (
    ABORT_TRANSACTION,
    CHOOSE_A_BRANCH,
    FORCE_RECOVERY,
    LET_BEST_LEAD,
    MOVE_COPY_ASIDE,
)
from kafkalog_reader.io.names import CLEAN_SHUTDOWN
from kafkalog_reader.report.action_commands import commands_of

if TYPE_CHECKING:
    from pathlib import Path

    from kafkalog_reader.audits.partition.partition_audit import PartitionAudit


AB = "a@0/e0 b@1/e0"


def audited(
    path: Path, *, in_sync: tuple[int, ...] | None = None, copies: int = 2
) -> PartitionAudit:
    logs = [replica(AB if node else f"{AB} c@2/e0", high_watermark=2) for node in range(copies)]
    state = PartitionState(replicas=(0, 1, 2), in_sync=in_sync or (), leader=1, leader_epoch=0)
    metadata = [] if in_sync is None else [metadata_log([state])]
    cluster(path, {node: [log, *metadata] for node, log in enumerate(logs)})
    return kafkalog_reader.open(path).diff("t", 0)


def commands(code: str, audit: PartitionAudit) -> list[str]:
    return list(commands_of(code, audit, audit.everyone))


def test_an_action_without_a_command_has_none(tmp_path: Path) -> None:
    assert commands(CHOOSE_A_BRANCH, audited(tmp_path)) == []


@pytest.mark.parametrize(("in_sync", "count"), [(None, 0), ((0, 1), 0), ((2,), 2)])
def test_only_a_replica_outside_the_isr_needs_an_unclean_election(
    in_sync: tuple[int, ...] | None, count: int, tmp_path: Path
) -> None:
    """Broker 2 was not supplied. Kafka elects others than it only uncleanly."""
    found = commands(LET_BEST_LEAD, audited(tmp_path, in_sync=in_sync))
    assert len(found) == count
    assert all("--election-type unclean" in each for each in found[1:])


def test_a_hanging_transaction_is_looked_for_in_this_partition(tmp_path: Path) -> None:
    (found,) = commands(ABORT_TRANSACTION, audited(tmp_path))
    assert found.endswith("find-hanging --topic t --partition 0")


@pytest.mark.parametrize(("copies", "count"), [(1, 0), (2, 2)])
def test_the_only_copy_is_not_moved_aside(copies: int, count: int, tmp_path: Path) -> None:
    moves = [
        each for each in commands(MOVE_COPY_ASIDE, audited(tmp_path, copies=copies)) if "mv" in each
    ]
    assert len(moves) == count


def test_a_recovery_is_forced_by_the_marker_of_each_log_directory(tmp_path: Path) -> None:
    found = "\n".join(commands(FORCE_RECOVERY, audited(tmp_path)))
    roots = [path.name for path in tmp_path.iterdir()]
    assert all(f"{root}/{CLEAN_SHUTDOWN}" in found for root in roots)
