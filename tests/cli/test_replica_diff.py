"""replica-diff as its user sees it: status, words, JSON, one screen."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from fixtures.builder import cluster, replica
from kafkalog_reader.cli.replica_diff import replica_diff
from kafkalog_reader.cli.run import status

ROOT = Path(__file__).parent.parent.parent
S3_2 = ROOT / "fixtures" / "captures" / "s3_2" / "both-led"
AB = "a@0/e0 b@1/e0"
Answer = tuple[int, str, str]
Run = Callable[..., Answer]


@pytest.fixture
def diff(capfd: pytest.CaptureFixture[str]) -> Run:
    def diff(*arguments: object) -> Answer:
        code = status(replica_diff, [str(argument) for argument in arguments])
        out, err = capfd.readouterr()
        return code, out, err

    return diff


def test_verdict_comes_first_then_the_picture_and_the_ranked_candidates(diff: Run) -> None:
    code, out, err = diff(S3_2, "--topic", "t")
    lines = out.splitlines()
    assert (code, err) == (1, "")
    assert lines[0].startswith("t-0: FORKED at offset 2 · 3 replicas, leader epochs 0 and 1")
    assert any("▲ fork" in line for line in lines)
    ranked = [line.split() for line in lines if line.lstrip()[:1].isdigit() and "broker" in line]
    assert [row[2] for row in ranked] == ["1", "2", "0"]
    assert "UNCLEAN: do not" in out
    assert "Broker 0 has the longest log and is the worst choice" in out
    assert "--from-offset 2" in out
    assert max(len(line) for line in lines if "kafkalog table" not in line) <= 80


def test_identical_copies_end_with_zero(diff: Run) -> None:
    code, out, _ = diff(S3_2.parent / "healed", "--topic", "t")
    assert code == 0
    assert out.startswith("t-0: identical: 3 replicas")


def test_lagging_copies_end_with_zero(diff: Run, tmp_path: Path) -> None:
    cluster(tmp_path, {0: replica(f"{AB} c@2/e0", high_watermark=2), 1: replica(AB)})
    code, out, _ = diff(tmp_path)
    assert code == 0
    assert out.startswith("t-0: lagging: broker 1 is 1 record behind")


def test_fail_on_moves_the_border(diff: Run) -> None:
    assert diff(S3_2, "--topic", "t", "--fail-on", "critical")[0] == 0
    assert diff(S3_2.parent / "healed", "--topic", "t", "--fail-on", "information")[0] == 1


def test_fleet_counts_the_sound_and_shows_the_worst_first(diff: Run, tmp_path: Path) -> None:
    sound = [replica(AB, partition=n, high_watermark=2) for n in range(20)]
    ahead = replica(f"{AB} c@2/e0", partition=20, high_watermark=2)
    won = replica(f"{AB} f@2/e2", epochs="0:0 2:2", partition=21, high_watermark=3)
    both = [replica(f"{AB} x@2/e1", epochs="0:0 1:2", partition=n) for n in (21, 22)]
    other = replica(f"{AB} f@2/e2", epochs="0:0 2:2", partition=22, high_watermark=3)
    behind = replica(AB, partition=20, high_watermark=2)
    cluster(tmp_path, {0: [*sound, ahead, *both], 1: [*sound, behind, won, other]})
    code, out, _ = diff(tmp_path)
    lines = out.splitlines()
    assert code == 1
    assert lines[0] == "23 partitions, 2 brokers: 20 identical, 1 lagging, 2 forked"
    assert [line.split()[0] for line in lines[1:4]] == ["t-21", "t-22", "t-20"]
    assert "replica-diff" in lines[-1]
    assert len(lines) < 24


def test_damage_says_where_and_who_has_the_records_sound(diff: Run, tmp_path: Path) -> None:
    roots = cluster(tmp_path, dict.fromkeys(range(3), replica(AB, high_watermark=2)))
    segment = roots[2] / "t-0" / "00000000000000000000.log"
    content = bytearray(segment.read_bytes())
    content[-1] ^= 1
    segment.write_bytes(content)
    code, out, _ = diff(tmp_path)
    assert code == 1
    assert out.startswith("t-0: DAMAGED")
    assert "intact on brokers 0 and 1" in " ".join(out.split())


def test_json_is_one_object_a_partition_with_its_version(diff: Run) -> None:
    code, out, _ = diff(S3_2, "--format", "json")
    objects = [json.loads(line) for line in out.splitlines()]
    assert code == 1
    assert {each["schemaVersion"] for each in objects} == {1}
    (split,) = (each for each in objects if each["topic"] == "t")
    assert (split["verdict"], split["forkOffset"]) == ("forked", 2)
    first = split["elections"][0]
    assert (first["candidateBrokerId"], first["rank"], first["electionKind"]) == (1, 1, "clean")
    assert (first["lostRecords"], first["lostCommittedRecords"]) == (3, 0)
    assert [f["truncationOffset"] for f in first["followers"]] == [2, 4]
    assert "KL-503" in {found["code"] for found in split["findings"]}


@pytest.mark.parametrize("magic", [0, 1, 3, 127])
def test_a_format_that_is_not_read_is_trouble_and_named(
    diff: Run, tmp_path: Path, magic: int
) -> None:
    roots = cluster(tmp_path, dict.fromkeys(range(2), replica(AB, high_watermark=2)))
    segment = roots[0] / "t-0" / "00000000000000000000.log"
    content = bytearray(segment.read_bytes())
    content[16] = magic
    segment.write_bytes(content)
    code, out, _ = diff(tmp_path)
    assert code in ((1, 2) if magic == 127 else (2,))
    assert out.startswith("t-0: UNDECIDABLE")
    assert "position 0" in " ".join(out.split())


def test_a_topic_that_is_not_there_is_trouble(diff: Run) -> None:
    code, out, err = diff(S3_2, "--topic", "nowhere")
    assert (code, out) == (2, "")
    assert "kafkalog ls" in err


def test_a_path_that_is_not_there_is_one_line_on_standard_error(diff: Run, tmp_path: Path) -> None:
    code, out, err = diff(tmp_path / "missing")
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert "Traceback" not in err


def test_help_has_an_example(diff: Run) -> None:
    code, out, _ = diff("--help")
    assert code == 0
    assert "Example:" in out
    assert "replica-diff /mnt/b1" in out


def process(*arguments: object, **environment: str) -> subprocess.Popen[bytes]:
    program = "from kafkalog_reader.cli.replica_diff import main; main()"
    return subprocess.Popen(
        [sys.executable, "-c", program, *map(str, arguments)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def test_ascii_terminals_get_ascii() -> None:
    running = process(S3_2, "--topic", "t", LC_ALL="C", PYTHONUTF8="0")
    out, err = running.communicate(timeout=60)
    assert running.returncode == 1, err
    assert out.isascii()
    assert b"^ fork" in out


def test_ctrl_c_says_how_far_it_came(tmp_path: Path) -> None:
    sound = [replica(AB, partition=number, high_watermark=2) for number in range(3000)]
    cluster(tmp_path, {0: sound})
    running = process(tmp_path, "--format", "json")
    assert running.stdout is not None
    running.stdout.readline()  # it has begun
    running.send_signal(signal.SIGINT)
    _, err = running.communicate(timeout=60)
    assert running.returncode == 130
    assert b"of 3,000 partitions compared" in err
