"""What comes before a start refers only to what the same output lists."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from fixtures.builder import cluster, replica
from kafkalog_reader.cli.replica_diff import replica_diff

if TYPE_CHECKING:
    from pathlib import Path

AB = "a@0/e0 b@1/e0"


@pytest.mark.parametrize(
    ("logs", "high_watermark", "saves"),
    [
        pytest.param((f"{AB} x@2/e1", f"{AB} y@2/e2"), 4, True, id="fork"),
        pytest.param((AB, "a@0/e0"), 4, False, id="high watermark above all ends, one lags"),
        pytest.param((AB, AB), 4, False, id="high watermark above all ends"),
    ],
)
def test_what_is_listed_above_is_there(
    tmp_path: Path, logs: tuple[str, ...], high_watermark: int, saves: bool
) -> None:
    copies = {n: replica(log, high_watermark=high_watermark) for n, log in enumerate(logs)}
    cluster(tmp_path, copies)
    text = CliRunner().invoke(replica_diff, [str(tmp_path)]).output
    before, action, after = text.partition("→ do not start ")
    assert action
    assert ("kafkalog salvage" in before) is saves
    assert ("save what is listed above" in " ".join(after.split())) is saves


def test_the_trace_of_a_loss_is_kept_before_a_start_lowers_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A start lowers the high watermark to the log end, and writes the checkpoint 5 s later."""
    roots = cluster(tmp_path / "all", {n: replica(AB, high_watermark=4) for n in (0, 1)})
    text = CliRunner().invoke(replica_diff, [str(tmp_path / "all")]).output
    assert "copy the files replication-offset-checkpoint of brokers 0 and 1" in " ".join(
        text.split()
    )
    lines = (line.strip() for line in text.replace("\\\n", " ").splitlines())
    commands = [line for line in lines if " cp -p " in line]
    monkeypatch.chdir(tmp_path)
    subprocess.run(["bash", "-e", "-c", "\n".join(commands)], check=True)
    for broker, root in roots.items():
        had = (root / "replication-offset-checkpoint").read_bytes()
        kept = tmp_path / "SAVED" / f"replication-offset-checkpoint-broker-{broker}"
        assert kept.read_bytes() == had


def test_no_checkpoint_is_kept_whose_end_a_copy_holds(tmp_path: Path) -> None:
    longer = replica(f"{AB} c@2/e0", high_watermark=3)
    cluster(tmp_path, {0: replica(AB, high_watermark=3), 1: longer})
    text = CliRunner().invoke(replica_diff, [str(tmp_path), "--verbose"]).output
    assert "cp -p" not in text
