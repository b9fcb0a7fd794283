"""Directories that only look like a replica, and replicas that were not supplied."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fixtures.builder import cluster, log_directory, replica
from fixtures.builder.metadata_log import PartitionState, metadata_log
from fixtures.synthetic.scenario import AB
from kafkalog_reader.audits.partition.auditor import audit_partition
from kafkalog_reader.audits.partition.partition_unit import partition_units
from kafkalog_reader.audits.tables.elections import election_rows
from kafkalog_reader.audits.tables.findings import findings_of
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.registry import table
from kafkalog_reader.tables.request import ReadRequest

if TYPE_CHECKING:
    from pathlib import Path

    from kafkalog_reader.audits.partition.partition_audit import PartitionAudit

WON = replica(f"{AB} f@2/e2", epochs="0:0 2:2", high_watermark=3)
REQUEST = ReadRequest(topics=frozenset({"t"}))


def audited(root: Path) -> PartitionAudit:
    (unit,) = partition_units(discover([str(root)]), REQUEST)
    return audit_partition(
        unit.directories, topics=unit.topics, membership=unit.membership, check_files=True
    )


def codes_below(root: Path) -> set[str]:
    findings = table("findings")
    request = ReadRequest()
    return {
        code
        for unit in findings.units(discover([str(root)]), request)
        for rows in findings.read(unit, request)
        for code in rows["code"].to_pylist()
    }


@pytest.mark.parametrize(
    ("state", "candidates"), [("future", {1, 2}), ("delete", {0, 1, 2}), ("stray", {0, 1, 2})]
)
def test_a_renamed_directory_neither_forks_nor_votes(
    state: str, candidates: set[int], tmp_path: Path
) -> None:
    """Its log diverges from the others at 2 and is longer than any.

    A broker of 4.4.0 did not start with a future copy in the log directory of its replica.
    """
    aside = replica(
        f"{AB} c@2/e0 d@3/e0", epochs="0:0", high_watermark=2, directory=f"t-0.{'ab' * 16}-{state}"
    )
    cluster(tmp_path, {0: [WON, aside], 1: WON, 2: WON})
    audit = audited(tmp_path)
    assert (audit.verdict.value, audit.fork_offset) == ("consistent", None)
    assert {row["candidateBrokerId"] for row in election_rows(audit)} == candidates
    cut = {(row["candidateBrokerId"], row["recordsCut"]) for row in election_rows(audit)}
    assert {records for _, records in cut} <= {0, None}  # None: a follower that does not start
    assert {each.code for each in findings_of(audit)} == {"KL-501"}
    assert "KL-010" in codes_below(tmp_path)


def test_a_future_replica_on_another_disk_of_the_broker_is_none_either(tmp_path: Path) -> None:
    cluster(tmp_path, {0: WON, 1: WON})
    moving = replica(AB, epochs="0:0", high_watermark=2, directory=f"t-0.{'cd' * 16}-future")
    log_directory(0, moving, directory_id="AAAAAAAAAAIAAAAAAAAEAA").write(tmp_path / "broker-0b")
    audit = audited(tmp_path)
    assert audit.verdict.value == "consistent"
    assert len(audit.replicas) == 2


def test_a_replica_that_the_metadata_names_and_nobody_supplied_is_reported(tmp_path: Path) -> None:
    state = PartitionState(replicas=(0, 1, 2), in_sync=(0, 1, 2), leader=0, leader_epoch=2)
    cluster(tmp_path, {0: [WON, metadata_log([state])], 1: WON})
    assert "KL-012" in codes_below(tmp_path)
    (row, _) = election_rows(audited(tmp_path))
    assert row["cleanByMembership"] is True
    cluster(tmp_path, {2: WON})
    assert "KL-012" not in codes_below(tmp_path)
