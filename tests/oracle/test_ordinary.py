"""Restarts, crashes, the cleaner and retention of a sound cluster raise no alarm."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fixtures import live
from fixtures.ordinary.alarms import alarms, captures

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.oracle


def test_an_ordinary_life_raises_no_alarm(tmp_path: Path) -> None:
    """`make ordinary` does this with many more captures: stopped, killed and running ones."""
    output = live.run("ordinary", tmp_path / "output", "1", "3")
    assert len(captures(output)) == 3
    assert alarms(output) == []
