"""One replica of an audited partition: its files, what reading them showed, and its next start."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kafkalog_reader.audits.comparison.missing_committed import is_hot
from kafkalog_reader.scan.scan_end import ScanEnd

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kafkalog_reader.audits.comparison.committed import CommitBounds, History
    from kafkalog_reader.audits.comparison.damaged_batches import DamagedBatches
    from kafkalog_reader.audits.comparison.log_summary import LogSummary
    from kafkalog_reader.audits.election.candidate import Candidate
    from kafkalog_reader.audits.integrity.replica_checks import Checked
    from kafkalog_reader.audits.log.read_segment import ReadSegment
    from kafkalog_reader.audits.log.replica import Replica
    from kafkalog_reader.audits.log.retry_duplicates import Retries
    from kafkalog_reader.audits.recovery.recovery import Recovery
    from kafkalog_reader.errors import LocatedError
    from kafkalog_reader.format.checkpoint import LeaderEpochEntry
    from kafkalog_reader.io.directories import PartitionDirectory


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ReplicaAudit:
    """What belongs to one replica.

    Attributes:
        files: its directory, small files and rows of the checkpoints around it.
        summary: the places that reading its batches found.
        history: its offsets and leader epochs.
        bounds: which of its records were committed; if replicas were not compared, by its own
            files alone.
        damaged: its batches with a wrong checksum.
        retries: which of its batches were stored again.
        read_segments: what reading its whole segments showed, by their path.
        may_have_open_transaction: whether one is open at the end, or may be.
        last_batch_timestamp: in milliseconds; None without batches.
        start: what the next start of its broker does to it, or why that cannot be predicted; None
            if the verdict is undecidable, and for the metadata log.
        candidate: the replica as the log of an election; None like ``start``.
        checked: what its other files and headers show; None if that was not requested.
        moment: of which its node's files are, if that ran while it was copied; see ``moment_of``.
        was_copied_earlier: whether it lacks only what was written after its broker was copied.
    """

    files: Replica
    summary: LogSummary
    history: History
    bounds: CommitBounds
    damaged: DamagedBatches
    retries: Retries
    read_segments: Mapping[str, ReadSegment]
    may_have_open_transaction: bool = False
    last_batch_timestamp: int | None = None
    start: Recovery | LocatedError | None = None
    candidate: Candidate | None = None
    checked: Checked | None = None
    moment: int | None = None
    was_copied_earlier: bool = False

    @property
    def ran_while_copied(self) -> bool:
        """Whether file times or the metadata logs show a copy of a running broker."""
        return self.was_copied_earlier or is_hot(self.files, self.summary)

    @property
    def name(self) -> str:
        """The replica for people."""
        return self.files.name

    @property
    def broker_id(self) -> int | None:
        return self.files.broker_id

    @property
    def directory(self) -> PartitionDirectory:
        return self.files.directory

    def is_contradicted(self, leader_epoch: int) -> bool:
        """Whether the log contradicts the row of an epoch in the checkpoint.

        Batches after its start have older epochs, or it begins above every offset that this
        replica has or ever had, as a row of another partition's file does.
        """
        last, end = self.history.last_leader_epoch, self.log_end
        reached = max(end, self.files.checkpointed_high_watermark or 0)
        return (last is not None and last < leader_epoch) and any(
            entry.leader_epoch == leader_epoch
            and (entry.start_offset < end or entry.start_offset > reached)
            for entry in self.files.epoch_entries or ()
        )

    @property
    def high_watermark_above_end(self) -> int | None:
        """The checkpointed high watermark if the log ends below it; None otherwise."""
        row = self.files.checkpointed_high_watermark
        return row if row is not None and row > self.log_end else None

    @property
    def leader_epoch_above_end(self) -> LeaderEpochEntry | None:
        """The newest row of ``leader-epoch-checkpoint`` if the log ends below its start offset.

        A broker writes it at its log end, so that the log reached this offset in that epoch.
        """
        latest = self.files.cache.latest
        return latest if latest is not None and latest.start_offset > self.log_end else None

    @property
    def zeros_at_end(self) -> int:
        """How many zero bytes follow the end of the log, unless they may be preallocated."""
        return sum(
            stop.size_in_bytes
            for stop in self.summary.stops
            if stop.ends_log and stop.end is ScanEnd.ZEROS and not stop.may_be_preallocated
        )

    @property
    def log_start(self) -> int:
        """The first offset of the log."""
        return self.history.log_start_offset

    @property
    def log_end(self) -> int:
        """The offset that the next record gets."""
        return self.history.log_end_offset
