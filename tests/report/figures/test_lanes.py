"""The copies of a partition side by side."""

from __future__ import annotations

from tests.report.figures.drawn import opened, texts


def test_copies_without_leader_epochs_have_bars() -> None:
    (axes,) = opened("s5_2_0.10.2.2/d-diverged").diff("t", 0).figure().axes
    assert texts(axes).count("no leader epochs") == 2
    assert "fork at 2" in texts(axes)
