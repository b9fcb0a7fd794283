"""Batches of producers with a problem: the first of each kind in a replica, and how many."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkalog_reader.audits.integrity.first_place import FirstPlace

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kafkalog_reader.audits.integrity.finding import Finding
    from kafkalog_reader.audits.log.replica import Replica
    from kafkalog_reader.scan.batch_run import BatchRun


class NotedBatches:
    """The batches that a check of one replica noted, by code."""

    def __init__(self, replica: Replica, problems: Mapping[str, str]) -> None:
        """``problems``: what each code says of a batch, as the end of a sentence."""
        self._replica = replica
        self._problems = problems
        self._places: dict[str, tuple[str, FirstPlace]] = {}

    def note(
        self, code: str, file: str, run: BatchRun, row: int, *, count: int = 1, **evidence: int
    ) -> None:
        """Count batches of which this is the first; keep the very first place and its evidence."""
        if code not in self._places:
            producer = {
                "producerId": int(run.producer_id[row]),
                "producerEpoch": int(run.producer_epoch[row]),
            }
            sequence = int(run.base_sequence[row])
            if sequence >= 0:
                producer["sequence"] = sequence
            first = FirstPlace.of(run, row, {**producer, **evidence}, _named(producer))
            self._places[code] = file, first
        self._places[code][1].count += count

    def findings(self) -> Iterator[Finding]:
        """Yield one finding for each code."""
        for code, (file, first) in self._places.items():
            batch = f"the batch at offset {first.offsets[0]:,} ({first.problem})"
            yield first.finding(
                code, self._replica, file, f"{file}: {batch} {self._problems[code]}"
            )


def _named(producer: Mapping[str, int]) -> str:
    """``producer 7, epoch 0, sequence 12``."""
    names = {"producerId": "producer", "producerEpoch": "epoch", "sequence": "sequence"}
    return ", ".join(f"{names[key]} {value}" for key, value in producer.items())
