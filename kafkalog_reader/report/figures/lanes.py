"""The lanes as a matplotlib figure: one bar per replica, readable without colour."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kafkalog_reader.report.colours import INK, LINE, LOST
from kafkalog_reader.report.figures.look import (
    HATCH,
    one_axes,
    tint,
)
from kafkalog_reader.report.lanes import Lane, Lanes, Scale, scale_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_ROOM: Final = 100
_HEIGHT: Final = 0.5
_MIN_LABELLED: Final = 7


def lanes_figure(lanes: Lanes) -> Figure:
    """Draw the lanes; needs the extra ``notebook``.

    Offsets have the same uneven scale as on a terminal, so that a short fork after a long common
    history is visible.
    """
    scale = scale_of(lanes, _ROOM)
    figure, axes = one_axes(
        f"Copies of {lanes.title}", _about(lanes), height=0.6 * len(lanes.lanes)
    )
    for row, lane in enumerate(lanes.lanes):
        _draw_lane(axes, row, lane, scale)
    axes.set_yticks(range(len(lanes.lanes)), [lane.name for lane in lanes.lanes])
    axes.set_ylim(len(lanes.lanes) - 0.3, -0.9)  # the first replica on top, as in a list
    axes.set_xticks(scale.columns, [f"{offset:,}" for offset in scale.offsets])
    axes.set_xlim(-1, scale.columns[-1] + 14)
    axes.set_xlabel("offset (uneven scale)")
    if lanes.mark is not None:
        offset, name = lanes.mark
        column = scale.column(offset)
        axes.axvline(column, color=LOST, linestyle="--", linewidth=1.2, ymax=0.93)
        axes.annotate(
            f"{name} at {offset:,}" if lanes.fork is not None else f"{name} from {offset:,} on",
            (column, -0.62),
            xytext=(5, 0),
            textcoords="offset points",
            color=LOST,
            va="center",
        )
    return figure


def _about(lanes: Lanes) -> str:
    said = "black below a bar: where the high watermark is"
    hatched = any(interval.is_apart for lane in lanes.lanes for interval in lane.intervals)
    if hatched and lanes.fork is not None:
        said += " · hatched: not in the log of the leader that loses least"
    return said


def _draw_lane(axes: Axes, row: int, lane: Lane, scale: Scale) -> None:
    for first, following in _without_epoch(lane):
        span = scale.column(first), scale.column(following)
        _draw_bar(axes, row, span, lane.no_epoch_text, LINE)
    for interval in lane.intervals:
        epoch = interval.leader_epoch
        span = scale.column(interval.first_offset), scale.column(interval.next_offset)
        _draw_bar(axes, row, span, f"epoch {epoch}", tint(epoch), is_apart=interval.is_apart)
    low, high = (scale.column(offset) for offset in lane.high_watermark)
    below = row + _HEIGHT / 2 + 0.1
    axes.plot(
        [low, high],
        [below, below],
        color="black",
        linewidth=2,
        marker="^" if low == high else "|",
        markersize=6,
    )
    axes.annotate(
        f"{lane.end_text}   HW {lane.high_watermark_text}",
        (scale.column(lane.next_offset), row),
        xytext=(6, 0),
        textcoords="offset points",
        va="center",
    )


def _draw_bar(
    axes: Axes,
    row: int,
    span: tuple[int, int],
    label: str,
    colour: str,
    *,
    is_apart: bool = False,
) -> None:
    left, right = span
    axes.barh(
        row,
        right - left,
        left=left,
        height=_HEIGHT,
        color=colour,
        edgecolor=LOST if is_apart else INK,
        linewidth=1,
        hatch=HATCH if is_apart else None,
    )
    if right - left >= _MIN_LABELLED:
        axes.text(
            (left + right) / 2,
            row,
            label,
            ha="center",
            va="center",
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.5, "alpha": 0.85},
        )


def _without_epoch(lane: Lane) -> Iterator[tuple[int, int]]:
    """Offsets whose leader epoch is unknown: all of them before Kafka 0.11."""
    at = lane.first_offset
    for interval in lane.intervals:
        if at < interval.first_offset:
            yield at, interval.first_offset
        at = max(at, interval.next_offset)
    if at < lane.next_offset:
        yield at, lane.next_offset
