"""Findings about ranges in which copies differ, and what to do about each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fixtures.builder import cluster, data_batch, replica
from kafkalog_reader.audits.catalogue.actions import (
    CHOOSE_A_BRANCH,
    MOVE_COPY_ASIDE,
    REBUILD_INDEX,
    REPORT_DEFECT,
    SAVE_RECORDS,
)
from kafkalog_reader.audits.comparison.compared_replicas import Comparison
from kafkalog_reader.audits.partition.difference_findings import difference_findings
from kafkalog_reader.cli.verify import verify_command
from kafkalog_reader.format.record import Record
from tests.agreement.commands import asked, objects

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from typing import Any

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


def test_the_copy_that_still_has_the_records_is_not_called_the_more_compacted(
    audited: Audited,
) -> None:
    """Broker 0 has not been cleaned: KL-509 said that compaction had gone further there."""
    whole = replica("k=a@0/e0 j=b@1/e0 k=c@2/e0", high_watermark=3)
    cleaned = replica("j=b@1/e0 k=c@2/e0", base_offset=0, high_watermark=3, cleaner_offset=3)
    (found,) = findings(audited(whole, cleaned))
    said = "compaction has gone further where they are absent (broker 0; absent on broker 1)"
    assert (found.code, found.message) == ("KL-509", f"offset 0: {said}")


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


def unlike_its_log(root: Path, logs: Sequence[str]) -> list[dict[str, Any]]:
    """The finding of an offset index of broker 0 whose one entry fits no batch."""
    brokers = {number: replica(log, recovery_point=2) for number, log in enumerate(logs)}
    folders = cluster(root, brokers, clean=range(len(logs)))
    entry = (1).to_bytes(4, "big") + (40).to_bytes(4, "big")
    (folders[0] / "t-0" / f"{0:020d}.index").write_bytes(entry)
    rows = objects(asked(verify_command, str(root), "--format", "json")[1])
    return [row for row in rows if row["code"] == "KL-205"]


def test_an_index_that_fits_no_batch_is_rebuilt_where_the_copies_agree(tmp_path: Path) -> None:
    (found,) = unlike_its_log(tmp_path, copies("bb"))
    assert found["actions"] == [REBUILD_INDEX]


def test_it_stays_where_it_may_show_whose_log_it_is(tmp_path: Path) -> None:
    """Moved aside, it would be written again, so as to fit."""
    (found,) = unlike_its_log(tmp_path, copies("bX"))
    assert found["actions"] == [SAVE_RECORDS]
    assert "keep the file" in found["message"]
    text = asked(verify_command, str(tmp_path))[1]
    assert "mv " not in text
