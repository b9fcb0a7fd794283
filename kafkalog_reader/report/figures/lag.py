"""How far each consumer group is behind the log, by partition."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kafkalog_reader.report.colours import INK, LINE, LOST, QUIET
from kafkalog_reader.report.figures.look import (
    HATCH,
    MAX_ROWS,
    SOUND,
    Row,
    count_offsets,
    left_out,
    name_rows,
    nothing_to_show,
    one_axes,
    partition_name,
    rows_of,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TITLE: Final = "Lag by group and partition"
_SPREAD: Final = 1000
"""If the greatest lag is this many times the smallest, the axis is logarithmic."""


def lag_figure(group_offsets: Any) -> Figure:  # noqa: ANN401  whatever pyarrow takes
    """Draw one bar for each group and partition: from the committed offset to the log end.

    Args:
        group_offsets: rows of the table ``group_offsets``.
    """
    found = rows_of(group_offsets, "group_offsets")
    if not found:
        return nothing_to_show(TITLE, "No group has committed an offset in these files.")
    rows = sorted(sorted(found, key=_urgency)[:MAX_ROWS], key=_place)
    more = left_out(len(rows), len(found), "those most behind")
    about = "bar: offsets from the committed one to the log end in these files" + more
    figure, axes = one_axes(TITLE, about, height=0.28 * len(rows) + 0.3)
    lags = [row["lag"] or 0 for row in rows]
    known = [lag for lag in lags if lag > 0]
    is_wide = bool(known) and max(known) > _SPREAD * min(known)
    for number, row in enumerate(rows):
        _draw_row(axes, number, row)
        if number and row["groupId"] != rows[number - 1]["groupId"]:
            axes.axhline(number - 0.5, color=LINE, linewidth=0.8)
    name_rows(axes, [_name(rows, number) for number in range(len(rows))])
    axes.grid(axis="x", color=LINE)
    if is_wide:
        axes.set_xscale("symlog", linthresh=1)
        axes.set_xlabel("lag in offsets (logarithmic)")
        axes.set_xlim(0, max(known) * 30)
    else:
        axes.set_xlim(0, max(1, *lags) * 1.3)
        count_offsets(axes, "lag in offsets", max(1, *lags))
    return figure


def _draw_row(axes: Axes, number: int, row: Row) -> None:
    is_lost = row["status"] in ("below-log-start", "above-log-end", "topic-recreated")
    axes.barh(
        number,
        row["lag"] or 0,
        height=0.62,
        color="white" if is_lost else SOUND,
        edgecolor=LOST if is_lost else "#2b7bab",
        hatch=HATCH if is_lost else None,
        linewidth=0.8,
    )
    axes.annotate(
        _says(row),
        (row["lag"] or 0, number),
        xytext=(5, 0),
        textcoords="offset points",
        va="center",
        fontsize=9,
        color=LOST if is_lost else INK if row["lag"] else QUIET,
    )


def _says(row: Row) -> str:
    if row["lag"] is None:
        return f"committed {row['committedOffset']:,}; its log is not in these files"
    text = f"{row['lag']:,}   committed {row['committedOffset']:,} of {row['logEndOffset']:,}"
    return text if row["status"] == "ok" else f"{text}   {row['status']}: the group is reset"


def _name(rows: list[Row], number: int) -> str:
    """The partition; the first one of a group has the group's name before it."""
    row = rows[number]
    is_first = number == 0 or rows[number - 1]["groupId"] != row["groupId"]
    return f"{row['groupId']}   {partition_name(row)}" if is_first else partition_name(row)


def _place(row: Row) -> tuple[Any, ...]:
    return row["groupId"], row["topic"], row["partition"]


def _urgency(row: Row) -> tuple[Any, ...]:
    return row["status"] == "ok", -(row["lag"] or 0), _place(row)
