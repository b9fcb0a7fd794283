"""If reading stops at damage, the error names a way to continue, and that way works."""

from __future__ import annotations

import shlex
import shutil
from typing import TYPE_CHECKING

import pytest

from fixtures import captures
from fixtures.builder import cluster, replica

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Run


def test_the_way_past_damage_is_named(run: Run, tmp_path: Path) -> None:
    broker = tmp_path / "broker-1"
    shutil.copytree(captures.path("s3_2/healed") / "broker-1", broker)
    segment = broker / "t-0" / "00000000000000000000.log"
    content = bytearray(segment.read_bytes())
    content[130] ^= 4  # in the second batch
    segment.write_bytes(content)
    stopped = run("records", broker, "--topic", "t", "--columns", "offset", "--format", "csv")
    error, hint = stopped.err.splitlines()
    assert error.startswith("error: ")
    assert "--mode PERMISSIVE" in hint
    assert (stopped.status, stopped.out.split()) == (2, ['"offset"', "0"])
    options = ("--topic", "t", "--columns", "offset", "--format", "csv", "--mode", "PERMISSIVE")
    passed = run("records", broker, *options)
    assert (passed.status, passed.out.split()) == (1, ['"offset"', "0", "2", "3"])
    assert "PERMISSIVE" not in passed.err


def damaged(root: Path, *brokers: int) -> Path:
    """Three equal copies of a, b, f, g; each of these brokers has a flipped bit in another one."""
    shutil.copytree(captures.path("s3_2/healed"), root)
    for number, broker in enumerate(brokers):
        path = root / f"broker-{broker}" / "t-0" / "00000000000000000000.log"
        content = bytearray(path.read_bytes())
        content[65 + 69 * number] ^= 5
        path.write_bytes(content)
    return root


READ = ("--topic", "t", "--columns", "value", "--format", "csv")
WHOLE = ['"value"', '"YQ=="', '"Yg=="', '"Zg=="', '"Zw=="']


@pytest.mark.parametrize("brokers", [(0,), (0, 1), (2,), (0, 2)])
def test_an_intact_copy_is_named_and_its_command_works(
    tmp_path: Path, run: Run, brokers: tuple[int, ...]
) -> None:
    root = damaged(tmp_path / "brokers", *brokers)
    stopped = run("records", root, *READ, "--replica", f"broker:{brokers[0]}")
    assert stopped.status == 2
    _, named, around = stopped.err.splitlines()
    intact = min({0, 1, 2} - {*brokers})
    text, _, command = named.partition(": kafkalog ")
    assert text == f"broker {intact} has an intact copy"
    assert command.endswith(f" --topic t --partition 0 --replica broker:{intact}")
    assert around.startswith("--mode PERMISSIVE")
    answer = run(*shlex.split(command), "--columns", "value", "--format", "csv")
    assert (answer.status, answer.out.split(), answer.err) == (0, WHOLE, "")


def test_without_an_intact_copy_they_are_merged(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    stopped = run("records", damaged(tmp_path / "brokers", 0, 1, 2), *READ)
    _, there, named, around = stopped.err.splitlines()
    text, _, command = there.partition(": kafkalog ")
    assert text == "broker 0 can be read at offset 2"  # damaged on broker 2 only
    assert run(*shlex.split(command), "--columns", "value", "--format", "csv").out.split()[1:2] == [
        WHOLE[3]
    ]
    text, _, command = named.partition(": kafkalog ")
    assert text == "All copies together make one log with more records"
    assert around.startswith("--mode PERMISSIVE")
    assert run(*shlex.split(command)).status == 0
    answer = run("records", "SAVED/t-0-merged", *READ)
    assert (answer.status, answer.out.split()) == (0, WHOLE)


def test_a_shorter_intact_copy_is_said_to_be_short(tmp_path: Path, run: Run) -> None:
    short = replica("0-4/e0 5-9/e0", high_watermark=10)
    root = cluster(tmp_path, {1: short, 2: replica("0-4/e0 5-9/e0 10-14/e0", high_watermark=10)})[2]
    log = root / "t-0" / "00000000000000000000.log"
    content = bytearray(log.read_bytes())
    content[65] ^= 5
    log.write_bytes(content)
    _, named, merge, _ = run("records", tmp_path, "--replica", "broker:2").err.splitlines()
    assert named.startswith("broker 1 has an intact copy, but it ends at offset 9: ")
    assert "--merge --as-segments" in merge


def test_a_copy_of_another_history_is_not_named(tmp_path: Path, run: Run) -> None:
    old = replica("0-4/e0 5-9/e0", epochs="0:0", high_watermark=5)
    new = replica("0-4/e0 5-6/e1", epochs="0:0 1:5", high_watermark=7)
    log = cluster(tmp_path, {1: old, 2: new})[2] / "t-0" / "00000000000000000000.log"
    content = bytearray(log.read_bytes())
    content[-1] ^= 5
    log.write_bytes(content)
    errors = run("records", tmp_path, "--replica", "broker:2").err.splitlines()
    assert [line.split()[0] for line in errors] == ["error:", "--mode"]


def test_queries_name_the_intact_copy_too(tmp_path: Path, run: Run) -> None:
    root = damaged(tmp_path / "brokers", 0)
    stopped = run("sql", "SELECT count(*) FROM records WHERE topic = 't'", root)
    assert stopped.status == 2
    assert [line.split(":")[0] for line in stopped.err.splitlines()[1:]] == [
        "broker 1 has an intact copy", PERMISSIVE,
    ]  # fmt: skip
    assert "intact" not in run("table", "batches", root, "--topic", "t").err


PERMISSIVE = (
    "--mode PERMISSIVE shows what can be read around it; `kafkalog salvage` writes that to a folder"
)


def test_below_a_fork_another_copy_has_the_same_records(tmp_path: Path, run: Run) -> None:
    """Brokers 1 and 2 have other records than broker 0 from offset 2 on, and the same below."""
    root = shutil.copytree(captures.path("s3_2/both-led"), tmp_path / "brokers")
    path = root / "broker-0" / "t-0" / "00000000000000000000.log"
    content = bytearray(path.read_bytes())
    content[100] ^= 4  # in the batch of offset 1
    path.write_bytes(content)
    stopped = run("records", root, *READ, "--replica", "broker:0")
    _, there, *_ = stopped.err.splitlines()
    text, _, command = there.partition(": kafkalog ")
    assert text in ("broker 1 can be read at offset 1", "broker 2 can be read at offset 1")
    assert command.endswith("--from-offset 1 --to-offset 2")
    answer = run(*shlex.split(command), "--columns", "value", "--format", "csv")
    assert (answer.status, answer.out.split()) == (0, ['"value"', '"Yg=="'])


def test_a_copy_with_the_first_segment_is_named_where_that_is_missing(
    tmp_path: Path, run: Run
) -> None:
    """An error about a folder, not about one of its files."""
    late = replica(
        "5-9/e0 10-14/e0", topic="__consumer_offsets", base_offset=5, high_watermark=10,
        files={f"{0:020}.index": b""},
    )  # fmt: skip
    whole = replica("0-4/e0 5-9/e0", topic="__consumer_offsets", high_watermark=10)
    cluster(tmp_path, {0: late, 1: whole})
    stopped = run("records", tmp_path, "--topic", "__consumer_offsets")
    assert stopped.status == 2
    (named,) = (line for line in stopped.err.splitlines() if "has an intact copy" in line)
    assert named.startswith("broker 1 has an intact copy, but it ends at offset 9: ")
