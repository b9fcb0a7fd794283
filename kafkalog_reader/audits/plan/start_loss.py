"""What the start of a broker removes from one of its copies, whoever leads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

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
        max_in_damaged_batches: records of damaged batches that are removed, by their headers.
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

    @property
    def name(self) -> str:
        return f"{self.topic}-{self.partition}"

    @property
    def takes_records(self) -> bool:
        return self.first_offset < self.next_offset

    @property
    def is_down(self) -> bool:
        """Whether the broker or the log directory does not start."""
        return self.outcome in (StartOutcome.DIRECTORY_OFFLINE, StartOutcome.BROKER_ABORTS)


def start_losses(audit: PartitionAudit) -> tuple[StartLoss, ...]:
    """The losses of all copies that are not served completely, without unpredicted starts."""
    return tuple(_losses(audit))


def _losses(audit: PartitionAudit) -> Iterator[StartLoss]:
    for replica in audit.replicas:
        recovery, broker_id = replica.start, replica.broker_id
        if not isinstance(recovery, Recovery) or recovery.outcome is StartOutcome.LOADS:
            continue
        first, following = _range(recovery, replica.log_start, replica.log_end)
        records = recovery.records_cut
        if first < following and not records and replica.candidate is not None:
            records = replica.candidate.records(first, following)
        takes_some = first < following or recovery.outcome is StartOutcome.HIDDEN
        if not takes_some and recovery.outcome not in _NOTHING_GOES:
            continue  # only damaged bytes are removed
        yield StartLoss(
            topic=audit.topic or "",
            partition=audit.partition or 0,
            broker_id=-1 if broker_id is None else broker_id,
            outcome=recovery.outcome,
            first_offset=first,
            next_offset=following,
            records=records if takes_some else 0,
            reason=recovery.reason,
            max_in_damaged_batches=recovery.max_cut_in_damaged_batches,
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
