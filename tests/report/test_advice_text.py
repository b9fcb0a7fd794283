"""What the files leave open: each open range once, and only where it is open."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fixtures.builder import cluster, replica
from kafkalog_reader.audits.partition.auditor import audit_partition
from kafkalog_reader.audits.partition.partition_unit import partition_units
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.report.advice_text import not_known
from kafkalog_reader.tables.request import ReadRequest

if TYPE_CHECKING:
    from pathlib import Path


def test_only_what_is_not_proven_is_open_and_only_where_it_is(tmp_path: Path) -> None:
    """Broker 0 holds offsets 3 and 4 alone; offset 2, which broker 1 lacks, was committed."""
    logs = {0: "0@0/e0 1@1/e0 2@2/e0 3@3/e0 4@4/e0", 1: "0@0/e0 1@1/e0", 2: "0@0/e0 1@1/e0 2@2/e0"}
    marks = {0: 3, 1: 2, 2: 3}
    cluster(tmp_path, {b: replica(log, high_watermark=marks[b]) for b, log in logs.items()})
    (unit,) = partition_units(discover([str(tmp_path)]), ReadRequest())
    audit = audit_partition(unit.directories, topics=unit.topics, membership=unit.membership)
    open_ranges = [each for each in not_known(audit) if each.startswith("whether offsets")]
    assert open_ranges == [
        "whether offsets 3–4 on broker 0 were committed: the files prove it below offset 3 only"
    ]
