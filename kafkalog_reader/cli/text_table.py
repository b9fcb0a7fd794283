"""Rows as a stream of aligned columns; the first rows determine the widths."""

from __future__ import annotations

import sys
from typing import IO, Final

import pyarrow as pa
import pyarrow.compute as pc

from kafkalog_reader.cli.cells import joined, plain
from kafkalog_reader.cli.listing import screen_width
from kafkalog_reader.cli.printable import for_stdout, stdout_is_unicode
from kafkalog_reader.cli.rows import concatenated

LOOKED_AT: Final = 1000
"""Number of rows that determine the widths; wider cells below shift their row."""
WIDEST: Final = 64
"""Maximum width of a cell; JSON and CSV have longer cells in full."""
NARROWEST: Final = 8
"""Minimum width to which text is cut, even on a narrow screen."""
GAP: Final = "  "
NULL: Final = "null"
EMPTY: Final = '""'


class TextTable:
    """Aligned columns under their names: numbers right-aligned, the rest left-aligned.

    On a terminal the widest keys, values and lists are cut until a row fits, if possible.
    """

    def __init__(self, sink: IO[bytes], schema: pa.Schema, rendering: str) -> None:
        self._sink, self._schema, self._rendering = sink, schema, rendering
        self._widths: list[int] | None = None
        self._screen = screen_width()

    def write(self, rows: pa.RecordBatch) -> None:
        if not self._schema.names:
            return
        cells = [self._cells(column) for column in rows.columns]
        if self._widths is None:
            self._settle([column[:LOOKED_AT] for column in cells])
        if self._screen is not None:
            cells = [
                _cut(column, width) if _may_be_cut(field) else column
                for field, width, column in zip(
                    self._schema, self._widths or (), cells, strict=True
                )
            ]
        self._sink.write(self._lines(cells))

    def close(self) -> None:
        if self._widths is None:  # without rows, the names show that it is not an error
            self._settle([pa.array([], pa.string()) for _ in self._schema])

    def _cells(self, column: pa.Array) -> pa.StringArray:
        text = _cut(plain(column, self._rendering), WIDEST)
        text = pc.if_else(pc.equal(text, ""), EMPTY, text)
        return text.fill_null(NULL)

    def _settle(self, cells: list[pa.StringArray]) -> None:
        self._widths = [
            max(len(name), pc.max(pc.utf8_length(column)).as_py() or 0)
            for name, column in zip(self._schema.names, cells, strict=True)
        ]
        if self._screen is not None:
            self._narrow(self._screen)
        names = [pa.array([name]) for name in self._schema.names]
        if names:
            self._sink.write(self._lines(names))

    def _narrow(self, screen: int) -> None:
        """Cut the widest text until the row fits, or nothing more may be cut."""
        assert self._widths is not None
        texts = [number for number, field in enumerate(self._schema) if _may_be_cut(field)]
        surplus = sum(self._widths) + len(GAP) * (len(self._widths) - 1) - screen
        for _ in range(max(surplus, 0)):
            widest = max(texts, key=self._widths.__getitem__, default=None)
            if widest is None or self._widths[widest] <= NARROWEST:
                return
            self._widths[widest] -= 1

    def _lines(self, cells: list[pa.StringArray]) -> bytes | memoryview:
        assert self._widths is not None
        parts: list[pa.StringArray | str] = []
        for field, width, column in zip(self._schema, self._widths, cells, strict=True):
            pad = pc.utf8_lpad if pa.types.is_integer(field.type) else pc.utf8_rpad
            parts += [pad(column, width), GAP]
        text = concatenated(joined(pc.utf8_rtrim_whitespace(joined(*parts[:-1])), "\n"))
        if stdout_is_unicode():
            return text
        return for_stdout(str(text, "utf-8")).encode(sys.stdout.encoding or "ascii", "replace")


def _may_be_cut(field: pa.Field) -> bool:
    kind = field.type
    return bool(pa.types.is_binary(kind) or pa.types.is_nested(kind))


def _cut(text: pa.StringArray, columns: int) -> pa.StringArray:
    ellipsis = "…" if stdout_is_unicode() else "..."
    long = pc.greater(pc.utf8_length(text), columns)
    if not pc.any(long).as_py():
        return text
    return pc.if_else(
        long, joined(pc.utf8_slice_codeunits(text, 0, columns - len(ellipsis)), ellipsis), text
    )
