"""``kafkalog plan``: the order of starts of a stopped cluster that loses least."""

from __future__ import annotations

import json
import logging
import re
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import click

from kafkalog_reader.cli.exit_meaning import exit_text
from kafkalog_reader.cli.options import (
    input_options,
    paths_argument,
    reading_options,
    supplied,
    words_of,
)
from kafkalog_reader.cli.quorums import quorums_of
from kafkalog_reader.cli.run import CLEAN, TROUBLE, session, verbose_option

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kafkalog_reader.audits.plan.decisions import Decisions
    from kafkalog_reader.audits.plan.plan import Plan
    from kafkalog_reader.cli.exit_status import ExitStatus
    from kafkalog_reader.io.evidence import Evidence
    from kafkalog_reader.tables.request import ReadRequest

logger = logging.getLogger(__name__)

_ELECTED: Final = re.compile(r"(.+)-([0-9]{1,9})=([0-9]{1,9})", re.ASCII)


@click.command(
    "plan",
    epilog=exit_text("plan"),
    short_help="The order in which to start brokers, and what is lost.",
    no_args_is_help=True,
)
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
    """  # noqa: D301  click reads the backspace: keep these lines as they are
    from kafkalog_reader import registry
    from kafkalog_reader.audits.partition.lost_partitions import lost_places
    from kafkalog_reader.audits.plan.decisions import Decisions
    from kafkalog_reader.audits.plan.next_start import is_safe_in_any_order
    from kafkalog_reader.cli.exit_status import ExitStatus
    from kafkalog_reader.cli.interrupt import whole
    from kafkalog_reader.cli.screen import screen, write_lines
    from kafkalog_reader.report.plan_json import plan_object
    from kafkalog_reader.report.plan_script import plan_script
    from kafkalog_reader.report.plan_text import plan_lines
    from kafkalog_reader.tables.selection import check_selection, no_partition, selects_partitions

    wanted = dict(map(_elected, elect))
    request = registry.request(registry.table("divergence"), **options)
    evidence = supplied(paths)
    check_selection(evidence, request, lost=partial(lost_places, evidence, request))
    decisions = Decisions(wanted, no_plan=evidence.why_incomplete or _several_clusters(evidence))
    found = ExitStatus()
    _decide(evidence, request, decisions, found, rows_on_stdout=output_format != "text")
    plan = decisions.plan(
        paths=paths,
        options=words_of("rule", "started_at", **options),
        follow_links=evidence.follow_links,
        is_selected=selects_partitions(evidence, request),
        quorums=quorums_of(evidence),
    )
    if not plan.partitions and found.status() == CLEAN:
        raise _only_metadata(evidence, request) or no_partition("plan", evidence)
    _check_elected(plan, wanted)
    if output_format == "text":
        columns, _ = screen()
        write_lines(plan_lines(plan, columns))
    else:
        with whole():
            text = plan_script(plan) if output_format == "script" else json.dumps(plan_object(plan))
            click.echo(text)
    is_safe = is_safe_in_any_order(plan) and not plan.lacking_quorums
    ended = found.status(is_start_safe=is_safe)
    if ended != CLEAN and not evidence.skipped:
        return ended
    return TROUBLE if plan.has_no_answer else ended


def _several_clusters(evidence: Evidence) -> str:
    """Why there is no plan, if the log directories are of several clusters."""
    from kafkalog_reader.audits.partition.mixed_clusters import cluster_findings
    from kafkalog_reader.audits.partition.partition_unit import cluster_metadata
    from kafkalog_reader.io.names import shown
    from kafkalog_reader.tables.request import ReadRequest

    paths: dict[str, list[str]] = {}
    for root in evidence.log_directories:
        paths.setdefault(root.cluster_id or "unknown", []).append(shown(root.path))
    if len(paths) < 2:
        return ""
    clusters = "; ".join(f"{shown(each)}: {', '.join(of)}" for each, of in sorted(paths.items()))
    problem = f"the log directories belong to several clusters ({clusters})"
    live = (each for each in evidence.partition_directories(ReadRequest()) if each.is_replica)
    if any(cluster_findings(evidence.roots, live, cluster_metadata(evidence))):
        return (
            f"{problem}: kafkalog verify shows why they look like one, and what to do about a "
            "wrong id; of two clusters, make a plan for each"
        )
    return f"{problem}: make a plan for each, with the log directories of that cluster only"


def _only_metadata(evidence: Evidence, request: ReadRequest) -> Exception | None:
    """The error if only metadata logs were supplied, for which there is another command."""
    from kafkalog_reader.errors import UsageError
    from kafkalog_reader.io.names import METADATA_TOPIC

    topics = {each.topic for each in evidence.partition_directories(request)}
    if topics != {METADATA_TOPIC}:
        return None
    return UsageError(
        "only metadata logs are in the given paths: kafkalog quorum, with the same paths, shows "
        "which controller can be elected"
    )


def _elected(text: str) -> tuple[tuple[str, int], int]:
    from kafkalog_reader.errors import UsageError

    found = _ELECTED.fullmatch(text)
    if found is None:
        raise UsageError(f"--elect {text}: write TOPIC-PARTITION=BROKER, such as orders-3=1")
    return (found[1], int(found[2])), int(found[3])


def _check_elected(plan: Plan, wanted: Mapping[tuple[str, int], int]) -> None:
    from kafkalog_reader.errors import UsageError

    known = {each.name for each in plan.choices} | {each.name for each in plan.unanswered}
    known |= {each.name for each in plan.files_first}
    of_unanswered = {each.name: each.brokers for each in plan.unanswered}
    for (topic, partition), broker in wanted.items():
        name = f"{topic}-{partition}"
        if name not in known:
            raise UsageError(f"--elect: no partition {name} among the inputs")
        if broker not in of_unanswered.get(name, (broker,)):
            raise UsageError(f"--elect: broker {broker} has no copy of {name} among the inputs")


def _decide(
    evidence: Evidence,
    request: ReadRequest,
    decisions: Decisions,
    ended: ExitStatus,
    *,
    rows_on_stdout: bool,
) -> None:
    """Audit log directories and partitions one by one, as ``verify`` and ``replica-diff`` do."""
    from kafkalog_reader import registry
    from kafkalog_reader.audits.tables.findings import audited
    from kafkalog_reader.audits.tables.root_units import RootUnit
    from kafkalog_reader.cli.progress import ReadProgress, bar_is_welcome, size_of_logs
    from kafkalog_reader.report.advised_actions import first_acts
    from kafkalog_reader.salvage.merge_trial import with_merge_outcome

    units = list(registry.table("findings").units(evidence, request))
    welcome = bar_is_welcome(rows_on_stdout=rows_on_stdout)
    with ReadProgress(size_of_logs(units) if welcome else None, shown=welcome) as progress:
        session().how_far = lambda: f"{len(decisions):,} partitions read, {progress}"
        for unit in units:
            if isinstance(unit, RootUnit):
                found = tuple(unit.findings)
                decisions.add_directory(found)
                ended.add(found)
                continue
            for audit, found in audited(unit, request, progress):
                merged = with_merge_outcome(audit, found)
                acts = () if merged.is_metadata else first_acts(merged, found)
                decisions.add(merged, found, unit, acts=acts)
                ended.add(found, "" if audit.is_metadata else audit.reason)
