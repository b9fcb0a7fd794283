"""Folders that were put on the wrong broker: no command elects a broker that has no replica."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING

from fixtures.builder import cluster, replica
from fixtures.builder.metadata_log import PartitionState, metadata_log
from kafkalog_reader.cli.plan import plan_command
from kafkalog_reader.cli.replica_diff import replica_diff
from kafkalog_reader.cli.verify import verify_command
from tests.agreement.commands import asked, objects

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

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


def test_no_log_directory_is_named_of_brokers_without_any(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Broker 4 has t left over from a reassignment; the disks of brokers 1 and 3 are lost."""
    states = [
        PartitionState(replicas=(1, 3), in_sync=(3, 1), leader=3, leader_epoch=1),
        PartitionState(
            replicas=(4,), in_sync=(4,), leader=4, leader_epoch=0, topic="u", topic_id=OTHER
        ),
    ]
    left, own = (
        replica("a@0/e0 b@1/e0", high_watermark=2),
        replica("a@0/e0", high_watermark=1, topic="u", topic_id=OTHER),
    )
    registered = {broker: [f"{broker:A<22}"] for broker in (1, 3, 4)}
    cluster(tmp_path / "disks", {4: [left, own, metadata_log(states, registered)]})
    monkeypatch.chdir(tmp_path)
    planned = " ".join(asked(plan_command, "disks")[1].split())
    assert (
        "move the folder t-0 aside. The metadata log assigns it to brokers 3 and 1, of which no "
        "log directory was supplied: put the folder into one of broker 3, formatted if it is new, "
        "before brokers 3 and 1 start"
    ) in planned
    assert "Do not start broker 4 before that is settled. When that is settled" in planned
    assert "put the folder into one of broker 3" in asked(
        plan_command, "disks", "--format", "script"
    )[1].replace("\n", " ")
    document = json.loads(asked(plan_command, "disks", "--format", "json")[1])
    ((without, *others),) = (document["unanswered"],)
    assert not others
    moves = without["commands"]
    assert all(" ".join(each.split()) in planned for each in moves)
    subprocess.run(["bash", "-e", "-c", "\n".join(moves)], check=True)
    assert (tmp_path / "disks" / "aside" / "broker-4" / "t-0").is_dir()
    again = " ".join(asked(plan_command, "disks/broker-4")[1].split())
    assert again.startswith("Starting broker 4 removes nothing from its 1 partition.")
    found = " ".join(asked(verify_command, "disks/broker-4", "--verbose")[1].split())
    assert "folders that no broker loads may hold their records: disks/aside/broker-4/t-0" in found
