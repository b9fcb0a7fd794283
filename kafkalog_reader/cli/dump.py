"""``kafkalog dump``: files of a partition directory as ``kafka-dump-log`` prints them."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

import click

from kafkalog_reader.cli.options import max_rate_option
from kafkalog_reader.cli.printable import for_stdout
from kafkalog_reader.cli.run import CLEAN, TROUBLE, session, verbose_option

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kafkalog_reader.cli.dump_mismatches import IndexMismatches
    from kafkalog_reader.cli.dump_records import RecordLines
    from kafkalog_reader.cli.progress import ReadProgress

LINES_AT_ONCE: Final = 1000
_SUFFIXES: Final = (".log", ".checkpoint", ".index", ".timeindex", ".txnindex", ".snapshot")


@click.command("dump", short_help="Files in the layout of kafka-dump-log.")
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@click.option("--deep-iteration", is_flag=True, help="A line for each record under its batch.")
@click.option(
    "--print-data-log", is_flag=True, help="Keys and payloads too; implies --deep-iteration."
)
@max_rate_option
@verbose_option()
def dump_command(files: tuple[str, ...], deep_iteration: bool, print_data_log: bool) -> int:
    """Print segments, indexes and producer snapshots as kafka-dump-log prints them.

    \b
    Example:
      kafkalog dump /mnt/b1/orders-17/00000000000081234500.log --deep-iteration

    The layout is that of Kafka 4.3, line for line. FILE may be a .log, .index, .timeindex,
    .txnindex, .snapshot (of producers) or .checkpoint (of the metadata log). A wrong CRC is shown
    as isvalid: false and does not end the dump. Index entries that the log does not confirm follow
    on standard error; docs/dump.md says which of them are sound all the same.

    A FILE of another kind is passed over, as that tool does; the exit status is 2 then.

    On a terminal control characters in what was written are escaped; in a pipe they stand as they
    are.
    """  # noqa: D301  click reads the backspace: keep these lines as they are
    from kafkalog_reader.cli.dump_mismatches import IndexMismatches
    from kafkalog_reader.cli.dump_records import RecordLines
    from kafkalog_reader.cli.output import standard_output
    from kafkalog_reader.cli.progress import ReadProgress

    records = RecordLines(contents=print_data_log) if deep_iteration or print_data_log else None
    mismatches = IndexMismatches()
    with standard_output() as sink, ReadProgress(total_size(files)) as progress:
        for number, file in enumerate(files):
            counted = f" of file {number + 1} of {len(files)}" if len(files) > 1 else ""
            _print(_lines(file, records, mismatches, progress), counted, sink)
    for line in mismatches.lines():
        click.echo(line, err=True)
    if records is not None:
        for line in records.gaps():
            click.echo(line, err=True)
    return CLEAN if all(Path(file).suffix in _SUFFIXES for file in files) else TROUBLE


def total_size(files: tuple[str, ...]) -> int:
    """Bytes of those files that are there."""
    return sum(Path(file).stat().st_size for file in files if Path(file).is_file())


def _lines(
    file: str, records: RecordLines | None, mismatches: IndexMismatches, progress: ReadProgress
) -> Iterator[str]:
    from kafkalog_reader.cli import dump_index, dump_log
    from kafkalog_reader.errors import LogPosition, UnreadableFileError
    from kafkalog_reader.io.names import shown

    printers: dict[str, Callable[[str], Iterator[str]]] = {
        ".log": lambda path: dump_log.segment_lines(path, records, progress),
        ".checkpoint": lambda path: dump_log.snapshot_lines(path, records, progress),
        ".index": lambda path: dump_index.offset_index_lines(path, mismatches, progress),
        ".timeindex": lambda path: dump_index.time_index_lines(path, mismatches, progress),
        ".txnindex": dump_index.transaction_index_lines,
        ".snapshot": dump_index.producer_snapshot_lines,
    }
    if not os.path.lexists(file):  # Kafka's tool calls a name that it does not know unknown
        raise UnreadableFileError("no such file or directory", LogPosition(shown(file)))
    yield f"Dumping {shown(file)}"
    printer = printers.get(Path(file).suffix)
    if printer is None:
        click.echo(f"Ignoring unknown file {shown(file)}", err=True)
        return
    yield from printer(file)


def _print(printed: Iterator[str], of_file: str, sink: IO[bytes]) -> None:
    """Write lines in blocks, whole ones only, and those that are there when it ends early."""
    from kafkalog_reader.cli.interrupt import whole
    from kafkalog_reader.io.names import shown

    count = 0
    waiting: list[str] = []
    # A record must not act on the terminal; elsewhere the bytes are Kafka's.
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
