"""Replicas as candidates: what their next start leaves, and which of them can be elected."""

from __future__ import annotations

from typing import TYPE_CHECKING

import kafkalog_reader
from fixtures.builder import cluster, replica
from fixtures.builder.metadata_log import PartitionState, metadata_log
from kafkalog_reader.audits.partition.auditor import audit_partition
from kafkalog_reader.audits.recovery.outcome import StartOutcome
from kafkalog_reader.audits.recovery.recovery import Recovery
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.tables.request import ReadRequest

if TYPE_CHECKING:
    from pathlib import Path

    from kafkalog_reader.audits.partition.partition_audit import PartitionAudit

AB = "a@0/e0 b@1/e0"


def audited(path: Path, *, quick: bool) -> PartitionAudit:
    ((_, directories),) = discover([str(path)]).topic_partitions(ReadRequest())
    return audit_partition(directories, quick=quick)


def outcomes(audit: PartitionAudit) -> dict[int | None, StartOutcome]:
    starts = {each.broker_id: each.start for each in audit.replicas}
    return {broker: s.outcome for broker, s in starts.items() if isinstance(s, Recovery)}


def test_every_candidate_has_an_election_and_the_longest_log_leads(tmp_path: Path) -> None:
    """A follower truncates to its leader: broker 1 leads without loss, broker 0 loses c."""
    logs = {0: AB, 1: f"{AB} c@2/e0"}
    cluster(tmp_path, {node: replica(log, high_watermark=2) for node, log in logs.items()})
    audit = audited(tmp_path, quick=False)
    best, other = audit.elections
    assert (best.candidate.broker_id, other.candidate.broker_id) == (1, 0)
    assert [sum(lost.next_offset - lost.first_offset for lost in each.lost_ranges)
            for each in (best, other)] == [0, 1]  # fmt: skip


def test_a_quick_audit_takes_every_start_for_harmless(tmp_path: Path) -> None:
    """The epoch file that a start refuses is not looked at."""
    files = {"leader-epoch-checkpoint": b"0\n1\n0 x\n"}
    cluster(tmp_path, {0: replica(AB, high_watermark=2, files=files), 1: replica(AB)})
    quick = audited(tmp_path, quick=True)
    assert outcomes(quick) == {0: StartOutcome.LOADS, 1: StartOutcome.LOADS}
    assert len(quick.elections) == 2
    assert outcomes(audited(tmp_path, quick=False))[0] is not StartOutcome.LOADS


def test_a_copy_that_other_brokers_have_cannot_be_elected(tmp_path: Path) -> None:
    """LogManager sets aside what the metadata assigns to others: a stray directory."""
    state = PartitionState(replicas=(0, 1), in_sync=(0, 1), leader=0, leader_epoch=0)
    cluster(tmp_path, {n: [replica(AB, high_watermark=2), metadata_log([state])] for n in range(3)})
    audit = kafkalog_reader.open(tmp_path).diff("t", 0)
    assert outcomes(audit)[2] is StartOutcome.STRAY
    assigned = {each.broker_id: each.is_assigned for each in audit.candidates}
    assert assigned == {0: True, 1: True, 2: False}
    assert 2 not in {each.candidate.broker_id for each in audit.elections}
