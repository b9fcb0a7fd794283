"""``replica-diff``: compares copies, and shows what each election would lose."""

from __future__ import annotations

import json
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

import click

from kafkalog_reader import __version__
from kafkalog_reader.cli.completion import complete_files
from kafkalog_reader.cli.exit_meaning import exit_text
from kafkalog_reader.cli.exit_status import ExitStatus
from kafkalog_reader.cli.fail_on import fail_on_option
from kafkalog_reader.cli.options import (
    input_options,
    paths_argument,
    reading_options,
    supplied,
    text_or_json_option,
    words_of,
)
from kafkalog_reader.cli.quorums import quorums_of
from kafkalog_reader.cli.run import CLEAN, run, session, verbose_option

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kafkalog_reader.audits.integrity.finding import Finding
    from kafkalog_reader.audits.partition.partition_audit import PartitionAudit
    from kafkalog_reader.audits.partition.partition_unit import PartitionUnit
    from kafkalog_reader.cli.fleet import Fleet
    from kafkalog_reader.tables.request import ReadRequest


@click.command(
    "replica-diff",
    epilog=exit_text("replica-diff"),
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="replica-diff", message="%(prog)s %(version)s")
@paths_argument
@reading_options("topic", "partition")
@text_or_json_option("one object per partition, with everything")
@reading_options("rule", "started_at")
@click.option("--records", is_flag=True, help="List the records that only some copies have.")
@click.option(
    "--export",
    metavar="DIR",
    shell_complete=complete_files,
    help="Write these records to DIR/records.parquet; DIR must be new or empty.",
)
@click.option(
    "--quick",
    is_flag=True,
    help="Compare only epochs, ends and tails, and say what was left out.",
)
@click.option(
    "--explain",
    is_flag=True,
    help="Show every round of every election, with the leader epochs that both brokers know.",
)
@fail_on_option()
@input_options
@verbose_option(
    "Show every finding and partition, and the traceback of an error.", expose_value=True
)
def replica_diff(
    paths: tuple[str, ...], output_format: str, records: bool, export: str | None, quick: bool,
    explain: bool, fail_on: str, verbose: bool,
    **options: Any,  # noqa: ANN401  checked by the registry
) -> int:  # fmt: skip
    """Show where copies of a partition diverge, and what each candidate leader would lose.

    \b
    Example:
      replica-diff /mnt/b1 /mnt/b2 /mnt/b3 --topic orders --partition 17

    PATH is a log directory, a partition directory, or a folder that holds log directories of
    several brokers; N=PATH names the broker. Two copies of one broker, old=PATH and new=PATH, are
    compared as `kafkalog changes` does. Every byte is read and every checksum checked; only
    --export writes anything. What each start and each follower would cut is predicted by Kafka's
    own rules.
    """  # noqa: D301  click reads the backspace: keep these lines as they are
    from kafkalog_reader import registry
    from kafkalog_reader.audits.partition.lost_partitions import lost_places
    from kafkalog_reader.audits.partition.partition_unit import PartitionUnit
    from kafkalog_reader.audits.tables.root_units import RootUnit
    from kafkalog_reader.cli.changes import changes_command, old_and_new
    from kafkalog_reader.cli.directory_lines import directory_lines
    from kafkalog_reader.cli.fleet import Fleet
    from kafkalog_reader.cli.screen import screen, write_lines
    from kafkalog_reader.cli.sides import Sides
    from kafkalog_reader.errors import UnreadableFileError, UsageError
    from kafkalog_reader.report.spans import plain
    from kafkalog_reader.tables.selection import check_selection, no_partition

    times = old_and_new(paths)
    if times is not None:
        if records or export or quick or explain or options["rule"] or options["started_at"]:
            raise UsageError("old= and new= compare one broker with itself: give only selections")
        status: int = click.get_current_context().invoke(
            changes_command, old=times[0], new=times[1], output_format=output_format,
            topic=options["topic"], partition=options["partition"],
        )  # fmt: skip
        return status
    request = registry.request(registry.table("divergence"), **options)
    evidence = supplied(paths)
    with suppress(UnreadableFileError):  # reported with the partitions that can be read
        check_selection(evidence, request, lost=partial(lost_places, evidence, request))
    is_json = output_format == "json"
    links = ["--follow-links"] if evidence.follow_links else []
    fleet = Fleet(
        command=["replica-diff", *paths, *links],
        options=words_of("rule", "started_at", **options),
        is_selected=request.topics is not None or request.partitions is not None,
        verbose=verbose,
        explain=explain,
        clusters=len({root.cluster_id for root in evidence.log_directories}),
        quorums=partial(quorums_of, evidence),
        no_plan=evidence.why_incomplete,
    )
    outcome = ExitStatus()
    units = list(registry.table("findings").units(evidence, request))
    directories = [e for unit in units if isinstance(unit, RootUnit) for e in unit.findings]
    outcome.add(directories)
    fleet.add_directory(directories)
    sides = Sides(evidence, export, is_listed=records, is_json=is_json)
    try:
        audits = _audits(
            [unit for unit in units if isinstance(unit, PartitionUnit)],
            request,
            fleet,
            quick=quick,
            rows_on_stdout=verbose or is_json,
        )
        with sides:
            for audit, found, unit in audits:
                # The quorum resolves forks of its own log, so nothing is undecided.
                outcome.add(found, "" if audit.is_metadata else audit.reason)
                fleet.add(audit, found, unit)
                listed = sides.add(audit)
                if is_json:
                    _write_json(audit, found, listed)
        if is_json:  # each object is a partition, so findings of directories go to standard error
            for line in directory_lines(directories, screen().columns):
                click.echo(plain(line), err=True)
    finally:  # also after Ctrl-C: what was read
        if not is_json:
            write_lines(directory_lines(directories, screen().columns))
            fleet.write()
            sides.write()
    ended = outcome.status(fail_on)
    if fleet.partitions == 0 and ended == CLEAN:
        raise no_partition("compare", evidence)
    return ended


def _audits(
    units: Sequence[PartitionUnit],
    request: ReadRequest,
    fleet: Fleet,
    *,
    quick: bool,
    rows_on_stdout: bool,
) -> Iterator[tuple[PartitionAudit, tuple[Finding, ...], PartitionUnit]]:
    from kafkalog_reader.audits.tables.findings import audited
    from kafkalog_reader.cli.progress import ReadProgress, bar_is_welcome, size_of_logs
    from kafkalog_reader.salvage.merge_trial import with_merge_outcome

    welcome = bar_is_welcome(rows_on_stdout=rows_on_stdout)
    fleet.planned = len(units)
    total = size_of_logs(units) if welcome else None
    with ReadProgress(total, shown=welcome) as progress:
        session().how_far = lambda: (
            f"{fleet.partitions:,} of {len(units):,} partitions compared, {progress}"
        )
        for unit in units:
            for audit, found in audited(unit, request, progress, quick=quick):
                yield with_merge_outcome(audit, found), found, unit


def _write_json(
    audit: PartitionAudit, found: Sequence[Finding], listed: dict[str, Any] | None
) -> None:
    from kafkalog_reader.cli.interrupt import whole
    from kafkalog_reader.report.partition_json import partition_object

    document: dict[str, Any] = partition_object(audit, found)
    if listed is not None:
        document |= listed
    with whole():
        click.echo(json.dumps(document))


def main() -> NoReturn:
    """Run the console script ``replica-diff``."""
    run(replica_diff)
