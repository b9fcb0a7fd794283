"""The common look of all figures: titles, axes, and what each colour means.

Figures are made without ``pyplot``: they need no display, and nothing remembers them after use.
Each is readable without colour: by labels, hatches or markers.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any, Final

from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from kafkalog_reader.errors import UsageError
from kafkalog_reader.report.colours import INK, QUIET, TINTS

if TYPE_CHECKING:
    import pyarrow as pa
    from matplotlib.axes import Axes

Row = dict[str, Any]
"""A row of a table by column name."""

WIDTH: Final = 9.0
"""Inches: as wide as a notebook's text."""
_DOTS_PER_INCH: Final = 90
MAX_ROWS: Final = 40
"""Bars of one figure; more cannot be read, so the figure says how many it leaves out."""

SOUND: Final = "#56b4e9"
"""Bars that are neither an epoch nor wrong: Okabe and Ito's sky blue."""
HATCH: Final = "////"
"""Marks what ``LOST`` marks, for those who see no colour."""


class NotebookFigure(Figure):
    """A figure that a notebook shows by itself, whatever matplotlib's settings are."""

    def _repr_png_(self) -> bytes:
        png = io.BytesIO()
        self.savefig(png, format="png", dpi=_DOTS_PER_INCH, pil_kwargs={"optimize": True})
        return png.getvalue()


def tint(number: int) -> str:
    """The fill of a leader epoch, the same in every figure; after six they repeat."""
    return TINTS[number % len(TINTS)]


class _RowOf(Row):
    """A row that says which table has the columns that it lacks."""

    def __init__(self, columns: Row, wanted: str) -> None:
        super().__init__(columns)
        self._wanted = wanted

    def __missing__(self, name: str) -> Any:  # noqa: ANN401  never returns
        raise UsageError(
            f"the rows have no column {name!r}: this figure needs rows of {self._wanted}"
        )


def rows_of(table: Any, wanted: str) -> list[Row]:  # noqa: ANN401  whatever pyarrow takes
    """The rows of an Arrow table, or of what becomes one: a scan, a data frame of polars or pandas.

    Args:
        table: a parameter of a figure.
        wanted: the name of the table that it should be of.

    Raises:
        UsageError: it cannot become a table; later, where a row lacks a column that is used.
        KafkaLogError: a scan finds damage; read it with the mode PERMISSIVE.
    """
    import pyarrow as pa

    if not isinstance(table, pa.Table):
        try:
            table = table.to_arrow() if hasattr(table, "to_arrow") else pa.table(table)
        except (TypeError, ValueError) as error:  # ArrowInvalid is a ValueError
            raise UsageError(f"{type(table).__name__} is not rows of {wanted}") from error
    names = table.column_names
    values = zip(*map(_values, table.columns), strict=True)
    return [_RowOf(dict(zip(names, row, strict=True)), wanted) for row in values]


def _values(column: pa.ChunkedArray) -> list[Any]:
    try:
        values: list[Any] = column.to_pylist()
    except OverflowError:  # a producer may write times that Python has no date for
        values = column.cast("int64").to_pylist()
    return values


def one_axes(title: str, about: str, *, height: float) -> tuple[Figure, Axes]:
    """A figure with a title, one line that says how to read it, and one pair of axes.

    Args:
        title: what is shown.
        about: how to read it.
        height: of the axes in inches, without the titles and the axis labels.
    """
    figure = NotebookFigure(figsize=(WIDTH, height + 1.25), layout="constrained")
    axes = figure.add_subplot()
    entitle(axes, title, about)
    return figure, axes


def entitle(axes: Axes, title: str, about: str) -> None:
    """Put the title above the axes, and below it the line that says how to read them."""
    axes.set_title(title, loc="left", fontsize=12, fontweight="bold", color=INK, pad=24)
    axes.annotate(about, (0, 1), xycoords="axes fraction", xytext=(0, 9),
                  textcoords="offset points", fontsize=9, color=QUIET)  # fmt: skip
    plain(axes)


def plain(axes: Axes) -> None:
    """Remove what tells nothing: the frame, and the ticks of names."""
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.spines["bottom"].set_color(QUIET)
    axes.tick_params(axis="y", length=0)
    axes.tick_params(axis="x", color=QUIET)
    axes.set_axisbelow(True)


def name_rows(axes: Axes, names: list[str]) -> None:
    """Name the rows of the y axis; the first is on top, as in a list."""
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.4, -0.6)


def count_offsets(axes: Axes, label: str, last: int) -> None:
    """Whole numbers with thousands separators on the x axis, up to ``last``."""
    ticks = MaxNLocator(integer=True, nbins=8).tick_values(axes.get_xlim()[0], last)
    axes.set_xticks([tick for tick in ticks if axes.get_xlim()[0] <= tick <= last])
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    axes.set_xlabel(label)


def nothing_to_show(title: str, reason: str) -> Figure:
    """A figure that says why it is empty: a blank one would look like a failure."""
    figure, axes = one_axes(title, "", height=0.5)
    axes.set_axis_off()
    axes.text(0, 0.5, reason, transform=axes.transAxes, va="center", color=INK)
    return figure


def partition_name(row: Row) -> str:
    """``orders-3``."""
    return f"{row['topic']}-{row['partition']}"


def left_out(shown: int, found: int, which: str) -> str:
    """`` · 40 of 1,200 shown: WHICH``; empty if all are shown."""
    return f" · {shown:,} of {found:,} shown: {which}" if shown < found else ""
