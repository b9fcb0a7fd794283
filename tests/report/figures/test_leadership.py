"""Leaders over time as a figure."""

from __future__ import annotations

import pytest

from kafkalog_reader.errors import UsageError
from kafkalog_reader.report import figures
from tests.report.figures.drawn import T, opened, row_names, texts


def test_an_unclean_election_and_a_time_without_leader_are_marked() -> None:
    states = opened("s5_2/d-resynchronised").table("partition_states", **T)
    (axes,) = figures.leadership_figure(states).axes
    assert row_names(axes) == ["broker 0", "broker 1"]
    assert {"epoch 0", "epoch 2", "elected uncleanly: it was not in sync"} <= set(texts(axes))
    assert sum(patch.get_hatch() == "xx" for patch in axes.patches) == 1


def test_a_clean_election_is_not_marked() -> None:
    (axes,) = figures.leadership_figure(opened("s3_2/healed").table("partition_states", **T)).axes
    assert {"epoch 0", "epoch 1"} <= set(texts(axes))
    assert not any("uncleanly" in text for text in texts(axes))


def test_rows_of_several_partitions_are_refused() -> None:
    """They would look like the leaders of the first one."""
    states = opened("everything/stopped").table("partition_states")
    with pytest.raises(UsageError, match=r"the rows are of .* partitions, such as .*: choose one"):
        figures.leadership_figure(states)
