"""Checking a run without gaps by its ends gives the same result as batch by batch."""

from __future__ import annotations

import random
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from fixtures.builder import cluster, replica
from kafkalog_reader.audits.partition.auditor import audit_partition
from kafkalog_reader.audits.recovery.recovery import Recovery
from kafkalog_reader.audits.tables.findings import findings_of
from kafkalog_reader.format.crc import compute_crc32c
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.io.read_context import ReadContext
from kafkalog_reader.scan import batch_chain
from kafkalog_reader.scan.batch_chain import BatchChain
from kafkalog_reader.scan.batch_run import BatchRun
from kafkalog_reader.tables.request import ReadRequest

if TYPE_CHECKING:
    from pathlib import Path

    from kafkalog_reader.audits.partition.partition_audit import PartitionAudit

SEGMENT = "00000000000000000000.log"
BATCH = 70
"""Bytes of each batch: a header of 61 bytes, a record of 9 (format reference, 2.1 and 2.3)."""
COVERED_FROM = 21
LAST = 2**63 - 1


@dataclass(frozen=True)
class Field:
    """A field of a batch's header (format reference, 2.1)."""

    position: int
    format: str

    def put(self, batch: bytearray, value: int) -> None:
        struct.pack_into(self.format, batch, self.position, value)


BASE_OFFSET = Field(0, ">q")
LEADER_EPOCH = Field(12, ">i")
ATTRIBUTES = Field(21, ">h")
LAST_OFFSET_DELTA = Field(23, ">i")
MAX_TIMESTAMP = Field(35, ">q")
PRODUCER_ID = Field(43, ">q")
PRODUCER_EPOCH = Field(51, ">h")
BASE_SEQUENCE = Field(53, ">i")
RECORDS_COUNT = Field(57, ">i")
FIELDS = (
    BASE_OFFSET, LEADER_EPOCH, ATTRIBUTES, LAST_OFFSET_DELTA, MAX_TIMESTAMP, PRODUCER_ID,
    PRODUCER_EPOCH, BASE_SEQUENCE, RECORDS_COUNT,
)  # fmt: skip


def checksummed(batch: bytearray) -> bytearray:
    struct.pack_into(">I", batch, 17, compute_crc32c(bytes(batch[COVERED_FROM:])))
    return batch


def sound_batches(tmp_path: Path, count: int) -> list[bytearray]:
    log = " ".join(f"v{offset:x}@{offset}/e0" for offset in range(count))
    root = cluster(tmp_path, {0: replica(log, high_watermark=count)})[0]
    content = (root / "t-0" / SEGMENT).read_bytes()
    assert len(content) == BATCH * count
    return [bytearray(content[at : at + BATCH]) for at in range(0, BATCH * count, BATCH)]


def changed(batches: list[bytearray], draw: random.Random) -> bytes:
    """The log after random changes: batches removed, repeated or swapped, header fields changed."""
    batches = [bytearray(batch) for batch in batches]
    for _ in range(draw.randrange(4)):
        at = draw.randrange(len(batches))
        kind = draw.choice(("lose", "repeat", "swap", "field", "field", "field", "epochs"))
        if kind == "lose":
            del batches[at]
        elif kind == "repeat":
            batches.insert(draw.randrange(len(batches)), bytearray(batches[at]))
        elif kind == "swap":
            other = draw.randrange(len(batches))
            batches[at], batches[other] = batches[other], batches[at]
        elif kind == "epochs":
            for batch in batches[at:]:
                LEADER_EPOCH.put(batch, 3)
        else:
            field = draw.choice(FIELDS)
            bits = 8 * struct.calcsize(field.format)
            least, most = -(1 << bits - 1), (1 << bits - 1) - 1
            field.put(batches[at], draw.choice((-1, 0, 1, 2, 7, 16, 64, most, most - 1, least)))
            if draw.random() < 0.8:
                checksummed(batches[at])
    return b"".join(batches)


def entries(draw: random.Random, entry: str, count: int) -> bytes:
    """Index entries; most are correct if nothing was changed."""
    found = b""
    for number in sorted(draw.sample(range(count), draw.randrange(count))):
        wrong = draw.choice((-1, 1, 3)) if draw.random() < 0.05 else 0
        if entry == ">ii":
            found += struct.pack(entry, number, BATCH * number + wrong)
        else:
            found += struct.pack(entry, 1_700_000_000_000 + number + wrong, number + wrong)
    return found


def audited(tmp_path: Path) -> PartitionAudit:
    ((_, directories),) = discover([str(tmp_path)]).topic_partitions(ReadRequest())
    return audit_partition(directories, check_files=True)


