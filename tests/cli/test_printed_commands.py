"""Every printed command of ours runs unchanged and prints something."""

from __future__ import annotations

import shlex
import shutil
from typing import TYPE_CHECKING, Final

import pytest

from fixtures import captures
from fixtures.builder import cluster, replica
from fixtures.faults.catalogue import FAULTS
from fixtures.synthetic import SCENARIOS
from fixtures.synthetic.across_replicas import CROSS_FAULTS
from kafkalog_reader.cli.main import kafkalog
from kafkalog_reader.cli.replica_diff import replica_diff
from kafkalog_reader.cli.run import CLEAN, FOUND, TROUBLE, status
from tests.agreement.faulty_copy import base_of, faulty_copy

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from fixtures.faults.fault import Fault
    from fixtures.synthetic.across_replicas import CrossFault

OURS = {"kafkalog": kafkalog, "replica-diff": replica_diff}
PRINTING = {"s3_2/both-led", "s5_1/b-elected", "s5_1/c-written", "s5_2/c-written"}
STATES = ["s1", "s3_2_a", "s4_2", "s5_1_b", "m1", "m5", "m8", "h5", "h6", *sorted(PRINTING)]


EVERY_FIFTH: Final = FAULTS[::5]
ASKED: Final = (["verify"], ["verify", "--verbose"], ["plan"])


def printed(out: str) -> Iterator[list[str]]:
    """Commands of ours; lines that end with a backslash are joined as in a shell."""
    for line in out.replace("\\\n", " ").splitlines():
        command = line.removeprefix("What it means: ")
        if command.strip().split(" ")[0] in OURS:
            yield shlex.split(command)


def runs(arguments: list[str], capfd: pytest.CaptureFixture[str]) -> str:
    """Run one command, which must end with 0 or 1; return its output.

    It may end with 2 if its output states what cannot be known. ``inspect`` ends with 2 if it could
    not decode all bytes that it shows.
    """
    program, *rest = arguments
    capfd.readouterr()
    code = status(OURS[program], rest)
    out, err = capfd.readouterr()
    assert out, (arguments, err)
    is_answer = code == TROUBLE and ("error: " not in err or rest[0] == "inspect")
    assert code in (CLEAN, FOUND) or is_answer, (arguments, err)
    return out


@pytest.mark.parametrize("name", STATES)
def test_every_printed_command_runs_and_says_something(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    if name in SCENARIOS:
        state = SCENARIOS[name].write(tmp_path / "two words")
    else:
        state = captures.path(name)
    monkeypatch.chdir(tmp_path)
    commands = list(printed(runs(["replica-diff", str(state)], capfd)))
    if name in PRINTING:
        assert any(command[:2] == ["kafkalog", "salvage"] for command in commands)
    for command in commands:
        assert runs(command, capfd), command


def all_run(path: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Run the commands printed for a path one after another, with the same SAVED folder."""
    done = []
    for asked in (*(["kafkalog", *words, path] for words in ASKED), ["replica-diff", path]):
        for command in printed(runs(asked, capfd)):
            if command not in done:
                runs(command, capfd)
                done.append(command)
    shutil.rmtree(tmp_path / "SAVED", ignore_errors=True)


@pytest.mark.parametrize("fault", EVERY_FIFTH, ids=lambda fault: fault.id)
def test_commands_printed_about_a_fault_run(
    fault: Fault,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    all_run(faulty_copy(fault, base_of(fault), tmp_path / "two words"), tmp_path, capfd)


@pytest.mark.parametrize("fault", CROSS_FAULTS, ids=lambda fault: fault.id)
def test_commands_printed_about_a_fault_across_replicas_run(
    fault: CrossFault,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    all_run(str(fault.write(tmp_path / "two words")), tmp_path, capfd)


def test_saving_goes_on_after_damage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    log = "a@0/e0 b@1/e0 c@2/e0 d@3/e0"
    copies = {
        0: replica(log, high_watermark=2),
        1: replica("a@0/e0 b@1/e0 f@2/e2", epochs="0:0 2:2", high_watermark=3),
    }
    segment = cluster(tmp_path / "in", copies)[0] / "t-0" / f"{0:020}.log"
    content = bytearray(segment.read_bytes())
    content[-80] ^= 1  # in c, before d
    segment.write_bytes(content)
    monkeypatch.chdir(tmp_path)
    for command in printed(runs(["replica-diff", str(tmp_path / "in")], capfd)):
        assert runs(command, capfd), command
