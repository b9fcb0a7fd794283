"""Batches of producers with a problem: the first of each kind in a replica, and how many."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kafkalog_reader.audits.integrity.finding import Finding, finding

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kafkalog_reader.audits.log.replica import Replica
    from kafkalog_reader.scan.batch_run import BatchRun


@dataclass(slots=True)
class _Place:
    """The first batch with a problem, and how many there are."""

    file: str
    position: int
    size_in_bytes: int
    offsets: tuple[int, int]
    problem: str
    evidence: dict[str, object]
    count: int = 0


class NotedBatches:
    """The batches that a check of one replica noted, by code."""

    def __init__(self, replica: Replica, problems: Mapping[str, str]) -> None:
        """``problems``: what each code says of a batch, as the end of a sentence."""
        self._replica = replica
        self._problems = problems
        self._places: dict[str, _Place] = {}

    def note(
        self, code: str, file: str, run: BatchRun, row: int, *, count: int = 1, **evidence: int
    ) -> None:
        """Count batches of which this is the first; keep the very first place and its evidence."""
        place = self._places.get(code)
        if place is None:
            producer = {
                "producerId": int(run.producer_id[row]),
                "producerEpoch": int(run.producer_epoch[row]),
            }
            sequence = int(run.base_sequence[row])
            if sequence >= 0:
                producer["sequence"] = sequence
            place = self._places[code] = _Place(
                file=file,
                position=int(run.position[row]),
                size_in_bytes=int(run.size_in_bytes[row]),
                offsets=(int(run.base_offset[row]), int(run.last_offset[row]) + 1),
                problem=_named(producer),
                evidence={**producer, **evidence},
            )
        place.count += count

    def findings(self) -> Iterator[Finding]:
        """Yield one finding for each code."""
        for code, place in self._places.items():
            many = f"; {place.count:,} such batches" if place.count > 1 else ""
            yield finding(
                code,
                f"{place.file}: the batch at offset {place.offsets[0]:,} ({place.problem}) "
                f"{self._problems[code]}{many}",
                directory=self._replica.directory,
                file=place.file,
                position=place.position,
                size_in_bytes=place.size_in_bytes,
                offsets=place.offsets,
                evidence={**place.evidence, "batches": place.count},
            )


def _named(producer: Mapping[str, int]) -> str:
    """``producer 7, epoch 0, sequence 12``."""
    names = {"producerId": "producer", "producerEpoch": "epoch", "sequence": "sequence"}
    return ", ".join(f"{names[key]} {value}" for key, value in producer.items())
