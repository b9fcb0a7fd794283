"""States in which an operator saw commands disagree: what is lost, by each of them."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Final

import pytest

from fixtures import captures
from tests.agreement.commands import answers, contradictions

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

LOG: Final = f"{0:020}.log"
BATCH: Final = 69
"""Bytes of each batch of s3_2/healed: a header of 61 and a record of 8."""


def copied(capture: str, root: Path) -> Path:
    shutil.copytree(captures.path(capture), root)
    return root


def without_a_segment(root: Path) -> Path:
    """codec-none has three segments of 24 records; the middle one is gone with its indexes."""
    root = copied("everything/stopped", root)
    for path in (root / "broker-0" / "codec-none-0").glob(f"{24:020}.*"):
        path.unlink()
    return root


def without_a_batch(root: Path) -> Path:
    """Offset 1 is gone from all three copies."""
    root = copied("s3_2/healed", root)
    for path in root.glob(f"broker-?/t-0/{LOG}"):
        content = path.read_bytes()
        path.write_bytes(content[:BATCH] + content[2 * BATCH :])
    return root


@pytest.mark.parametrize("make", [without_a_segment, without_a_batch])
def test_records_that_no_copy_holds_are_found_by_every_command(
    make: Callable[[Path], Path], tmp_path: Path
) -> None:
    said = answers([str(make(tmp_path / "evidence"))], tmp_path / "salvaged")
    assert (said.verify, said.replica_diff, said.plan, said.salvage) == (1, 1, 1, 1)
    assert list(contradictions(said)) == []
