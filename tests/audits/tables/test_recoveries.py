"""The table ``recoveries`` on real captures: a sound log directory raises no alarm."""

from __future__ import annotations

import json
import os
import pickle
import shutil
from typing import TYPE_CHECKING, Any

import pytest

import kafkalog_reader
from fixtures import captures
from kafkalog_reader.audits.election.metadata_log import read_cluster_metadata
from kafkalog_reader.audits.tables.recoveries import RecoveriesTable
from kafkalog_reader.errors import LocatedError
from kafkalog_reader.io.checkpoints import read_topic_id
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.io.read_context import ReadContext
from kafkalog_reader.tables.request import ReadRequest
from tests.audits.recovery.logs import write_small

if TYPE_CHECKING:
    from pathlib import Path

STATES = sorted(
    (scenario, state)
    for scenario in ("everything", "s1", "s3_2", "s5_1", "s5_2")
    for state in json.loads(captures.path(f"{scenario}/expected.json").read_text())["captures"]
)


def _rows(path: Path, **options: Any) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = (
        kafkalog_reader.open(str(path)).table("recoveries", **options).to_arrow().to_pylist()
    )
    return rows


@pytest.mark.parametrize(("scenario", "state"), STATES)
def test_sound_capture_loads_as_it_is(scenario: str, state: str) -> None:
    rows = _rows(captures.path(f"{scenario}/{state}"))
    assert {row["outcome"] for row in rows} == {"loads"}
    assert {row["bytesCut"] for row in rows} == {0}
    assert [row["logEndOffsetAfterStart"] for row in rows] == [
        row["soundEndOffset"] for row in rows
    ]


@pytest.mark.parametrize("state", ["stopped", "killed"])
def test_log_end_after_the_start_is_what_the_broker_had_answered(state: str) -> None:
    answers = json.loads((captures.path("everything/truth") / state / "offsets.json").read_text())
    latest = {(each["topic"], each["partition"]): each["latest"] for each in answers}
    rows = _rows(captures.path("everything") / state, broker=0)
    ends = {(row["topic"], row["partition"]): row["logEndOffsetAfterStart"] for row in rows}
    assert ends == latest


@pytest.mark.parametrize("state", ["stopped", "killed"])
def test_only_a_crash_makes_the_broker_read_segments(state: str) -> None:
    rows = _rows(captures.path("everything") / state, broker=0)
    assert any(row["segmentsRead"] for row in rows) == (state == "killed")


def test_metadata_log_tells_the_topic_ids_of_every_directory() -> None:
    evidence = discover([str(captures.path("everything/stopped"))])
    (metadata,) = read_cluster_metadata(evidence).values()
    directories = {
        directory.topic: read_topic_id(directory.path, context=ReadContext())
        for directory in evidence.partition_directories(ReadRequest())
        if directory.topic != "__cluster_metadata"
    }
    assert metadata.topic_ids == directories


def test_metadata_log_tells_the_settings_of_topics() -> None:
    (metadata,) = read_cluster_metadata(
        discover([str(captures.path("everything/stopped"))])
    ).values()
    assert metadata.configs["compacted"]["cleanup.policy"] == "compact"
    assert metadata.configs["__consumer_offsets"]["cleanup.policy"] == "compact"


def test_rows_have_the_columns_requested() -> None:
    rows = _rows(captures.path("s1/healed"), columns=["outcome", "brokerId"], topic="t", broker=[1])
    assert rows == [{"outcome": "loads", "brokerId": 1}]


def test_units_can_travel() -> None:
    evidence = discover([str(captures.path("s1/healed"))])
    units = list(RecoveriesTable().units(evidence, ReadRequest()))
    assert len(units) == 3
    assert pickle.loads(pickle.dumps(units)) == units


def test_other_brokers_copies_tell_that_a_directory_is_of_another_topic(tmp_path: Path) -> None:
    for broker in (0, 1, 2):
        (tmp_path / f"{broker}").mkdir()
        directory = write_small(tmp_path / f"{broker}", is_clean=True, recovery_point=23)
        meta = directory.parent / "meta.properties"
        meta.write_text(meta.read_text().replace("node.id=1", f"node.id={broker}"))
    metadata = tmp_path / "1" / "broker-1" / "t-0" / "partition.metadata"
    metadata.write_text("version: 0\ntopic_id: AAAAAAAAAAEAAAAAAAAABg")
    outcomes = {row["brokerId"]: row["outcome"] for row in _rows(tmp_path)}
    assert outcomes == {0: "loads", 1: "stray", 2: "loads"}


def test_refused_file_ends_failfast_and_empties_the_rows_of_permissive(tmp_path: Path) -> None:
    directory = write_small(tmp_path, is_clean=True, recovery_point=23)
    (directory / "partition.metadata").unlink()
    os.mkfifo(directory / "partition.metadata")
    with pytest.raises(LocatedError, match=r"partition\.metadata"):
        _rows(tmp_path)
    (row,) = _rows(tmp_path, mode="PERMISSIVE")
    assert (row["topic"], row["brokerId"], row["outcome"]) == ("t", 1, None)
    assert row["reason"].endswith("partition.metadata: not a regular file")


def test_a_refused_replica_hides_no_other_one_of_its_broker(tmp_path: Path) -> None:
    directory = write_small(tmp_path, is_clean=True, recovery_point=23)
    shutil.copytree(directory, directory.with_name("u-0"))
    (directory / "partition.metadata").unlink()
    os.mkfifo(directory / "partition.metadata")
    rows = {row["topic"]: row for row in _rows(tmp_path, mode="PERMISSIVE")}
    assert {topic: row["outcome"] for topic, row in rows.items()} == {"t": None, "u": "loads"}
