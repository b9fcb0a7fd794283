from __future__ import annotations

import json
import re
from base64 import b64decode
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from fixtures import captures
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


def test_all_replicas_are_distinguished_by_their_broker(brokers: Path, run: Run) -> None:
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
    folders = [tmp_path / "b" / "broker-1" / each for each in ("__cluster_metadata-0", "x-0")]
    for paths, shown in ((folders, ["a", "c"]), (folders[:1], ["c"])):
        rows = run("records", *paths, "--format", "json").out.splitlines()
        assert sorted(b64decode(json.loads(row)["value"]).decode() for row in rows) == shown


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


def test_the_newest_records_of_each_partition(brokers: Path, run: Run) -> None:
    shown = run("records", brokers, "--last", "2", "--columns", "value").out.split()
    assert shown == ["value", "f", "g"]
    everything = run("records", brokers, "--last", "100", "--columns", "offset").out.split()
    assert everything == ["offset", "0", "1", "2", "3"]
    before = run("records", brokers, "--last", "1", "--to-offset", "3", "--columns", "offset")
    assert before.out.split() == ["offset", "2"]
    every = run(
        "records", brokers, "--last", "1", "--replica", "all", "--columns", "brokerId,offset"
    )
    assert every.out.split()[2:] == ["1", "4", "2", "3", "3", "3"]


def test_the_newest_records_of_a_compacted_log_are_as_many(run: Run) -> None:
    directory = captures.path("everything/stopped/broker-0")
    options = ("--topic", "compacted-transactions", "--format", "json", "--columns", "offset")
    whole = run("records", directory, *options).out.splitlines()
    assert run("records", directory, *options, "--last", "4").out.splitlines() == whole[-4:]


def test_earliest_is_the_log_start_and_latest_the_log_end(brokers: Path, run: Run) -> None:
    (brokers / "broker-2" / "log-start-offset-checkpoint").write_text("0\n1\nt 0 3\n")
    options = ("records", brokers / "broker-2", "--columns", "offset", "--from-offset")
    assert run("table", *options, "earliest").out.split() == ["offset", "3"]
    assert run("table", *options, "2").out.split() == ["offset", "2", "3"]
    answer = run(*options, "latest")
    assert answer.out.split() == ["offset"]
    assert answer.err.startswith("latest is the log end, where there is no record yet. --last 10")
    assert run(*options, "latest", "--last", "3").status == 2
    assert "--last 5 counts from the end" in run(*options, "-5").err


def test_a_time_before_now_is_printed_with_its_zone(tmp_path: Path, run: Run) -> None:
    cluster(tmp_path / "b", {1: replica("a@0/e0 b@1/e0")})  # in November 2023
    answer = run("records", tmp_path / "b", "--from-time", "-1h")
    assert answer.out.split() == ["partition", "offset", "timestamp", "key", "value"]
    said = re.fullmatch(r"--from-time -1h: (\S+Z) \(UTC\), by this machine's clock\n", answer.err)
    assert said is not None
    ago = datetime.now(UTC) - datetime.fromisoformat(said[1])
    assert timedelta(hours=1) <= ago < timedelta(hours=1, minutes=5)
    shown = run("records", tmp_path / "b", "--from-time", "-2000w", "--to-time", "now").out
    assert len(shown.splitlines()) == 3


def test_transactions_say_how_they_ended(run: Run) -> None:
    directory = captures.path("everything/running/broker-0")
    answer = run("table", "records", directory, "--topic", "open-transaction", "--partition", "0",
                 "--columns", "offset,transactionState", "--format", "json")  # fmt: skip
    states = {row["offset"]: row["transactionState"] for row in map(json.loads, answer.out.split())}
    # of the dump in truth/: producers, control record and no marker for offsets 3, 4 and 9
    assert states == {
        0: "none", 1: "none", 2: "none", 3: "open", 4: "open", 5: "none", 6: "none",
        7: "aborted", 8: "aborted", 9: "open", 10: None,
    }  # fmt: skip


def test_only_records_have_an_isolation_level(brokers: Path, run: Run) -> None:
    answer = run("table", "batches", brokers, "--isolation", "read_committed")
    assert answer.status == 2
    assert "--isolation: does not apply to table batches" in answer.err
    assert (
        "neither read_uncommitted nor read_committed"
        in run("records", brokers, "--isolation", "serializable").err
    )
