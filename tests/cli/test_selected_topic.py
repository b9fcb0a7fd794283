"""What is wrong with a whole log directory concerns each topic in it, and no other broker's."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from fixtures import captures
from kafkalog_reader.cli.main import kafkalog
from kafkalog_reader.cli.replica_diff import replica_diff
from kafkalog_reader.cli.run import status

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def evidence(tmp_path: Path) -> Path:
    """Broker 0 has a broken checkpoint, broker 1 an empty meta.properties."""
    root = shutil.copytree(captures.path("s3_2/healed"), tmp_path / "evidence")
    (root / "broker-0" / "replication-offset-checkpoint").write_text("0\n5\nt 0\n")
    (root / "broker-1" / "meta.properties").write_text("")
    return root


@pytest.mark.parametrize("selection", [[], ["--topic", "t"], ["--partition", "0"]])
@pytest.mark.parametrize("command", ["verify", "replica-diff", "plan"])
def test_a_broken_log_directory_is_reported_for_each_of_its_topics(
    command: str, selection: list[str], evidence: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    words = [str(evidence), *selection]
    program = replica_diff if command == "replica-diff" else kafkalog
    status(program, words if program is replica_diff else [command, *words])
    out = capfd.readouterr().out
    assert "KL-301" in out
    assert "KL-312" in out


def test_a_log_directory_without_the_topic_is_not_reported(
    evidence: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(evidence / "broker-2" / "t-0", evidence / "broker-2" / "other-1")
    assert status(kafkalog, ["verify", str(evidence), "--topic", "other"]) == 1
    out = capfd.readouterr().out
    assert "KL-301" not in out
    assert "KL-312" not in out
