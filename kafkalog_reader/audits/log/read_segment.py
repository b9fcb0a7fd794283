"""The result of reading a whole segment, so that predicting a start need not read it again.

The prediction reuses the part that recovery would accept, from the first byte on: batches of magic
2, every CRC valid, offsets that rise and fit into an index entry. For the rest it may need the
number of records that are lost with it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from kafkalog_reader.audits.log.held_records import RecordsAfter
from kafkalog_reader.format.batch_fields import MAGIC

if TYPE_CHECKING:
    from kafkalog_reader.audits.log.held_records import HeldRecords
    from kafkalog_reader.audits.log.leader_epoch_cache import LeaderEpochCache
    from kafkalog_reader.scan.batch_run import BatchRun
    from kafkalog_reader.scan.unreadable_region import UnreadableRegion

_MAX_OFFSETS: Final = 2**31 - 1


class ReadSegment:
    """A segment while it is read window by window, and afterwards what recovery would find.

    Attributes:
        size_in_bytes: of the file.
        sound_bytes: size of the beginning that recovery accepts; whole windows only.
        next_offset: one past the last batch in it; the base offset if there is none.
        greatest_timestamp: of the batches in it; -1 if there are none.
    """

    def __init__(self, base_offset: int, size_in_bytes: int) -> None:
        self.size_in_bytes = size_in_bytes
        self.sound_bytes = 0
        self.next_offset = base_offset
        self.greatest_timestamp = -1
        self._base_offset = base_offset
        self._epochs: list[tuple[int, int]] = []
        self._after: RecordsAfter | None = None

    @property
    def is_sound(self) -> bool:
        """Whether recovery accepts the whole segment."""
        return self.sound_bytes == self.size_in_bytes

    def add(self, run: BatchRun) -> None:
        """Add the next batches."""
        if self._after is not None:
            self._after.add(run)
        elif self._goes_on(run):
            self._take(run)
        else:
            self._after = RecordsAfter()
            damaged = int(np.argmin(run.crc_valid))  # 0 if all are valid
            self._after.add(run.taken(slice(damaged, None)))

    def add_damage(self, region: UnreadableRegion, first_offset: int) -> None:
        """Note bytes that are not batches, where an offset is expected."""
        if self._after is None:
            self._after = RecordsAfter()
        self._after.add_region(region, first_offset)

    def records_since(self, position: int) -> tuple[int, HeldRecords] | None:
        """The first counted position at or after one, and the client records from there to the end.

        None: not counted.
        """
        return None if self._after is None else self._after.since(position)

    def _goes_on(self, run: BatchRun) -> bool:
        last = run.last_offset
        return bool(
            run.position[0] == self.sound_bytes
            and last[0] >= self.next_offset
            and int(last[-1]) - self._base_offset <= _MAX_OFFSETS
            and (run.is_row or _is_sound(run))
        )

    def _take(self, run: BatchRun) -> None:
        last = run.last_offset
        self.sound_bytes += run.summary.size_in_bytes
        self.next_offset = int(last[-1]) + 1
        self.greatest_timestamp = max(self.greatest_timestamp, run.summary.greatest_timestamp)
        newest = self._epochs[-1][0] if self._epochs else -1
        for batch in run.leader_epoch_starts:
            leader_epoch = int(run.leader_epoch[batch])
            if leader_epoch > newest:
                self._epochs.append((leader_epoch, int(run.base_offset[batch])))
                newest = leader_epoch

    def recovered_cache(self, cache: LeaderEpochCache) -> LeaderEpochCache:
        """The epochs after a recovery, which adds those above the newest in the cache."""
        latest = cache.latest
        newest = -1 if latest is None else latest.leader_epoch
        return cache.assign_all(epoch for epoch in self._epochs if epoch[0] > newest)


def _is_sound(run: BatchRun) -> bool:
    found = run.summary
    return found.offsets_rise and run.all_valid and found.least_magic == MAGIC
