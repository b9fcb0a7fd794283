"""``replica-diff``: compares copies, and shows what each election would lose."""

from __future__ import annotations

import json
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
    text_or_json_option,
)
from kafkalog_reader.cli.run import CLEAN, run, verbose_option

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kafkalog_reader.audits.integrity.finding import Finding
    from kafkalog_reader.audits.partition.partition_audit import PartitionAudit


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
    from kafkalog_reader.audits.partition.partition_unit import PartitionUnit
    from kafkalog_reader.audits.tables.root_units import RootUnit
    from kafkalog_reader.cli.audit_run import audits, fleet_of, requested
    from kafkalog_reader.cli.changes import old_and_new
    from kafkalog_reader.cli.directory_lines import directory_lines
    from kafkalog_reader.cli.screen import screen, write_lines
    from kafkalog_reader.cli.sides import Sides
    from kafkalog_reader.errors import UsageError
    from kafkalog_reader.tables.selection import no_partition

    times = old_and_new(paths)
    if times is not None:
        if records or export or quick or explain or options["rule"] or options["started_at"]:
            raise UsageError("old= and new= compare one broker with itself: give only selections")
        return _changes(*times, output_format, options)
    evidence, request = requested("divergence", paths, options)
    is_json = output_format == "json"
    fleet = fleet_of(paths, evidence, request, options, verbose=verbose, explain=explain)
    outcome = ExitStatus()
    units = list(registry.table("findings").units(evidence, request))
    directories = [e for unit in units if isinstance(unit, RootUnit) for e in unit.findings]
    outcome.add(directories)
    fleet.add_directory(directories)
    sides = Sides(evidence, export, is_listed=records, is_json=is_json)
    try:
        compared = audits(
            [unit for unit in units if isinstance(unit, PartitionUnit)],
            request,
            fleet,
            done="compared",
            quick=quick,
            rows_on_stdout=verbose or is_json,
        )
        with sides:
            for audit, found, unit in compared:
                # The quorum resolves forks of its own log, so nothing is undecided.
                outcome.add(found, "" if audit.is_metadata else audit.reason)
                fleet.add(audit, found, unit)
                listed = sides.add(audit)
                if is_json:
                    _write_json(audit, found, listed)
        if is_json:
            _warn_of_directories(directories)
    finally:  # also after Ctrl-C: what was read
        if not is_json:
            write_lines(directory_lines(directories, screen().columns))
            fleet.write()
            sides.write()
    ended = outcome.status(fail_on, is_start_safe=fleet.is_start_safe)
    if fleet.partitions == 0 and ended == CLEAN:
        raise no_partition("compare", evidence)
    return ended


def _changes(old: str, new: str, output_format: str, options: Mapping[str, Any]) -> int:
    """Compare one broker with itself, as ``kafkalog changes`` does."""
    from kafkalog_reader.cli.changes import changes_command

    status: int = click.get_current_context().invoke(
        changes_command, old=old, new=new, output_format=output_format,
        topic=options["topic"], partition=options["partition"],
    )  # fmt: skip
    return status


def _warn_of_directories(found: Sequence[Finding]) -> None:
    """Each JSON object is a partition: findings of directories go to standard error."""
    from kafkalog_reader.cli.directory_lines import directory_lines
    from kafkalog_reader.cli.screen import screen
    from kafkalog_reader.report.spans import plain

    for line in directory_lines(found, screen().columns):
        click.echo(plain(line), err=True)


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
