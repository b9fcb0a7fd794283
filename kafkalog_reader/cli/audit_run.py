"""What ``replica-diff`` and ``report`` have in common: one audit of every partition."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from kafkalog_reader.cli.options import supplied, words_of
from kafkalog_reader.cli.quorums import quorums_of
from kafkalog_reader.cli.run import session
from kafkalog_reader.errors import UnreadableFileError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kafkalog_reader.audits.integrity.finding import Finding
    from kafkalog_reader.audits.partition.partition_audit import PartitionAudit
    from kafkalog_reader.audits.partition.partition_unit import PartitionUnit
    from kafkalog_reader.cli.fleet import Fleet
    from kafkalog_reader.io.evidence import Evidence
    from kafkalog_reader.tables.request import ReadRequest


def requested(
    table: str, paths: Sequence[str], options: Mapping[str, Any]
) -> tuple[Evidence, ReadRequest]:
    """What the paths hold, and the request; a directory that cannot be listed is a finding later.

    Raises:
        UsageError: a wrong option, or no such topic or partition, not even a lost one.
    """
    from kafkalog_reader import registry
    from kafkalog_reader.audits.partition.lost_partitions import lost_places
    from kafkalog_reader.tables.selection import check_selection

    request = registry.request(registry.table(table), **options)
    evidence = supplied(paths)
    with suppress(UnreadableFileError):
        check_selection(evidence, request, lost=partial(lost_places, evidence, request))
    return evidence, request


def fleet_of(
    paths: Sequence[str],
    evidence: Evidence,
    request: ReadRequest,
    options: Mapping[str, Any],
    *,
    verbose: bool = False,
    explain: bool = False,
) -> Fleet:
    """The summary of the partitions to be audited, which names ``replica-diff`` as its command."""
    from kafkalog_reader.cli.fleet import Fleet
    from kafkalog_reader.tables.selection import selects_partitions

    return Fleet(
        command=["replica-diff", *paths, *links_of(evidence)],
        options=words_of("rule", "started_at", **options),
        is_selected=selects_partitions(evidence, request),
        verbose=verbose,
        explain=explain,
        clusters=len({root.cluster_id for root in evidence.log_directories}),
        quorums=partial(quorums_of, evidence),
        no_plan=evidence.why_incomplete,
    )


def links_of(evidence: Evidence) -> list[str]:
    """The option of the command that follows links, if it was given."""
    return ["--follow-links"] if evidence.follow_links else []


def audits(
    units: Sequence[PartitionUnit],
    request: ReadRequest,
    fleet: Fleet,
    *,
    done: str,
    quick: bool = False,
    rows_on_stdout: bool = False,
) -> Iterator[tuple[PartitionAudit, tuple[Finding, ...], PartitionUnit]]:
    """Audit one partition after the other, with progress; ``done`` says what was done to them."""
    from kafkalog_reader.audits.tables.findings import audited
    from kafkalog_reader.cli.progress import ReadProgress, bar_is_welcome, size_of_logs
    from kafkalog_reader.salvage.merge_trial import with_merge_outcome

    welcome = bar_is_welcome(rows_on_stdout=rows_on_stdout)
    fleet.planned = len(units)
    with ReadProgress(size_of_logs(units) if welcome else None, shown=welcome) as progress:
        session().how_far = lambda: (
            f"{fleet.partitions:,} of {len(units):,} partitions {done}, {progress}"
        )
        for unit in units:
            for audit, found in audited(unit, request, progress, quick=quick):
                yield with_merge_outcome(audit, found), found, unit
