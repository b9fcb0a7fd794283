"""What the start of a broker removes from one of its copies, whoever leads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.log.record_count import cut_text, records_text, up_to_text
from kafkalog_reader.audits.partition.harmless_starts import why_harmless
from kafkalog_reader.audits.recovery.outcome import StartOutcome
from kafkalog_reader.audits.recovery.recovery import Recovery

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kafkalog_reader.audits.partition.partition_audit import PartitionAudit

_WHOLE: Final = frozenset({StartOutcome.EMPTIED, StartOutcome.STRAY})
_NOTHING_GOES: Final = frozenset(
    {StartOutcome.LOADS, StartOutcome.DIRECTORY_OFFLINE, StartOutcome.BROKER_ABORTS}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class StartLoss:
    """One copy that its broker does not serve completely after the start.

    Attributes:
        outcome: what happens to the copy.
        first_offset, next_offset: the offsets that are removed; equal if none are.
        records: number of client records that are removed, as far as they were counted.
        max_in_damaged_batches: what damaged batches that are removed hold at most.
        max_in_torn_batch: the same of the unfinished batch at the end.
        readable_in_torn_batch: the offsets [first, next) of its whole records.
        size_in_bytes: of what is deleted.
        reason: why, with file and position.
    """

    topic: str
    partition: int
    broker_id: int
    outcome: StartOutcome
    first_offset: int
    next_offset: int
    records: int
    reason: str
    max_in_damaged_batches: int = 0
    max_in_torn_batch: int = 0
    readable_in_torn_batch: tuple[int, int] = (0, 0)
    size_in_bytes: int = 0

    @property
    def name(self) -> str:
        return f"{self.topic}-{self.partition}"

    @property
    def text(self) -> str:
        """What is removed, in the words of every command."""
        if self.outcome is not StartOutcome.CUT:
            return up_to_text(records_text(self.records), self.max_in_damaged_batches)
        return cut_text(
            self.records,
            self.max_in_damaged_batches,
            self.max_in_torn_batch,
            self.size_in_bytes,
            self.readable_in_torn_batch[1] - self.readable_in_torn_batch[0],
        )

    @property
    def is_tail(self) -> bool:
        """Whether only bytes at the end are removed, which hold no whole batch."""
        no_record = self.first_offset >= self.next_offset and not self.records
        return self.outcome is StartOutcome.CUT and no_record

    @property
    def is_down(self) -> bool:
        """Whether the broker or the log directory does not start."""
        return self.outcome in (StartOutcome.DIRECTORY_OFFLINE, StartOutcome.BROKER_ABORTS)


def start_losses(audit: PartitionAudit) -> tuple[StartLoss, ...]:
    """What starts remove from all copies, without unpredicted starts."""
    return tuple(_losses(audit))


def _losses(audit: PartitionAudit) -> Iterator[StartLoss]:
    for replica in audit.replicas:
        recovery, broker_id = replica.start, replica.broker_id
        if not isinstance(recovery, Recovery) or recovery.outcome is StartOutcome.LOADS:
            continue
        first, following = _range(recovery, replica.log_start, replica.log_end)
        takes_some = first < following or recovery.outcome is StartOutcome.HIDDEN
        removes = takes_some or recovery.bytes_cut or recovery.outcome in _NOTHING_GOES
        if not removes or why_harmless(audit, replica):
            continue
        yield StartLoss(
            topic=audit.topic or "",
            partition=audit.partition or 0,
            broker_id=-1 if broker_id is None else broker_id,
            outcome=recovery.outcome,
            first_offset=first,
            next_offset=following,
            records=recovery.records_cut if takes_some else 0,
            reason=recovery.reason,
            max_in_damaged_batches=recovery.max_cut_in_damaged_batches,
            max_in_torn_batch=recovery.max_cut_in_torn_batch,
            readable_in_torn_batch=recovery.readable_in_torn_batch,
            size_in_bytes=recovery.bytes_cut,
        )


def _range(recovery: Recovery, start: int, end: int) -> tuple[int, int]:
    """The offsets that are removed from the copy."""
    if recovery.outcome in _WHOLE:
        return start, end
    if recovery.outcome in _NOTHING_GOES or recovery.loaded is None:
        return start, start
    if recovery.outcome is StartOutcome.EXPIRED:
        return start, min(end, recovery.loaded.log.log_start_offset)
    return recovery.loaded.log.log_end_offset, end
