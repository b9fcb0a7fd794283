"""KL-525 of controllers whose log directories have no metadata log."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from kafkalog_reader.cli.plan import plan_command
from kafkalog_reader.cli.verify import verify_command
from tests.audits.quorum.controllers import write_combined

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(("is_whole", "said"), [(True, 2), (False, 0)])
def test_a_majority_that_would_start_with_an_empty_log_is_critical(
    tmp_path: Path, *, is_whole: bool, said: int
) -> None:
    """Brokers 1 and 2 of 3.3.2 started before node 3, and deleted every partition."""
    root = write_combined(tmp_path, is_whole=is_whole)
    result = CliRunner().invoke(verify_command, [str(root)], standalone_mode=False)
    out = " ".join(result.stdout.split())
    assert out.count("so do 2 of 3 controllers: if broker 3 starts later") == said
    assert ("KL-525 CRITICAL" in out) is bool(said)


@pytest.mark.parametrize(("emptied", "is_found"), [((1, 2), True), ((1,), False)])
def test_a_majority_with_empty_copies_is_critical_too(
    tmp_path: Path, *, emptied: tuple[int, ...], is_found: bool
) -> None:
    """An empty log votes for every candidate, and a majority of them elects one of themselves."""
    root = write_combined(tmp_path, is_whole=True)
    (sound,) = root.glob("*/__cluster_metadata-0")
    for node in (1, 2):
        folder = root / f"broker-{node}" / "__cluster_metadata-0"
        shutil.copytree(sound, folder)
        if node in emptied:
            for each in folder.iterdir():
                each.unlink()
            (folder / f"{0:020}.log").write_bytes(b"")
    result = CliRunner().invoke(verify_command, [str(root)], standalone_mode=False)
    out = " ".join(result.stdout.split())
    assert ("KL-525 CRITICAL" in out) is is_found
    planned = CliRunner().invoke(plan_command, [str(root)], standalone_mode=False).stdout
    assert planned.startswith("The controllers can elect a leader that loses metadata") is is_found
