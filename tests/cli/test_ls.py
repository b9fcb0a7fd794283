from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from fixtures.builder import cluster, replica
from kafkalog_reader.cli.replica_list import lines_of

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Run

REPLICA = {
    "clusterId": "c", "brokerId": 1, "brokerLabel": None, "logDirectory": "/b1", "topic": "orders",
    "partition": 3, "state": None, "logStartOffset": 0, "logEndOffset": 1048203,
    "highWatermarkLow": 2, "highWatermarkHigh": 5, "lastStableOffset": 4, "lastStableOffsetLow": 4,
    "lastLeaderEpoch": None, "segments": 1, "sizeInBytes": 345, "cleanShutdown": True,
    "tornBytes": 0,
}  # fmt: skip


def test_one_line_a_replica_of_scenario_s3_2(untouched: Path, run: Run) -> None:
    answer = run("ls", untouched)
    assert answer.status == 0
    assert answer.err == ""
    lines = answer.out.splitlines()
    assert lines[0].split("  ")[0] == "BROKER"
    cells = [line.split() for line in lines[1:]]
    # broker, partition, log start, log end, high watermark, LSO, leader epoch, segments
    assert [row[:8] for row in cells] == [
        ["1", "t-0", "0", "5", "2–5", "2–5", "0", "1"],
        ["2", "t-0", "0", "4", "4", "4", "1", "1"],
        ["3", "t-0", "0", "4", "4", "4", "1", "1"],
    ]
    assert all(line.endswith("not shut down cleanly") for line in lines[1:])


def test_json_is_the_table_replicas(untouched: Path, run: Run) -> None:
    listed = run("ls", untouched, "--format", "json").out
    assert listed == run("table", "replicas", untouched, "--format", "json").out
    assert [json.loads(line)["logEndOffset"] for line in listed.splitlines()] == [5, 4, 4]


def test_selection_narrows_the_list(tmp_path: Path, run: Run) -> None:
    cluster(tmp_path / "b", {1: replica("a@0/e0", topic="a"), 2: replica("b@0/e0", topic="b")})
    lines = run("ls", tmp_path / "b", "--topic", "b").out.splitlines()
    assert [line.split()[:2] for line in lines[1:]] == [["2", "b-0"]]


def test_numbers_are_grouped_and_unknown_is_a_question_mark() -> None:
    headings, line = lines_of([REPLICA])
    assert line.split() == ["1", "orders-3", "0", "1,048,203", "2–5", "4", "?", "1", "345", "B"]
    assert len(headings) >= len(line)


def test_columns_are_aligned() -> None:
    lines = list(lines_of([REPLICA, {**REPLICA, "partition": 12, "logEndOffset": 7}]))
    ends = {line.index(" 2–5") for line in lines[1:]}
    assert len(ends) == 1
    assert lines[0].index("LOG END") + len("LOG END") <= next(iter(ends))


def test_clusters_and_disks_are_shown_only_where_they_differ() -> None:
    other_disk = {**REPLICA, "logDirectory": "/b1/disk2"}
    assert "LOG DIRECTORY" in next(lines_of([REPLICA, other_disk]))
    assert "CLUSTER" in next(lines_of([REPLICA, {**REPLICA, "clusterId": "d"}]))
    plain = next(lines_of([REPLICA, {**REPLICA, "brokerId": 2, "logDirectory": "/b2"}]))
    assert "LOG DIRECTORY" not in plain
    assert "CLUSTER" not in plain


def test_replicas_are_sorted_by_partition_number_then_broker() -> None:
    rows = [
        {**REPLICA, "partition": partition, "brokerId": broker, "logDirectory": f"/b{broker}"}
        for partition in (10, 9) for broker in (12, 2, None)
    ]  # fmt: skip
    shown = [line.split()[:2] for line in list(lines_of(rows))[1:]]
    assert [cells[1] for cells in shown] == ["orders-9"] * 3 + ["orders-10"] * 3
    assert [cells[0] for cells in shown] == ["2", "12", "?"] * 2


@pytest.mark.parametrize(
    ("changes", "state"),
    [
        ({"cleanShutdown": False}, "not shut down cleanly"),
        ({"state": "delete"}, "marked for deletion"),
        (
            {"state": "stray", "tornBytes": 36},
            "stray: the broker set it aside, 36 B behind the log end",
        ),
        ({"cleanShutdown": None}, "345 B"),
    ],
)
def test_state_is_said_in_words(changes: dict[str, object], state: str) -> None:
    line = list(lines_of([{**REPLICA, **changes}]))[1]
    assert line.endswith(state)


def test_hostile_names_cannot_act_on_the_terminal() -> None:
    row = {**REPLICA, "brokerLabel": "\x1b[2J", "clusterId": "a\nb"}
    text = "".join(lines_of([row, REPLICA]))
    assert text.isprintable()


def test_list_is_ascii_where_standard_output_is(
    untouched: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LC_ALL", "C")
    assert "2-5" in run("ls", untouched).out


def test_a_replica_that_cannot_be_read_does_not_hide_the_others(brokers: Path, run: Run) -> None:
    log = brokers / "broker-2" / "t-0" / "00000000000000000000.log"
    content = bytearray(log.read_bytes())
    content[69 + 16] = 3
    log.write_bytes(content)
    answer = run("ls", brokers)
    assert answer.status == 2
    assert [line.split()[0] for line in answer.out.splitlines()[1:]] == ["1", "2", "3"]
    assert answer.out.splitlines()[2].split()[3] == "?"
    assert answer.err.startswith(f"warning: {log} at position 69 (offset 1): ")
    assert run("ls", brokers, "--format", "json").status == 2


def test_a_directory_without_segments_is_no_trouble(brokers: Path, run: Run) -> None:
    (brokers / "broker-1" / "empty-0").mkdir()
    answer = run("ls", brokers, "--topic", "empty")
    assert answer.status == 0
    assert len(answer.out.splitlines()) == 2
