"""One copy with wrong base offsets or unknown content, next to sound copies."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest

from fixtures.builder import cluster, parse_epochs, parse_log, replica
from kafkalog_reader.audits.comparison.verdict import Verdict
from kafkalog_reader.audits.partition.auditor import audit_partition
from kafkalog_reader.audits.tables.elections import election_rows
from kafkalog_reader.audits.tables.findings import findings_of
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.tables.request import ReadRequest
from tests.audits.test_damage import BATCH, LOG, SEGMENT

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from fixtures.builder import Replica
    from kafkalog_reader.audits.partition.partition_audit import PartitionAudit

HELD = replica(LOG, high_watermark=10)


def audit_of(
    root: Path, change: Callable[[bytearray], None], copies: Mapping[int, Replica], *, clean: bool
) -> PartitionAudit:
    """The audit after a change of only the last broker's segment."""
    roots = cluster(root, copies, clean=list(copies) if clean else ())
    segment = roots[max(copies)] / "t-0" / SEGMENT
    content = bytearray(segment.read_bytes())
    change(content)
    segment.write_bytes(content)
    ((_, directories),) = discover([str(root)]).topic_partitions(ReadRequest())
    return audit_partition(directories)


def flipped(batch: int, bit: int) -> Callable[[bytearray], None]:
    """Flip one bit of a base offset; 0 is the lowest."""

    def change(content: bytearray) -> None:
        content[batch * BATCH + 7 - bit // 8] ^= 1 << bit % 8

    return change


def swapped(content: bytearray) -> None:
    """F17: batches 3 and 4 are swapped."""
    at, between, end = (number * BATCH for number in (3, 4, 5))
    content[at:end] = content[between:end] + content[at:between]


def repeated(content: bytearray) -> None:
    """F18: batch 3 occurs twice."""
    content[4 * BATCH : 4 * BATCH] = content[3 * BATCH : 4 * BATCH]


def newer(content: bytearray) -> None:
    """A magic above the known ones, in the last batch: from there on the log may be newer."""
    content[9 * BATCH + 16] = 3


def candidates(audit: PartitionAudit) -> list[int]:
    """Broker ids by rank; a broker that does not start is not a candidate."""
    rows: list[dict[str, Any]] = election_rows(audit)
    assert all(one["rank"] <= other["rank"] for one, other in pairwise(rows))
    return list(dict.fromkeys(row["candidateBrokerId"] for row in rows))


@pytest.mark.parametrize("clean", [False, True])
@pytest.mark.parametrize("bit", [0, 1, 2, 3, 7, 8, 24, 40, 62, 63])
@pytest.mark.parametrize("batch", [0, 3, 9])
@pytest.mark.parametrize("copies", [2, 3])
def test_one_flipped_bit_of_a_base_offset_is_known_from_the_others(
    tmp_path: Path, batch: int, bit: int, copies: int, clean: bool
) -> None:
    held = dict.fromkeys(range(copies), HELD)
    audit = audit_of(tmp_path, flipped(batch, bit), held, clean=clean)
    assert audit.verdict is Verdict.DAMAGED_RECOVERABLE
    (wrong,) = (each for each in findings_of(audit) if each.code == "KL-507")
    assert (wrong.first_offset, wrong.next_offset) == (batch, batch + 1)
    assert wrong.directory == audit.replicas[-1].directory
    assert audit.fork_offset is None
    assert audit.replicas[-1].log_end == 10
    ranked = candidates(audit)
    assert ranked[:2][: copies - 1] == list(range(copies - 1))
    assert ranked[copies - 1 :] in ([copies - 1], [])
    assert audit.elections[0].lost.total == 0


@pytest.mark.parametrize("change", [swapped, repeated, newer], ids=lambda each: each.__name__)
def test_a_copy_that_shows_nothing_is_set_aside_and_the_others_are_compared(
    tmp_path: Path, change: Callable[[bytearray], None]
) -> None:
    audit = audit_of(tmp_path, change, dict.fromkeys(range(3), HELD), clean=False)
    assert (audit.verdict, audit.reason) == (Verdict.DAMAGED_RECOVERABLE, "")
    assert audit.compared_verdict is Verdict.CONSISTENT
    (copy,) = (each for each in findings_of(audit) if each.code == "KL-506")
    assert copy.directory is not None
    assert copy.directory.log_directory.broker_id == 2
    assert {"KL-110", "KL-006"} & {each.code for each in findings_of(audit)}
    assert "KL-904" not in {each.code for each in findings_of(audit)}, "nobody knows what it held"
    assert candidates(audit) == [0, 1, 2]
    last = election_rows(audit)[-1]
    assert (last["rank"], last["electionKind"], last["lostRecords"]) == (3, "undetermined", None)
    clean = {each.code: each.confidence for each in findings_of(audit)}
    assert clean["KL-902"] == "possible"


@pytest.mark.parametrize("change", [swapped, repeated, newer], ids=lambda each: each.__name__)
def test_one_sound_copy_alone_is_held_against_nothing(
    tmp_path: Path, change: Callable[[bytearray], None]
) -> None:
    audit = audit_of(tmp_path, change, dict.fromkeys(range(2), HELD), clean=False)
    assert audit.verdict is Verdict.UNDECIDABLE
    assert audit.elections == ()


def test_a_copy_that_reaches_further_leaves_the_partition_undecidable(tmp_path: Path) -> None:
    longer = replica(f"{LOG} more@10/e0", high_watermark=10)
    audit = audit_of(tmp_path, swapped, {0: HELD, 1: HELD, 2: longer}, clean=False)
    assert audit.verdict is Verdict.UNDECIDABLE
    assert "broker 2 reaches 11, the others end at 10" in audit.reason


def test_a_copy_of_a_newer_leader_leaves_the_partition_undecidable(tmp_path: Path) -> None:
    newest = replica(LOG, epochs=parse_epochs("0:0 3:10"), high_watermark=10)
    audit = audit_of(tmp_path, repeated, {0: HELD, 1: HELD, 2: newest}, clean=False)
    assert audit.verdict is Verdict.UNDECIDABLE
    assert "broker 2 has leader epoch 3" in audit.reason


def test_a_record_stored_twice_is_not_a_wrong_offset(tmp_path: Path) -> None:
    """Broker 1 lacks offset 3. At 4 all have the retry, which is equal except for its offset."""
    batches = parse_log("a@0/e0 b@1/e0 c@2/e0 m@3/e0 m@4/e0 d@5/e0")
    whole = replica(batches, high_watermark=6)
    lacking = replica((*batches[:3], *batches[4:]), high_watermark=6)
    audit = audit_of(tmp_path, lambda _: None, {0: whole, 1: lacking}, clean=False)
    (missing,) = (each for each in findings_of(audit) if each.code == "KL-508")
    assert (missing.first_offset, missing.next_offset) == (3, 4)
