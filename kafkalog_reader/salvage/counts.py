"""The conservation check of a salvage: what was found is what was kept and what was left out."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any

import numpy as np

from kafkalog_reader.decode.record_decoder import RecordDecoder
from kafkalog_reader.errors import SalvageCountError
from kafkalog_reader.salvage.left_out import NotedDamage

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kafkalog_reader.salvage.readable_batches import ReadableRun
    from kafkalog_reader.scan.batch_run import BatchRun
    from kafkalog_reader.scan.segment_slice import SegmentSlice


class Reason(Enum):
    """Why a batch is not in the main output of a salvage."""

    DAMAGED = "damaged"
    """Its CRC is wrong and no single flipped bit explains it, or its records cannot be decoded."""
    OUTSIDE_RANGE = "outsideRange"
    """It holds no requested offset, or lies below the log start offset."""
    OTHER_COPY = "takenFromAnotherCopy"
    MARKER = "transactionMarker"
    ABORTED = "abortedTransaction"
    UNDECIDED = "undecidedTransaction"


@dataclass(slots=True)
class Tally:
    """Number of batches, and of the records decoded from them."""

    batches: int = 0
    records: int = 0

    def add(self, batches: int, records: int) -> None:
        """Count more of them."""
        self.batches += batches
        self.records += records


@dataclass(slots=True)
class Counts:
    """What became of everything that the first reading found.

    Attributes:
        found: by the first reading.
        kept: written by the second one; of a batch that holds both kinds of offsets, the records
            asked for.
        doubtful: written separately.
        left_out: by the reason.
    """

    found: Tally = field(default_factory=Tally)
    kept: Tally = field(default_factory=Tally)
    doubtful: Tally = field(default_factory=Tally)
    left_out: dict[Reason, Tally] = field(default_factory=lambda: {r: Tally() for r in Reason})

    def check(self, name: str) -> None:
        """Compare both readings.

        Raises:
            SalvageCountError: something was lost or written twice.
        """
        parts = [self.kept, self.doubtful, *self.left_out.values()]
        for unit in ("batches", "records"):
            found = getattr(self.found, unit)
            accounted = sum(getattr(part, unit) for part in parts)
            if found != accounted:
                raise SalvageCountError(
                    f"{name}: reading found {found:,} {unit}, but {accounted:,} were kept or left "
                    "out for a reason: do not use this output. Did a broker write to the log "
                    "meanwhile? If not, please report this"
                )

    def as_json(self) -> dict[str, Any]:
        """As the manifest has it."""
        return {
            "found": asdict(self.found),
            "kept": asdict(self.kept),
            "doubtfulOffsets": asdict(self.doubtful),
            "leftOut": {r.value: asdict(tally) for r, tally in self.left_out.items()},
        }


def record_counts(readable: ReadableRun) -> NDArray[np.int64]:
    """How many records each batch holds; messages of magic 0 and 1 are decoded for it."""
    run = readable.run
    counts = run.records_count.astype(np.int64)
    if run.count and run.magic.min() < 2:
        counts = np.where(run.magic < 2, 0, counts)
        old = run.taken(np.flatnonzero(run.magic < 2))
        decoder = RecordDecoder(frozenset({"offset"}), readable.segment_slice, NotedDamage.silent())
        for decoded in (*decoder.add(old), *decoder.flush()):
            positions = decoded.of_records(decoded.of_batches("position"))
            rows = np.searchsorted(run.position, positions)
            counts += np.bincount(rows, minlength=run.count)
    return counts


def records_below(run: BatchRun, offset: int, segment_slice: SegmentSlice) -> int:
    """How many records have lower offsets; only batches that begin below ``offset`` are decoded."""
    below = np.flatnonzero(run.base_offset < offset)
    if not len(below):
        return 0
    decoder = RecordDecoder(frozenset({"offset"}), segment_slice, NotedDamage.silent())
    return sum(
        int((decoded.columns.offset < offset).sum())
        for decoded in (*decoder.add(run.taken(below)), *decoder.flush())
    )


def first_offsets(readable: ReadableRun) -> NDArray[np.int64]:
    """Where the offsets of each batch begin; compressed messages are decoded for it."""
    run = readable.run
    firsts = run.base_offset.copy()
    wrappers = np.flatnonzero(run.is_wrapper)
    if len(wrappers):
        firsts[wrappers] = run.last_offset[wrappers]
        decoder = RecordDecoder(frozenset({"offset"}), readable.segment_slice, NotedDamage.silent())
        for decoded in (*decoder.add(run.taken(wrappers)), *decoder.flush()):
            positions = decoded.of_records(decoded.of_batches("position"))
            rows = np.searchsorted(run.position, positions)
            np.minimum.at(firsts, rows, decoded.columns.offset)
    return firsts
