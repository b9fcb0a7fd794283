"""Consumers of real groups go on under each elected leader where ``group_elections`` predicts."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from fixtures import live
from fixtures.elections.group_agreement import consumed, disagreements, predictions
from fixtures.elections.group_states import PARTITIONS, groups

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.oracle


def test_groups_go_on_where_it_is_predicted(tmp_path: Path) -> None:
    """Groups with and without a leader epoch, each reset policy, both group protocols."""
    output = live.run("elected_groups", tmp_path / "output")
    assert disagreements(output) == []
    got = Counter(error for each in (0, 1) for error, _ in consumed(output, each).values())
    assert got["truncated"] > 10
    assert got["out-of-range"] > 10
    outcomes = Counter(row["outcome"] for row in predictions(output).values())
    assert outcomes.keys() == {"unchanged", "unnoticed", "truncation-detected", "reset"}
    commits = sum(number < len(each.reads) for *_, number in groups() for each in PARTITIONS)
    assert outcomes.total() == 2 * commits
