"""What reading a whole segment already told, so that predicting the start needs no second reading.

Only a segment in which everything is as recovery wants it counts: every batch of magic 2, every
CRC right, offsets that rise and fit into an index entry, batches from the first byte to the last.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kafkalog_reader.format.batch_fields import MAGIC

if TYPE_CHECKING:
    from kafkalog_reader.audits.log.leader_epoch_cache import LeaderEpochCache
    from kafkalog_reader.tables.batch_scan import BatchRun

_MOST_OFFSETS: Final = 2**31 - 1


class ReadSegment:
    """A segment while it is read, window by window; and afterwards what recovery would find.

    Attributes:
        size_in_bytes: of the batches so far.
        next_offset: one past the last of them; the base offset without.
        greatest_timestamp: -1 without.
        is_sound: nothing so far would stop or surprise a recovery.
    """

    def __init__(self, base_offset: int) -> None:
        self.size_in_bytes = 0
        self.next_offset = base_offset
        self.greatest_timestamp = -1
        self.is_sound = True
        self._base_offset = base_offset
        self._epochs: list[tuple[int, int]] = []

    def add(self, run: BatchRun) -> None:
        """Take the next batches."""
        last = run.last_offset
        self.is_sound = bool(
            self.is_sound
            and run.position[0] == self.size_in_bytes
            and last[0] >= self.next_offset
            and last[-1] - self._base_offset <= _MOST_OFFSETS
            and (run.is_row or _is_sound(run))
        )
        if not self.is_sound:
            return
        self.size_in_bytes += run.summary.size_in_bytes
        self.next_offset = int(last[-1]) + 1
        self.greatest_timestamp = max(self.greatest_timestamp, run.summary.greatest_timestamp)
        newest = self._epochs[-1][0] if self._epochs else -1
        for batch in run.leader_epoch_starts:
            leader_epoch = int(run.leader_epoch[batch])
            if leader_epoch > newest:
                self._epochs.append((leader_epoch, int(run.base_offset[batch])))
                newest = leader_epoch

    def recovered_cache(self, cache: LeaderEpochCache) -> LeaderEpochCache:
        """The epochs that a recovery knows afterwards: those it meets above the newest it knew."""
        latest = cache.latest
        newest = -1 if latest is None else latest.leader_epoch
        for leader_epoch, first_offset in self._epochs:
            if leader_epoch > newest:
                cache = cache.assign(leader_epoch, first_offset)
                newest = leader_epoch
        return cache


def _is_sound(run: BatchRun) -> bool:
    found = run.summary
    return found.offsets_rise and run.all_valid and found.least_magic == MAGIC
