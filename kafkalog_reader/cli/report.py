"""``kafkalog report``: the whole audit as one HTML file."""

from __future__ import annotations

import time
from contextlib import ExitStack, nullcontext
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from kafkalog_reader.cli.completion import complete_files
from kafkalog_reader.cli.exit_meaning import exit_text
from kafkalog_reader.cli.fail_on import fail_on_option
from kafkalog_reader.cli.options import input_options, reading_options, words_of
from kafkalog_reader.cli.printable import for_stdout
from kafkalog_reader.cli.run import CLEAN, verbose_option

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kafkalog_reader.cli.report_document import Provenance
    from kafkalog_reader.cli.report_files import Files
    from kafkalog_reader.cli.report_partitions import Partitions
    from kafkalog_reader.cli.report_sections import Part
    from kafkalog_reader.io.evidence import Evidence
    from kafkalog_reader.tables.request import ReadRequest

_NAMED: Final = 3


@click.command(
    "report",
    epilog=exit_text("report"),
    short_help="The whole audit as one HTML file.",
    no_args_is_help=True,
)
@click.argument("paths", metavar="PATH...", shell_complete=complete_files, nargs=-1)
@click.option(
    "--output", metavar="FILE.html", shell_complete=complete_files, help="The file to write."
)
@click.option("--force", is_flag=True, help="Overwrite the file of --output.")
@click.option("--hashes", is_flag=True, help="List the SHA-256 of every file; reads all again.")
@click.option(
    "--redact",
    is_flag=True,
    help="Leave out bytes of logs, and hosts and ids of clients; rename paths and labels.",
)
@click.option(
    "--extract",
    metavar="FILE.html",
    shell_complete=complete_files,
    help="Print the JSON inside a report, and read nothing else.",
)
@reading_options("topic", "partition", "rule", "started_at")
@fail_on_option()
@input_options
@verbose_option()
def report_command(
    paths: tuple[str, ...], output: str | None, force: bool, hashes: bool, redact: bool,
    extract: str | None, fail_on: str,
    **options: Any,  # noqa: ANN401  checked by the registry
) -> int:  # fmt: skip
    """Write what verify, replica-diff, plan, groups, transactions and timeline show into one file.

    \b
    Examples:
      kafkalog report /mnt/b1 /mnt/b2 /mnt/b3 --output incident.html
      kafkalog report --extract incident.html

    The page needs no network and no other file, and runs only its own script. It begins with the
    verdict, what to do first, and what is not known; then come the partitions in trouble with the
    offsets of each copy, the findings by cause with their bytes, and where everything comes from.
    Every byte of the logs is read; nothing but FILE.html is written.

    The data is inside: --extract prints it as JSON, so that two reports can be compared.
    """  # noqa: D301  click reads the backspace: keep these lines as they are
    from kafkalog_reader.errors import UsageError

    if extract is not None:
        if paths or output is not None:
            raise UsageError("--extract reads one report: give no PATH and no --output")
        return _extract(extract)
    if not paths:
        raise UsageError("report what? Give the PATH of log directories, or --extract FILE.html")
    if output is None:
        raise UsageError("--output FILE.html is missing: where to write the report")
    return _write(
        paths, output, options, force=force, hashes=hashes, redact=redact, fail_on=fail_on
    )


def _extract(path: str) -> int:
    from kafkalog_reader.cli.output import standard_output
    from kafkalog_reader.errors import LogPosition, UnreadableFileError, UsageError
    from kafkalog_reader.io.names import shown
    from kafkalog_reader.report.report_data import MAX_FILE, extracted

    try:
        with Path(path).open("rb") as file:
            content = file.read(MAX_FILE + 1)
    except (OSError, ValueError) as error:
        problem = getattr(error, "strerror", None) or str(error)
        raise UnreadableFileError(problem, LogPosition(shown(path))) from None
    if len(content) > MAX_FILE:
        raise UsageError(f"{shown(path)}: no report of kafkalog: more than {MAX_FILE >> 20} MiB")
    with standard_output() as sink:
        sink.writelines(extracted(content, path))
    return CLEAN


