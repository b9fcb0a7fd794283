"""Plans are executed on real brokers: the remaining records are those that they promised."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fixtures import live
from fixtures.plans.agreement import conflicting, disagreements, states

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.oracle

OPPOSED = 100
"""The seed of a state in which no order of starts keeps everything, and copies are replaced."""


def test_a_plan_keeps_what_it_promises_and_more_than_every_order(tmp_path: Path) -> None:
    """`make plans` does this with many more states."""
    output = live.run("plans", tmp_path / "output", str(OPPOSED), "2")
    assert disagreements(output) == []
    assert len(states(output)) == 2
    assert conflicting(output) >= 1
