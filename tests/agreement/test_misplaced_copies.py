"""Folders that were put on the wrong broker: no command elects a broker that has no replica."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fixtures.builder import cluster, replica
from fixtures.builder.metadata_log import PartitionState, metadata_log
from kafkalog_reader.cli.plan import plan_command
from kafkalog_reader.cli.replica_diff import replica_diff
from tests.agreement.commands import asked, objects

if TYPE_CHECKING:
    from pathlib import Path

OTHER = "b" * 21 + "A"


def written(root: Path) -> str:
    """The disks of brokers 1 and 2 were swapped: t is assigned to broker 1, u to both."""
    states = [
        PartitionState(replicas=(1,), in_sync=(1,), leader=1, leader_epoch=0),
        PartitionState(
            replicas=(1, 2), in_sync=(1, 2), leader=1, leader_epoch=0, topic="u", topic_id=OTHER
        ),
    ]
    both = replica("a@0/e0 b@1/e0", high_watermark=2, topic="u", topic_id=OTHER)
    only = replica("a@0/e0 b@1/e0 c@2/e0", high_watermark=3)
    cluster(root, {1: [both, metadata_log(states)], 2: [both, only]})
    return str(root)


def test_a_broker_without_a_replica_is_never_to_lead(tmp_path: Path) -> None:
    """A controller elects assigned brokers only (PartitionChangeBuilder)."""
    path = written(tmp_path)
    (compared,) = objects(asked(replica_diff, path, "--topic", "t", "--format", "json")[1])
    assert compared["elections"] == []
    text = " ".join(asked(replica_diff, path, "--topic", "t")[1].split())
    planned = " ".join(asked(plan_command, path)[1].split())
    for said in (text, planned):
        assert "broker 2 should lead" not in said
        assert "Leader: 2" not in said
        assert "move the folder t-0 to a log directory of broker 1" in said
    assert "--topic t --partition 0 --replica broker:2 --from-offset 0" in text
    assert "NO PLAN t-0" in planned
