"""The lag of groups as a figure."""

from __future__ import annotations

import pyarrow as pa

from kafkalog_reader.report import figures
from tests.report.figures.drawn import bars, group_row, is_lost, opened, row_names, texts


def test_a_bar_of_the_lag_is_as_long_as_the_broker_answered() -> None:
    # answered: commits 3, 5 and 4 of the group "classic", log ends 4, 8 and 12
    (axes,) = figures.lag_figure(opened("everything/running").table("group_offsets")).axes
    named = dict(zip(row_names(axes), bars(axes), strict=False))
    assert named["classic   partitioned-0"].get_width() == 1
    assert [patch.get_width() for patch in bars(axes)[:3]] == [1, 3, 8]
    assert "3   committed 5 of 8" in texts(axes)


def test_a_group_that_will_be_reset_is_marked() -> None:
    rows = [group_row(), group_row(partition=1, committedOffset=9, lag=-1, status="above-log-end")]
    (axes,) = figures.lag_figure(pa.Table.from_pylist(rows)).axes
    assert [is_lost(patch) for patch in axes.patches] == [False, True]
    assert "-1   committed 9 of 8   above-log-end: the group is reset" in texts(axes)


def test_lag_without_its_log_is_unknown_not_nothing() -> None:
    rows = [group_row(lag=None, logEndOffset=None, status="no-log"), group_row(partition=1)]
    (axes,) = figures.lag_figure(pa.Table.from_pylist(rows)).axes
    assert "committed 5; its log is not in these files" in texts(axes)


def test_of_a_thousand_groups_those_most_behind_are_shown() -> None:
    rows = [group_row(groupId=f"g{number:04}", lag=number) for number in range(1000)]
    (axes,) = figures.lag_figure(pa.Table.from_pylist(rows)).axes
    names = row_names(axes)
    assert len(names) == 40
    assert names[0].startswith("g0960")
    assert any("40 of 1,000 shown: those most behind" in text for text in texts(axes))
