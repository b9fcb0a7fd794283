"""Flipped bits, torn ends, impossible lengths and unknown magics, with and without other copies."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from fixtures.builder import cluster, replica
from kafkalog_reader.audits.comparison.verdict import Verdict
from kafkalog_reader.audits.partition.auditor import audit_partition
from kafkalog_reader.audits.tables.findings import findings_of
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.tables.request import ReadRequest

if TYPE_CHECKING:
    from pathlib import Path

    from kafkalog_reader.audits.integrity.finding import Finding
    from kafkalog_reader.audits.partition.partition_audit import PartitionAudit

LOG = " ".join(f"v{offset}@{offset}/e0" for offset in range(10))
SEGMENT = "00000000000000000000.log"
BATCH = 70
"""Bytes of each batch of ``LOG``: a header of 61 bytes, a record of 9 (reference, 2.1 and 2.3)."""
Change = Callable[[bytearray], None]


def flip(position: int) -> Change:
    def change(content: bytearray) -> None:
        content[position] ^= 1

    return change


def put(position: int, value: bytes) -> Change:
    def change(content: bytearray) -> None:
        content[position : position + len(value)] = value

    return change


def audit_after(tmp_path: Path, change: Change, *, copies: int, on: int = 1) -> PartitionAudit:
    held = replica(LOG, high_watermark=10)
    roots = cluster(tmp_path, dict.fromkeys(range(copies), held))
    segment = roots[0] / "t-0" / SEGMENT
    for number in range(on):
        segment = roots[number] / "t-0" / SEGMENT
        content = bytearray(segment.read_bytes())
        assert len(content) == 10 * BATCH
        change(content)
        segment.write_bytes(content)
    ((_, directories),) = discover([str(tmp_path)]).topic_partitions(ReadRequest())
    return audit_partition(directories)


def only(audit: PartitionAudit, code: str) -> Finding:
    (found,) = (each for each in findings_of(audit) if each.code == code)
    return found


def test_flipped_bit_with_intact_peers_is_recoverable(tmp_path: Path) -> None:
    audit = audit_after(tmp_path, flip(3 * BATCH + 65), copies=3)
    found = only(audit, "KL-101")
    assert (found.severity, found.file, found.position) == ("H", f"t-0/{SEGMENT}", 3 * BATCH)
    assert (found.first_offset, found.next_offset, found.size_in_bytes) == (3, 4, BATCH)
    assert dict(found.evidence)["intactOn"] == "brokers 1 and 2"
    assert found.committed == "known"
    assert audit.verdict is Verdict.DAMAGED_RECOVERABLE
    assert only(audit, "KL-506").first_offset == 3
    assert audit.fork_offset is None


def test_flipped_bit_on_a_single_copy_is_critical(tmp_path: Path) -> None:
    audit = audit_after(tmp_path, flip(3 * BATCH + 65), copies=1)
    assert only(audit, "KL-101").severity == "C"
    assert audit.verdict is Verdict.DAMAGED_UNRECOVERABLE


def test_the_same_flip_on_every_copy_is_critical(tmp_path: Path) -> None:
    audit = audit_after(tmp_path, flip(3 * BATCH + 65), copies=2, on=2)
    found = [each for each in findings_of(audit) if each.code == "KL-101"]
    assert [(each.severity, each.position) for each in found] == [("C", 3 * BATCH)] * 2
    assert audit.verdict is Verdict.DAMAGED_UNRECOVERABLE


def test_damage_in_a_batch_hides_no_later_one(tmp_path: Path) -> None:
    audit = audit_after(tmp_path, flip(3 * BATCH + 65), copies=1)
    assert audit.replicas[0].log_end == 10
    assert audit.replicas[0].summary.batches == 10


def test_flipped_leader_epoch_is_a_field_that_no_checksum_covers(tmp_path: Path) -> None:
    audit = audit_after(tmp_path, put(3 * BATCH + 12, b"\x00\x00\x00\x01"), copies=3)
    assert only(audit, "KL-507").first_offset == 3
    assert "KL-503" not in {each.code for each in findings_of(audit)}


@pytest.mark.parametrize("length", [0, 13, 48, -1])
def test_impossible_length_is_located(tmp_path: Path, length: int) -> None:
    change = put(4 * BATCH + 8, length.to_bytes(4, "big", signed=True))
    audit = audit_after(tmp_path, change, copies=3)
    found = only(audit, "KL-102")
    assert (found.position, found.first_offset) == (4 * BATCH, 4)
    assert audit.verdict is Verdict.DAMAGED_RECOVERABLE


def test_torn_end_of_the_last_segment_is_not_damage(tmp_path: Path) -> None:
    audit = audit_after(tmp_path, lambda content: content.__delitem__(slice(-7, None)), copies=2)
    found = only(audit, "KL-103")
    assert (found.severity, found.position, found.first_offset) == ("L", 9 * BATCH, 9)
    assert audit.verdict is Verdict.LAGGING
    assert audit.replicas[0].log_end == 9


@pytest.mark.parametrize("magic", [b"\x7f", b"\x22", b"\x03"])  # the last two: one bit of 2 flipped
def test_an_impossible_magic_is_damage_that_a_peer_replaces(tmp_path: Path, magic: bytes) -> None:
    audit = audit_after(tmp_path, put(2 * BATCH + 16, magic), copies=2)  # F09 of the catalogue
    assert only(audit, "KL-106").position == 2 * BATCH
    assert only(audit, "KL-506").first_offset == 2
    assert audit.verdict is Verdict.DAMAGED_RECOVERABLE


def test_a_log_that_ends_with_the_next_magic_makes_the_partition_undecidable(
    tmp_path: Path,
) -> None:
    """Brokers that write a newer format write it from there on."""
    audit = audit_after(tmp_path, put(9 * BATCH + 16, b"\x03"), copies=2)
    assert only(audit, "KL-006").position == 9 * BATCH
    assert audit.verdict is Verdict.UNDECIDABLE
    assert f"position {9 * BATCH}" in audit.reason
    assert audit.elections == ()


def test_other_content_with_a_valid_checksum_is_a_conflict(tmp_path: Path) -> None:
    other = LOG.replace("v5@", "w5@")
    held = {0: replica(LOG, high_watermark=10), 1: replica(other, high_watermark=10)}
    cluster(tmp_path, held)
    ((_, directories),) = discover([str(tmp_path)]).topic_partitions(ReadRequest())
    audit = audit_partition(directories)
    assert only(audit, "KL-505").first_offset == 5
    assert (audit.verdict, audit.fork_offset) == (Verdict.FORKED, 5)


@pytest.mark.parametrize("high_watermark", [None, 10])
def test_an_outvoted_copy_does_not_lead(tmp_path: Path, high_watermark: int | None) -> None:
    """Also if it is longer, and its high watermark says that its records were committed."""
    held = {
        0: replica(LOG, high_watermark=8),
        1: replica(LOG, high_watermark=8),
        2: replica(LOG.replace("v2@", "w2@").replace("v5@", "w5@"), high_watermark=high_watermark),
    }
    cluster(tmp_path, held)
    ((_, directories),) = discover([str(tmp_path)]).topic_partitions(ReadRequest())
    audit = audit_partition(directories)
    assert [each.candidate.broker_id for each in audit.elections] == [0, 1, 2]
    assert [each.lacking.known for each in audit.elections] == [0, 0, 2]
    assert [each.candidate.outvoted_from for each in audit.elections] == [None, None, 2]


def test_a_batch_missing_in_the_middle_is_found_by_its_peers(tmp_path: Path) -> None:
    shorter = LOG.replace("v5@5/e0 ", "")
    cluster(tmp_path, {0: replica(LOG), 1: replica(shorter), 2: replica(LOG)})
    ((_, directories),) = discover([str(tmp_path)]).topic_partitions(ReadRequest())
    found = only(audit_partition(directories), "KL-508")
    assert (found.first_offset, found.next_offset, found.records_at_risk) == (5, 6, 1)
    assert dict(found.evidence)["absent"] == "broker 1"


def test_copies_damaged_each_in_its_own_way_are_not_called_intact(tmp_path: Path) -> None:
    """F33: KL-101 on each copy and KL-905; KL-506 needs a copy that is valid."""
    roots = cluster(tmp_path, dict.fromkeys(range(3), replica(LOG, high_watermark=10)))
    for node, root in roots.items():
        segment = root / "t-0" / SEGMENT
        content = bytearray(segment.read_bytes())
        content[3 * BATCH + 63 + node] ^= 1
        segment.write_bytes(content)
    ((_, directories),) = discover([str(tmp_path)]).topic_partitions(ReadRequest())
    codes = [each.code for each in findings_of(audit_partition(directories))]
    assert codes.count("KL-101") == 3
    assert "KL-905" in codes
    assert "KL-506" not in codes