def _write(
    paths: tuple[str, ...], output: str, options: dict[str, Any], *,
    force: bool, hashes: bool, redact: bool, fail_on: str,
) -> int:  # fmt: skip
    from kafkalog_reader.cli.audit_run import fleet_of, links_of, requested
    from kafkalog_reader.cli.output import destination
    from kafkalog_reader.cli.report_files import Files
    from kafkalog_reader.cli.report_page import report_page
    from kafkalog_reader.cli.report_partitions import Partitions
    from kafkalog_reader.cli.report_redaction import redaction_of
    from kafkalog_reader.cli.verify_report import Report
    from kafkalog_reader.io.names import shown
    from kafkalog_reader.tables.selection import no_partition

    evidence, request = requested("divergence", paths, options)
    redaction = redaction_of(evidence, paths) if redact else None
    words = words_of("topic", "partition", "rule", "started_at", **options)
    fleet = fleet_of(paths, evidence, request, options)
    report = Report(started=time.monotonic(), verbose=True, fail_on=fail_on, next_start=fleet)
    json_redacted = (lambda text: text) if redaction is None else redaction.json
    partitions = Partitions(fleet, report, json_redacted)
    with ExitStack() as stack:
        sink = stack.enter_context(destination(output, evidence, overwrite=force))
        stack.enter_context(nullcontext() if redaction is None else redaction.showing())
        before = Files.now(evidence, request)
        interrupted: KeyboardInterrupt | None = None
        parts: dict[str, Part] = {}
        try:
            _audit(evidence, request, partitions)
            parts = _parts(evidence, options, partitions, redact=redact)
        except KeyboardInterrupt as error:  # what was read is written
            interrupted = error
        if not report.has_an_answer and interrupted is None:
            raise no_partition("report on", evidence)
        after = Files.now(evidence, request)
        command = ["kafkalog", "report", *paths, *links_of(evidence), *words]
        made = partial(_provenance, evidence, before, after, command)
        try:
            provenance = made(hashes=hashes and interrupted is None)
        except KeyboardInterrupt as error:
            interrupted, provenance = error, made(hashes=False)
        if interrupted is not None:
            planned = (
                "no" if fleet.planned is None else f"{fleet.partitions:,} of {fleet.planned:,}"
            )
            provenance.interrupted = f"{planned} partitions read"
            partitions.note_unknown("whatever was not read before the interruption")
        for text in _changes(provenance.changed, before.left_out):
            partitions.note_unknown(text)
        text = report_page(partitions, parts, provenance, redact=redact)
        sink.write(text.encode("utf-8", "backslashreplace"))
        if interrupted is not None:
            raise interrupted
    status = report.status
    click.echo(for_stdout(f"{partitions.verdict}: written to {shown(output)}"))
    return status


def _audit(evidence: Evidence, request: ReadRequest, partitions: Partitions) -> None:
    """Audit log directories and partitions one by one, as ``verify`` and ``replica-diff`` do."""
    from kafkalog_reader import registry
    from kafkalog_reader.audits.partition.partition_unit import PartitionUnit
    from kafkalog_reader.audits.tables.root_units import RootUnit
    from kafkalog_reader.cli.audit_run import audits

    units = list(registry.table("findings").units(evidence, request))
    of_partitions = [unit for unit in units if isinstance(unit, PartitionUnit)]
    for unit in units:
        if isinstance(unit, RootUnit):
            partitions.add_directory(unit.findings)
    for audit, found, unit in audits(of_partitions, request, partitions.fleet, done="read"):
        partitions.add(audit, found, unit)


def _parts(
    evidence: Evidence, options: dict[str, Any], partitions: Partitions, *, redact: bool
) -> dict[str, Part]:
    """Groups, transactions and leadership, where the evidence has them."""
    from kafkalog_reader.cli import report_sections as sections
    from kafkalog_reader.report.hidden_text import hidden_sentences

    chosen = {name: options.get(name) for name in ("topic", "partition")}
    reading = {**chosen, "mode": "PERMISSIVE"}
    parts = {
        "groups": sections.groups_part(evidence, dict(reading), redact=redact),
        "transactions": sections.transactions_part(evidence, dict(reading)),
        "leadership": sections.leadership_part(evidence, dict(reading), partitions.histories),
    }
    found: dict[str, None] = {}  # two sections read the same log
    for part in parts.values():
        for text in part.unknown:
            partitions.note_unknown(text)
        found |= dict.fromkeys(hidden_sentences(part.hidden))
    for text in found:
        partitions.note_unknown(text)
    return parts


def _provenance(
    evidence: Evidence, before: Files, after: Files, command: Sequence[str], *, hashes: bool
) -> Provenance:
    from kafkalog_reader.cli.progress import ReadProgress, bar_is_welcome
    from kafkalog_reader.cli.report_document import Provenance
    from kafkalog_reader.cli.report_files import MAX_LISTED
    from kafkalog_reader.report.shell_word import shell_word

    welcome = hashes and bar_is_welcome(rows_on_stdout=False)
    with ReadProgress(before.size_in_bytes if welcome else None, shown=welcome) as progress:
        files = list(before.rows(hashes=hashes, progress=progress))
    return Provenance(
        command=[shell_word(word) for word in command],
        directories=[
            {
                "path": root.path,
                "clusterId": root.cluster_id,
                "brokerId": root.broker_id,
                "files": before.totals[root.path].files,
                "sizeInBytes": before.totals[root.path].size_in_bytes,
            }
            for root in evidence.log_directories
        ],
        files=files,
        left_out=max(0, len(before.seen) - MAX_LISTED) + before.left_out,
        changed=after.changed_since(before),
        made_at=datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
    )


def _changes(paths: Sequence[str], not_watched: int) -> Iterator[str]:
    """Files that changed: what was read of them may fit no single moment."""
    if paths:
        named = ", ".join(paths[:_NAMED])
        more = f" and {len(paths) - _NAMED:,} more" if len(paths) > _NAMED else ""
        yield (
            "what these files hold at one moment, because they changed while they were read: "
            f"{named}{more}"
        )
    if not_watched:
        yield f"whether {not_watched:,} more files changed while they were read"
