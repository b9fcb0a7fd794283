"""The first batch of each kind and the number of all: one finding for each code."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fixtures.builder.stored_batches import build_record_batch
from kafkalog_reader.audits.catalogue.producer_rules import SEQUENCE_GAP, SEQUENCE_REGRESSION
from kafkalog_reader.audits.integrity.noted_batches import NotedBatches
from kafkalog_reader.format.record import Record
from kafkalog_reader.io.read_context import ReadContext
from kafkalog_reader.scan.batch_run import BatchRun
from kafkalog_reader.scan.scan import HEADERS, Scan
from tests.audits.bare_replica import bare
from tests.tables.logs import slice_of

if TYPE_CHECKING:
    from pathlib import Path

FILE = "t-0/00000000000000000000.log"


def run_of(tmp_path: Path) -> BatchRun:
    """Three batches of 68 bytes, the second without sequence numbers."""
    path = tmp_path / "00000000000000000000.log"
    batches = [
        build_record_batch(
            [Record(offset_delta=0)], base_offset=offset, producer_id=7, producer_epoch=2,
            base_sequence=sequence,
        )
        for offset, sequence in enumerate((4, -1, 9))
    ]  # fmt: skip
    path.write_bytes(b"".join(batches))
    run = next(iter(Scan(slice_of(path).segment, HEADERS, context=ReadContext())))
    assert isinstance(run, BatchRun)
    return run


def test_the_first_place_and_the_number_are_kept(tmp_path: Path) -> None:
    run = run_of(tmp_path)
    noted = NotedBatches(bare(0), {SEQUENCE_GAP: "is late", SEQUENCE_REGRESSION: "is early"})
    noted.note(SEQUENCE_GAP, FILE, run, 1, before=3)
    noted.note(SEQUENCE_REGRESSION, FILE, run, 0, before=5)
    noted.note(SEQUENCE_GAP, FILE, run, 2, count=4, before=6)
    gap, regression = noted.findings()
    assert gap.message == (
        f"{FILE}: the batch at offset 1 (producer 7, epoch 2) is late; 5 such batches"
    )
    assert (gap.file, gap.position, gap.first_offset, gap.next_offset) == (FILE, 68, 1, 2)
    assert dict(gap.evidence) == {
        "producerId": "7", "producerEpoch": "2", "before": "3", "batches": "5",
    }  # fmt: skip
    assert regression.message == (
        f"{FILE}: the batch at offset 0 (producer 7, epoch 2, sequence 4) is early"
    )


def test_nothing_noted_is_nothing_found() -> None:
    assert list(NotedBatches(bare(0), {}).findings()) == []
