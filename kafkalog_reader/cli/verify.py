"""``kafkalog verify``: checks all files of every copy, and the copies against each other."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from kafkalog_reader.cli.exit_meaning import exit_text
from kafkalog_reader.cli.fail_on import fail_on_option
from kafkalog_reader.cli.options import (
    input_options,
    paths_argument,
    reading_options,
    text_or_json_option,
)
from kafkalog_reader.cli.run import session, verbose_option

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kafkalog_reader.audits.tables.verification import Verification
    from kafkalog_reader.cli.verify_report import Report
    from kafkalog_reader.io.evidence import Evidence
    from kafkalog_reader.tables.request import ReadRequest

_MAX_LISTED = 10_000


@click.command(
    "verify",
    epilog=exit_text("verify"),
    short_help="Check every file of the logs, and compare copies.",
    no_args_is_help=True,
)
@paths_argument
@reading_options(
    "topic", "partition", "from_time", "to_time", "deep", "started_at", "max_batch_bytes"
)
@text_or_json_option("one object per finding, the rows of the table findings")
@click.option(
    "--threads",
    metavar="N",
    type=click.IntRange(1, 256),
    default=1,
    show_default=True,
    help="Number of threads. Each checks one partition; an idle one reads ahead for another.",
)
@fail_on_option()
@input_options
@verbose_option(
    "Also show information and consequences, and the traceback of an error.", expose_value=True
)
def verify_command(
    paths: tuple[str, ...], output_format: str, threads: int, fail_on: str, verbose: bool,
    **options: Any,  # noqa: ANN401  checked by the registry
) -> int:  # fmt: skip
    """Check every checksum, header, index, checkpoint and snapshot, and compare copies.

    \b
    Example:
      kafkalog verify /mnt/b2/kafka-logs --topic orders --threads 2
      kafkalog verify /mnt/b2/kafka-logs --deep --from-time 2026-11-20 --max-rate 50MB

    Every byte of every log is read once; nothing is written. --deep also decodes every record. With
    a time range, only the last segment and those that may hold the range are read, and copies are
    not compared. A finding is marked as possible if it may only mean that the broker was writing to
    the end of the log.

    Findings of one kind are shown together; the worst places come first, and consequences are shown
    with their cause. replica-diff shows which copy holds what.

    "sound" means exit status 0.
    """  # noqa: D301  click reads the backspace: keep these lines as they are
    from kafkalog_reader.cli.audit_run import requested
    from kafkalog_reader.cli.next_start import NextStart
    from kafkalog_reader.cli.verify_report import Report
    from kafkalog_reader.tables.selection import no_partition

    evidence, request = requested("findings", paths, options)
    next_start = NextStart(evidence, paths, options)
    report = Report(
        started=time.monotonic(),
        verbose=verbose,
        fail_on=fail_on,
        looked_at=_what_is_looked_at(request),
        next_start=next_start,
    )
    is_json = output_format == "json"
    try:
        for verification in _checked(evidence, request, report, threads, rows=is_json):
            report.add(verification)
            next_start.add(verification)
        next_start.is_whole = True
    finally:  # also after Ctrl-C: what was read
        if is_json:
            _write_json(report.rows)
        elif report.has_an_answer:
            report.write()
    if not report.has_an_answer:
        raise no_partition("check", evidence)
    return report.status


def _what_is_looked_at(request: ReadRequest) -> str:
    """What was checked, for the first line, which must not claim more than was done."""
    from kafkalog_reader.cli.verify_report import EVERY_CRC

    done = f"{EVERY_CRC}, every record decoded" if request.deep else EVERY_CRC
    is_range = request.from_timestamp is not None or request.to_timestamp is not None
    return f"{done} in that time range" if is_range else done


def _checked(
    evidence: Evidence, request: ReadRequest, report: Report, threads: int, *, rows: bool
) -> Iterator[Verification]:
    """Yield the result of each partition or log directory, in order."""
    from kafkalog_reader.audits.tables.verification import verify
    from kafkalog_reader.cli.progress import ReadProgress, bar_is_welcome, size_of_logs
    from kafkalog_reader.io.threads import Threads
    from kafkalog_reader.registry import table

    sharing = Threads(threads)
    evidence = evidence.within(replace(evidence.context, threads=sharing))
    units = list(table("findings").units(evidence, request))
    welcome = bar_is_welcome(rows_on_stdout=rows)
    total = size_of_logs(units) if welcome and len(units) <= _MAX_LISTED else None
    with ReadProgress(total, shown=welcome) as progress:
        session().how_far = lambda: f"{report.done:,} of {len(units):,} checked, {progress}"
        with sharing:
            report_read = sharing.reporting(progress)
            yield from sharing.map(lambda unit: verify(unit, request, report_read), units)


def _write_json(rows: Iterable[dict[str, Any]]) -> None:
    from kafkalog_reader.cli.interrupt import whole

    for row in rows:
        with whole():
            click.echo(json.dumps(row))
