"""No checksum covers offsets: a batch that contradicts its neighbours is kept apart."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest

from fixtures.builder import log_directory, replica
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.salvage.counts import Reason
from kafkalog_reader.salvage.receiver import Receiver
from kafkalog_reader.salvage.run import salvage
from kafkalog_reader.tables.request import ReadRequest

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from fixtures.builder import Batch
    from kafkalog_reader.salvage.manifest import SalvagedPartition

TOPIC_ID = "AAAAAAAAAAEAAAAAAAAABQ"
FORMS = pytest.mark.parametrize(
    "receiver", [None, Receiver(topic_ids={"t": TOPIC_ID})], ids=["parquet", "segments"]
)
FIVE = "0-9/e0 10-19/e0 20-29/e0 30-39/e0 40-49/e0"


def build(root: Path, log: str | Iterable[Batch] = FIVE, **options: Any) -> Path:
    log_directory(0, replica(log, **options)).write(root)
    return root


def starts(content: bytes) -> list[int]:
    found, at = [], 0
    while at < len(content):
        found.append(at)
        at += 12 + int.from_bytes(content[at + 8 : at + 12], "big")
    return found


def move(root: Path, batch: int, base_offset: int, segment: int = 0) -> None:
    """Give one batch another base offset; its CRC stays correct."""
    log = sorted(root.rglob("*.log"))[segment]
    content = bytearray(log.read_bytes())
    at = starts(content)[batch]
    content[at : at + 8] = base_offset.to_bytes(8, "big", signed=True)
    log.write_bytes(content)


def run(
    root: Path, output: Path, receiver: Receiver | None = None, **asked: Any
) -> SalvagedPartition:
    request = ReadRequest(replica="best", **asked)
    (salvaged,) = salvage(discover([str(root)]), request, str(output), receiver=receiver)
    return salvaged


def manifest(output: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((output / "manifest.json").read_text())
    return content


@FORMS
@pytest.mark.parametrize(
    ("batch", "base_offset"),
    [
        pytest.param(2, 10, id="repeats"),
        pytest.param(2, 5, id="falls"),
        pytest.param(2, 23, id="overlaps_the_next_by_a_little"),
        pytest.param(2, 18, id="overlaps_the_one_before_by_a_little"),
        pytest.param(2, 1045, id="far_above"),
        pytest.param(1, 30, id="in_the_place_of_a_later_one"),
        pytest.param(0, 96, id="first_batch_of_the_segment"),
        pytest.param(4, 20, id="last_batch_falls"),
        pytest.param(4, 296, id="last_batch_jumps"),
    ],
)
def test_a_moved_batch_is_kept_apart_and_nothing_else(
    batch: int, base_offset: int, receiver: Receiver | None, tmp_path: Path
) -> None:
    source = build(tmp_path / "in")
    move(source, batch, base_offset)
    salvaged = run(source, tmp_path / "out", receiver)
    expected = [(n * 10, n * 10 + 9) for n in range(5) if n != batch]
    assert salvaged.records == 40
    assert (salvaged.offsets.first, salvaged.offsets.last) == (expected[0][0], expected[-1][1])
    assert (salvaged.counts.doubtful.batches, salvaged.counts.doubtful.records) == (1, 10)
    written = manifest(tmp_path / "out")
    assert not written["isComplete"]
    (partition,) = written["partitions"]
    (place,) = partition["doubtfulOffsets"]["places"]
    assert place["firstOffset"] == base_offset
    assert f"{base_offset:,}" in place["problem"]
    folder = tmp_path / "out" / partition["doubtfulOffsets"]["folder"]
    values = pq.read_table(folder)["value"].to_pylist()
    assert values == [b"%d" % n for n in range(batch * 10, batch * 10 + 10)]


@FORMS
def test_gaps_of_compaction_are_not_doubtful(receiver: Receiver | None, tmp_path: Path) -> None:
    source = build(tmp_path / "in", "0-9/e0[0,9] 20-29/e0 40-49/e0[41] 60-69/e0")
    salvaged = run(source, tmp_path / "out", receiver)
    assert (salvaged.doubtful, salvaged.lost, salvaged.is_complete) == ([], [], True)
    assert salvaged.records == 23


@FORMS
def test_a_hole_in_a_log_that_was_not_compacted_is_reported(
    receiver: Receiver | None, tmp_path: Path
) -> None:
    source = build(tmp_path / "in", "0-9/e0 10-19/e0 40-49/e0 50-59/e0")
    salvaged = run(source, tmp_path / "out", receiver)
    assert salvaged.doubtful == []
    ((lost,),) = [salvaged.lost]
    assert (lost.first_offset, lost.next_offset) == (20, 40)
    assert not salvaged.is_complete


@FORMS
def test_a_batch_next_to_damage_does_not_pass_for_what_was_damaged(
    receiver: Receiver | None, tmp_path: Path
) -> None:
    """Batch 2 claims the offsets of batch 3, whose CRC is wrong, so that no gap is left."""
    source = build(tmp_path / "in")
    move(source, 2, 30)
    (log,) = source.rglob("*.log")
    content = bytearray(log.read_bytes())
    content[starts(content)[3] + 70] ^= 0x11
    log.write_bytes(content)
    salvaged = run(source, tmp_path / "out", receiver)
    assert salvaged.offsets.missing_ranges == [(20, 39)]
    assert (salvaged.counts.doubtful.records, salvaged.left_out.count) == (10, 1)


@FORMS
@pytest.mark.parametrize("row", ["high_watermark", "recovery_point"])
def test_a_torn_tail_that_cost_committed_records_is_incomplete(
    receiver: Receiver | None, row: str, tmp_path: Path
) -> None:
    source = build(tmp_path / "in", **{row: 50})
    (log,) = source.rglob("*.log")
    log.write_bytes(log.read_bytes()[:-100])
    salvaged = run(source, tmp_path / "out", receiver)
    (lost,) = salvaged.lost
    assert lost.next_offset == 50
    assert lost.first_offset == salvaged.offsets.last + 1
    assert row.replace("_", " ") in lost.why
    assert not manifest(tmp_path / "out")["isComplete"]


def test_the_last_batch_torn_in_its_header_is_not_a_loss_when_nobody_counted_on_it(
    tmp_path: Path,
) -> None:
    source = build(tmp_path / "in", high_watermark=40)
    (log,) = source.rglob("*.log")
    content = log.read_bytes()
    log.write_bytes(content[: starts(content)[4] + 30])
    salvaged = run(source, tmp_path / "out")
    assert (salvaged.records, salvaged.is_complete) == (40, True)


@FORMS
def test_a_range_of_offsets_is_not_lost_outside_of_it(
    receiver: Receiver | None, tmp_path: Path
) -> None:
    source = build(tmp_path / "in", high_watermark=90)
    salvaged = run(source, tmp_path / "out", receiver, from_offset=10, to_offset=30)
    assert (salvaged.records, salvaged.lost, salvaged.is_complete) == (20, [], True)
    assert salvaged.counts.left_out[Reason.OUTSIDE_RANGE].records == 30


def test_a_moved_batch_is_kept_apart_from_a_range_too(tmp_path: Path) -> None:
    source = build(tmp_path / "in")
    move(source, 4, 296)
    salvaged = run(source, tmp_path / "out", from_offset=30, to_offset=60)
    assert (salvaged.records, salvaged.counts.doubtful.records) == (10, 10)
