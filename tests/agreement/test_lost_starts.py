"""All commands count what a leader without its first segment loses, and replace its copy.

The figures are what real brokers left: tests/oracle/test_elections.py.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

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

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fixtures.builder import Replica

TOPIC = 2
LOST = {0: 2, 1: 8, 2: 5}


def written(
    root: Path,
    own: Mapping[int, Replica],
    in_sync: tuple[int, ...] = (0, 1, 2),
    config: tuple[str, str] = ("cleanup.policy", "compact"),
) -> str:
    state = PartitionState(
        replicas=(0, 1, 2), in_sync=in_sync, leader=in_sync[0], leader_epoch=1
    )  # fmt: skip
    values = [*metadata_records([state]), setting(TOPIC, "t", *config)]
    metadata = replica(
        [
            data_batch(offset, [Record(offset_delta=0, value=value)], leader_epoch=1)
            for offset, value in enumerate(values)
        ],
        topic="__cluster_metadata",
        topic_id=METADATA_TOPIC_ID,
    )
    cluster(root, {0: [own[0], metadata], 1: own[1], 2: own[2]}, clean=(0, 1, 2))
    return str(root)


@pytest.fixture
def paths(tmp_path: Path) -> str:
    return written(tmp_path, lost_start.replicas())


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


def test_a_merged_log_keeps_the_beginning_and_the_end(tmp_path: Path) -> None:
    """Broker 1 alone was in sync and has the end; offsets 0 to 7 are on brokers 0 and 2."""
    own = dict(lost_start.replicas())
    own[0] = replica("0-7/e0 8-11/e0", high_watermark=12)
    paths = written(tmp_path, own, (1,))
    (plan,) = objects(asked(plan_command, paths, "--format", "json")[1])
    titles = [step["title"] for step in plan["steps"]]
    assert any("Make sound logs of damaged copies" in title for title in titles)
    assert any("put the sound log of t-0" in title for title in titles)
    text = " ".join(asked(replica_diff, paths, "--topic", "t")[1].split())
    assert "Nothing is lost then." in text
    assert "a person must choose" not in text
    verified = " ".join(asked(verify_command, paths)[1].split())
    assert "with the copies as they are, whoever leads, records are lost" in verified
    assert "a log merged of them may have all" in verified


@pytest.mark.parametrize("name", ["cleanup.policy", "retention.ms"])
def test_of_equal_ends_the_log_that_begins_first_is_read(
    name: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Nothing explains that broker 0 begins at 8: it is not the copy to read or to elect."""
    value = {"cleanup.policy": "compact", "retention.ms": "-1"}[name]
    whole = replica("0-7/e0 8-11/e0", high_watermark=12)
    short = replica(
        "8-11/e0", high_watermark=12, base_offset=8, files={f"{0:020}.index": b""}
    )  # fmt: skip
    path = written(tmp_path, {0: short, 1: whole, 2: whole}, config=(name, value))
    table = kafkalog_reader.open(path).table("records", topic="t", replica="best")
    assert [row["offset"] for row in table.to_arrow().to_pylist()] == [*range(12)]
    assert not caplog.messages
    (compared,) = objects(asked(replica_diff, path, "--topic", "t", "--format", "json")[1])
    lost = {each["candidateBrokerId"]: each["lostRecords"] for each in compared["elections"]}
    assert lost == {0: 8, 1: 0, 2: 0}
    status, out = asked(verify_command, path, "--topic", "t", "--format", "json")
    assert status == 1
    (row,) = (row for row in objects(out) if row["code"] == "KL-404")
    assert (row["severity"], row["firstOffset"], row["nextOffset"]) == ("H", 0, 8)
    text = " ".join(asked(replica_diff, path, "--topic", "t")[1].split())
    assert "3 replicas, identical from offset 8 on" in text
    ranges = kafkalog_reader.open(path).table("divergence", topic="t").to_arrow().to_pylist()
    assert [(row["firstOffset"], row["nextOffset"], row["kind"]) for row in ranges] == [
        (0, 8, "missing"),
        (8, 12, "equal"),
    ]
