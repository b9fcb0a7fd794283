"""Finds batches that a producer without idempotence sent again: KL-601 and KL-602.

A broker changes only fields outside the CRC when it stores a batch with the producer's timestamps,
so a retry has the CRC, the size, the timestamps and the record count of the batch before it, at
other offsets. If the broker sets the timestamps, the greatest timestamp is masked first. Such pairs
are candidates: ``no_chance`` says whether equal values explain them, and at the end their bytes are
compared, because a busy topic has pairs of batches with equal CRCs.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np

from kafkalog_reader.errors import UnreadableFileError
from kafkalog_reader.format.batch_fields import (
    ATTRIBUTES_AT,
    CONTROL_BIT,
    LOG_APPEND_TIME_BIT,
    MAGIC,
    MAX_TIMESTAMP_AT,
    MESSAGE_ATTRIBUTES_AT,
    MESSAGE_TIMESTAMP_AT,
    MESSAGE_TIMESTAMP_SIZE,
    PRODUCER_ID_AT,
)
from kafkalog_reader.io.window import Windows
from kafkalog_reader.kernel import checksums
from kafkalog_reader.scan.timeless_crc import CRC32, CRC32C, without_fields
from kafkalog_reader.tables.chance import Pairs, Sent, lateness, no_chance

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from kafkalog_reader.io.read_context import ReadContext
    from kafkalog_reader.scan.batch_run import BatchRun

NEAR: Final = 10_000
"""Maximum distance, in batches, between equal contents that count as a retry."""
MAX_CONTENTS: Final = 100_000
"""Repeated contents kept for one replica; later ones are only counted."""
_COMPARED_CONTENTS: Final = 1_000
"""Repeated contents whose bytes are compared; of more, the first ones speak for the others."""
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


@dataclass(frozen=True, slots=True)
class Place:
    """Where one stored batch is: its file, the position there, its size in bytes."""

    path: str
    position: int
    size_in_bytes: int


@dataclass(slots=True)
class Repeated:
    """One content that was stored several times.

    Attributes:
        records: number of records in one copy.
        copies: number of copies.
        first_offset, next_offset: from the first record of the first copy to the last of the last.
        leader_epochs: of the copies.
        places: of the first two copies.
        is_append_time: whether the broker set the timestamps.
        is_message: whether it is a message of magic 1.
    """

    records: int
    copies: int
    first_offset: int
    next_offset: int
    leader_epochs: set[int]
    places: tuple[Place, Place]
    is_append_time: bool
    is_message: bool


@dataclass(frozen=True, slots=True)
class Retries:
    """The contents that were stored again, and how many further copies were only counted."""

    repeated: tuple[Repeated, ...] = ()
    left_out: int = 0


class RetryWatch:
    """Finds repeated batches of one replica, window by window, in log order."""

    def __init__(self) -> None:
        self._repeated: dict[tuple[int, int], Repeated] = {}
        self._left_out = 0
        self._batches = 0
        self._fingerprints = np.empty(0, np.int64)
        self._chunks: deque[_Chunk] = deque()

    def look(self, run: BatchRun, path: str) -> None:
        """Find and store the batches of a window of a file while its buffer is valid."""
        first_ordinal = self._batches
        self._batches += run.count
        if not run.summary.valid:
            return
        wanted = np.flatnonzero(
            (run.producer_id == -1)
            & (run.records_count > 0)
            & (run.attributes & CONTROL_BIT == 0)
            & (run.magic >= _MAGIC_WITH_TIMESTAMPS)
            & run.crc_valid
        )
        if not wanted.size:
            return
        is_appended = run.attributes[wanted] & LOG_APPEND_TIME_BIT != 0
        fingerprints = run.crc[wanted] << _SIZE_BITS | run.size_in_bytes[wanted]
        if is_appended.any():
            fingerprints[is_appended] = _masked(run, wanted[is_appended])
        chunk = _Chunk(path, wanted, first_ordinal + wanted, _columns_of(run))
        self._forget(first_ordinal - NEAR)
        first_new = len(self._fingerprints)
        self._chunks.append(chunk)
        self._fingerprints = np.concatenate([self._fingerprints, fingerprints])
        candidates = _with_equal(self._fingerprints)
        if len(candidates) and candidates[-1] >= first_new:
            rows = _Recent.of(self._chunks, self._fingerprints)
            self._take(rows, candidates, first_new)

    def found(self, context: ReadContext) -> Retries:
        """What was stored again, once all windows were seen, after a look at the bytes."""
        repeated = list(self._repeated.values())
        kept = [each for each in repeated[:_COMPARED_CONTENTS] if _has_equal_bytes(each, context)]
        return Retries((*kept, *repeated[_COMPARED_CONTENTS:]), self._left_out)

    def _forget(self, ordinal: int) -> None:
        """Forget the batches before one."""
        gone = 0
        while self._chunks and self._chunks[0].ordinal[-1] < ordinal:
            gone += len(self._chunks.popleft().ordinal)
        if self._chunks:
            first = self._chunks[0]
            left_out = int(np.searchsorted(first.ordinal, ordinal))
            self._chunks[0] = first.since(left_out)
            gone += left_out
        self._fingerprints = self._fingerprints[gone:]

    def _take(self, rows: _Recent, candidates: NDArray[np.intp], first_new: int) -> None:
        keys = rows.ordinal, rows.shape, rows.fingerprint
        order = candidates[np.lexsort([key[candidates] for key in keys])]
        before, after = order[:-1], order[1:]
        is_equal = (
            (rows.fingerprint[before] == rows.fingerprint[after])
            & (rows.shape[before] == rows.shape[after])
            & (rows.ordinal[after] - rows.ordinal[before] <= NEAR)
        )
        before, after = before[is_equal], after[is_equal]
        if not (after >= first_new).any():
            return
        sent = rows.sent()
        waited = sent.lateness[after] - sent.lateness[before]
        pairs = Pairs(number=before, row=after, distance=after - before, waited=waited)
        chosen = no_chance(sent, pairs, self._batches) & (after >= first_new)
        before, after = before[chosen], after[chosen]
        for earlier, later in zip(before.tolist(), after.tolist(), strict=True):
            self._add(rows, earlier, later)

    def _add(self, rows: _Recent, earlier: int, later: int) -> None:
        key = int(rows.fingerprint[earlier]), int(rows.shape[earlier])
        known = self._repeated.get(key)
        if known is None:
            if len(self._repeated) >= MAX_CONTENTS:
                self._left_out += 1
                return
            known = self._repeated[key] = Repeated(
                records=int(rows.records[earlier]),
                copies=1,
                first_offset=int(rows.base_offset[earlier]),
                next_offset=0,
                leader_epochs={int(rows.leader_epoch[earlier])},
                places=(rows.place(earlier), rows.place(later)),
                is_append_time=bool(rows.attributes[later] & LOG_APPEND_TIME_BIT),
                is_message=bool(rows.magic[later] < MAGIC),
            )
        known.copies += 1
        known.next_offset = int(rows.next_offset[later])
        known.leader_epochs.add(int(rows.leader_epoch[later]))


def _with_equal(fingerprints: NDArray[np.int64]) -> NDArray[np.intp]:
    """Which are there twice or more, without sorting all."""
    slots = (fingerprints >> _SIZE_BITS) % (_SLOTS_A_BATCH * len(fingerprints))
    shared = np.flatnonzero(np.bincount(slots)[slots] > 1)
    found = fingerprints[shared]
    ordered = np.sort(found)
    twice = ordered[1:][ordered[1:] == ordered[:-1]]
    return shared[np.isin(found, twice)] if len(twice) else shared[:0]


_COLUMNS: Final = (
    "base_offset", "last_offset", "leader_epoch", "records_count", "base_timestamp",
    "max_timestamp", "last_offset_delta", "attributes", "magic", "position", "size_in_bytes", "crc",
)  # fmt: skip


def _columns_of(run: BatchRun) -> dict[str, NDArray[np.generic]]:
    """The columns that stay when the bytes of a window are gone."""
    return {name: getattr(run, name) for name in _COLUMNS}


@dataclass(frozen=True, slots=True)
class _Chunk:
    """The compared batches of one window."""

    path: str
    rows: NDArray[np.intp]
    ordinal: NDArray[np.int64]
    columns: dict[str, NDArray[np.generic]]

    def since(self, row: int) -> _Chunk:
        """The same without its first batches."""
        return _Chunk(self.path, self.rows[row:], self.ordinal[row:], self.columns)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Recent:
    """The most recent batches, in log order; ``shape`` is equal where times and forms are."""

    paths: list[str]
    path_number: NDArray[np.intp]
    fingerprint: NDArray[np.int64]
    ordinal: NDArray[np.int64]
    shape: NDArray[np.int64]
    base_offset: NDArray[np.int64]
    next_offset: NDArray[np.int64]
    leader_epoch: NDArray[np.int64]
    records: NDArray[np.int64]
    base_timestamp: NDArray[np.int64]
    max_timestamp: NDArray[np.int64]
    attributes: NDArray[np.int64]
    magic: NDArray[np.int64]
    position: NDArray[np.int64]
    size_in_bytes: NDArray[np.int64]
    crc: NDArray[np.int64]

    @classmethod
    def of(cls, chunks: deque[_Chunk], fingerprints: NDArray[np.int64]) -> _Recent:
        column = partial(_joined, chunks)
        attributes, latest = column("attributes"), column("max_timestamp")
        records, base_timestamp = column("records_count"), column("base_timestamp")
        of_client = np.where(attributes & LOG_APPEND_TIME_BIT, 0, latest)
        shape = base_timestamp * _FACTOR + of_client
        for part in (attributes, column("last_offset_delta"), records):
            shape = shape * _FACTOR + part
        return cls(
            paths=[each.path for each in chunks],
            path_number=np.repeat(np.arange(len(chunks)), [len(each.ordinal) for each in chunks]),
            fingerprint=fingerprints,
            ordinal=np.concatenate([each.ordinal for each in chunks]),
            shape=shape,
            base_offset=column("base_offset"),
            next_offset=column("last_offset") + 1,
            leader_epoch=column("leader_epoch"),
            records=records,
            base_timestamp=base_timestamp,
            max_timestamp=latest,
            attributes=attributes,
            magic=column("magic"),
            position=column("position"),
            size_in_bytes=column("size_in_bytes"),
            crc=column("crc"),
        )

    def place(self, row: int) -> Place:
        path = self.paths[int(self.path_number[row])]
        return Place(path, int(self.position[row]), int(self.size_in_bytes[row]))

    def sent(self) -> Sent:
        """What the batches are without their times, and how late they were stored."""
        is_message = self.magic < MAGIC
        is_appended = self.attributes & LOG_APPEND_TIME_BIT != 0
        time = np.where(is_message & ~is_appended, self.max_timestamp, self.base_timestamp)
        content = self.fingerprint.copy()
        for rows, polynomial, behind, names in (
            (~is_message, CRC32C, PRODUCER_ID_AT, ("base_timestamp", "max_timestamp")),
            (is_message, CRC32, _MESSAGE_KEY_AT, ("max_timestamp",)),
        ):
            own = np.flatnonzero(rows & ~is_appended)
            crc = without_fields(
                self.crc[own],
                [getattr(self, name)[own] for name in names],
                self.size_in_bytes[own] - behind,
                polynomial,
            )
            content[own] = crc << _SIZE_BITS | self.size_in_bytes[own]
        appended = np.maximum(self.max_timestamp - self.base_timestamp, 0)
        late = np.where(is_appended, appended, lateness(self.max_timestamp))
        return Sent(content=content, time=time, lateness=late, records=self.records)


def _joined(chunks: deque[_Chunk], name: str) -> NDArray[np.int64]:
    return np.concatenate([each.columns[name][each.rows] for each in chunks]).astype(np.int64)


def _masked(run: BatchRun, wanted: NDArray[np.intp]) -> NDArray[np.int64]:
    """Fingerprints of batches without the timestamps that the broker set."""
    is_batch = run.magic[wanted] == MAGIC
    starts = run.position[wanted] - run.window_position
    size = run.size_in_bytes[wanted].astype(np.int64)
    found = np.empty(len(wanted), np.int64)
    covered = starts + np.where(is_batch, PRODUCER_ID_AT, _MESSAGE_KEY_AT)
    checksums.checksums(run.buffer, covered, starts + size, found)
    return found << _SIZE_BITS | size


def _has_equal_bytes(repeated: Repeated, context: ReadContext) -> bool:
    """Whether the first two copies are equal where a broker leaves them alone; no if unreadable."""
    try:
        one, other = (_stored(place, context) for place in repeated.places)
    except UnreadableFileError:
        return False
    return all(one[part] == other[part] for part in _compared(repeated))


def _stored(place: Place, context: ReadContext) -> bytes:
    stop = place.position + place.size_in_bytes
    with Windows(
        place.path, place.position, stop, size=place.size_in_bytes, context=context
    ) as windows:
        return bytes(windows.read(place.position, at_most=place.size_in_bytes))


def _compared(repeated: Repeated) -> Iterator[slice]:
    """Positions that are equal in a retry, to the end of the batch."""
    if repeated.is_message:
        yield slice(MESSAGE_ATTRIBUTES_AT, MESSAGE_TIMESTAMP_AT)
        begin = _MESSAGE_KEY_AT if repeated.is_append_time else MESSAGE_TIMESTAMP_AT
    else:
        yield slice(ATTRIBUTES_AT, MAX_TIMESTAMP_AT)
        begin = PRODUCER_ID_AT if repeated.is_append_time else MAX_TIMESTAMP_AT
    yield slice(begin, None)
