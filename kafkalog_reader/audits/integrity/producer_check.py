"""What the checks of producers and of their markers have in common: when a log can be followed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Final, Generic, TypeVar

from kafkalog_reader.audits.integrity.noted_batches import NotedBatches
from kafkalog_reader.format.batch_fields import DELETE_HORIZON_BIT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kafkalog_reader.audits.integrity.finding import Finding
    from kafkalog_reader.audits.log.replica import Replica
    from kafkalog_reader.io.segment_files import SegmentFiles
    from kafkalog_reader.scan.batch_run import BatchRun

_MAX_PRODUCERS: Final = 1_000_000
ProducerT = TypeVar("ProducerT")


class ProducerCheck(ABC, Generic[ProducerT]):
    """Follows the producers of one replica, in the windows without damage, gaps and compaction."""

    def __init__(self, replica: Replica, problems: Mapping[str, str]) -> None:
        self._replica = replica
        self._producers: dict[int, ProducerT] = {}
        self._noted = NotedBatches(replica, problems)
        self._reached = -1
        self._file = ""
        topic = replica.directory.topic or ""
        self._may_be_cleaned = replica.cleaner_offset is not None or topic.startswith("__")

    def begin_segment(self, segment: SegmentFiles) -> None:
        """Begin a segment; what was between it and the one before is unknown."""
        self._file = self._replica.segment_file(segment)
        if segment.base_offset != self._reached:
            self.lose_track()

    def lose_track(self) -> None:
        """Handle bytes that are not a batch: they may have held a producer's batch or a marker."""
        self._producers.clear()

    def look(self, run: BatchRun) -> None:
        """Follow the batches of one window, while it is valid."""
        found = run.summary
        if not found.is_full or found.attributes & DELETE_HORIZON_BIT:
            self._may_be_cleaned = True
        is_sound = found.leads_on and found.valid == run.count and not self._may_be_cleaned
        leads_on = is_sound and int(run.base_offset[0]) == self._reached
        if not leads_on or len(self._producers) > _MAX_PRODUCERS:
            self.lose_track()
        if is_sound:
            self._follow(run)
        self._reached = int(run.last_offset[-1]) + 1

    def findings(self) -> Iterator[Finding]:
        """Yield one finding for each kind of problem; the log must be at its end."""
        if not self._may_be_cleaned:
            yield from self._noted.findings()

    @abstractmethod
    def _follow(self, run: BatchRun) -> None:
        """Follow the batches of one window, in which offsets lead on and all CRCs are valid."""
