from __future__ import annotations

import json
from typing import TYPE_CHECKING

from fixtures.builder import cluster, replica

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from tests.cli.conftest import Run


def test_one_line_a_replica_of_scenario_s3_2(untouched: Path, run: Run) -> None:
    answer = run("ls", untouched)
    assert answer.status == 0
    assert answer.err == ""
    lines = answer.out.splitlines()
    assert lines[0].split("  ")[0] == "BROKER"
    cells = [line.split() for line in lines[1:4]]
    # broker, partition, log start, log end, high watermark, LSO, leader epoch, segments
    assert [row[:8] for row in cells] == [
        ["1", "t-0", "0", "5", "≥2", "≥2", "0", "1"],
        ["2", "t-0", "0", "4", "4", "4", "1", "1"],
        ["3", "t-0", "0", "4", "4", "4", "1", "1"],
    ]
    assert all(line.endswith("not shut down cleanly") for line in lines[1:4])
    assert lines[4] == ""
    assert lines[5].startswith("3 replicas of 1 partition on 3 brokers: logs 897 B, all files ")


def test_json_is_the_table_replicas(untouched: Path, run: Run) -> None:
    listed = run("ls", untouched, "--format", "json").out
    assert listed == run("table", "replicas", untouched, "--format", "json").out
    assert [json.loads(line)["logEndOffset"] for line in listed.splitlines()] == [5, 4, 4]


def test_selection_narrows_the_list(tmp_path: Path, run: Run) -> None:
    cluster(tmp_path / "b", {1: replica("a@0/e0", topic="a"), 2: replica("b@0/e0", topic="b")})
    lines = run("ls", tmp_path / "b", "--topic", "b").out.splitlines()
    assert [line.split()[:2] for line in lines[1:2]] == [["2", "b-0"]]
    assert lines[3].startswith("1 replica of 1 partition on 1 broker: ")


def test_list_is_ascii_where_standard_output_is(
    untouched: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LC_ALL", "C")
    assert ">=2" in run("ls", untouched).out


def test_a_replica_that_cannot_be_read_does_not_hide_the_others(brokers: Path, run: Run) -> None:
    log = brokers / "broker-2" / "t-0" / "00000000000000000000.log"
    content = bytearray(log.read_bytes())
    content[69 + 16] = 3
    log.write_bytes(content)
    answer = run("ls", brokers)
    assert answer.status == 2
    assert [line.split()[0] for line in answer.out.splitlines()[1:4]] == ["1", "2", "3"]
    assert answer.out.splitlines()[2].split()[3] == "?"
    assert answer.err.startswith(f"warning: {log} at position 69 (offset 1): ")
    assert run("ls", brokers, "--format", "json").status == 2


def test_a_directory_without_segments_is_accepted(brokers: Path, run: Run) -> None:
    (brokers / "broker-1" / "empty-0").mkdir()
    answer = run("ls", brokers, "--topic", "empty")
    assert answer.status == 0
    assert len(answer.out.splitlines()) == 4


def test_a_high_watermark_above_the_log_end_is_shown_as_it_is(brokers: Path, run: Run) -> None:
    checkpoint = brokers / "broker-2" / "replication-offset-checkpoint"
    checkpoint.write_text("0\n1\nt 0 99\n")
    lines = run("ls", brokers).out.splitlines()
    assert lines[2].split()[:5] == ["2", "t-0", "0", "4", "99!"]
    assert "HIGH WATERMARK ABOVE THE LOG END BY 95" in lines[2]
    assert "ABOVE" not in lines[1] + lines[3]


def test_sizes_count_indexes_and_files_that_kafka_did_not_write(brokers: Path, run: Run) -> None:
    directory = brokers / "broker-1" / "t-0"
    (directory / "heap.dump").write_bytes(bytes(1_000))
    (directory / "00000000000000000007.log.deleted").write_bytes(bytes(70))
    total = sum(path.stat().st_size for path in directory.iterdir())
    listed = run("ls", brokers / "broker-1", "--format", "json").out
    assert json.loads(listed)["filesSizeInBytes"] == total
    assert total > 345 + 1_070


def test_the_largest_replica_comes_first_when_sorted_by_size(brokers: Path, run: Run) -> None:
    lines = run("ls", brokers, "--sort", "size").out.splitlines()
    assert [line.split()[0] for line in lines[1:4]] == ["1", "2", "3"]
    lines = run("ls", brokers, "--sort", "lag").out.splitlines()
    assert "LAG" in lines[0].split()
    assert [line.split()[0] for line in lines[1:4]] == ["2", "3", "1"]
    assert [line.split()[4] for line in lines[1:4]] == ["1", "1", "0"]
    as_json = run("ls", brokers, "--sort", "lag", "--format", "json").out.splitlines()
    assert [json.loads(line)["brokerId"] for line in as_json] == [2, 3, 1]


def test_sums_by_topic_and_by_broker(tmp_path: Path, run: Run) -> None:
    cluster(
        tmp_path / "b",
        {1: replica("a@0/e0 b@1/e0", topic="a"), 2: replica("a@0/e0 b@1/e0", topic="a")},
    )
    cluster(tmp_path / "c", {3: replica("b@0/e0", topic="b")})
    lines = run("ls", tmp_path / "b", tmp_path / "c", "--by", "topic").out.splitlines()
    # topic, partitions, brokers, replicas, segments, bytes of logs: 69 for each batch of one byte
    assert [line.split()[:6] for line in lines[1:3]] == [
        ["a", "1", "2", "2", "2", "276"], ["b", "1", "1", "1", "1", "69"],
    ]  # fmt: skip
    listed = run("ls", tmp_path / "b", tmp_path / "c", "--by", "broker", "--sort", "size",
                 "--format", "json").out  # fmt: skip
    sums = [json.loads(line) for line in listed.splitlines()]
    assert [(each["brokerId"], each["sizeInBytes"]) for each in sums] == [
        (1, 138), (2, 138), (3, 69),
    ]  # fmt: skip


def test_sums_cannot_be_sorted_by_what_only_replicas_have(brokers: Path, run: Run) -> None:
    answer = run("ls", brokers, "--by", "topic", "--sort", "lag")
    assert answer.status == 2
    assert "--sort: lag sorts replicas: with --by it is name, size, files or segments" in answer.err


def test_a_folder_alone_says_how_its_broker_stopped(tmp_path: Path, run: Run) -> None:
    """As far as the log directory around it shows: the marker is not in the folder."""
    killed, stopped = cluster(
        tmp_path, {1: replica("a@0/e0"), 2: replica("a@0/e0")}, clean=[2]
    ).values()
    unknown = (
        "whether the broker shut down cleanly is unknown, because the log directory was not given"
    )
    for root, is_clean in ((killed, False), (stopped, True)):
        answer = run("ls", root / "t-0").out
        assert ("not shut down cleanly" in answer) is not is_clean
        assert unknown not in answer
        assert (
            json.loads(run("ls", root / "t-0", "--format", "json").out)["cleanShutdown"] is is_clean
        )
    alone = (killed / "t-0").rename(tmp_path / "t-0")
    answer = run("ls", alone).out
    assert "not shut down cleanly" not in answer
    assert answer.rstrip().endswith(f"; {unknown}")
    assert f"; {unknown.replace('broker', 'broker of 1 replica')}" in run("ls", alone, stopped).out
