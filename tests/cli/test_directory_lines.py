"""``replica-diff`` prints the problems of a whole log directory first."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from click.testing import CliRunner

from fixtures import captures
from kafkalog_reader.cli.replica_diff import replica_diff

if TYPE_CHECKING:
    from pathlib import Path


def test_a_log_directory_without_meta_properties_is_not_sound(tmp_path: Path) -> None:
    shutil.copytree(captures.path("everything/stopped/broker-0"), tmp_path / "broker-0")
    (tmp_path / "broker-0" / "meta.properties").unlink()
    result = CliRunner().invoke(replica_diff, [str(tmp_path)], standalone_mode=False)
    lines = result.stdout.splitlines()
    assert result.return_value == 1
    assert lines[0] == "log directories: NOT SOUND"
    assert lines[1].startswith("  KL-312 HIGH ")
    as_json = CliRunner().invoke(
        replica_diff, [str(tmp_path), "--format", "json"], standalone_mode=False
    )
    assert as_json.return_value == 1
    assert "KL-312 HIGH" in as_json.stderr
