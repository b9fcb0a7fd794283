"""Findings about ranges in which copies differ, and what to do about each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fixtures.builder import data_batch, replica
from kafkalog_reader.audits.catalogue.actions import (
    CHOOSE_A_BRANCH,
    MOVE_COPY_ASIDE,
    REPORT_DEFECT,
    SAVE_RECORDS,
)
from kafkalog_reader.audits.comparison.compared_replicas import Comparison
from kafkalog_reader.audits.partition.difference_findings import difference_findings
from kafkalog_reader.format.record import Record

if TYPE_CHECKING:
    from fixtures.builder import Batch
    from kafkalog_reader.audits.integrity.finding import Finding
    from kafkalog_reader.audits.partition.partition_audit import PartitionAudit
    from tests.audits.conftest import Audited


def findings(audit: PartitionAudit) -> list[Finding]:
    assert isinstance(audit.comparison, Comparison)
    return [*difference_findings(audit, audit.comparison.differences)]


def copies(values: str) -> list[str]:
    return [f"a@0/e0 {value}@1/e0" for value in values]


@pytest.mark.parametrize(
    ("values", "actions"),
    [
        ("bbX", (SAVE_RECORDS, MOVE_COPY_ASIDE, REPORT_DEFECT)),
        ("bX", (SAVE_RECORDS, REPORT_DEFECT, CHOOSE_A_BRANCH)),
        ("bbXX", (SAVE_RECORDS, REPORT_DEFECT, CHOOSE_A_BRANCH)),
        ("bbXY", (SAVE_RECORDS, MOVE_COPY_ASIDE, REPORT_DEFECT)),
        ("bXY", (SAVE_RECORDS, REPORT_DEFECT, CHOOSE_A_BRANCH)),
    ],
)
def test_a_person_chooses_only_where_no_copy_is_outvoted(
    values: str, actions: tuple[str, ...], audited: Audited
) -> None:
    (found,) = findings(audited(*(replica(log, high_watermark=2) for log in copies(values))))
    assert found.code == "KL-505"
    assert found.actions == actions


def batches(*sizes: int) -> list[Batch]:
    found, first = [], 0
    for size in sizes:
        records = [
            Record(offset_delta=n, timestamp_delta=first + n, key=None, value=b"v")
            for n in range(size)
        ]
        found.append(data_batch(first, records, leader_epoch=0))
        first += size
    return found


def test_equal_records_in_other_batches_are_called_so(audited: Audited) -> None:
    logs = [batches(6), batches(2, 4)]
    (found,) = findings(audited(*(replica(log, high_watermark=6) for log in logs)))
    assert (found.code, found.records_at_risk) == ("KL-509", 0)
    assert "equal records in batches with other bounds" in found.message
