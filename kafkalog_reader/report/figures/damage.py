"""Where damage lies in the segments of a log, byte by byte."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, MaxNLocator

from kafkalog_reader.report.colours import INK, LINE, LOST, TINTS
from kafkalog_reader.report.figures.look import (
    HATCH,
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
    from collections.abc import Iterator

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TITLE: Final = "Where damage lies"
_MAX_BATCHES: Final = 120
"""Sound batches of a segment that are drawn one by one; more of them become one bar."""
_MIN_WIDTH: Final = 0.004
"""Of damage, as a share of the longest segment: one bad byte in a gigabyte must be visible."""


class _Stretch(NamedTuple):
    """Bytes [position, end) of a segment. ``kind`` is ``sound``, ``crc`` or ``unreadable``."""

    position: int
    end: int
    kind: str
    says: str


def damage_figure(batches: Any, segments: Any) -> Figure:  # noqa: ANN401  whatever pyarrow takes
    """Draw a bar for each segment: sound batches, batches with a wrong CRC, and bytes without one.

    Args:
        batches: rows of the table ``batches``, read with the mode PERMISSIVE.
        segments: rows of the table ``segments``, for the size of the files.
    """
    found = [row for row in rows_of(segments, "segments") if row["sizeInBytes"]]
    if not found:
        return nothing_to_show(TITLE, "There is no segment to draw.")
    of_segment: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows_of(batches, "batches"):
        of_segment.setdefault(_segment(row), []).append(row)
    stretches = {
        _segment(row): [*_stretches(row, of_segment.get(_segment(row), []))] for row in found
    }
    damaged_first = sorted(found, key=lambda row: not _is_damaged(stretches[_segment(row)]))
    shown = sorted(damaged_first[:MAX_ROWS], key=_segment)
    about = "white: one sound batch after the other · hatched: not readable as it was written"
    figure, axes = one_axes(
        TITLE, about + left_out(len(shown), len(found), "damaged ones first"),
        height=0.55 * len(shown) + 0.2,
    )  # fmt: skip
    longest = max(row["sizeInBytes"] for row in shown)
    for number, row in enumerate(shown):
        _draw_segment(axes, number, stretches[_segment(row)], longest)
    name_rows(axes, [f"{_copy(row)}{partition_name(row)}\n{row['segmentBaseOffset']:020}.log"
                     for row in shown])  # fmt: skip
    axes.tick_params(axis="y", labelsize=8)
    axes.set_xlim(0, longest * 1.01)
    axes.xaxis.set_major_locator(MaxNLocator(nbins=8, steps=[1, 2, 4, 5, 10]))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    axes.set_xlabel("position in the segment (bytes)")
    figure.legend(
        handles=[
            Patch(facecolor="white", edgecolor=INK, label="sound batch"),
            Patch(facecolor=TINTS[1], edgecolor=LOST, hatch=HATCH, label="wrong CRC"),
            Patch(facecolor=LINE, edgecolor=LOST, hatch="xxx", label="no batch can be read"),
        ],
        loc="outside lower right", ncols=3, frameon=False, fontsize=8.5,
    )  # fmt: skip
    return figure


def _draw_segment(axes: Axes, number: int, stretches: list[_Stretch], longest: int) -> None:
    sound = [each for each in stretches if each.kind == "sound"]
    axes.broken_barh(
        [(each.position, each.end - each.position) for each in sound], (number - 0.22, 0.44),
        facecolor="white", edgecolor=INK, linewidth=0.6,
    )  # fmt: skip
    for each in stretches:
        if each.kind == "sound":
            continue
        width = max(each.end - each.position, _MIN_WIDTH * longest)
        is_wrong = each.kind == "crc"
        axes.barh(
            number, width, left=each.position, height=0.44, edgecolor=LOST, zorder=3,
            color=TINTS[1] if is_wrong else LINE, hatch=HATCH if is_wrong else "xxx",
        )  # fmt: skip
        is_late = each.position > longest * 0.6
        axes.annotate(
            each.says,
            (each.position + (width if is_late else 0), number - 0.24),
            xytext=(0, 2),
            textcoords="offset points",
            fontsize=8,
            color=LOST,
            va="bottom",
            ha="right" if is_late else "left",
        )


def _stretches(segment: Row, batches: list[Row]) -> Iterator[_Stretch]:
    """The bytes of a segment in order, without a gap."""
    at = 0
    batches.sort(key=lambda row: row["position"])
    is_many = len(batches) > _MAX_BATCHES
    for valid, run in groupby(batches, key=lambda row: row["crcValid"] is not False):
        group = [*run]
        for row in [group[0] | {"size": _end(group[-1]) - group[0]["position"]}] if (
            valid and is_many and _is_chain(group)
        ) else group:  # fmt: skip
            if row["position"] > at:
                yield _hole(at, row["position"])
            at = _end(row)
            yield _Stretch(row["position"], at, "sound" if valid else "crc", _wrong(row))
    if at < segment["sizeInBytes"]:
        yield _hole(at, segment["sizeInBytes"])


def _is_chain(batches: list[Row]) -> bool:
    """Whether each batch begins where the one before it ends."""
    size: int = sum(row["size"] for row in batches)
    first: int = batches[0]["position"]
    return first + size == _end(batches[-1])


def _hole(position: int, end: int) -> _Stretch:
    return _Stretch(position, end, "unreadable", f"{end - position:,} bytes from {position:,}")


def _wrong(row: Row) -> str:
    last = row["lastOffset"]
    first = last if row["baseOffset"] is None else row["baseOffset"]
    offsets = f"offset {first:,}" if first == last else f"offsets {first:,}–{last:,}"
    return f"{offsets}, position {row['position']:,}"


def _is_damaged(stretches: list[_Stretch]) -> bool:
    return any(each.kind != "sound" for each in stretches)


def _end(row: Row) -> int:
    end: int = row["position"] + row["size"]
    return end


def _segment(row: Row) -> tuple[Any, ...]:
    return row["logDirectory"], row["topic"], row["partition"], row["segmentBaseOffset"]


def _copy(row: Row) -> str:
    return "" if row["brokerId"] is None else f"broker {row['brokerId']}  "
