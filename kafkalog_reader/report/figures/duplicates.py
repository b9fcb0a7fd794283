"""How often equal record batches are stored in a partition."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from matplotlib.ticker import FuncFormatter, MaxNLocator, NullLocator

from kafkalog_reader.report.colours import INK, LINE, LOST
from kafkalog_reader.report.figures.look import (
    HATCH,
    nothing_to_show,
    one_axes,
    rows_of,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TITLE: Final = "How often the same batch is stored"
_SPREAD: Final = 100


def duplicates_figure(contents: Any, title: str = TITLE) -> Figure:  # noqa: ANN401  whatever pyarrow takes
    """Draw a histogram of multiplicities: once, twice, four times.

    Args:
        contents: one row for each distinct content of a batch, with how often it is stored in the
            column ``copies``.
        title: of the figure.
    """
    histogram = Counter(row["copies"] for row in rows_of(contents, "a table with a column copies"))
    if not histogram:
        return nothing_to_show(title, "There are no batches of client records.")
    figure, axes = one_axes(
        title, "a producer with retries = n that gets no answer stores a batch up to n + 1 times",
        height=2.4,
    )  # fmt: skip
    for copies, batches in sorted(histogram.items()):
        is_repeated = copies > 1
        axes.bar(
            copies,
            batches,
            width=0.62,
            color="white" if is_repeated else LINE,
            edgecolor=LOST if is_repeated else INK,
            hatch=HATCH if is_repeated else None,
        )
        axes.annotate(
            f"{batches:,} stored {_times(copies)}",
            (copies, batches),
            xytext=(0, 4),
            textcoords="offset points",
            ha="center",
            fontsize=9,
            color=LOST if is_repeated else INK,
        )
    axes.set_xlabel("copies in the log")
    axes.set_ylabel("distinct batches")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlim(0.3, max(2, *histogram) + 0.7)
    if max(histogram.values()) > _SPREAD * min(histogram.values()):
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
        axes.yaxis.set_minor_locator(NullLocator())
        axes.set_ylim(0.7, max(histogram.values()) * 4)
        axes.set_ylabel("distinct batches (logarithmic)")
    else:
        axes.yaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set_ylim(0, max(histogram.values()) * 1.2)
    axes.grid(axis="y", color=LINE)
    return figure


def _times(copies: int) -> str:
    return "once" if copies == 1 else "twice" if copies == 2 else f"{copies:,} times"
