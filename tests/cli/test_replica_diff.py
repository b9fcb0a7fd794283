"""``replica-diff`` as users see it: status, text, JSON, one screen."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import pty
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import kafkalog_reader
from fixtures import captures
from fixtures.builder import cluster, replica
from fixtures.builder.metadata_log import PartitionState, metadata_log, settings_log
from kafkalog_reader.cli.main import kafkalog
from kafkalog_reader.cli.plan import plan_command
from kafkalog_reader.cli.replica_diff import replica_diff
from kafkalog_reader.cli.run import status

ROOT = Path(__file__).parent.parent.parent
S3_2 = captures.path("s3_2/both-led")
AB = "a@0/e0 b@1/e0"
Answer = tuple[int, str, str]
Run = Callable[..., Answer]
SEGMENT = "00000000000000000000.log"


def flip(segment: Path, position: int) -> None:
    content = bytearray(segment.read_bytes())
    content[position] ^= 1
    segment.write_bytes(content)


def contents(root: Path) -> dict[str, tuple[str, int]]:
    return {
        str(path): (hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_mtime_ns)
        for path in root.rglob("*")
        if path.is_file()
    }


@pytest.fixture
def diff(capfd: pytest.CaptureFixture[str]) -> Run:
    def diff(*arguments: object) -> Answer:
        code = status(replica_diff, [str(argument) for argument in arguments])
        out, err = capfd.readouterr()
        return code, out, err

    return diff


def test_partitions_of_two_clusters_are_distinguished(
    diff: Run, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    fork = {0: replica(f"{AB} c@2/e0", high_watermark=2),
            1: replica(f"{AB} d@2/e1", epochs="0:0 1:2", high_watermark=2)}  # fmt: skip
    cluster(tmp_path / "one", fork)
    cluster(tmp_path / "two", fork, cluster_id="EBESExQVFhcYGRobHB0eHw")
    _, out, _ = diff(tmp_path)
    assert "  t-0 (cluster EBESExQVFhcYGRobHB0eHw)  FORKED" in out
    assert out.count("FORKED") == 2
    _, out, _ = diff("--verbose", tmp_path)
    assert out.count("\ncluster EBESExQVFhcYGRobHB0eHw\nt-0: FORKED") == 1
    reader = kafkalog_reader.open(str(tmp_path)).table("records", replica="best")
    assert reader.to_arrow().num_rows == 6
    assert "t-0 of cluster EBESExQVFhcYGRobHB0eHw: read from broker 1" in caplog.text


def test_verdict_comes_first_then_the_picture_and_the_ranked_candidates(diff: Run) -> None:
    code, out, err = diff(S3_2, "--topic", "t")
    lines = out.splitlines()
    assert (code, err) == (1, "")
    assert lines[0] == (
        "t-0: FORKED at offset 2 · leader epochs 0 and 1 write different records there"
    )
    assert any("▲ fork" in line for line in lines)
    ranked = [line.split() for line in lines if line.lstrip()[:1].isdigit() and "broker" in line]
    assert [row[2] for row in ranked] == ["1", "2", "0"]
    assert "loses committed ones: do not" in out
    assert "Broker 0 has the longest log and is the worst choice" in out
    assert "--from-offset 2" in out
    assert max(len(line) for line in lines if "kafkalog " not in line) <= 80


def test_identical_copies_end_with_zero(diff: Run) -> None:
    code, out, _ = diff(S3_2.parent / "healed", "--topic", "t")
    assert code == 0
    assert out.startswith("t-0: identical: 3 replicas")


@pytest.mark.parametrize(("in_sync", "ended"), [((0, 1), 0), (None, 1)])
def test_lagging_copies_end_with_zero_unless_what_lags_may_be_committed(
    in_sync: tuple[int, ...] | None, ended: int, diff: Run, tmp_path: Path
) -> None:
    """What a replica of the ISR lacks is not committed; without a metadata log, who knows."""
    leader = [replica(f"{AB} c@2/e0", high_watermark=2)]
    if in_sync is not None:
        state = PartitionState(replicas=(0, 1), in_sync=in_sync, leader=0, leader_epoch=0)
        leader.append(metadata_log([state]))
    cluster(tmp_path, {0: leader, 1: replica(AB, high_watermark=2)})
    code, out, _ = diff(tmp_path, "--topic", "t")
    assert code == ended
    assert out.startswith("t-0: lagging: broker 1 is 1 record behind")


def test_the_first_line_names_no_word_twice(diff: Run, tmp_path: Path) -> None:
    """One of these copies loses committed records if elected, the other may only."""
    uneven = {
        n: replica(f"{AB} c@2/e0", partition=n, high_watermark=high) for n, high in ((0, 2), (1, 3))
    }
    short = [replica(AB, partition=n, high_watermark=2) for n in uneven]
    cluster(tmp_path, {0: [*uneven.values()], 1: short})
    code, out, _ = diff(tmp_path)
    assert code == 1
    assert out.splitlines()[0] == "2 partitions, 2 brokers: 2 lagging"


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
    assert lines[0] == "23 partitions, 2 brokers: 2 forked, 1 lagging, 20 identical"
    assert [line.split()[0] for line in lines[1:4]] == ["t-21", "t-22", "t-20"]
    assert any(line.strip().startswith("replica-diff ") for line in lines)
    assert lines[-1].strip() == f"kafkalog plan {tmp_path}"
    assert len(lines) < 24


def test_damage_says_where_and_who_has_the_records_sound(diff: Run, tmp_path: Path) -> None:
    roots = cluster(tmp_path, dict.fromkeys(range(3), replica(AB, high_watermark=2)))
    flip(roots[2] / "t-0" / SEGMENT, -1)
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


def test_every_way_to_lose_committed_records_is_reported(diff: Run) -> None:
    code, out, _ = diff(captures.path("s5_2/c-written"), "--topic", "t")
    assert code == 1
    assert "loses committed ones" in out
    assert "do not" not in out  # there is nothing else to do
    assert "Whoever leads, committed records are lost." in out
    assert "KL-513" in out
    assert "KL-514" in out


def test_what_is_not_known_is_reported(diff: Run) -> None:
    _, out, _ = diff(S3_2, "--topic", "t")
    text = " ".join(out.split())
    assert (
        "whether an election was unclean: only then can offsets 2–4 on broker 0 have been committed"
    ) in text
    assert "what other copies hold" not in text  # the metadata log names three
    state = captures.path("s5_1/a-down")
    _, out, _ = diff(*(f"{node}={state}/broker-{node}/t-0" for node in (0, 1)))
    assert "whether offset 2 on broker 0 was committed" in out
    assert "what other copies hold, if there are more than the 2 supplied" in " ".join(out.split())
    assert "what other copies hold, if there are more than the 2 supplied" in " ".join(out.split())


def test_the_metadata_log_settles_what_an_in_sync_replica_lacks(diff: Run) -> None:
    _, out, _ = diff(
        captures.path("s5_1/a-down"), "--topic", "t"
    )  # in sync: 0 and 1, and 1 lacks c
    assert "was committed" not in out
    assert re.search(r"broker 1 +broker 0: 3 → 2 +1 record, none committed +in ISR", out), out


def test_pending_truncation_shows_the_place_and_saves_what_will_be_cut(diff: Run) -> None:
    _, out, _ = diff(captures.path("s5_1/b-elected"), "--topic", "t")
    assert out.startswith("t-0: PENDING TRUNCATION: broker 0")
    assert "▲ will be cut" in out
    assert "Broker 1 was elected (leader epoch 1)" in out
    assert "Before broker 0 is started again, save what only it has:" in out


def test_next_command_of_a_fork_saves_what_only_the_loser_has(diff: Run, tmp_path: Path) -> None:
    _, out, _ = diff(S3_2, "--topic", "t")
    line = next(line.strip() for line in out.splitlines() if "kafkalog salvage" in line)
    program, *arguments = shlex.split(line)
    saved = tmp_path / "saved"
    arguments[arguments.index("--output") + 1] = str(saved)
    assert program == "kafkalog"
    assert status(kafkalog, arguments) == 0
    (parquet,) = saved.rglob("*.parquet")
    table = pq.read_table(parquet)
    assert table.column("offset").to_pylist() == [2, 3, 4]
    assert set(table.column("leaderEpoch").to_pylist()) == {0}


def test_next_command_of_damage_shows_the_batch(
    diff: Run, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    roots = cluster(tmp_path, dict.fromkeys(range(2), replica(AB, high_watermark=2)))
    flip(roots[1] / "t-0" / SEGMENT, -1)
    _, out, _ = diff(tmp_path)
    line = next(line.strip() for line in out.splitlines() if "kafkalog inspect" in line)
    status(kafkalog, shlex.split(line)[1:])
    out, _ = capfd.readouterr()
    assert re.search(r"baseOffset +1\b", out)
    assert re.search(r"crc .*computed", out)


def test_silent_divergence_is_reported_although_no_record_is_lost(
    diff: Run, tmp_path: Path
) -> None:
    cluster(tmp_path, {0: replica(f"{AB} c@2/e0"), 1: replica(f"{AB} d@2/e0")})
    code, out, _ = diff(tmp_path)
    assert code == 1
    assert "loses nothing committed, copies differ" in out
    assert "broker 1 keeps other content from offset 2 on" in " ".join(out.split())


@pytest.mark.parametrize("longer", ["", " d@3/e3"])
def test_followers_that_never_get_into_sync_are_named(
    diff: Run, tmp_path: Path, longer: str
) -> None:
    forgot = replica(f"{AB} c@2/e2", epochs="0:0", high_watermark=3)
    knows = replica(f"{AB} c@2/e2{longer}", high_watermark=3)
    cluster(tmp_path, {0: forgot, 1: knows}, clean=(0, 1))
    said = " ".join(diff(tmp_path)[1].split())
    assert (
        "OUT OF SYNC: with broker 0 leading, broker 1 fetches from 2 on and cuts it off again"
        in said
    )
    assert "with broker 1 leading, broker 0" not in said


def test_metadata_log_is_audited_for_its_files_only(diff: Run) -> None:
    code, out, _ = diff(S3_2, "--topic", "__cluster_metadata", "--format", "json")
    (metadata,) = map(json.loads, out.splitlines())
    assert code == 0
    assert metadata["elections"] == []
    assert all(each["code"] < "KL-900" for each in metadata["findings"])
    assert diff(S3_2)[1].splitlines()[0].endswith("1 forked, 1 sound (__cluster_metadata-0)")


def test_quorum_decides_where_metadata_logs_part(diff: Run, tmp_path: Path) -> None:
    cluster(tmp_path, {0: settings_log("aab"), 1: settings_log("aac")})
    code, out, _ = diff(tmp_path)
    assert code == 0
    assert "the controllers' quorum decides" in " ".join(out.split())
    assert "rank" not in out


def test_a_fork_is_worse_than_what_the_quorum_decides(diff: Run, tmp_path: Path) -> None:
    cluster(
        tmp_path,
        {
            0: [settings_log("aab"), replica(f"{AB} c@2/e1", epochs="0:0 1:2")],
            1: [settings_log("aac"), replica(f"{AB} f@2/e2", epochs="0:0 2:2")],
        },
    )
    code, out, _ = diff(tmp_path)
    assert code == 1
    assert (
        out.splitlines()[0] == "2 partitions, 2 brokers: 1 forked, 1 sound (__cluster_metadata-0)"
    )
    assert out.splitlines()[2].startswith("t-0: FORKED at offset 2")


def test_damaged_metadata_log_is_found(diff: Run, tmp_path: Path) -> None:
    roots = cluster(tmp_path, {0: replica(AB, topic="__cluster_metadata")})
    flip(roots[0] / "__cluster_metadata-0" / SEGMENT, -1)
    code, out, _ = diff(tmp_path)
    assert code == 1
    assert out.startswith("__cluster_metadata-0: DAMAGED, NO INTACT COPY SUPPLIED")


@pytest.mark.parametrize("capture", captures.states())
def test_every_capture_keeps_within_80_columns_and_stays_unchanged(diff: Run, capture: str) -> None:
    before = contents(captures.path(capture))
    code, out, err = diff(captures.path(capture), "--verbose")
    assert code in (0, 1), err
    words = [line for line in out.splitlines() if len(line) > 80 and "kafkalog " not in line]
    assert [line for line in words if len(line.split()) > 2] == []  # a path alone stays whole
    assert contents(captures.path(capture)) == before


@pytest.mark.parametrize("capture", captures.states())
def test_json_of_every_capture_agrees_with_the_partitions_table(diff: Run, capture: str) -> None:
    _, out, _ = diff(captures.path(capture), "--format", "json")
    rows = kafkalog_reader.open(str(captures.path(capture))).table(
        "partitions", columns=("topic", "partition", "verdict", "forkOffset")
    )
    answers = [json.loads(line) for line in out.splitlines()]
    assert [
        {name: each[name] for name in ("topic", "partition", "verdict", "forkOffset")}
        for each in answers
    ] == rows.to_arrow().to_pylist()


def test_a_fleet_of_hundreds_in_trouble_stays_one_screen(diff: Run, tmp_path: Path) -> None:
    ours = [replica(f"{AB} x@2/e1", epochs="0:0 1:2", partition=n) for n in range(300)]
    theirs = [replica(f"{AB} f@2/e2", epochs="0:0 2:2", partition=n) for n in range(300)]
    cluster(tmp_path, {0: ours, 1: theirs})
    code, out, _ = diff(tmp_path)
    assert code == 1
    assert len(out.splitlines()) <= 24
    assert "and 299 more like it: t-1, t-2, t-3, ... (--verbose)" in " ".join(out.split())
    assert max(len(line) for line in out.splitlines() if str(tmp_path) not in line) <= 80
    verbose = diff(tmp_path, "--verbose")[1]
    assert verbose.count("FORKED at offset 2") == 300


def test_many_partitions_in_trouble_are_a_line_for_each_kind(diff: Run, tmp_path: Path) -> None:
    """Twelve copies on broker 2 lost their end, and one of broker 1 has a wrong byte."""
    log = [replica("0-3/e0 4-7/e0", high_watermark=8, partition=n) for n in range(13)]
    cluster(tmp_path, dict.fromkeys((1, 2), log))
    for n in range(13):
        file = tmp_path / f"broker-{1 + (n < 12)}" / f"t-{n}" / "00000000000000000000.log"
        content = bytearray(file.read_bytes())
        content[-1] ^= 1
        file.write_bytes(content[: len(content) // 2] if n < 12 else content)
    lines = diff(tmp_path)[1].splitlines()
    assert lines[0] == "13 partitions, 2 brokers: 1 damaged, 12 not sound"
    listed = lines[1 : lines.index("  The worst of them in full:")]
    assert [line.split()[0] for line in listed if line[2:4] == "t-"] == ["t-0", "t-12"]
    assert "    and 11 more like it: t-1, t-2, t-3, ... (--verbose)" in listed


def test_the_command_for_the_worst_can_be_pasted(diff: Run, tmp_path: Path) -> None:
    ours = [replica(f"{AB} x@2/e1", epochs="0:0 1:2", partition=n) for n in (3, 4)]
    theirs = [replica(f"{AB} f@2/e2", epochs="0:0 2:2", partition=n) for n in (3, 4)]
    cluster(tmp_path / "two words", {0: ours, 1: theirs})
    _, out, _ = diff(tmp_path / "two words")
    line = next(line for line in out.splitlines() if line.strip().startswith("replica-diff "))
    _, *arguments = shlex.split(line)
    assert diff(*arguments)[1].startswith("t-3: FORKED")


def test_copies_that_agree_do_not_hide_that_a_start_deletes_one(diff: Run, tmp_path: Path) -> None:
    late = replica(AB, high_watermark=2, log_start=5)  # KL-306
    cluster(tmp_path, {0: late, 1: replica(AB, high_watermark=2)})
    code, out, _ = diff(tmp_path)
    assert code == 1
    text = " ".join(out.split())
    assert text.startswith("t-0: NOT SOUND: broker 0: its next start deletes every segment; 2 rep")
    assert "→ do not start broker 0 yet" in text
    assert re.search(r"1 +broker 1 .* nothing +loses nothing committed", out)
    assert re.search(r"2 +broker 0 .* 2 committed records +loses committed ones", out)


def test_a_broker_that_does_not_come_up_is_named(diff: Run, tmp_path: Path) -> None:
    broken = replica(AB, high_watermark=2, files={"leader-epoch-checkpoint": b"0\n1\n0 x\n"})
    cluster(tmp_path, {0: broken, 1: replica(AB, high_watermark=2)})
    _, out, _ = diff(tmp_path)
    assert "START: broker 0: it does not come up" in out


def test_one_broker_supplied_twice_is_undecidable(diff: Run, tmp_path: Path) -> None:
    for time in ("monday", "tuesday"):
        cluster(tmp_path / time, {0: replica(AB, high_watermark=2)})
    code, out, _ = diff(tmp_path)
    assert code == 2
    assert out.startswith("t-0: UNDECIDABLE: broker 0: supplied more than once")


def test_of_two_copies_of_one_broker_no_command_moves_either(diff: Run, tmp_path: Path) -> None:
    for disk, batches in (("full", AB), ("short", "a@0/e0")):
        root = cluster(tmp_path / disk, {0: replica(batches, high_watermark=1)})[0]
        properties = root / "meta.properties"
        id_of_disk = f"directory.id={disk:A<21}A"
        properties.write_text(re.sub("directory.id=.*", id_of_disk, properties.read_text()))
    code, out, _ = diff(tmp_path)
    assert code == 1
    assert out.startswith("t-0: UNDECIDABLE: broker 0: has the partition twice and will not start")
    words = " ".join(out.replace("\\\n", " ").split())
    assert "KL-007 HIGH broker 0" in words
    assert "keep the one that agrees with the other replicas" in words  # the longer may be wrong
    assert "mv " not in words


def test_a_format_that_is_not_read_is_trouble_and_named(diff: Run, tmp_path: Path) -> None:
    """Magic 3 in the last batch: from there on a newer broker may have written."""
    roots = cluster(tmp_path, dict.fromkeys(range(2), replica(AB, high_watermark=2)))
    segment = roots[0] / "t-0" / SEGMENT
    content = bytearray(segment.read_bytes())
    last = len(content) // 2  # both batches have one size
    content[last + 16] = 3
    segment.write_bytes(content)
    code, out, _ = diff(tmp_path)
    assert code == 2
    assert out.startswith("t-0: UNDECIDABLE")
    assert f"position {last}" in " ".join(out.split())


def test_a_topic_that_is_not_there_is_trouble(diff: Run) -> None:
    code, out, err = diff(S3_2, "--topic", "nowhere")
    assert (code, out) == (2, "")
    assert err == "error: no topic 'nowhere' in the given paths\n"


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


def test_version_is_the_package(diff: Run) -> None:
    assert diff("--version") == (0, f"replica-diff {kafkalog_reader.__version__}\n", "")


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


def test_ctrl_c_shows_what_there_is(tmp_path: Path) -> None:
    ours = [replica(f"{AB} x@2/e1", epochs="0:0 1:2")]
    theirs = [replica(f"{AB} f@2/e2", epochs="0:0 2:2")]
    sound = [replica(AB, partition=number, high_watermark=2) for number in range(1, 2000)]
    cluster(tmp_path, {0: ours + sound, 1: theirs + sound})
    running = process(tmp_path, "--verbose")
    assert running.stdout is not None
    first = running.stdout.readline()  # it has begun
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=60)
    assert running.returncode == 130
    assert first.startswith(b"t-0: FORKED at offset 2")
    assert b"of 2,000 partitions compared" in err
    assert b"of 2,000 partitions, 2 brokers: " in out


def test_a_reader_that_goes_away_is_met_with_silence(tmp_path: Path) -> None:
    sound = [replica(AB, partition=number, high_watermark=2) for number in range(300)]
    cluster(tmp_path, {0: sound})
    running = process(tmp_path, "--format", "json")
    assert running.stdout is not None
    assert running.stderr is not None
    running.stdout.readline()
    running.stdout.close()
    with running.stderr as narration:
        assert narration.read() == b""
    assert running.wait(timeout=60) == 141


def on_a_terminal(*arguments: object, **environment: str) -> bytes:
    controller, terminal = pty.openpty()
    program = "from kafkalog_reader.cli.replica_diff import main; main()"
    running = subprocess.Popen(
        [sys.executable, "-c", program, *map(str, arguments)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm", **environment},
        stdout=terminal,
        stderr=subprocess.PIPE,
    )
    os.close(terminal)
    shown = b""
    with contextlib.suppress(OSError):  # EIO: the other end is closed
        while part := os.read(controller, 65536):
            shown += part
    os.close(controller)
    assert running.stderr is not None
    with running.stderr as narration:
        assert narration.read() == b""
    running.wait(timeout=60)
    return shown


def test_colour_is_on_a_terminal_only_and_says_nothing_new() -> None:
    coloured = on_a_terminal(S3_2, "--topic", "t", NO_COLOR="", PYTHONIOENCODING="utf-8")
    uncoloured = on_a_terminal(S3_2, "--topic", "t", NO_COLOR="1", PYTHONIOENCODING="utf-8")
    assert b"\x1b[31m" in coloured
    assert b"\x1b" not in uncoloured
    assert re.sub(rb"\x1b\[[0-9;]*m", b"", coloured).split() == uncoloured.split()


def test_records_lists_what_only_some_copies_have(diff: Run) -> None:
    _, out, _ = diff(S3_2, "--topic", "t", "--records")
    listed = re.findall(r"^      (\d) +epoch (\d) .* value (\w)$", out, re.MULTILINE)
    assert [" ".join(each) for each in listed] == ["2 0 c", "3 0 d", "4 0 e", "2 1 f", "3 1 g"]
    _, out, _ = diff(S3_2, "--topic", "t", "--records", "--format", "json")
    (document,) = map(json.loads, out.splitlines())
    sides = [(each["side"], each["offset"], each["value"]) for each in document["records"]]
    assert sides[0] == ("broker 0", 2, "Yw==")
    assert (len(sides), document["recordsAreAll"]) == (5, True)


def test_export_writes_both_sides_and_nothing_else(diff: Run, tmp_path: Path) -> None:
    saved = tmp_path / "saved"
    code, out, _ = diff(S3_2, "--topic", "t", "--export", saved)
    assert code == 1
    assert "5 records written to" in out
    rows = pq.read_table(saved / "records.parquet").to_pylist()
    assert [(r["side"], r["offset"], r["value"], r["leaderEpoch"]) for r in rows] == [
        ("broker 0", 2, b"c", 0), ("broker 0", 3, b"d", 0), ("broker 0", 4, b"e", 0),
        ("brokers 1 and 2", 2, b"f", 1), ("brokers 1 and 2", 3, b"g", 1),
    ]  # fmt: skip
    code, _, err = diff(S3_2, "--topic", "t", "--export", saved)
    assert code == 2
    assert "--export" in err
    assert "is not empty" in err


def test_export_refuses_to_write_into_an_input(diff: Run) -> None:
    code, _, err = diff(S3_2, "--topic", "t", "--export", S3_2 / "broker-0" / "saved")
    assert code == 2
    assert "which is an input" in err
    assert not (S3_2 / "broker-0" / "saved").exists()


def test_a_quick_look_says_what_it_left_out(diff: Run) -> None:
    _, full, _ = diff(S3_2, "--topic", "t", "--format", "json")
    _, quick, _ = diff(S3_2, "--topic", "t", "--format", "json", "--quick")
    whole, ends = json.loads(full), json.loads(quick)
    assert (whole["quick"], ends["quick"], ends["comparedFrom"]) == (False, True, 1)
    for name in ("verdict", "forkOffset", "logEndOffset"):
        assert whole[name] == ends[name]
    assert [(e["candidateBrokerId"], e["lostRecords"]) for e in ends["elections"]] == [
        (1, 3), (2, 3), (0, 2),
    ]  # fmt: skip
    _, out, _ = diff(captures.path("s3_2/healed"), "--topic", "t", "--quick")
    assert "alike at the end" in out
    assert "identical" not in out
    assert "below offset 3 not compared" in out


def test_explain_shows_each_round_with_both_caches(diff: Run) -> None:
    _, out, _ = diff(S3_2, "--topic", "t", "--explain")
    text = " ".join(out.split())
    assert (  # as broker 0 logged it when broker 1 led: requested epoch 0, truncated to 2
        "round 1: asks for epoch 0; epoch 0 ends at 2; truncates to 2 "
        "[follower 0:0 | leader 0:0 1:2 2:4]"
    ) in text


def test_with_zookeeper_no_controller_runs_before_the_first_broker(
    diff: Run, tmp_path: Path
) -> None:
    """meta.properties has version 0 there (Kafka 2.8, BrokerMetadataCheckpoint)."""
    root = shutil.copytree(S3_2, tmp_path / "evidence")
    shutil.rmtree(root / "controller-100")
    for path in root.glob("broker-*/meta.properties"):
        text = path.read_text().replace("version=1", "version=0").replace("node.id", "broker.id")
        path.write_text(text)
    _, out, _ = diff(root, "--topic", "t")
    assert "--bootstrap-controller" not in out
    assert "with --zookeeper ZOOKEEPER:2181 before release 2.5" in " ".join(
        out.replace("# ", "").split()
    )
    planned = CliRunner().invoke(plan_command, [str(root), "--topic", "t"], standalone_mode=False)
    assert "unclean.leader.election.enable=false into the server.properties" in " ".join(
        planned.output.split()
    )


def test_unknown_rule_is_refused_with_the_nearest(diff: Run) -> None:
    code, _, err = diff(S3_2, "--rule", "curent")
    assert code == 2
    assert "current" in err


def test_actions_of_a_fork_freeze_first(diff: Run) -> None:
    _, out, _ = diff(S3_2, "--topic", "t")
    assert out.index("→ freeze") < out.index("→ one of brokers 1 and 2 should lead")
    assert "kafka-configs.sh --bootstrap-server HOST:9092 --alter" in out
    assert out.count("--add-config unclean.leader.election.enable=false") == 1
    _, out, _ = diff(captures.path("s1/shrunk"), "--topic", "t")
    assert "What to do" not in out


@pytest.fixture
def three(tmp_path: Path) -> Path:
    """A partition on three brokers, two more on two of them."""
    others = [replica(AB, topic="u", partition=number, high_watermark=2) for number in (0, 1)]
    held = replica(AB, high_watermark=2)
    cluster(tmp_path / "all", {0: [held, *others], 1: [held, *others], 2: [held]})
    return tmp_path / "all"


def test_a_replica_behind_a_link_is_reported(diff: Run, three: Path) -> None:
    copy = three / "broker-2" / "t-0"
    copy.rename(three.parent / "elsewhere")
    copy.symlink_to(three.parent / "elsewhere")
    code, out, _ = diff(three, "--topic", "t")
    assert out.startswith("t-0: identical: 2 replicas\n")
    assert "KL-002 MEDIUM broker 2 has t-0 as a symbolic link, which was not followed" in out
    assert (code, diff(three, "--topic", "t", "--fail-on", "medium")[0]) == (0, 1)
    code, out, _ = diff(three, "--topic", "t", "--format", "json")
    document = json.loads(out)
    (found,) = (each for each in document["findings"] if each["code"] == "KL-002")
    assert (found["severity"], found["brokerId"], found["topic"]) == ("M", 2, "t")
    assert document["verdict"] == "consistent"
    code, out, _ = diff(three, "--topic", "t", "--follow-links")
    assert (code, out.splitlines()[0]) == (0, "t-0: identical: 3 replicas")
    assert "KL-002" not in out


def test_a_link_that_leads_nowhere_is_reported_even_if_links_are_followed(
    diff: Run, three: Path
) -> None:
    copy = three / "broker-2" / "t-0"
    copy.rename(three.parent / "elsewhere")
    copy.symlink_to(three.parent / "nowhere")
    assert (
        "as a symbolic link that leads nowhere" in diff(three, "--topic", "t", "--follow-links")[1]
    )


def test_a_folder_that_checkpoints_name_and_that_is_gone_is_reported(
    diff: Run, three: Path
) -> None:
    shutil.rmtree(three / "broker-2" / "t-0")
    code, out, _ = diff(three, "--topic", "t")
    assert code == 1
    assert " ".join(out.split()).startswith(
        "t-0: NOT SOUND: broker 2: the directory of a replica is missing (KL-310); 2 replicas"
    )
    assert "KL-310 HIGH broker 2 has no folder t-0, which its checkpoints name" in out
    code, out, _ = diff(three, "--topic", "u", "--partition", "0")
    assert (code, "KL-" in out) == (0, False)


def test_among_many_partitions_unread_replicas_are_counted(diff: Run, three: Path) -> None:
    assert "not read" not in diff(three)[1]
    shutil.rmtree(three / "broker-2" / "t-0")
    code, out, _ = diff(three)
    expected = "some replicas were expected but not read: KL-310 in 1 partition, first t-0"
    assert code == 1
    assert expected in " ".join(out.split())
    assert "KL-310 HIGH broker 2 has no folder t-0" in diff(three, "--verbose")[1]


def test_an_assigned_replica_that_was_not_supplied_is_reported(diff: Run) -> None:
    brokers = [S3_2 / "broker-0", S3_2 / "broker-1", S3_2 / "controller-100"]
    _, out, _ = diff(*brokers, "--topic", "t")
    expected = (
        "KL-012 MEDIUM according to the metadata log, broker 2 has a replica too, which was not "
        "supplied"
    )
    assert expected in " ".join(out.split())
    assert "KL-012" not in diff(S3_2, "--topic", "t")[1]


def test_without_permission_no_copy_is_moved(
    diff: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is known of the copy: the only act is to read it."""
    root = shutil.copytree(captures.path("s3_2/healed"), tmp_path / "evidence")
    refused = str(root / "broker-1" / "t-0" / f"{0:020}.log")
    really_open = os.open

    def without_rights(path: str, *arguments: int, **options: int) -> int:
        if os.fspath(path) == refused:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
        return really_open(path, *arguments, **options)

    monkeypatch.setattr(os, "open", without_rights)
    code, out, _ = diff(root, "--topic", "t")
    assert code == 2
    listed = out[out.index("What to do:") :]
    assert re.findall(r"^    → (\w+)", listed, re.MULTILINE) == ["if"]
