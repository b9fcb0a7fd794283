"""``kafkalog dump``: prints files of a partition directory as ``kafka-dump-log`` does."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

import click

from kafkalog_reader.cli.completion import complete_files
from kafkalog_reader.cli.exit_meaning import exit_text
from kafkalog_reader.cli.options import local_file, max_rate_option
from kafkalog_reader.cli.printable import for_stdout
from kafkalog_reader.cli.run import CLEAN, TROUBLE, session, verbose_option

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kafkalog_reader.cli.dump_index import IndexOptions
    from kafkalog_reader.cli.dump_mismatches import IndexMismatches
    from kafkalog_reader.cli.dump_records import RecordLines
    from kafkalog_reader.cli.progress import ReadProgress

LINES_AT_ONCE: Final = 1000
MAX_INT: Final = 2**31 - 1
"""The value that means no limit in Kafka's tool."""
_SUFFIXES: Final = (".log", ".checkpoint", ".index", ".timeindex", ".txnindex", ".snapshot")


@click.command(
    "dump", epilog=exit_text("dump"), short_help="Files in the layout of kafka-dump-log."
)
@click.argument("paths", metavar="[FILE]...", shell_complete=complete_files, nargs=-1)
@click.option(
    "--files", metavar="a,b", shell_complete=complete_files, help="More files, separated by commas."
)
@click.option("--deep-iteration", is_flag=True, help="A line for each record under its batch.")
@click.option(
    "--print-data-log", is_flag=True, help="Also print keys and payloads; implies --deep-iteration."
)
@click.option(
    "--offsets-decoder",
    "decoder",
    flag_value="offsets",
    help="Decode records of __consumer_offsets; implies --print-data-log, as each decoder does.",
)
@click.option(
    "--transaction-log-decoder",
    "decoder",
    flag_value="transaction-log",
    help="Decode records of __transaction_state.",
)
@click.option(
    "--cluster-metadata-decoder",
    "decoder",
    flag_value="cluster-metadata",
    help="Decode records of __cluster_metadata.",
)
@click.option(
    "--share-group-state-decoder",
    "decoder",
    flag_value="share-group-state",
    help="Decode records of __share_group_state.",
)
@click.option(
    "--remote-log-metadata-decoder",
    "decoder",
    flag_value="remote-log-metadata",
    help="Decode records of __remote_log_metadata.",
)
@click.option(
    "--skip-record-metadata",
    is_flag=True,
    help="Print only key and payload of records, no control records.",
)
@click.option(
    "--max-bytes",
    metavar="BYTES",
    type=click.IntRange(0, MAX_INT),
    help="Print only the whole batches in the first BYTES of a .log or .checkpoint.",
)
@click.option(
    "--index-sanity-check",
    is_flag=True,
    help="Only check whether a broker would accept an index at its start.",
)
@click.option(
    "--verify-index-only",
    is_flag=True,
    help="Compare indexes with their log without printing entries.",
)
@click.option(
    "--max-message-size",
    metavar="BYTES",
    type=click.IntRange(0, MAX_INT),
    help="Refuse an offset index entry that points to a larger batch.  [default: any size]",
)
@max_rate_option
@verbose_option()
def dump_command(
    paths: tuple[str, ...], files: str | None, deep_iteration: bool, print_data_log: bool,
    decoder: str | None, skip_record_metadata: bool, max_bytes: int | None,
    index_sanity_check: bool, verify_index_only: bool, max_message_size: int | None,
) -> int:  # fmt: skip
    """Print segments, indexes and producer snapshots as kafka-dump-log prints them.

    \b
    Examples:
      kafkalog dump /mnt/b1/orders-17/00000000000081234500.log --deep-iteration
      kafkalog dump --files 00000000000000000000.log,00000000000000000000.index

    The layout is that of Kafka 4.3.1, line for line. FILE may be a .log, .index, .timeindex,
    .txnindex, .snapshot (of producers) or .checkpoint (of the metadata log). A wrong CRC is shown
    as isvalid: false and does not end the dump. Index entries that the log does not confirm are
    listed on standard error; docs/dump.md says which of them are nevertheless sound.

    Control characters are escaped on a terminal, and left unchanged in a pipe.
    """  # noqa: D301  click reads the backspace: keep these lines as they are
    from kafkalog_reader.cli.dump_decoders import DECODERS
    from kafkalog_reader.cli.dump_index import IndexOptions
    from kafkalog_reader.cli.dump_mismatches import IndexMismatches
    from kafkalog_reader.cli.dump_records import RecordLines
    from kafkalog_reader.cli.output import standard_output
    from kafkalog_reader.cli.progress import ReadProgress

    names = tuple(map(local_file, (*paths, *(files.split(",") if files else ()))))
    if not names:
        raise click.UsageError(
            "name a FILE, or several with --files a,b", click.get_current_context()
        )
    records = None
    if deep_iteration or print_data_log or decoder is not None:
        records = RecordLines(
            contents=print_data_log or decoder is not None,
            metadata=not skip_record_metadata,
            decoder=None if decoder is None else DECODERS[decoder],
        )
    mismatches = IndexMismatches()
    indexes = IndexOptions(
        sanity_only=index_sanity_check,
        verify_only=verify_index_only,
        max_message_size=max_message_size,
    )
    asked = (records, mismatches, indexes, None if max_bytes == MAX_INT else max_bytes)
    with standard_output() as sink, ReadProgress(total_size(names)) as progress:
        for number, name in enumerate(names):
            counted = f" of file {number + 1} of {len(names)}" if len(names) > 1 else ""
            _print(_lines(name, *asked, progress), counted, sink)
    for line in mismatches.lines():
        click.echo(line, err=True)
    if records is not None:
        for line in records.gaps():
            click.echo(line, err=True)
    return CLEAN if all(Path(name).suffix in _SUFFIXES for name in names) else TROUBLE


