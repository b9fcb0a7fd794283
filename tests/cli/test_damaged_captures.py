"""What ``replica-diff`` and ``plan`` say of real copies that something happened to."""

from __future__ import annotations

import re
import shutil
from typing import TYPE_CHECKING

import pytest

from fixtures import captures
from kafkalog_reader.cli.replica_diff import replica_diff
from kafkalog_reader.cli.run import status

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.cli.conftest import Run

    Diff = Callable[[Path], str]

LOG = "t-0/00000000000000000000.log"
STRAY = "t-0.8f2c1d3e4b5a69788796a5b4c3d2e1f0-stray"


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """A folder to copy a capture to."""
    return tmp_path / "state"


@pytest.fixture
def diff(capfd: pytest.CaptureFixture[str]) -> Diff:
    """What ``replica-diff`` prints."""

    def diff(path: Path) -> str:
        status(replica_diff, [str(path)])
        return capfd.readouterr().out

    return diff


def words(text: str) -> str:
    return " ".join(text.split())


def unwrapped(text: str) -> str:
    return words(text.replace("\\\n", " "))


def change(file: Path, position: int, content: bytes) -> None:
    with file.open("r+b") as log:
        log.seek(position)
        log.write(content)


def test_a_damaged_fork_is_called_both(copied: Path, diff: Diff) -> None:
    shutil.copytree(captures.path("s5_2/c-written"), copied)
    file = copied / "broker-0" / LOG
    change(file, 135, bytes([file.read_bytes()[135] ^ 8]))
    said = words(diff(copied))
    assert "t-0: DAMAGED on broker 0 · forked at offset 2 · every damaged or missing" in said


@pytest.mark.parametrize("is_clean", [False, True])
def test_a_copy_goes_aside_only_if_its_start_keeps_the_damage(
    copied: Path, run_process: Run, diff: Diff, *, is_clean: bool
) -> None:
    """The plan starts a copy that recovery cuts; one that is not recovered stays damaged."""
    shutil.copytree(captures.path("s1/healed"), copied)
    broker = copied / "broker-0"
    change(broker / LOG, 0, bytes(60))
    if is_clean:
        (broker / ".kafka_cleanshutdown").touch()
    compared, plan = diff(copied), run_process("plan", copied).out
    command = f"mv {broker}/t-0 {copied}/aside/broker-0/t-0"
    assert (command in unwrapped(compared)) == is_clean
    assert (command in unwrapped(plan)) == is_clean


def test_a_stray_folder_of_a_missing_replica_is_named(
    copied: Path, run_process: Run, diff: Diff
) -> None:
    shutil.copytree(captures.path("s5_1/c-written"), copied)
    (copied / "broker-0" / "t-0").rename(copied / "broker-0" / STRAY)
    plan = run_process("plan", copied).out
    for said in (plan, run_process("verify", copied).out, diff(copied)):
        assert f"{STRAY} on broker 0 may hold its records, but the broker does not" in words(said)
    first = "First give folders the names of their partitions (KL-310) and make this plan again."
    assert words(plan).startswith(f"{first} Before that, start no broker.")


def test_what_the_headline_names_is_listed(copied: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """The end of the only replica is gone: both checkpoints above the log end are shown."""
    shutil.copytree(captures.path("everything/stopped"), copied)
    for file in (copied / "broker-0" / "codec-gzip-0").glob("00000000000000000048.*"):
        file.unlink()
    status(replica_diff, [str(copied), "--topic", "codec-gzip"])
    headline, _, rest = capfd.readouterr().out.partition("\n\n")
    named = set(re.findall(r"KL-\d+", headline))
    assert named == {"KL-304", "KL-305"}
    assert named <= set(re.findall(r"^  (KL-\d+) CRITICAL", rest, re.MULTILINE))
    assert "more below" not in headline


@pytest.mark.parametrize("command", ["plan", "verify"])
def test_an_audit_warns_of_nothing_that_is_in_its_answer(
    copied: Path, run: Run, command: str
) -> None:
    """A start cuts the zeros of every copy, so that a merge of all copies is tried, too."""
    shutil.copytree(captures.path("s3_2/healed"), copied)
    for each in copied.glob(f"broker-*/{LOG}"):
        change(each, 65, b"\xff")
        each.write_bytes(each.read_bytes() + bytes(500))
    answer = run(command, copied)
    assert answer.err == ""
    assert "zero" in answer.out


@pytest.mark.parametrize(("lines", "in_full"), [(1, 1), (1000, 2)])
def test_kinds_are_shown_in_full_as_far_as_they_fit_on_a_screen(
    lines: int, in_full: int, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first one always is; all others are listed, and --verbose has everything."""
    monkeypatch.setattr("kafkalog_reader.cli.verify_report._LINES_SHOWN", lines)
    shutil.copytree(captures.path("s3_2/healed"), tmp_path / "in")
    (tmp_path / "in" / "broker-1" / "t-0" / "leader-epoch-checkpoint").write_text("x\n")
    (tmp_path / "in" / "broker-2" / "t-0" / "partition.metadata").unlink()
    out = run("verify", tmp_path / "in").out
    shown, _, listed = out.partition("Also found (--verbose lists all):\n")
    assert shown.count("\nKL-") == in_full
    assert bool(listed) is (in_full == 1)
    assert "Also found" not in run("verify", tmp_path / "in", "--verbose").out


def test_a_severe_finding_that_is_only_listed_has_its_place(
    copied: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of many kinds ``verify`` shows the first in full; others may be as bad."""
    monkeypatch.setattr("kafkalog_reader.cli.verify_report._KINDS_SHOWN", 0)
    shutil.copytree(captures.path("s3_2/healed"), copied)
    change(copied / "broker-1" / LOG, 65, b"\xff")
    listed = run("verify", copied).out.partition("Also found (--verbose lists all):\n")[2]
    severe = [line for line in listed.splitlines() if re.match("KL-[0-9]+  (CRITICAL|HIGH)", line)]
    assert severe
    for line in severe:
        assert "  t-0 on broker 1" in listed.partition(line)[2].splitlines()[1]
