"""One log while its batches are compared with those of other replicas."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.comparison.damaged_batches import DamagedBatches
from kafkalog_reader.audits.log.lineage import declared_lineage

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kafkalog_reader.audits.log.batch_stream import BatchStream
    from kafkalog_reader.audits.log.lineage import Lineage
    from kafkalog_reader.audits.log.replica import Replica

_ANY_END: Final[int] = (1 << 63) - 1


@dataclass(slots=True, kw_only=True, eq=False)
class ComparedLog:
    """A replica and the cursor over its batches. Logs are ordered by ``number``.

    Attributes:
        number: its place among the replicas.
        declared: the lineage of its epoch checkpoint; it distinguishes a flipped leader epoch in
            one batch header from another history.
        damaged: its batches with a wrong checksum, up to the cursor.
    """

    number: int
    replica: Replica
    stream: BatchStream
    declared: Lineage
    damaged: DamagedBatches = field(default_factory=DamagedBatches)

    @classmethod
    def of(cls, number: int, replica: Replica, stream: BatchStream) -> ComparedLog:
        """The log of a replica whose stream is at its beginning."""
        declared = declared_lineage(replica.cache, replica.log_start_offset, _ANY_END)
        return cls(number=number, replica=replica, stream=stream, declared=declared)

    def __lt__(self, other: ComparedLog) -> bool:
        return self.number < other.number

    @property
    def base_offset(self) -> int:
        """The base offset of the current batch."""
        return self.stream.base_offset

    def may_be_cleaned(self, offset: int) -> bool:
        """Whether compaction may have removed records at an offset."""
        return offset < (self.replica.cleaner_offset or 0) or self.stream.shows_cleaning


def replicas_of(logs: Iterable[ComparedLog]) -> tuple[Replica, ...]:
    """The replicas of some logs, in the order of the logs."""
    return tuple(log.replica for log in logs)
