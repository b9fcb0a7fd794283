"""KL-713: leaders whose log ends inside a transaction, and those where it only seems to."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from fixtures.builder import cluster, data_batch, marker_batch, parse_log, replica
from fixtures.synthetic.across_replicas import changed, cut, tail
from fixtures.synthetic.base_sets import Copies, transactional
from kafkalog_reader.audits.partition.auditor import audit_partition
from kafkalog_reader.audits.tables.elections import election_rows
from kafkalog_reader.audits.tables.findings import findings_of
from kafkalog_reader.format.batch_fields import TRANSACTIONAL_BIT
from kafkalog_reader.format.control_record import ControlType
from kafkalog_reader.format.record import Record
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.tables.request import ReadRequest

if TYPE_CHECKING:
    from pathlib import Path

    from fixtures.builder import Batch
    from kafkalog_reader.audits.partition.partition_audit import PartitionAudit
    from tests.audits.conftest import Audited

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


@pytest.mark.parametrize(
    ("is_member", "severity"), [(None, "H"), (True, "H"), (False, "M")], ids=str
)
def test_only_an_unclean_election_lets_a_copy_outside_the_isr_lead(
    tmp_path: Path, severity: str, *, is_member: bool | None
) -> None:
    """As KL-502 of the same copy: it lags, and no controller elects it by itself."""
    base = transactional()
    audit = audited(changed(base, n0=cut(base[0], 2)), tmp_path)
    elections = tuple(
        replace(each, candidate=replace(each.candidate, is_member=is_member))
        for each in audit.elections
    )
    candidates = {each.candidate.replica: each.candidate for each in elections}
    members = replace(
        audit,
        elections=elections,
        replicas=tuple(replace(each, candidate=candidates[each.files]) for each in audit.replicas),
    )
    (found,) = (each for each in findings_of(members) if each.code == "KL-713")
    assert found.severity == severity


@pytest.mark.parametrize(("age", "severity"), [(0, "M"), (3600, "H")], ids=["hot", "old"])
def test_a_running_broker_gets_the_marker_after_it_was_copied(
    age: int, severity: str, tmp_path: Path
) -> None:
    """As KL-502 of the same copy: file times show that clients wrote while it was copied."""
    written_at = int((time.time() - age) * 1000)
    record = data_batch(
        0,
        [Record(offset_delta=0)],
        base_timestamp=written_at,
        producer_id=1,
        producer_epoch=0,
        base_sequence=0,
        flags=TRANSACTIONAL_BIT,
    )
    marker = commit(1, 1, 0)
    logs = {0: replica([record]), 1: replica([record, marker], high_watermark=2)}
    cluster(tmp_path, logs)
    ((_, directories),) = discover([str(tmp_path)]).topic_partitions(ReadRequest())
    (found,) = (e for e in findings_of(audit_partition(directories)) if e.code == "KL-713")
    assert (found.severity, found.first_offset) == (severity, 0)


def test_a_marker_on_the_other_side_of_a_fork_is_lost_too(tmp_path: Path) -> None:
    """Broker 0 never had the marker and wrote alone; the transaction before the fork stays open."""
    base = transactional()
    alone = tail(cut(base[0], 2), 7, [3])
    audit = audited(changed(base, n0=alone), tmp_path)
    assert audit.fork_offset == LAST_MARKER
    (found,) = (each for each in findings_of(audit) if each.code == "KL-713")
    assert found.directory == audit.replicas[0].directory
    assert (found.severity, found.first_offset) == ("H", LAST_DATA)


def transaction(offset: int, producer_id: int, leader_epoch: int) -> Batch:
    """One record in a transaction."""
    record = data_batch(offset, [Record(offset_delta=0, value=b"v")], leader_epoch=leader_epoch)
    return replace(
        record,
        producer_id=producer_id,
        producer_epoch=0,
        base_sequence=0,
        flags=TRANSACTIONAL_BIT,
    )


def commit(offset: int, producer_id: int, leader_epoch: int) -> Batch:
    return marker_batch(
        offset,
        control_type=ControlType.COMMIT,
        leader_epoch=leader_epoch,
        producer_id=producer_id,
        producer_epoch=0,
    )


@pytest.mark.parametrize(
    ("before", "first"),
    [
        pytest.param([], None, id="at the fork: another transaction"),
        pytest.param([transaction(2, 8, 0)], 2, id="before the fork: the same one"),
    ],
)
def test_only_a_transaction_that_began_before_the_fork_is_the_same(
    audited: Audited, before: list[Batch], first: int | None
) -> None:
    """Broker 0 wrote 7's transaction and no marker; broker 1 wrote 8's, and its marker."""
    shared = [*parse_log("0-1/e0"), *before]
    fork = 2 + len(before)
    alone = [*shared, transaction(fork, 7, 1)]
    newer = [*shared, transaction(fork, 8, 2), commit(fork + 1, 8, 2)]
    audit = audited(*(replica(log, high_watermark=2) for log in (alone, newer)))
    assert audit.fork_offset == fork
    found = {each.broker_id: each.cut_transactions for each in audit.candidates}
    assert found == {0: () if first is None else (first,), 1: ()}
