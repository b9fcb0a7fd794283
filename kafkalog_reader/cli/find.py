"""``kafkalog find``: every place where a key or a text is still on disk."""

from __future__ import annotations

import os
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

import click

from kafkalog_reader.cli.completion import complete_files
from kafkalog_reader.cli.exit_meaning import exit_text
from kafkalog_reader.cli.options import input_options, paths_argument, reading_options, supplied
from kafkalog_reader.cli.output import FORMATS
from kafkalog_reader.cli.printable import for_stdout, plural
from kafkalog_reader.cli.run import CLEAN, FOUND, TROUBLE, verbose_option
from kafkalog_reader.errors import UsageError
from kafkalog_reader.io.remote_part import with_remote
from kafkalog_reader.scan.damage import Mode
from kafkalog_reader.scan.hidden_records import HiddenRecords

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

    from kafkalog_reader.io.evidence import Evidence
    from kafkalog_reader.io.progress import ReadMetrics
    from kafkalog_reader.tables.record_search import RecordPattern
    from kafkalog_reader.tables.request import ReadRequest

_IN_TEXT: Final = (
    "state", "brokerId", "file", "position", "offset", "timestamp", "key", "value",
)  # fmt: skip


@click.command(
    "find",
    epilog=exit_text("find"),
    short_help="Every place where a key or a text is still on disk.",
)
@paths_argument
@click.option("--key", metavar="KEY", help="Records with exactly this key.")
@click.option(
    "--value", "text", metavar="TEXT", help="Records with this text in the value or a header."
)
@click.option(
    "--regex",
    metavar="REGEX",
    help="Records whose key, value or headers contain a match (RE2 syntax; (?i) ignores case).",
)
@click.option(
    "--format",
    "output_format",
    type=click.Choice(FORMATS),
    default="text",
    show_default=True,
    help="text cuts long cells; json is one object per line; arrow is an IPC stream.",
)
@click.option(
    "--output",
    metavar="FILE",
    shell_complete=complete_files,
    help="Write to this file, which must not be an input.",
)
@click.option("--force", is_flag=True, help="Overwrite the file of --output.")
@click.option(
    "--render",
    type=click.Choice(["base64", "utf8", "hex"]),
    help="How binary columns are shown.  [default: utf8 in text, base64 in JSON and CSV]",
)
@reading_options("topic", "partition", "broker", "max_batch_bytes")
@input_options
@verbose_option()
def find_command(
    paths: tuple[str, ...], key: str | None, text: str | None, regex: str | None,
    output_format: str, output: str | None, force: bool, render: str | None,
    max_batch_bytes: int | None,
    **options: Any,  # noqa: ANN401  checked by the registry
) -> int:  # fmt: skip
    """Find every place where a key or a text is still on disk, in all copies and leftovers.

    \b
    Examples:
      kafkalog find /mnt/b1 /mnt/b2 /mnt/b3 --key customer-4711
      kafkalog find /mnt/b1 --topic orders --regex '(?i)jane\\.doe@' --format json

    Consumers do not see all of it: records below the log start, segments that wait for deletion
    or replacement (.deleted, .swap, .cleaned), and folders that are marked for deletion, stray or
    being moved (-delete, -stray, -future) are searched, too. Text names files by partition
    directory and segment; other formats have the whole path. Damaged batches cannot be searched: a
    warning names each.

    \b
    STATE says where a record was found, or what becomes of it:
      live             consumers get it
      aborted, open    of an aborted or open transaction: read_committed consumers do not get it
      superseded       a later record of the copy has the same key, so compaction removes it (not
                       if cleanup.policy is delete; without the metadata log that is unknown)
      below-log-start  deleted, and still on disk
      undecided        live or superseded: too many were found to know
      deleted-segment, stray-directory and others: the leftover that has it
    """  # noqa: D301  click reads the backspace: keep these lines as they are
    import pyarrow as pa

    from kafkalog_reader import registry
    from kafkalog_reader.audits.partition.outside_isr import note_absent, note_not_in_sync
    from kafkalog_reader.cli.not_known import say_not_known
    from kafkalog_reader.cli.output import check_destination
    from kafkalog_reader.cli.results import write_result
    from kafkalog_reader.io.progress import ReadMetrics
    from kafkalog_reader.tables.record_search import SCHEMA, RecordPattern
    from kafkalog_reader.tables.selection import check_selection

    if sum(each is not None for each in (key, text, regex)) != 1:
        raise UsageError("give one of --key, --value and --regex")
    pattern = RecordPattern(key=None if key is None else os.fsencode(key), text=text, regex=regex)
    check_destination(output, output_format)
    request = registry.request(registry.table("segments"), None, **options)
    hidden = HiddenRecords()
    request = replace(request, hidden=hidden)
    evidence = supplied(paths).allowing(max_batch_bytes)
    check_selection(evidence, request)
    metrics = ReadMetrics()
    found = _search(evidence, request, pattern, metrics, rows_on_stdout=output is None)
    if output_format == "text" and output is None:
        first = next(found, None)
        if first is None:
            click.echo(for_stdout(_nothing_found(evidence, request, metrics)))
            note_not_in_sync(hidden, evidence, [request])
            note_absent(hidden, evidence, request)
            say_not_known(hidden, Mode.PERMISSIVE)
            return TROUBLE if metrics.damaged_regions else FOUND
        found = chain([first], found)
    schema = SCHEMA
    if output_format == "text":
        found, schema = map(_for_text, found), pa.schema(map(SCHEMA.field, _IN_TEXT))
    written = write_result(
        schema, found, evidence, output_format, output, render=render, overwrite=force
    )
    note_not_in_sync(hidden, evidence, [request])
    note_absent(hidden, evidence, request)
    say_not_known(hidden, Mode.PERMISSIVE)
    if written:
        return CLEAN
    return TROUBLE if metrics.damaged_regions else FOUND


def _nothing_found(evidence: Evidence, request: ReadRequest, metrics: ReadMetrics) -> str:
    """What was searched, so that nobody takes an empty answer for more than it is."""
    places = sum(1 for _ in with_remote(evidence).partition_directories(request))
    searched = f"No record was found in {plural(places, 'partition folder')}"
    if metrics.damaged_regions:
        return f"{searched}. What the warnings name could not be searched."
    return f"{searched}."


def _for_text(rows: pa.RecordBatch) -> pa.RecordBatch:
    """The columns that fit a screen; paths begin at the partition directory."""
    import pyarrow as pa

    names = ["/".join(path.split("/")[-2:]) for path in rows["file"].to_pylist()]
    place = rows.schema.names.index("file")
    return rows.set_column(place, "file", pa.array(names, pa.string())).select(list(_IN_TEXT))


def _search(
    evidence: Evidence,
    request: ReadRequest,
    pattern: RecordPattern,
    metrics: ReadMetrics,
    *,
    rows_on_stdout: bool,
) -> Iterator[pa.RecordBatch]:
    """The found records, with a progress bar on a terminal."""
    from kafkalog_reader.cli.progress import ReadProgress, bar_is_welcome
    from kafkalog_reader.tables.record_search import search_records, size_to_search

    welcome = bar_is_welcome(rows_on_stdout=rows_on_stdout)
    total = size_to_search(evidence, request) if welcome else None
    with ReadProgress(total, shown=welcome) as progress:
        yield from search_records(evidence, request, pattern, metrics, progress)