def total_size(files: tuple[str, ...]) -> int:
    """Total bytes of the files that exist."""
    return sum(Path(file).stat().st_size for file in files if Path(file).is_file())


def _lines(
    file: str, records: RecordLines | None, mismatches: IndexMismatches, indexes: IndexOptions,
    max_bytes: int | None, progress: ReadProgress,
) -> Iterator[str]:  # fmt: skip
    from kafkalog_reader.cli import dump_index, dump_log
    from kafkalog_reader.errors import LogPosition, UnreadableFileError
    from kafkalog_reader.io.names import shown

    printers: dict[str, Callable[[str], Iterator[str]]] = {
        ".log": lambda path: dump_log.segment_lines(path, records, progress, max_bytes),
        ".checkpoint": lambda path: dump_log.snapshot_lines(path, records, progress, max_bytes),
        ".index": lambda path: dump_index.offset_index_lines(path, mismatches, progress, indexes),
        ".timeindex": lambda path: dump_index.time_index_lines(path, mismatches, progress, indexes),
        ".txnindex": dump_index.transaction_index_lines,
        ".snapshot": dump_index.producer_snapshot_lines,
    }
    if not os.path.lexists(file):  # Kafka's tool reports such a name as unknown
        raise UnreadableFileError("no such file or directory", LogPosition(shown(file)))
    yield f"Dumping {shown(file)}"
    printer = printers.get(Path(file).suffix)
    if printer is None:
        click.echo(f"Ignoring unknown file {shown(file)}", err=True)
        return
    yield from printer(file)


def _print(printed: Iterator[str], of_file: str, sink: IO[bytes]) -> None:
    """Write whole lines in blocks; at an early end, write the lines so far."""
    from kafkalog_reader.cli.interrupt import whole
    from kafkalog_reader.io.names import shown

    count = 0
    waiting: list[str] = []
    # A record must not control the terminal; elsewhere the bytes are unchanged.
    on_terminal = sys.stdout.isatty()
    session().how_far = lambda: f"{count:,} lines{of_file} written"

    def write() -> None:
        nonlocal count
        with whole():
            text = "".join(f"{shown(line) if on_terminal else line}\n" for line in waiting)
            sink.write(for_stdout(text).encode())
            sink.flush()
            count += len(waiting)
            waiting.clear()

    try:
        for line in printed:
            waiting.append(line)
            if len(waiting) >= LINES_AT_ONCE:
                write()
    finally:
        write()
