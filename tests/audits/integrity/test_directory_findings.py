"""Findings about a log directory as a whole."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from click.testing import CliRunner

from fixtures.builder import cluster, replica
from kafkalog_reader.cli.verify import verify_command

if TYPE_CHECKING:
    from pathlib import Path


def verified(*paths: str) -> tuple[int, str]:
    result = CliRunner().invoke(verify_command, [*paths, "--verbose"], standalone_mode=False)
    return int(result.return_value), " ".join(result.output.split())


def test_a_replica_in_the_brokers_other_log_directory_is_not_missing(tmp_path: Path) -> None:
    """LogManager.loadLogs loads the folders that it finds; checkpoints only give their offsets."""
    (first,) = cluster(tmp_path, {0: replica("a@0/e0 b@1/e0", high_watermark=2)}).values()
    second = tmp_path / "second"
    shutil.copytree(first, second)
    shutil.rmtree(first / "t-0")
    properties = second / "meta.properties"
    lines = properties.read_text().splitlines()
    kept = [line for line in lines if not line.startswith("directory.id")]
    properties.write_text("\n".join([*kept, "directory.id=AAAAAAAAAAAAAAAAAAABAA", ""]))
    status, text = verified(f"0={first}", f"0={second}")
    assert "KL-310" not in text
    assert "t-0: named by" in text
    assert "but its folder is in another log directory of this broker" in text
    assert status == 0
    status, text = verified(f"0={first}")  # without the other log directory, the folder is missing
    assert "KL-310" in text
    assert status == 1