def conclusions(audit: PartitionAudit) -> tuple[object, ...]:
    starts = [(each.start.outcome, each.start.sound_end_offset) for each in audit.replicas
              if isinstance(each.start, Recovery)]  # fmt: skip
    return (
        list(findings_of(audit)), audit.comparison, audit.verdict, starts, audit.elections,
        [(each.summary, each.history, each.damaged) for each in audit.replicas],
        [each.retries.repeated for each in audit.replicas],
    )  # fmt: skip


@pytest.mark.parametrize("longest_run", [1, 2, 5, 64])
def test_a_row_is_judged_as_its_batches_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, longest_run: int
) -> None:
    count, rows = 12, 0
    batches = sound_batches(tmp_path, count)
    (segment,) = tmp_path.glob(f"*/t-0/{SEGMENT}")
    monkeypatch.setattr(batch_chain, "MAX_RUN", longest_run)
    for seed in range(60):
        draw = random.Random(seed)
        segment.write_bytes(changed(batches, draw))
        for suffix, entry in ((".index", ">ii"), (".timeindex", ">qi")):
            segment.with_suffix(suffix).write_bytes(entries(draw, entry, count))
        rows += sum(run.is_row for run in BatchChain(str(segment), context=ReadContext()))
        by_ends = conclusions(audited(tmp_path))
        with monkeypatch.context() as patch:
            patch.setattr(BatchRun, "is_row", property(lambda run: False))
            assert conclusions(audited(tmp_path)) == by_ends, f"seed {seed}"
    assert rows > 20, "hardly a run was judged by its ends"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        (BASE_OFFSET, 4),  # as its neighbour
        (BASE_OFFSET, 7),
        (BASE_OFFSET, -1),
        (LAST_OFFSET_DELTA, 1),
        (LAST_OFFSET_DELTA, -1),
        (RECORDS_COUNT, 0),
        (RECORDS_COUNT, 2),
        (RECORDS_COUNT, -(2**31)),
    ],
)
def test_one_batch_that_breaks_a_row(tmp_path: Path, field: Field, value: int) -> None:
    batches = sound_batches(tmp_path, 6)
    path = tmp_path / "log"
    path.write_bytes(b"".join(batches))
    (run,) = BatchChain(str(path), context=ReadContext())
    assert run.is_row
    field.put(batches[5], value)
    checksummed(batches[5])
    path.write_bytes(b"".join(batches))
    (run,) = BatchChain(str(path), context=ReadContext())
    assert not run.is_row


def test_numbers_that_overflow_make_no_row(tmp_path: Path) -> None:
    """A count and a delta whose difference overflows; offsets that continue after the greatest."""
    first, second = sound_batches(tmp_path, 2)
    LAST_OFFSET_DELTA.put(first, 2**31 - 1)
    RECORDS_COUNT.put(first, -(2**31))
    path = tmp_path / "log"
    path.write_bytes(bytes(checksummed(first)))
    (run,) = BatchChain(str(path), context=ReadContext())
    assert not run.is_row
    LAST_OFFSET_DELTA.put(first, 0)
    RECORDS_COUNT.put(first, 1)
    BASE_OFFSET.put(first, LAST)
    BASE_OFFSET.put(second, -LAST - 1)
    path.write_bytes(bytes(checksummed(first) + checksummed(second)))
    (run,) = BatchChain(str(path), context=ReadContext())
    assert not run.is_row


def test_a_wrong_checksum_breaks_a_row_and_moving_a_batch_does(tmp_path: Path) -> None:
    batches = sound_batches(tmp_path, 3)
    path = tmp_path / "log"
    path.write_bytes(b"".join(batches))
    (run,) = BatchChain(str(path), context=ReadContext())
    assert run.is_row
    run.move(0, 9)
    assert (run.base_offset[0], run.last_offset[0], run.is_row) == (9, 9, False)
    batches[1][-1] ^= 1
    path.write_bytes(b"".join(batches))
    (run,) = BatchChain(str(path), context=ReadContext())
    assert not run.is_row


def test_a_run_that_ends_at_the_greatest_offset(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No offset follows the greatest one; later batches are still read."""
    batches = sound_batches(tmp_path, 3)
    BASE_OFFSET.put(batches[1], LAST)
    (segment,) = tmp_path.glob(f"*/t-0/{SEGMENT}")
    segment.write_bytes(b"".join(batches))
    monkeypatch.setattr(batch_chain, "MAX_RUN", 1)
    offsets = [int(run.base_offset[0]) for run in BatchChain(str(segment), context=ReadContext())]
    assert offsets == [0, LAST, 2]
    assert "KL-110" in [each.code for each in findings_of(audited(tmp_path))]
