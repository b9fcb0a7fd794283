"""A slice of ``make fuzz``: the same mutations of the same captures in every run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SEED = 20_261_121
# As many as take two or three seconds on one slow core; few if they read whole directories.
INPUTS = {
    "texts": 4000, "entries": 6000, "declared_batches": 1500, "messages": 3000, "payloads": 4000,
    "kernels": 1500, "segments": 100, "directories": 30, "commands": 6, "starts": 22,
    "discovery": 10_000,
}  # fmt: skip


def test_every_target_has_its_share() -> None:
    from tests.fuzz.targets import TARGETS

    assert INPUTS.keys() == TARGETS.keys()


@pytest.mark.parametrize("target", INPUTS)
def test_no_mutation_raises_what_is_not_an_error_of_ours(target: str, tmp_path: Path) -> None:
    """In a separate process with limited memory; no input may take twenty seconds."""
    command = [
        sys.executable, "-m", "tests.fuzz", "--child", "--engine", "mutation", "--target", target,
        "--rounds", str(INPUTS[target]), "--seed", str(SEED), "--crashes", str(tmp_path),
    ]  # fmt: skip
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{target}: {INPUTS[target]:,} inputs" in done.stdout
