"""Which offsets of a partition a consumer does not get, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from matplotlib.patches import Patch

from kafkalog_reader.report.colours import INK, LINE, LOST, QUIET, TINTS
from kafkalog_reader.report.figures.look import (
    MAX_ROWS,
    Row,
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

TITLE: Final = "Offsets that consumers do not get"
_MIN_WIDTH: Final = 0.006
"""Share of the width of one offset among millions."""
_REASONS: Final = {
    "belowLogStart": ("below the log start: deleted", LINE, "..."),
    "compacted": ("compacted away", TINTS[2], ""),
    "controlRecord": ("transaction marker", INK, ""),
    "abortedTransaction": ("aborted (read_committed)", TINTS[3], "\\\\\\"),
    "openTransaction": ("at or above the last stable offset (read_committed)", TINTS[1], "|||"),
    "damaged": ("damaged", "white", "////"),
    "missing": ("missing: no file holds them", "white", "xxxx"),
}
"""Reasons of the table ``gaps``: text, fill and hatch, the most innocent first."""
_WRONG: Final = frozenset({"damaged", "missing"})


def gaps_figure(gaps: Any, replicas: Any, title: str = TITLE) -> Figure:  # noqa: ANN401  whatever pyarrow takes
    """Draw a bar for each copy of a partition that has gaps, from its first offset to its log end.

    Each bar has its own scale, because partitions differ by orders of magnitude.

    Args:
        gaps: rows of the table ``gaps``.
        replicas: rows of the table ``replicas``, for log ends and last stable offsets.
        title: of the figure.
    """
    of_copy: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows_of(gaps, "gaps"):
        of_copy.setdefault(_copy(row), []).append(row)
    ends = {
        _copy(row): row for row in rows_of(replicas, "replicas") if row["logEndOffset"] is not None
    }
    found = [key for key in of_copy if key in ends]
    if not found:
        return nothing_to_show(title, "Consumers get every offset of these partitions.")
    found.sort(key=lambda key: (not _is_wrong(of_copy[key]), -_hidden(of_copy[key]), str(key)))
    shown = sorted(found[:MAX_ROWS], key=str)
    about = "each bar: all offsets of one copy, on a scale of its own"
    figure, axes = one_axes(
        title, about + left_out(len(shown), len(found), "those with most gaps"),
        height=0.4 * len(shown) + 0.5,
    )  # fmt: skip
    is_several = len({key[2:] for key in shown}) < len(shown)
    used: set[str] = set()
    for number, key in enumerate(shown):
        _draw_copy(axes, number, of_copy[key], ends[key])
        used.update(row["reason"] for row in of_copy[key])
    name_rows(axes, [_name(ends[key], is_several=is_several) for key in shown])
    axes.set_xlim(0, 1.16)
    axes.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0 %", "25 %", "50 %", "75 %", "100 %"])
    axes.spines["bottom"].set_bounds(0, 1)
    axes.set_xlabel("share of the offsets of the partition, which begin at 0")
    handles = [
        Patch(facecolor=fill, hatch=hatch, edgecolor=LOST if reason in _WRONG else INK, label=text)
        for reason, (text, fill, hatch) in _REASONS.items()
        if reason in used
    ]
    figure.legend(handles=handles, loc="outside lower left", ncols=2, frameon=False, fontsize=8.5)
    return figure


def _draw_copy(axes: Axes, number: int, gaps: list[Row], replica: Row) -> None:
    end = max(replica["logEndOffset"], *(row["nextOffset"] or 0 for row in gaps), 1)
    axes.barh(number, 1, height=0.5, color="white", edgecolor=QUIET, linewidth=0.8)
    for row in gaps:
        _, fill, hatch = _REASONS.get(row["reason"], (row["reason"], "white", "++"))
        first = row["firstOffset"] / end
        width = max((row["nextOffset"] or end) / end - first, _MIN_WIDTH)
        axes.barh(
            number, width, left=min(first, 1 - _MIN_WIDTH), height=0.5, color=fill, hatch=hatch,
            edgecolor=LOST if row["reason"] in _WRONG else INK, linewidth=0.6,
        )  # fmt: skip
    axes.text(1.008, number, f"end {end:,}", va="center", fontsize=8.5)
    stable = replica["lastStableOffset"]
    if stable is not None and stable < replica["logEndOffset"]:
        axes.plot([stable / end], [number + 0.37], marker="^", color="black", markersize=6,
                  clip_on=False)  # fmt: skip
        axes.annotate(
            f"LSO {stable:,}", (stable / end, number + 0.37), xytext=(6, -1),
            textcoords="offset points", fontsize=8, va="center",
        )  # fmt: skip


def _is_wrong(gaps: list[Row]) -> bool:
    return any(row["reason"] in _WRONG for row in gaps)


def _hidden(gaps: list[Row]) -> int:
    return sum(row["offsets"] or 0 for row in gaps)


def _copy(row: Row) -> tuple[Any, ...]:
    return row["clusterId"], row["logDirectory"], row["topic"], row["partition"]


def _name(replica: Row, *, is_several: bool) -> str:
    name = partition_name(replica)
    broker = replica["brokerLabel"] or replica["brokerId"]
    return f"broker {broker}  {name}" if is_several and broker is not None else name
