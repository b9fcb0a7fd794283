"""replica-divergence.md, section 6.4: healthy sets have no findings, faults across replicas do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fixtures.builder import cluster
from fixtures.builder.metadata_log import PartitionState, metadata_log
from fixtures.synthetic.across_replicas import CROSS_FAULTS, CrossFault, behind_a_stale_row
from fixtures.synthetic.base_sets import BASES, Copies
from kafkalog_reader.audits.integrity.file_checks import FileChecks
from kafkalog_reader.audits.partition.auditor import audit_partition
from kafkalog_reader.audits.partition.partition_unit import partition_units
from kafkalog_reader.audits.tables.findings import findings_of
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.io.names import METADATA_TOPIC
from kafkalog_reader.tables.request import ReadRequest

if TYPE_CHECKING:
    from pathlib import Path

    from kafkalog_reader.audits.partition.partition_audit import PartitionAudit

PLANS = {"KL-901", "KL-902", "KL-904"}


def audited(
    copies: Copies, root: Path, metadata: PartitionState | None = None, *, deep: bool = False
) -> PartitionAudit:
    brokers = {node: [copy.build()] for node, copy in copies.items()}
    if metadata is not None:
        brokers[0].append(metadata_log([metadata]))
    cluster(root, brokers)
    (unit,) = (
        each
        for each in partition_units(discover([str(root)]), ReadRequest())
        if each.directories[0].topic != METADATA_TOPIC
    )
    return audit_partition(
        unit.directories,
        check_files=True,
        checks=FileChecks(deep=deep),
        topics=unit.topics,
        membership=unit.membership,
    )


def found_by(audit: PartitionAudit) -> set[tuple[str, str, int | None]]:
    """Code, severity and broker, without plans and findings about the copying (KL-0xx)."""
    return {
        (each.code, each.severity, each.directory and each.directory.log_directory.broker_id)
        for each in findings_of(audit)
        if each.code not in PLANS and each.code > "KL-1"
    }


@pytest.mark.parametrize("name", sorted(BASES))
def test_a_healthy_set_has_no_finding_above_information(name: str, tmp_path: Path) -> None:
    audit = audited(BASES[name](), tmp_path)
    assert {each for each in found_by(audit) if each[1] != "I"} == set()
    assert (audit.verdict.value, audit.fork_offset) == ("consistent", None)
    assert {election.lost.total for election in audit.elections} == {0}
    assert not any(each.is_cut for election in audit.elections for each in election.followers)


def test_a_healthy_metadata_log_has_no_finding_above_information(tmp_path: Path) -> None:
    """K: three controllers with the same log."""
    states = [
        PartitionState(replicas=(0, 1, 2), in_sync=(0, 1), leader=0, leader_epoch=epoch)
        for epoch in range(5)
    ]
    cluster(tmp_path, dict.fromkeys(range(3), metadata_log(states)))
    ((_, directories),) = discover([str(tmp_path)]).topic_partitions(ReadRequest())
    audit = audit_partition(directories, check_files=True)
    assert {each for each in found_by(audit) if each[1] != "I"} == set()
    assert (audit.verdict.value, audit.elections) == ("consistent", ())


@pytest.mark.parametrize(("in_sync", "possible"), [((0,), 20), ((0, 1, 2), 0), (None, 20)])
def test_who_is_in_sync_bounds_what_may_be_committed(
    tmp_path: Path, in_sync: tuple[int, ...] | None, possible: int
) -> None:
    """X17: the row is 50, and broker 2 ends at 80: as leader it loses 80 to 99 of the others."""
    state = None
    if in_sync is not None:
        state = PartitionState(replicas=(0, 1, 2), in_sync=in_sync, leader=0, leader_epoch=0)
    audit = audited(behind_a_stale_row(), tmp_path, state)
    last = audit.elections[-1]
    assert last.candidate.broker_id == 2
    assert (last.lost.total, last.lost.known, last.lost.possible) == (20, 0, possible)
    member = None if in_sync is None else 2 in in_sync
    assert last.clean_by_membership is member


@pytest.mark.parametrize("fault", CROSS_FAULTS, ids=lambda fault: fault.id)
def test_a_fault_across_replicas_has_exactly_its_findings(
    fault: CrossFault, tmp_path: Path
) -> None:
    deep = fault.id == "X19"  # only --deep decodes keys
    audit = audited(fault.copies(), tmp_path, fault.metadata, deep=deep)
    assert found_by(audit) == fault.expected
    assert audit.verdict.value == fault.verdict
    assert audit.fork_offset == fault.fork_offset


@pytest.mark.parametrize("fault", CROSS_FAULTS, ids=lambda fault: fault.id)
def test_only_what_a_peer_has_intact_is_recoverable(fault: CrossFault, tmp_path: Path) -> None:
    codes = {each.code for each in findings_of(audited(fault.copies(), tmp_path, fault.metadata))}
    assert ("KL-904" in codes) == (fault.verdict == "damaged-recoverable")
