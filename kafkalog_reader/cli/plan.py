"""``kafkalog plan``: the order of starts of a stopped cluster that loses least."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

import click

from kafkalog_reader.cli.options import (
    input_options,
    paths_argument,
    reading_options,
    supplied,
    words_of,
)
from kafkalog_reader.cli.run import CLEAN, FOUND, TROUBLE, session, verbose_option

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kafkalog_reader.audits.partition.partition_unit import PartitionUnit
    from kafkalog_reader.audits.plan.decisions import Decisions
    from kafkalog_reader.audits.plan.plan import Plan
    from kafkalog_reader.io.evidence import Evidence
    from kafkalog_reader.tables.request import ReadRequest

_ELECTED: Final = re.compile(r"(.+)-([0-9]{1,9})=([0-9]{1,9})", re.ASCII)


@click.command("plan", no_args_is_help=True)
@paths_argument
@reading_options("topic", "partition")
@click.option(
    "--format",
    "output_format",
    type=click.Choice(["text", "json", "script"]),
    default="text",
    show_default=True,
    help="script is a shell script with Kafka's own tools; json is one object.",
)
@click.option(
    "--elect",
    metavar="TOPIC-N=BROKER",
    multiple=True,
    help="Let this broker lead this partition; repeatable.  [default: the one that loses least]",
)
@reading_options("rule", "started_at")
@input_options
@verbose_option()
def plan_command(
    paths: tuple[str, ...], output_format: str, elect: tuple[str, ...],
    **options: Any,  # noqa: ANN401  checked by the registry
) -> int:  # fmt: skip
    """Plan in which order to start the brokers of a stopped cluster, and show what is lost.

    \b
    Examples:
      kafkalog plan /mnt/b1 /mnt/b2 /mnt/b3 /mnt/controller
      kafkalog plan 1=/mnt/b1                # what happens when I start this broker?

    Brokers start as a whole, and elections are per partition: the plan is one procedure for all
    partitions. It says what to save first, which brokers to start in which order, which elections
    to hold, what to check between steps, and what you must decide. It writes and starts nothing. A
    controller's log directory among the inputs shows the in-sync replicas.

    The exit status is 0 if nothing has to be done, nothing is lost and every copy is sound, 2 if a
    partition could not be planned, 1 otherwise.
    """  # noqa: D301  click reads the backspace: keep these lines as they are
    from kafkalog_reader import registry
    from kafkalog_reader.audits.plan.decisions import Decisions
    from kafkalog_reader.audits.tables.findings import root_units
    from kafkalog_reader.cli.interrupt import whole
    from kafkalog_reader.cli.screen import screen, write_lines
    from kafkalog_reader.errors import UsageError
    from kafkalog_reader.report.plan_json import plan_object
    from kafkalog_reader.report.plan_script import plan_script
    from kafkalog_reader.report.plan_text import plan_lines
    from kafkalog_reader.tables.selection import check_selection, no_partition

    wanted = dict(map(_elected, elect))
    request = registry.request(registry.table("divergence"), **options)
    evidence = supplied(paths)
    check_selection(evidence, request)
    clusters = {root.cluster_id for root in evidence.log_directories}
    if len(clusters) > 1:
        raise UsageError("a plan is for one cluster; these log directories belong to several")
    decisions = Decisions(wanted)
    for unit in root_units(evidence, request):
        decisions.add_directory(unit.findings)
    _decide(evidence, request, decisions, rows_on_stdout=output_format != "text")
    plan = decisions.plan(
        paths=paths,
        options=words_of("rule", "started_at", **options),
        follow_links=evidence.follow_links,
        is_selected=request.topics is not None or request.partitions is not None,
    )
    if not plan.partitions:
        raise no_partition("plan")
    _check_elected(plan, wanted)
    if output_format == "text":
        columns, _ = screen()
        write_lines(plan_lines(plan, columns))
    else:
        with whole():
            text = plan_script(plan) if output_format == "script" else json.dumps(plan_object(plan))
            click.echo(text)
    if plan.has_no_answer:
        return TROUBLE
    return CLEAN if plan.is_clean else FOUND


def _elected(text: str) -> tuple[tuple[str, int], int]:
    from kafkalog_reader.errors import UsageError

    found = _ELECTED.fullmatch(text)
    if found is None:
        raise UsageError(f"--elect {text}: write TOPIC-PARTITION=BROKER, such as orders-3=1")
    return (found[1], int(found[2])), int(found[3])


def _check_elected(plan: Plan, wanted: Mapping[tuple[str, int], int]) -> None:
    from kafkalog_reader.errors import UsageError

    known = {each.name for each in plan.choices} | {each.name for each in plan.unanswered}
    for topic, partition in wanted:
        if f"{topic}-{partition}" not in known:
            raise UsageError(f"--elect: no partition {topic}-{partition} among the inputs")


def _decide(
    evidence: Evidence, request: ReadRequest, decisions: Decisions, *, rows_on_stdout: bool
) -> None:
    """Audit the partitions one by one."""
    from kafkalog_reader.audits.partition.partition_unit import partition_units
    from kafkalog_reader.audits.partition.unit_audit import audit_unit
    from kafkalog_reader.audits.partition.unread_replicas import with_unread
    from kafkalog_reader.audits.tables.findings import findings_of
    from kafkalog_reader.cli.progress import ReadProgress, bar_is_welcome
    from kafkalog_reader.io.partition_directory import segments

    every_unit = with_unread(
        partition_units(evidence, request, with_topics=True), evidence, request
    )
    units = [unit for unit in every_unit if _is_planned(unit)]
    welcome = bar_is_welcome(rows_on_stdout=rows_on_stdout)
    total = None
    if welcome:
        every = (directory for unit in units for directory in unit.directories)
        total = sum(segment.log_size or 0 for each in every for segment in segments(each))
    with ReadProgress(total, shown=welcome) as progress:
        session().how_far = lambda: (
            f"{len(decisions):,} of {len(units):,} partitions read, {progress}"
        )
        for unit in units:
            audit = audit_unit(unit, request, progress)
            decisions.add(audit, (*findings_of(audit, unit.supply), *unit.unread), unit.topics)


def _is_planned(unit: PartitionUnit) -> bool:
    from kafkalog_reader.io.names import METADATA_TOPIC

    return unit.directories[0].topic != METADATA_TOPIC
