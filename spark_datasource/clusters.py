"""Several clusters in one read: one of them is chosen, or the rows say which they are of.

The same topic partition of two clusters is two logs: without the column ``clusterId`` their rows
look like records of one log, two at each offset.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from kafkalog_reader.errors import OptionError, UsageError
from kafkalog_reader.io.names import shown

if TYPE_CHECKING:
    from kafkalog_reader.io.directories import LogDirectory
    from kafkalog_reader.io.evidence import Evidence
    from kafkalog_reader.tables.request import ReadRequest
    from kafkalog_reader.tables.table import AnyTable

COLUMN: Final = "clusterId"
"""Also the option that chooses one."""
_ONE_WRONG: Final = "`kafkalog verify` says if it is one cluster and an id is wrong"


def of_cluster(evidence: Evidence, cluster_id: str | None) -> Evidence:
    """The evidence of one cluster; None is all of it.

    Remote segments whose cluster is not known stay: topic ids say whose they are.

    Raises:
        OptionError: nothing of that cluster was supplied.
    """
    if cluster_id is None:
        return evidence
    ids = {root.cluster_id for root in evidence.log_directories}
    if cluster_id not in ids:
        there = _joined(ids) if ids - {None} else "no known cluster"
        raise OptionError(COLUMN, f"no cluster {cluster_id!r}: the given paths are of {there}")

    def is_of_it(root: LogDirectory) -> bool:
        return root.cluster_id == cluster_id

    return replace(
        evidence,
        roots=tuple(filter(is_of_it, evidence.roots)),
        given=tuple(each for each in evidence.given if is_of_it(each.log_directory)),
        remote=tuple(
            each for each in evidence.remote
            if each.log_directory.cluster_id in (None, cluster_id)
        ),
    )  # fmt: skip


def check_told_apart(evidence: Evidence, table: AnyTable, request: ReadRequest) -> None:
    """Refuse rows of several clusters whose columns do not say which they are of.

    Args:
        evidence: what is read, of all chosen clusters.
        table: what is asked.
        request: which rows and columns.

    Raises:
        UsageError: a selected partition is in several clusters; for tables made of records, there
            is more than one cluster.
    """
    if request.columns is None or COLUMN in request.columns:
        return
    problem = several_clusters(evidence, request, of_partitions=table.selects_directories)
    if problem:
        raise UsageError(
            f"{problem}, and no column tells their rows apart: choose one with the option "
            f"{COLUMN}, or show that column, as columns=all does. {_ONE_WRONG}"
        )


def check_one_cluster(evidence: Evidence, request: ReadRequest) -> None:
    """Refuse to follow partitions of several clusters: a checkpoint has one offset for each.

    Raises:
        UsageError: a selected partition is in several clusters.
    """
    problem = several_clusters(evidence, request, of_partitions=True)
    if problem:
        raise UsageError(
            f"{problem}, and a stream has one offset for each partition: choose one with the "
            f"option {COLUMN}. {_ONE_WRONG}"
        )


def several_clusters(evidence: Evidence, request: ReadRequest, *, of_partitions: bool) -> str:
    """Which clusters hold the same; empty if none do.

    Args:
        evidence: what is read.
        request: which partitions.
        of_partitions: whether only a partition that is selected and in several clusters counts.
    """
    ids = {root.cluster_id for root in evidence.log_directories}
    if len(ids) < 2:
        return ""
    if not of_partitions:
        return f"the given paths are of several clusters ({_joined(ids)})"
    clusters: dict[tuple[str, int | None], set[str | None]] = {}
    for (cluster_id, topic, partition), _ in evidence.topic_partitions(request):
        if topic is not None:
            clusters.setdefault((topic, partition), set()).add(cluster_id)
    mixed = sorted(key for key, found in clusters.items() if len(found) > 1)
    if not mixed:
        return ""
    topic, partition = mixed[0]
    others = len(mixed) - 1
    more = f" and {others:,} more partition{'' if others == 1 else 's'}" if others else ""
    verb = "are" if others else "is"
    found = _joined(clusters[mixed[0]])
    return f"{shown(topic)}-{partition}{more} {verb} in several clusters ({found})"


def _joined(ids: set[str | None]) -> str:
    known = sorted(shown(each) for each in ids if each is not None)
    return ", ".join([*known, *(["one without a known id"] if None in ids else [])])
