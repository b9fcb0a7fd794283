"""Quorums of real controllers are killed: they elect, cut and keep what was predicted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fixtures import live
from fixtures.quorums.agreement import agreement

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.oracle

SEED = 3
"""Of a quorum of three with voters in its log; two states, the second with a new disk."""


def test_killed_quorums_elect_and_cut_as_predicted(tmp_path: Path) -> None:
    """`make quorums` does this with many more states."""
    output = live.run("quorums", tmp_path / "output", str(SEED), "2")
    result = agreement(output)
    assert result.differences == []
    assert result.counts["states"] == 2
    assert result.counts["leaders"] >= 1
    assert result.counts["votes"] >= 2
