from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from fixtures.builder import cluster, replica

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Run

KAFKA = ["key", "value", "topic", "partition", "offset", "timestamp", "timestampType", "headers"]


def test_each_record_is_shown_once_from_the_copy_with_the_greatest_epoch(
    brokers: Path, run: Run
) -> None:
    answer = run("records", brokers)
    lines = [line.split() for line in answer.out.splitlines()]
    assert lines[0] == ["partition", "offset", "timestamp", "key", "value"]
    # S3.2: brokers 2 and 3 wrote f and g under epoch 1, broker 1 alone c, d, e under epoch 0
    assert [(row[1], row[4]) for row in lines[1:]] == [
        ("0", "a"), ("1", "b"), ("2", "f"), ("3", "g"),
    ]  # fmt: skip
    assert "broker 1 holds 3 from offset 2 on" in answer.err


def test_every_format_has_the_same_rows_and_json_the_columns_of_spark(
    brokers: Path, run: Run
) -> None:
    rows = [json.loads(line) for line in run("records", brokers, "--format", "json").out.split()]
    assert [row["offset"] for row in rows] == [0, 1, 2, 3]
    assert list(rows[0]) == KAFKA
    csv = run("records", brokers, "--format", "csv", "--columns", "offset").out.split()
    assert csv[1:] == ["0", "1", "2", "3"]


def test_all_replicas_are_told_apart_by_their_broker(brokers: Path, run: Run) -> None:
    lines = [line.split() for line in run("records", brokers, "--replica", "all").out.splitlines()]
    assert lines[0][:3] == ["brokerId", "partition", "offset"]
    assert [row[0] for row in lines[1:]] == ["1"] * 5 + ["2"] * 4 + ["3"] * 4


def test_several_topics_are_named_and_the_metadata_log_is_not_shown(
    tmp_path: Path, run: Run
) -> None:
    cluster(tmp_path / "b", {1: replica("a@0/e0", topic="x")})
    cluster(tmp_path / "b", {1: replica("b@0/e0", topic="y")})
    cluster(tmp_path / "b", {1: replica("c@0/e0", topic="__cluster_metadata")})
    lines = [line.split() for line in run("records", tmp_path / "b").out.splitlines()]
    assert [(row[0], row[5]) for row in lines[1:]] == [("x", "a"), ("y", "b")]
    named = run("records", tmp_path / "b", "--topic", "__cluster_metadata").out.splitlines()
    assert [line.split()[4] for line in named[1:]] == ["c"]


def test_records_below_the_log_start_are_not_shown(brokers: Path, run: Run) -> None:
    (brokers / "broker-2" / "log-start-offset-checkpoint").write_text("0\n1\nt 0 3\n")
    shown = run("records", brokers / "broker-2", "--columns", "offset").out.split()
    assert shown == ["offset", "3"]


@pytest.mark.parametrize("columns", [80, 60])
def test_rows_fit_the_terminal(
    columns: int, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kafkalog_reader.cli.text_table.screen_width", lambda: columns)
    cluster(tmp_path / "b", {1: replica(f"{'v' * 200}@0/e0")})
    header, row = run("records", tmp_path / "b").out.splitlines()
    assert len(row) == columns
    assert row.endswith("vvv…")
    assert header.split() == ["partition", "offset", "timestamp", "key", "value"]
