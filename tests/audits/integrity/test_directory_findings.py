"""Findings about a log directory as a whole."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

import pytest
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


WRITTEN = b"0\n0\n"


@pytest.mark.parametrize(
    ("empty", "clean", "others", "severity"),
    [
        pytest.param("recovery-point", True, WRITTEN, "LOW", id="clean-stop"),
        pytest.param("log-start", True, WRITTEN, "LOW", id="clean-stop-log-starts"),
        pytest.param("replication", True, WRITTEN, "MEDIUM", id="clean-stop-high-watermarks"),
        pytest.param("recovery-point", False, WRITTEN, "LOW", id="others-were-written"),
        pytest.param("replication", False, WRITTEN, "MEDIUM", id="high-watermarks-come-first"),
        pytest.param("recovery-point", False, b"", None, id="killed-in-its-first-minute"),
        pytest.param("log-start", False, b"0\n", None, id="version-alone"),
        pytest.param("cleaner", True, WRITTEN, None, id="nothing-was-cleaned"),
    ],
)
def test_an_empty_checkpoint_is_reported_where_the_broker_had_written_it(
    empty: str, clean: bool, others: bytes, severity: str | None, tmp_path: Path
) -> None:
    """CheckpointFile creates 0 bytes; the written files have two lines at least."""
    held = replica("a@0/e0 b@1/e0", high_watermark=2, recovery_point=2)
    (root,) = cluster(tmp_path, {0: held}, clean=(0,) if clean else ()).values()
    for name in ("recovery-point", "log-start"):
        if name != empty:
            (root / f"{name}-offset-checkpoint").write_bytes(others)
    (root / f"{empty}-offset-checkpoint").write_bytes(b"")
    _, text = verified(str(root))
    assert ("KL-302" in text) == (severity is not None)
    if severity is not None:
        assert f"KL-302 {severity}" in text
        assert f"{empty}-offset-checkpoint empty, which a start reads as without rows" in text


@pytest.mark.parametrize(("seconds", "found"), [(4, 0), (50, 1), (70, 3)])
def test_a_power_cut_empties_all_checkpoints(seconds: int, found: int, tmp_path: Path) -> None:
    """High watermarks are written every 5 seconds, the others once a minute."""
    held = replica("a@0/e0 b@1/e0", high_watermark=2, recovery_point=2)
    (root,) = cluster(tmp_path, {0: held}).values()
    for name in ("recovery-point", "log-start", "replication", "cleaner"):
        (root / f"{name}-offset-checkpoint").write_bytes(b"")
    for each in (root / "t-0").iterdir():
        os.utime(each, (1_000_000, 1_000_000))
    os.utime(root / "t-0" / f"{0:020}.log", (1_000_000 + seconds,) * 2)
    _, text = verified(str(root))
    assert text.count("empty, which a start reads as without rows") == found
