"""Writes rows that are not those of one table, in any format."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkalog_reader.cli.printable import plural
from kafkalog_reader.cli.run import session

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pyarrow as pa

    from kafkalog_reader.io.evidence import Evidence


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
    from kafkalog_reader.cli.output import destination, row_writer
    from kafkalog_reader.cli.parts import parts

    written = 0
    session().how_far = lambda: plural(written, "row")
    with destination(output, evidence, overwrite=overwrite) as sink:
        writer = row_writer(output_format, sink, schema, render)
        for rows in batches:
            for part in parts(rows):
                writer.write(part)
                written += part.num_rows
        writer.close()
    return written
