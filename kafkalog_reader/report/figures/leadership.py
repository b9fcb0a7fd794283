"""Who led a partition when, and who was in sync, by the cluster's metadata log."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from matplotlib.dates import AutoDateLocator, ConciseDateFormatter, date2num
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from kafkalog_reader.errors import UsageError
from kafkalog_reader.report.colours import INK, LINE, LOST, QUIET
from kafkalog_reader.report.figures.look import (
    Row,
    name_rows,
    nothing_to_show,
    one_axes,
    partition_name,
    rows_of,
    tint,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NO_LEADER: Final = -1
_LEADS: Final = 0.52
_TAIL: Final = 0.18
"""Share of the known time that the current state, which has no end, is given."""
_FORMATS: Final = ("%Y", "%Y-%m", "%m-%d", "%H:%M", "%H:%M", "%H:%M:%S")
_DATES: Final = ("", "%Y", "%Y", "%Y-%m-%d", "%Y-%m-%d", "%Y-%m-%d")
"""Times of ticks, and the date beside them, by the ticks' unit: years to seconds."""
_MIN_LABELLED: Final = 0.075
"""Share of the width that a label needs."""


def leadership_figure(partition_states: Any) -> Figure:  # noqa: ANN401  whatever pyarrow takes
    """Draw one row for each broker: when it led, and when it was in sync.

    Args:
        partition_states: rows of the table ``partition_states`` of one topic partition.

    Raises:
        UsageError: the rows are of several topic partitions.
    """
    states = [
        row for row in rows_of(partition_states, "partition_states") if row["change"] != "removed"
    ]
    shown = sorted({(row["clusterId"] or "", partition_name(row)) for row in states})
    if len(shown) > 1:
        (_, first), (_, second) = shown[:2]
        raise UsageError(
            f"the rows are of {len(shown):,} partitions, such as {first} and {second}: choose one "
            "with the options topic and partition"
        )
    states.sort(key=lambda row: row["offset"])
    if not states:
        return nothing_to_show(
            "Who led when", "No metadata log with this partition is in these files."
        )
    brokers = sorted({broker for row in states for broker in (*row["replicas"], *row["isr"])})
    names = [f"broker {broker}" for broker in brokers]
    figure, axes = one_axes(
        f"Who led {partition_name(states[0])} when",
        "thick: leads, with its leader epoch · thin: in sync (ISR) · the last state is open",
        height=0.6 * len(brokers) + 0.6,
    )
    times = [_number(row["timestamp"]) for row in states]
    span = max(times[-1] - times[0], _number(timedelta(seconds=1)))
    borders = [*times, times[-1] + _TAIL * span]
    for row, (start, end) in zip(states, pairwise(borders), strict=True):
        _draw_state(axes, row, brokers, start, end)
    _label_epochs(axes, states, brokers, borders)
    _mark_unclean(axes, states, brokers, times)
    name_rows(axes, names)
    axes.set_ylim(len(names) - 0.35, -0.95)
    axes.set_xlim(borders[0] - 0.01 * span, borders[-1])
    locator = AutoDateLocator(tz=UTC)  # type: ignore[no-untyped-call]
    axes.xaxis.set_major_locator(locator)
    axes.xaxis.set_major_formatter(
        ConciseDateFormatter(  # type: ignore[no-untyped-call]
            locator, tz=UTC, formats=_FORMATS, zero_formats=_FORMATS, offset_formats=_DATES
        )
    )
    axes.set_xlabel("time (UTC), as the controller stamped its records")
    figure.legend(handles=_legend(states), loc="outside lower right", ncols=3, frameon=False,
                  fontsize=8.5)  # fmt: skip
    return figure


def _draw_state(axes: Axes, row: Row, brokers: list[int], start: float, end: float) -> None:
    width = end - start
    for broker in row["isr"]:
        axes.barh(brokers.index(broker), width, left=start, height=0.14, color="#8c8c8c")
    if row["leader"] == NO_LEADER:
        axes.axvspan(start, end, color=LINE, hatch="xx", alpha=0.6, linewidth=0, zorder=0)
    else:
        axes.barh(brokers.index(row["leader"]), width, left=start, height=_LEADS,
                  color=tint(row["leaderEpoch"]), edgecolor="none", zorder=2)  # fmt: skip


def _label_epochs(axes: Axes, states: list[Row], brokers: list[int], borders: list[float]) -> None:
    """A frame and a label around the states of one leader epoch."""
    whole = borders[-1] - borders[0]
    first = 0
    for number, row in enumerate(states):
        following = states[number + 1] if number + 1 < len(states) else None
        same = following is not None and (
            (following["leader"], following["leaderEpoch"]) == (row["leader"], row["leaderEpoch"])
        )
        if same:
            continue
        start, end = borders[first], borders[number + 1]
        first = number + 1
        if row["leader"] == NO_LEADER:
            continue
        line = brokers.index(row["leader"])
        axes.barh(line, end - start, left=start, height=_LEADS, fill=False, edgecolor=INK,
                  linewidth=1, zorder=3)  # fmt: skip
        if (end - start) / whole >= _MIN_LABELLED:
            axes.text((start + end) / 2, line, f"epoch {row['leaderEpoch']}", ha="center",
                      va="center", fontsize=9, zorder=4)  # fmt: skip


def _mark_unclean(axes: Axes, states: list[Row], brokers: list[int], times: list[float]) -> None:
    for (before, row), time in zip(pairwise(states), times[1:], strict=True):
        eligible = {*before["isr"], *(before["eligibleLeaderReplicas"] or ())}
        leader = row["leader"]
        if leader in (NO_LEADER, before["leader"]) or leader in eligible:
            continue
        line = brokers.index(leader)
        axes.plot([time], [line - _LEADS / 2 - 0.1], marker="v", color=LOST, markersize=7,
                  clip_on=False, zorder=5)  # fmt: skip
        axes.annotate(
            "elected uncleanly: it was not in sync",
            (time, line - _LEADS / 2 - 0.1),
            xytext=(-8, 3),
            textcoords="offset points",
            color=LOST,
            fontsize=9,
            ha="right",
            va="center",
        )


def _legend(states: list[Row]) -> list[Any]:
    handles: list[Any] = [
        Patch(facecolor=tint(0), edgecolor=INK, label="leads"),
        Line2D([], [], color="#8c8c8c", linewidth=4, label="in sync"),
    ]
    if any(row["leader"] == NO_LEADER for row in states):
        handles.append(Patch(facecolor=LINE, hatch="xx", edgecolor=QUIET, label="no leader at all"))
    return handles


def _number(time: datetime | timedelta) -> float:
    """Days, as matplotlib counts them."""
    if isinstance(time, timedelta):
        return time / timedelta(days=1)
    return float(date2num(time))  # type: ignore[no-untyped-call]
