"""Section 6.4 of the reference: healthy sets are silent, faults across replicas are found."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fixtures.builder import cluster
from fixtures.synthetic.across_replicas import CROSS_FAULTS, CrossFault
from fixtures.synthetic.base_sets import BASES, Copies
from kafkalog_reader.audits.findings import findings_of
from kafkalog_reader.audits.partition_audit import PartitionAudit, audit_partition
from kafkalog_reader.audits.partition_unit import partition_units
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.tables.request import ReadRequest

if TYPE_CHECKING:
    from pathlib import Path

PLANS = {"KL-901", "KL-902", "KL-904"}


def audited(copies: Copies, root: Path) -> PartitionAudit:
    cluster(root, {node: copy.build() for node, copy in copies.items()})
    (unit,) = partition_units(discover([str(root)]), ReadRequest(), with_topics=True)
    return audit_partition(unit.directories, check_files=True, topics=unit.topics)


def found_by(audit: PartitionAudit) -> set[tuple[str, str, int | None]]:
    """Code, severity and broker, without plans and what concerns the copying (KL-0xx)."""
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


@pytest.mark.parametrize("fault", CROSS_FAULTS, ids=lambda fault: fault.id)
def test_a_fault_across_replicas_has_exactly_its_findings(
    fault: CrossFault, tmp_path: Path
) -> None:
    audit = audited(fault.copies(), tmp_path)
    assert found_by(audit) == fault.expected
    assert audit.verdict.value == fault.verdict
    assert audit.fork_offset == fault.fork_offset
