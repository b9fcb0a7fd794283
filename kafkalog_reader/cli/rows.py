"""Writers of rows, one for each format, with ``write`` and ``close``."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Final, Protocol

import pyarrow as pa

from kafkalog_reader.cli.cells import as_text, joined, json_objects, json_values, plain

if TYPE_CHECKING:
    from collections.abc import Callable

ROW_GROUP: Final = 64 << 20
"""Bytes of Arrow columns in one Parquet row group."""
FORMULA_START: Final = "^[=+\\-@\t\r]"


class RowWriter(Protocol):
    """Writes the rows of one table, a few MiB at a time (see ``parts``)."""

    def write(self, rows: pa.RecordBatch) -> None:
        """Write rows, which must have the writer's schema."""

    def close(self) -> None:
        """Write the end of the format; the sink stays open."""


class JsonLines:
    """One JSON object per line, as Spark's ``to_json`` prints them, but including nulls."""

    def __init__(self, sink: IO[bytes], schema: pa.Schema, rendering: str) -> None:
        self._sink, self._names, self._rendering = sink, schema.names, rendering

    def write(self, rows: pa.RecordBatch) -> None:
        values = [json_values(column, self._rendering) for column in rows.columns]
        objects = json_objects(self._names, values)
        if objects is None:
            self._sink.write(b"{}\n" * rows.num_rows)
        else:
            self._sink.write(concatenated(joined(objects, "\n")))

    def close(self) -> None:
        """Do nothing: JSON lines need no end."""


class CsvRows:
    """A header and rows by RFC 4180; text is quoted, null is empty.

    Text is unchanged, including line breaks; on a terminal control characters are escaped.
    """

    def __init__(self, sink: IO[bytes], schema: pa.Schema, rendering: str) -> None:
        self._sink, self._rendering = sink, rendering
        self._escaped = sink.isatty()
        header = _quoted(pa.array(schema.names, pa.string())).to_pylist()
        sink.write(",".join(header).encode() + _END_OF_LINE)

    def write(self, rows: pa.RecordBatch) -> None:
        if not rows.num_columns:
            return
        parts: list[pa.StringArray | str] = []
        for column in rows.columns:
            parts += [self._cells(column).fill_null(""), ","]
        self._sink.write(concatenated(joined(*parts[:-1], _END_OF_LINE.decode())))

    def close(self) -> None:
        """Do nothing: CSV needs no end."""

    def _cells(self, column: pa.Array) -> pa.StringArray:
        kind = column.type
        if pa.types.is_integer(kind) or pa.types.is_boolean(kind):
            return column.cast(pa.string())
        text = plain(column, self._rendering, escaped=self._escaped)
        exact = pa.types.is_binary(kind) and self._rendering != "utf8"
        return _quoted(text if exact else _no_formula(text))


_END_OF_LINE: Final = b"\r\n"


def _quoted(text: pa.StringArray) -> pa.StringArray:
    import pyarrow.compute as pc

    return joined('"', pc.replace_substring(text, '"', '""'), '"')


def _no_formula(text: pa.StringArray) -> pa.StringArray:
    """Put an apostrophe before text that a spreadsheet would interpret as a formula."""
    import pyarrow.compute as pc

    formula = pc.match_substring_regex(text, FORMULA_START)
    return pc.if_else(formula, joined("'", text), text) if pc.any(formula).as_py() else text


class Rendered:
    """Passes rows on to another writer with binary values as text."""

    def __init__(
        self, writer: Callable[[pa.Schema], RowWriter], schema: pa.Schema, rendering: str
    ) -> None:
        self._rendering = rendering
        self._schema = pa.schema([(f.name, _text_type(f.type)) for f in schema])
        self._writer = writer(self._schema)

    def write(self, rows: pa.RecordBatch) -> None:
        columns = [as_text(column, self._rendering) for column in rows.columns]
        self._writer.write(pa.RecordBatch.from_arrays(columns, schema=self._schema))

    def close(self) -> None:
        self._writer.close()


def _text_type(kind: pa.DataType) -> pa.DataType:
    return as_text(pa.nulls(0, kind), "hex").type


class ArrowStream:
    """An Arrow IPC stream, with types, nulls and binary values unchanged."""

    def __init__(self, sink: IO[bytes], schema: pa.Schema) -> None:
        self._writer = pa.ipc.new_stream(sink, schema)

    def write(self, rows: pa.RecordBatch) -> None:
        self._writer.write_batch(rows)

    def close(self) -> None:
        self._writer.close()


class ParquetFile:
    """A Parquet file, zstd-compressed, in row groups of about 64 MiB."""

    def __init__(self, sink: IO[bytes], schema: pa.Schema) -> None:
        from pyarrow import parquet

        self._schema = schema
        self._writer = parquet.ParquetWriter(sink, schema, compression="zstd")
        self._waiting: list[pa.RecordBatch] = []
        self._waiting_bytes = 0

    def write(self, rows: pa.RecordBatch) -> None:
        self._waiting.append(rows)
        self._waiting_bytes += rows.nbytes
        if self._waiting_bytes >= ROW_GROUP:
            self._write_group()

    def close(self) -> None:
        self._write_group()
        self._writer.close()

    def _write_group(self) -> None:
        if self._waiting:
            self._writer.write_table(pa.Table.from_batches(self._waiting, self._schema))
        self._waiting, self._waiting_bytes = [], 0


def concatenated(text: pa.StringArray) -> memoryview:
    """The concatenated bytes of all strings of an array without nulls."""
    _validity, offsets, content = text.buffers()
    if len(text) == 0 or content is None:
        return memoryview(b"")
    ends = memoryview(offsets).cast("i")
    return memoryview(content)[ends[text.offset] : ends[text.offset + len(text)]]
