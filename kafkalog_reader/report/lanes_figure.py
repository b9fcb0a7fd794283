"""The lanes as a matplotlib figure: one bar per replica, readable without colour."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from matplotlib.figure import Figure

from kafkalog_reader.report.colours import INK, LOST, TINTS
from kafkalog_reader.report.lanes import Lane, Lanes, Scale, scale_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ROOM: Final = 100
_HEIGHT: Final = 0.5
_MIN_LABELLED: Final = 7


def lanes_figure(lanes: Lanes) -> Figure:
    """Draw the lanes; needs the extra ``notebook``.

    Offsets have the same uneven scale as on a terminal, so that a short fork after a long common
    history is visible.
    """
    scale = scale_of(lanes, _ROOM)
    figure = Figure(figsize=(9, 1.7 + 0.6 * len(lanes.lanes)), layout="constrained")
    axes = figure.add_subplot()
    for row, lane in enumerate(lanes.lanes):
        _draw_lane(axes, row, lane, lanes, scale)
    axes.set_yticks(range(len(lanes.lanes)), [lane.name for lane in lanes.lanes])
    axes.set_ylim(len(lanes.lanes) - 0.3, -0.9)  # the first replica on top, as in a list
    axes.set_xticks(scale.columns, [f"{offset:,}" for offset in scale.offsets])
    axes.set_xlim(-1, scale.columns[-1] + 14)
    axes.set_xlabel("offset (uneven scale); black below a bar: where the high watermark is")
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="y", length=0)
    axes.set_title(_title(lanes), loc="left", fontsize=11)
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


def _title(lanes: Lanes) -> str:
    hatched = any(interval.is_apart for lane in lanes.lanes for interval in lane.intervals)
    what = "   hatched: not in the log of the leader that loses least" if lanes.fork else ""
    return f"{lanes.title}{what if hatched else ''}"


def _draw_lane(axes: Axes, row: int, lane: Lane, lanes: Lanes, scale: Scale) -> None:
    epochs = sorted({interval.leader_epoch for each in lanes.lanes for interval in each.intervals})
    for interval in lane.intervals:
        left, right = scale.column(interval.first_offset), scale.column(interval.next_offset)
        axes.barh(
            row,
            right - left,
            left=left,
            height=_HEIGHT,
            color=TINTS[epochs.index(interval.leader_epoch) % len(TINTS)],
            edgecolor=LOST if interval.is_apart else INK,
            linewidth=1,
            hatch="///" if interval.is_apart else None,
        )
        if right - left >= _MIN_LABELLED:
            axes.text(
                (left + right) / 2,
                row,
                f"epoch {interval.leader_epoch}",
                ha="center",
                va="center",
                bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.5, "alpha": 0.85},
            )
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
