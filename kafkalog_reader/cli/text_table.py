"""Rows as aligned columns that stream: widths are settled by the first rows."""

from __future__ import annotations

import sys
from typing import IO, Final

import pyarrow as pa
import pyarrow.compute as pc

from kafkalog_reader.cli.cells import joined, plain
from kafkalog_reader.cli.printable import for_stdout, stdout_is_unicode
from kafkalog_reader.cli.rows import concatenated

LOOKED_AT: Final = 1000
"""Rows that settle the widths; wider cells further down push their row to the right."""
WIDEST: Final = 64
"""Longer cells are cut; JSON and CSV have them whole."""
GAP: Final = "  "
NULL: Final = "null"
EMPTY: Final = '""'


class TextTable:
    """Aligned columns under their names: numbers to the right, the rest to the left."""

    def __init__(self, sink: IO[bytes], schema: pa.Schema, rendering: str) -> None:
        self._sink, self._schema, self._rendering = sink, schema, rendering
        self._widths: list[int] | None = None

    def write(self, rows: pa.RecordBatch) -> None:
        if not self._schema.names:
            return
        cells = [self._cells(column) for column in rows.columns]
        if self._widths is None:
            self._settle([column[:LOOKED_AT] for column in cells])
        self._sink.write(self._lines(cells))

    def close(self) -> None:
        if self._widths is None:  # no row at all: the names say that it is no error
            self._settle([pa.array([], pa.string()) for _ in self._schema])

    def _cells(self, column: pa.Array) -> pa.StringArray:
        text = plain(column, self._rendering)
        ellipsis = "…" if stdout_is_unicode() else "..."
        long = pc.greater(pc.utf8_length(text), WIDEST)
        if pc.any(long).as_py():
            cut = pc.utf8_slice_codeunits(text, 0, WIDEST - len(ellipsis))
            text = pc.if_else(long, joined(cut, ellipsis), text)
        text = pc.if_else(pc.equal(text, ""), EMPTY, text)
        return text.fill_null(NULL)

    def _settle(self, cells: list[pa.StringArray]) -> None:
        self._widths = [
            max(len(name), pc.max(pc.utf8_length(column)).as_py() or 0)
            for name, column in zip(self._schema.names, cells, strict=True)
        ]
        names = [pa.array([name]) for name in self._schema.names]
        if names:
            self._sink.write(self._lines(names))

    def _lines(self, cells: list[pa.StringArray]) -> bytes | memoryview:
        assert self._widths is not None
        pieces: list[pa.StringArray | str] = []
        for field, width, column in zip(self._schema, self._widths, cells, strict=True):
            pad = pc.utf8_lpad if pa.types.is_integer(field.type) else pc.utf8_rpad
            pieces += [pad(column, width), GAP]
        text = concatenated(joined(pc.utf8_rtrim_whitespace(joined(*pieces[:-1])), "\n"))
        if stdout_is_unicode():
            return text
        return for_stdout(str(text, "utf-8")).encode(sys.stdout.encoding or "ascii", "replace")
