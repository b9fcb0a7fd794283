"""Every command of ours that replica-diff prints runs as it stands, and has something to say."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from fixtures.builder import cluster, replica
from fixtures.synthetic import SCENARIOS
from kafkalog_reader.cli.main import kafkalog
from kafkalog_reader.cli.replica_diff import replica_diff
from kafkalog_reader.cli.run import status

if TYPE_CHECKING:
    from collections.abc import Iterator

CAPTURES = Path(__file__).parent.parent.parent / "fixtures" / "captures"
OURS = {"kafkalog": kafkalog, "replica-diff": replica_diff}
PRINTING = {"s3_2/both-led", "s5_1/b-elected", "s5_1/c-written", "s5_2/c-written"}
STATES = ["s1", "s3_2_a", "s4_2", "s5_1_b", "m1", "m5", "m8", "h5", "h6", *sorted(PRINTING)]


def printed(out: str) -> Iterator[list[str]]:
    """Commands of ours, lines that end with a backslash joined as a shell does."""
    for line in out.replace("\\\n", " ").splitlines():
        if line.strip().split(" ")[0] in OURS:
            yield shlex.split(line)


def runs(arguments: list[str], capfd: pytest.CaptureFixture[str]) -> str:
    """The output of one command, which ends with 0 or 1.

    ``inspect`` ends with 2 where records cannot be decoded to their end; it has shown the batch.
    """
    program, *rest = arguments
    capfd.readouterr()
    code = status(OURS[program], rest)
    out, err = capfd.readouterr()
    if rest[0] == "inspect":
        assert "baseOffset" in out
    else:
        assert code in (0, 1), (arguments, err)
    return out


@pytest.mark.parametrize("name", STATES)
def test_every_printed_command_runs_and_says_something(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    state = CAPTURES / name
    if name in SCENARIOS:
        state = SCENARIOS[name].write(tmp_path / "two words")
    monkeypatch.chdir(tmp_path)
    commands = list(printed(runs(["replica-diff", str(state)], capfd)))
    if name in PRINTING:
        assert any(command[:2] == ["kafkalog", "salvage"] for command in commands)
    for command in commands:
        assert runs(command, capfd), command


def test_saving_goes_on_behind_damage(
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
