"""Finds batches that a producer without idempotence sent again: KL-601 and KL-602.

A broker changes only fields outside the CRC when it stores a batch with the producer's timestamps,
so a retry has the CRC, the size and the record count of the batch before it, at other offsets.
If the broker sets the timestamps, the greatest timestamp is masked first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from kafkalog_reader.format.batch_fields import (
    CONTROL_BIT,
    LOG_APPEND_TIME_BIT,
    MAGIC,
    MESSAGE_TIMESTAMP_AT,
    MESSAGE_TIMESTAMP_SIZE,
    PRODUCER_ID_AT,
)
from kafkalog_reader.kernel import checksums

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kafkalog_reader.scan.batch_run import BatchRun

NEAR: Final = 10_000
"""Maximum distance, in batches, between equal contents that count as a retry."""
MAX_CONTENTS: Final = 100_000
"""Repeated contents kept for one replica; later ones are only counted."""
_FACTOR: Final = 0x9E3779B1
"""Odd, and without a pattern."""
_MESSAGE_KEY_AT: Final = MESSAGE_TIMESTAMP_AT + MESSAGE_TIMESTAMP_SIZE
"""In a message of magic 1: after its timestamp."""
_SIZE_BITS: Final = 31
"""Bits of a fingerprint below the 32 bits of a CRC."""
_SLOTS_A_BATCH: Final = 4
"""Most batches have a slot of their own; only those that share one are sorted."""
_MAGIC_WITH_TIMESTAMPS: Final = 1
"""Without a timestamp, equal messages are normal."""


@dataclass(slots=True)
class Repeated:
    """One content that was stored several times.

    Attributes:
        records: number of records in one copy.
        copies: number of copies.
        first_offset, next_offset: from the first record of the first copy to the last of the last.
        leader_epochs: of the copies.
    """

    records: int
    copies: int
    first_offset: int
    next_offset: int
    leader_epochs: set[int]


class RetryWatch:
    """Finds repeated batches of one replica, window by window, in log order."""

    def __init__(self) -> None:
        self.repeated: dict[tuple[int, int], Repeated] = {}
        self.left_out = 0
        self._ordinal = 0
        self._last_seen = _NOTHING

    def look(self, run: BatchRun) -> None:
        """Find and store the batches of a window while its buffer is valid."""
        if not run.summary.valid:
            self._ordinal += run.count
            return
        wanted = np.flatnonzero(
            (run.producer_id == -1)
            & (run.records_count > 0)
            & (run.attributes & CONTROL_BIT == 0)
            & (run.magic >= _MAGIC_WITH_TIMESTAMPS)
            & run.crc_valid
        )
        ordinals = self._ordinal + wanted
        self._ordinal += run.count
        if not wanted.size:
            return
        is_appended = run.attributes[wanted] & LOG_APPEND_TIME_BIT != 0
        fingerprints = run.crc[wanted] << _SIZE_BITS | run.size_in_bytes[wanted]
        if is_appended.any():
            fingerprints[is_appended] = _masked(run, wanted[is_appended])
        recent = _Recent(
            fingerprint=fingerprints,
            ordinal=ordinals,
            base_offset=run.base_offset[wanted],
            next_offset=run.last_offset[wanted] + 1,
            leader_epoch=run.leader_epoch[wanted].astype(np.int64),
            records=run.records_count[wanted].astype(np.int64),
        )
        both = self._last_seen.followed_by(recent)
        self._take(both, len(self._last_seen.ordinal))
        self._last_seen = both.since(self._ordinal - NEAR)

    def _take(self, rows: _Recent, first_new: int) -> None:
        slots = (rows.fingerprint >> _SIZE_BITS) % (_SLOTS_A_BATCH * len(rows.fingerprint))
        shared = np.flatnonzero(np.bincount(slots)[slots] > 1)
        if not shared.size:
            return
        order = shared[np.argsort(rows.fingerprint[shared], kind="stable")]
        is_other = np.ones(len(order) + 1, dtype=np.bool_)
        is_other[1:-1] = (np.diff(rows.fingerprint[order]) != 0) | (
            np.diff(rows.records[order]) != 0
        )
        is_other[1:-1] |= np.diff(rows.ordinal[order]) > NEAR
        borders = np.flatnonzero(is_other)
        is_repeated = (np.diff(borders) > 1) & (order[borders[1:] - 1] >= first_new)
        starts, stops = borders[:-1][is_repeated], borders[1:][is_repeated]
        if len(self.repeated) >= MAX_CONTENTS:
            self.left_out += int((stops - starts - 1).sum())
            return
        for start, stop in zip(starts.tolist(), stops.tolist(), strict=True):
            self._add(rows, order[start:stop], first_new)

    def _add(self, rows: _Recent, members: NDArray[np.intp], first_new: int) -> None:
        """Add copies of one content, in log order; some may be known already."""
        first, last = int(members[0]), int(members[-1])
        key = int(rows.fingerprint[first]), int(rows.records[first])
        known = self.repeated.get(key)
        if known is None:
            offsets = int(rows.base_offset[first]), int(rows.next_offset[last])
            known = self.repeated[key] = Repeated(key[1], len(members), *offsets, set())
        else:
            members = members[members >= first_new]
            known.copies += len(members)
            known.next_offset = int(rows.next_offset[last])
        known.leader_epochs.update(np.unique(rows.leader_epoch[members]).tolist())


@dataclass(frozen=True, slots=True, kw_only=True)
class _Recent:
    """The compared parts of the most recent batches, in log order."""

    fingerprint: NDArray[np.int64]
    ordinal: NDArray[np.int64]
    base_offset: NDArray[np.int64]
    next_offset: NDArray[np.int64]
    leader_epoch: NDArray[np.int64]
    records: NDArray[np.int64]

    @classmethod
    def nothing(cls) -> _Recent:
        return cls(**dict.fromkeys(cls.__slots__, np.empty(0, np.int64)))

    def followed_by(self, other: _Recent) -> _Recent:
        if not len(self.ordinal):
            return other
        return _Recent(
            **{
                name: np.concatenate([getattr(self, name), getattr(other, name)])
                for name in self.__slots__
            }
        )

    def since(self, ordinal: int) -> _Recent:
        first = int(np.searchsorted(self.ordinal, ordinal))
        if first == 0:
            return self
        # Copied, so that the window does not stay in memory.
        return _Recent(**{name: getattr(self, name)[first:].copy() for name in self.__slots__})


_NOTHING: Final = _Recent.nothing()


def _masked(run: BatchRun, wanted: NDArray[np.intp]) -> NDArray[np.int64]:
    """Fingerprints of batches without the timestamps that the broker set."""
    is_batch = run.magic[wanted] == MAGIC
    starts = run.position[wanted] - run.window_position
    size = run.size_in_bytes[wanted].astype(np.int64)
    found = np.empty(len(wanted), np.int64)
    covered = starts + np.where(is_batch, PRODUCER_ID_AT, _MESSAGE_KEY_AT)
    checksums.checksums(run.buffer, covered, starts + size, found)
    before = run.base_timestamp[wanted] * _FACTOR + run.last_offset_delta[wanted]
    before = before * _FACTOR + run.attributes[wanted]
    found ^= np.where(is_batch, before & 0xFFFF_FFFF, 0)
    return found << _SIZE_BITS | size
