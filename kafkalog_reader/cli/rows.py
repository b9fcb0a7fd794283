"""Where rows go: one writer a format, each with ``write`` and ``close``."""

from __future__ import annotations

from typing import IO, Final, Protocol

import pyarrow as pa

from kafkalog_reader.cli.cells import joined, json_objects, json_values, plain

ROW_GROUP: Final = 64 << 20
"""Bytes of Arrow columns in one Parquet row group."""
FORMULA_START: Final = "^[=+\\-@\t\r]"


class RowWriter(Protocol):
    """Takes the rows of one table, some MiB at a time (see ``parts``)."""

    def write(self, rows: pa.RecordBatch) -> None:
        """Write rows; all of them have the writer's schema."""

    def close(self) -> None:
        """Write what ends the format; the sink stays open."""


class JsonLines:
    """One JSON object a line, as Spark's ``to_json`` prints them, but with nulls kept."""

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
        """JSON lines have no end."""


class CsvRows:
    """A header and comma-separated rows; text in quotes, null is nothing between two commas."""

    def __init__(self, sink: IO[bytes], schema: pa.Schema, rendering: str) -> None:
        from pyarrow import csv

        self._rendering = rendering
        self._schema = pa.schema([(f.name, _csv_type(f.type)) for f in schema])
        self._writer = csv.CSVWriter(sink, self._schema)

    def write(self, rows: pa.RecordBatch) -> None:
        columns = [self._cells(column) for column in rows.columns]
        self._writer.write(pa.RecordBatch.from_arrays(columns, schema=self._schema))

    def close(self) -> None:
        self._writer.close()

    def _cells(self, column: pa.Array) -> pa.Array:
        if not pa.types.is_string(_csv_type(column.type)):
            return column
        return _no_formula(plain(column, self._rendering))


def _csv_type(kind: pa.DataType) -> pa.DataType:
    return kind if pa.types.is_integer(kind) or pa.types.is_boolean(kind) else pa.string()


def _no_formula(text: pa.StringArray) -> pa.StringArray:
    """Put an apostrophe before what a spreadsheet would take for a formula."""
    import pyarrow.compute as pc

    formula = pc.match_substring_regex(text, FORMULA_START)
    return pc.if_else(formula, joined("'", text), text) if pc.any(formula).as_py() else text


class ArrowStream:
    """An Arrow IPC stream: types, nulls and binary values as they are."""

    def __init__(self, sink: IO[bytes], schema: pa.Schema, _rendering: str) -> None:
        self._writer = pa.ipc.new_stream(sink, schema)

    def write(self, rows: pa.RecordBatch) -> None:
        self._writer.write_batch(rows)

    def close(self) -> None:
        self._writer.close()


class ParquetFile:
    """A Parquet file, zstd-compressed, in row groups of some 64 MiB."""

    def __init__(self, sink: IO[bytes], schema: pa.Schema, _rendering: str) -> None:
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
    """All strings of an array without nulls as the one stretch of bytes that they are."""
    _validity, offsets, content = text.buffers()
    if len(text) == 0 or content is None:
        return memoryview(b"")
    ends = memoryview(offsets).cast("i")
    return memoryview(content)[ends[text.offset] : ends[text.offset + len(text)]]
