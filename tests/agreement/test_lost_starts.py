"""All commands count what a leader without its first segment loses, and replace its copy.

The figures are what real brokers left: tests/oracle/test_elections.py.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import kafkalog_reader
from fixtures.builder import cluster, data_batch, replica
from fixtures.builder.metadata_log import (
    METADATA_TOPIC_ID,
    PartitionState,
    metadata_records,
    setting,
)
from fixtures.elections import lost_start
from kafkalog_reader.cli.plan import plan_command
from kafkalog_reader.cli.replica_diff import replica_diff
from kafkalog_reader.cli.verify import verify_command
from kafkalog_reader.format.record import Record
from tests.agreement.commands import asked, objects

TOPIC = 2
LOST = {0: 2, 1: 8, 2: 5}


@pytest.fixture
def paths(tmp_path: Path) -> str:
    state = PartitionState(replicas=(0, 1, 2), in_sync=(0, 1, 2), leader=0, leader_epoch=1)
    values = [*metadata_records([state]), setting(TOPIC, "t", "cleanup.policy", "compact")]
    metadata = replica(
        [
            data_batch(offset, [Record(offset_delta=0, value=value)], leader_epoch=1)
            for offset, value in enumerate(values)
        ],
        topic="__cluster_metadata",
        topic_id=METADATA_TOPIC_ID,
    )
    own = lost_start.replicas()
    cluster(tmp_path, {0: [own[0], metadata], 1: own[1], 2: own[2]}, clean=(0, 1, 2))
    return str(tmp_path)


def test_the_records_below_the_log_start_are_in_every_count(paths: str) -> None:
    (compared,) = objects(asked(replica_diff, paths, "--topic", "t", "--format", "json")[1])
    assert {
        each["candidateBrokerId"]: each["lostRecords"] for each in compared["elections"]
    } == LOST
    table = kafkalog_reader.open(paths).table("elections").to_arrow().to_pylist()
    rows = {row["candidateBrokerId"]: row["lostRecords"] for row in table if row["topic"] == "t"}
    assert rows == LOST
    text = " ".join(asked(replica_diff, paths, "--topic", "t")[1].split())
    assert "brokers 0 and 2: all below 8" in text


def test_the_plan_replaces_the_copy_without_its_beginning(paths: str) -> None:
    """A follower fetches from its log end on: as it is, broker 1 would still lose them later."""
    (plan,) = objects(asked(plan_command, paths, "--format", "json")[1])
    titles = [step["title"] for step in plan["steps"]]
    assert any("take t-0 away from broker 1" in title for title in titles)
    assert any("Give t-0 back to broker 1" in title for title in titles)


def test_no_trace_of_the_segment_is_needed_where_others_have_it(paths: str) -> None:
    """Not even an index is left: the lost records are a finding of all commands."""
    (Path(paths) / "broker-1" / "t-0" / f"{0:020}.index").unlink()
    for command in (verify_command, replica_diff):
        status, out = asked(command, paths, "--topic", "t", "--format", "json")
        found = [row for each in objects(out) for row in each.get("findings", [each])]
        assert status == 1
        (lost,) = (row for row in found if row["code"] == "KL-404")
        assert (lost["severity"], lost["brokerId"], lost["nextOffset"]) == ("H", 1, 8)
        assert "KL-510" not in {row["code"] for row in found}
