"""Leader epochs over offsets, one ladder for each copy: by its batches, and by its checkpoint."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from kafkalog_reader.report.colours import INK, LINE, LOST, QUIET
from kafkalog_reader.report.figures.look import (
    WIDTH,
    NotebookFigure,
    Row,
    count_offsets,
    entitle,
    nothing_to_show,
    partition_name,
    plain,
    rows_of,
    tint,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MAX_COPIES: Final = 8
_MAX_LABELLED: Final = 12
"""Leader epochs of a ladder that still have room for a text each."""


def epoch_figure(leader_epochs: Any) -> Figure:  # noqa: ANN401  whatever pyarrow takes
    """Draw a ladder for each copy: a rung is a leader epoch, as long as the offsets it wrote.

    Args:
        leader_epochs: rows of the table ``leader_epochs`` of one topic partition.
    """
    rows = rows_of(leader_epochs, "leader_epochs")
    copies = sorted({_copy(row) for row in rows})[:_MAX_COPIES]
    if not copies:
        return nothing_to_show("Epoch ladder", "These files have no leader epochs.")
    epochs = sorted({row["leaderEpoch"] for row in rows})
    height = len(copies) * (0.5 + 0.32 * min(len(epochs), 8))
    figure = NotebookFigure(figsize=(WIDTH, height + 1.4), layout="constrained")
    panels = figure.subplots(len(copies), 1, sharex=True, sharey=True, squeeze=False)[:, 0]
    entitle(
        panels[0], f"Epoch ladder of {partition_name(rows[0])}",
        "bar: the offsets of an epoch by the batches · thick line: its beginning by the checkpoint",
    )  # fmt: skip
    for panel, copy in zip(panels, copies, strict=True):
        plain(panel)
        _draw_copy(panel, [row for row in rows if _copy(row) == copy], len(epochs))
        panel.set_ylabel(f"{_name(copy)}\nleader epoch", fontsize=9)
        panel.yaxis.set_major_locator(MaxNLocator(integer=True))
        panel.set_ylim(epochs[0] - 0.7, epochs[-1] + 0.8)
        panel.grid(axis="x", color=LINE)
    end = max(row["nextOffset"] for row in rows)
    start = min(row["startOffset"] for row in rows)
    panels[-1].set_xlim(start - 0.02 * (end - start or 1), end + 0.45 * (end - start or 1))
    count_offsets(panels[-1], "offset", end)
    figure.legend(
        handles=[
            Patch(facecolor=tint(0), edgecolor=INK, label="by the batches"),
            Line2D([], [], color="black", marker="|", markersize=9, linewidth=0,
                   markeredgewidth=2, label="begins, by the checkpoint"),
            Line2D([], [], color=LOST, linewidth=3, linestyle=":", label="they contradict"),
        ],
        loc="outside lower right", ncols=3, frameon=False, fontsize=8.5,
    )  # fmt: skip
    return figure


def _draw_copy(axes: Axes, rows: list[Row], epochs: int) -> None:
    by_batches = {row["leaderEpoch"]: row for row in rows if row["source"] == "batches"}
    by_checkpoint = {row["leaderEpoch"]: row for row in rows if row["source"] == "checkpoint"}
    log_start = min((row["startOffset"] for row in by_checkpoint.values()), default=0)
    for epoch in sorted(by_batches.keys() | by_checkpoint.keys()):
        batches, entry = by_batches.get(epoch), by_checkpoint.get(epoch)
        if batches is not None:
            axes.barh(
                epoch, batches["nextOffset"] - batches["startOffset"], left=batches["startOffset"],
                height=0.5, color=tint(epoch), edgecolor=INK, linewidth=1,
            )  # fmt: skip
        if entry is not None:
            axes.plot([entry["startOffset"]], [epoch], marker="|", color="black",
                      markersize=17, markeredgewidth=2.4, zorder=4)  # fmt: skip
        says, is_wrong = _comparison(batches, entry, log_start, has_checkpoint=bool(by_checkpoint))
        if is_wrong and batches is not None and entry is not None:
            axes.plot([batches["startOffset"], entry["startOffset"]], [epoch, epoch],
                      color=LOST, linewidth=3, linestyle=":", zorder=5)  # fmt: skip
        if is_wrong or epochs <= _MAX_LABELLED:
            axes.annotate(
                says,
                (max(row["nextOffset"] for row in (batches, entry) if row is not None), epoch),
                xytext=(8, 0),
                textcoords="offset points",
                va="center",
                fontsize=8.5,
                color=LOST if is_wrong else QUIET,
            )


def _comparison(
    batches: Row | None, entry: Row | None, log_start: int, *, has_checkpoint: bool
) -> tuple[str, bool]:
    """What checkpoint and batches say about one epoch, and whether they contradict."""
    if batches is None:
        assert entry is not None
        return f"began at {entry['startOffset']:,}; nothing is written in it", False
    first = batches["startOffset"]
    if not has_checkpoint:
        return f"from {first:,}; there is no checkpoint", False
    if entry is None:
        return f"from {first:,}; the checkpoint lacks it", True
    if entry["startOffset"] == first:
        return f"from {first:,}, both agree", False
    if first < entry["startOffset"] <= log_start:
        return f"from {first:,}; the checkpoint begins at the log start", False
    return f"from {first:,} by the batches, {entry['startOffset']:,} by the checkpoint", True


def _copy(row: Row) -> tuple[int, str, str]:
    return row["brokerId"] or 0, row["brokerLabel"] or "", row["logDirectory"]


def _name(copy: tuple[int, str, str]) -> str:
    broker, label, _ = copy
    return label or f"broker {broker}"
