"""When a leader-epoch-checkpoint is to be written: never from a doubtful batch, never in vain."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from fixtures import captures
from kafkalog_reader.cli.replica_diff import replica_diff

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Run

EPOCHS = "t-0/leader-epoch-checkpoint"
WRONG = "0\n2\n0 0\n5 2\n"
TRUNCATED = "0\n9\n0 0\n"
WRITING = ("mkdir ", "cp ", "printf ")


def copied(capture: str, tmp_path: Path) -> Path:
    return shutil.copytree(captures.path(capture), tmp_path / "two words")


def said(root: Path, run: Run) -> dict[str, str]:
    """The output of each command; lines that end with a backslash are joined."""
    result = CliRunner().invoke(replica_diff, [str(root)], standalone_mode=False)
    texts = {
        "replica-diff": result.output,
        "plan": run("plan", root).out,
        "verify": run("verify", root).out,
    }
    return {name: text.replace("\\\n", " ") for name, text in texts.items()}


def commands(text: str) -> list[str]:
    """The commands about these files."""
    lines = (line.strip() for line in text.splitlines())
    return [line for line in lines if line.startswith(WRITING) and ".json" not in line]


@pytest.mark.parametrize("adviser", ["replica-diff", "plan"])
@pytest.mark.parametrize(
    "content", [None, WRONG, "", TRUNCATED], ids=["missing", "wrong", "empty", "torn"]
)
@pytest.mark.parametrize("capture", ["s3_2/healed", "s5_2/c-written"])
def test_the_printed_commands_restore_what_the_broker_had_written(
    capture: str, content: str | None, adviser: str, tmp_path: Path, run: Run
) -> None:
    root = copied(capture, tmp_path)
    path = root / "broker-0" / EPOCHS
    had = path.read_text()
    path.unlink()
    if content is not None:
        path.write_text(content)
    if not content:  # after an unclean stop, the next start writes a missing or empty file
        assert commands(said(root, run)[adviser]) == []
        (root / "broker-0" / ".kafka_cleanshutdown").touch()
        if adviser == "plan":  # this marker goes first, because the log contradicts it
            text = said(root, run)["plan"]
            assert "move .kafka_cleanshutdown aside" in text
            assert not any("checkpoint" in each for each in commands(text))
            return
    for command in commands(said(root, run)[adviser]):
        subprocess.run(["/bin/sh", "-c", command], check=True)
    assert path.read_text() == had
    kept = [each.read_text() for each in root.glob("aside/broker-0/*leader-epoch-checkpoint")]
    assert kept == ([] if content is None else [content])


LOG = "broker-0/codec-none-0/00000000000000000048.log"


def raise_epoch(path: Path, *, last: bool) -> None:
    """Flip a bit in the leader epoch of the first or last batch of a segment."""
    content = bytearray(path.read_bytes())
    positions = [0]
    while (end := positions[-1] + 12 + _length(content, positions[-1])) < len(content):
        positions.append(end)
    content[positions[-1 if last else 0] + 12] ^= 4  # 67,108,864 more
    path.write_bytes(content)


def _length(content: bytearray, position: int) -> int:
    return int.from_bytes(content[position + 8 : position + 12], "big")


@pytest.mark.parametrize("last", [True, False], ids=["last batch", "in the middle"])
@pytest.mark.parametrize("has_file", [True, False])
@pytest.mark.parametrize("only", [True, False], ids=["without metadata log", "whole cluster"])
def test_no_epoch_comes_from_a_doubtful_batch(
    only: bool, has_file: bool, last: bool, tmp_path: Path, run: Run
) -> None:
    root = copied("everything/stopped", tmp_path)
    raise_epoch(root / LOG, last=last)
    if not has_file:
        (root / LOG).with_name("leader-epoch-checkpoint").unlink()
    for text in said(root / "broker-0" if only else root, run).values():
        assert commands(text) == []
        assert "write leader-epoch-checkpoint" not in " ".join(text.split())
