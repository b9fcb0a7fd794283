"""KL-713: leaders whose log ends inside a transaction, and those where it only seems to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fixtures.builder import cluster
from fixtures.synthetic.across_replicas import changed, cut, tail
from fixtures.synthetic.base_sets import Copies, transactional
from kafkalog_reader.audits.partition.auditor import audit_partition
from kafkalog_reader.audits.tables.elections import election_rows
from kafkalog_reader.audits.tables.findings import findings_of
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.tables.request import ReadRequest

if TYPE_CHECKING:
    from pathlib import Path

    from kafkalog_reader.audits.partition.partition_audit import PartitionAudit

OPEN, LAST_MARKER, LAST_DATA = 150, 149, 147
"""In the base set T: the undecided transaction, the last marker, and its records."""


def audited(copies: Copies, root: Path) -> PartitionAudit:
    cluster(root, {node: copy.build() for node, copy in copies.items()})
    ((_, directories),) = discover([str(root)]).topic_partitions(ReadRequest())
    return audit_partition(directories)


@pytest.mark.parametrize(
    ("batches", "first"),
    [(1, None), (2, LAST_DATA), (3, None), (4, LAST_DATA - 3), (5, None)],
    ids=["open", "inside-aborted", "between", "inside-committed", "between-again"],
)
def test_a_log_that_ends_before_a_marker(tmp_path: Path, batches: int, first: int | None) -> None:
    """Copies of T: data at 3n and 3n + 1, its marker at 3n + 2; broker 0 lacks the last batches."""
    base = transactional()
    audit = audited(changed(base, n0=cut(base[0], batches)), tmp_path)
    found = [each for each in findings_of(audit) if each.code == "KL-713"]
    assert [each.first_offset for each in found] == ([] if first is None else [first])
    ends = {row["candidateBrokerId"]: row["endsInTransaction"] for row in election_rows(audit)}
    assert ends == {0: first is not None, 1: False, 2: False}


def test_a_marker_on_the_other_side_of_a_fork_is_lost_too(tmp_path: Path) -> None:
    """Broker 0 never had the marker and wrote alone; the transaction before the fork stays open."""
    base = transactional()
    alone = tail(cut(base[0], 2), 7, [3])
    audit = audited(changed(base, n0=alone), tmp_path)
    assert audit.fork_offset == LAST_MARKER
    (found,) = (each for each in findings_of(audit) if each.code == "KL-713")
    assert found.directory == audit.replicas[0].directory
    assert (found.severity, found.first_offset) == ("H", LAST_DATA)
