"""What the next start of a broker does to a replica, as ``directory_start`` predicts it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kafkalog_reader.audits.log.record_count import cut_text
from kafkalog_reader.audits.recovery.outcome import FAILURES, StartOutcome

if TYPE_CHECKING:
    from kafkalog_reader.audits.log.epoch_log import EpochLog
    from kafkalog_reader.audits.recovery.index_rebuild import IndexRebuild
    from kafkalog_reader.audits.recovery.stray import Stray
    from kafkalog_reader.io.directories import PartitionDirectory


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedReplica:
    """A replica after its broker's start, which is where elections begin.

    Attributes:
        log: offsets, leader epochs and high watermark; empty for a stray, whose partition starts
            again at 0.
    """

    directory: PartitionDirectory
    log: EpochLog


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovery:
    """What the next start does to one replica.

    Attributes:
        sound_end_offset: the end of the sound prefix before the start: up to the first damage in
            the segments that the start reads again, and in the last one, which is read for this.
        segments_read: base offsets of the segments in which the start checks every batch.
        records_cut: client records of sound batches that the partition no longer serves: deleted,
            set aside with their directory, or left in the file above the log end that the broker
            sees.
        max_cut_in_damaged_batches: how many client records the damaged places among the deleted
            bytes hold at most: batches by their headers, and every offset between sound batches.
        max_cut_in_torn_batch: the same for the batch at the end of the log, if it is not whole.
        readable_in_torn_batch: the offsets [first, next) of whole records in the batch at the end,
            which ``kafkalog salvage`` keeps and the start cuts, or after a clean shutdown leaves
            where nobody reads them; equal if there are none.
        bytes_cut: bytes deleted from the log files.
        reason: why, as text, with file, position and offset; empty if nothing special happens.
        expires_later: what retention deletes as it would have in the running broker, or if the
            broker starts at the time at which the files were last modified, and not right after the
            newest record; empty if nothing, or if the start time was given.
        loaded: the replica after the start; None if the broker or the log directory does not start.
        is_own_failure: whether files of this replica prevent the start, so that it would succeed
            without them.
        stray: why the directory is set aside, if it is.
        rebuild: what to move away so that the start serves more, or removes a torn end that it
            would append to; None if nothing helps.
        unknown: why the log end after the start is not known, although it starts; else empty.
    """

    directory: PartitionDirectory
    outcome: StartOutcome
    sound_end_offset: int
    segments_read: tuple[int, ...] = ()
    records_cut: int = 0
    max_cut_in_damaged_batches: int = 0
    max_cut_in_torn_batch: int = 0
    readable_in_torn_batch: tuple[int, int] = (0, 0)
    bytes_cut: int = 0
    reason: str = ""
    expires_later: str = ""
    loaded: LoadedReplica | None = None
    is_own_failure: bool = False
    stray: Stray | None = None
    rebuild: IndexRebuild | None = None
    unknown: str = ""

    @property
    def cut_text(self) -> str:
        """What is removed, in the words of every command."""
        return cut_text(
            self.records_cut,
            self.max_cut_in_damaged_batches,
            self.max_cut_in_torn_batch,
            self.bytes_cut,
            self.readable_in_torn_batch[1] - self.readable_in_torn_batch[0],
        )

    @property
    def is_down_by_others(self) -> bool:
        """Whether other files than the replica's own stop its broker or log directory."""
        return self.outcome in FAILURES and not self.is_own_failure

    @property
    def log_end_offset_after_start(self) -> int | None:
        """None if the broker does not start or sets the directory aside, or if it is not known."""
        return None if self.unknown else self.assumed_log_end

    @property
    def assumed_log_end(self) -> int | None:
        """The same; where it is not known, that with Kafka's default settings."""
        if self.loaded is None or self.outcome is StartOutcome.STRAY:
            return None
        return self.loaded.log.log_end_offset
