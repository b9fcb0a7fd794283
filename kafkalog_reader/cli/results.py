"""Writes rows that are not those of one table, in any format."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from kafkalog_reader.cli.printable import plural
from kafkalog_reader.cli.run import session

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    import pyarrow as pa

    from kafkalog_reader.io.evidence import Evidence
    from kafkalog_reader.tables.table import Column


def write_result(
    schema: pa.Schema,
    batches: Iterable[pa.RecordBatch],
    evidence: Evidence,
    output_format: str,
    output: str | None,
    *,
    render: str | None,
    overwrite: bool,
) -> int:
    """Write the rows to standard output or a file; return their number.

    Raises:
        KafkaLogError: damage, or a file that cannot be read.
        UsageError: the output cannot be written.
    """
    return write_results(
        [(schema, batches)], evidence, output_format, output, render=render, overwrite=overwrite
    )


def write_results(
    results: Iterable[tuple[pa.Schema, Iterable[pa.RecordBatch]]],
    evidence: Evidence,
    output_format: str,
    output: str | None,
    *,
    render: str | None,
    overwrite: bool,
) -> int:
    """The same for several results, one after the other; without any, nothing is written."""
    from kafkalog_reader.cli.output import destination, row_writer
    from kafkalog_reader.cli.parts import parts

    waiting = iter(results)
    first = next(waiting, None)
    if first is None:
        return 0
    written = 0
    session().how_far = lambda: plural(written, "row")
    with destination(output, evidence, overwrite=overwrite) as sink:
        for number, (schema, batches) in enumerate(chain([first], waiting)):
            if number and output_format == "text":
                sink.write(b"\n")
            writer = row_writer(output_format, sink, schema, render)
            for rows in batches:
                for part in parts(rows):
                    writer.write(part)
                    written += part.num_rows
            writer.close()
    return written


def write_json(columns: Sequence[Column], rows: Sequence[Mapping[str, Any]]) -> None:
    """Write rows to standard output, one JSON object per line; missing cells are null.

    Args:
        columns: what to write, and in which order.
        rows: cells by name; times are microseconds since 1970.
    """
    import pyarrow as pa

    from kafkalog_reader.cli.output import row_writer, standard_output
    from kafkalog_reader.tables.rows import build_from_dicts

    schema = pa.schema([(column.name, column.type) for column in columns])
    with standard_output() as sink:
        writer = row_writer("json", sink, schema)
        writer.write(build_from_dicts(schema, rows))
        writer.close()
