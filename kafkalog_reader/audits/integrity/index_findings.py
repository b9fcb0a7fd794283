"""Checks index files against the log, in the same pass that reads the log.

The log is the truth: an index only says where to begin reading. There is one finding for each code
and file, with the first bad entry and the number of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from kafkalog_reader.audits.catalogue.index_rules import (
    INDEX_NOT_ON_A_BATCH,
    INDEX_NOT_RISING,
    INDEX_POINTS_PAST_LOG,
    INDEX_SKIPS_RECORDS,
    INDEX_SPARSE,
    TIME_INDEX_LAST_ENTRY_HIGH,
    TIME_INDEX_LAST_ENTRY_LOW,
    TIME_INDEX_NOT_RISING,
    TIME_INDEX_OFFSET_UNKNOWN,
    TIME_INDEX_SKIPS_RECORDS,
    TRANSACTION_INDEX_MALFORMED,
)
from kafkalog_reader.audits.integrity.index_file_findings import (
    expected_entries,
    opened_index,
)
from kafkalog_reader.format.index_entries import (
    OFFSET_INDEX_ENTRY,
    TIME_INDEX_ENTRY,
    TRANSACTION_INDEX_ENTRY,
)
from kafkalog_reader.io.offset_index_layout import offset_index_entry
from kafkalog_reader.tables.running_maximum import running_maximum

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from kafkalog_reader.audits.integrity.aborted_transactions import AbortedTransactionCheck
    from kafkalog_reader.audits.integrity.finding import Finding
    from kafkalog_reader.audits.log.replica import Replica
    from kafkalog_reader.io.segment_files import SegmentFiles
    from kafkalog_reader.scan.batch_run import BatchRun

_MIN: Final = np.iinfo(np.int64).min
_MAX: Final = np.iinfo(np.int64).max
_NO_TIMESTAMP: Final = -1
_SPARSE: Final = 8
_MIN_EXPECTED: Final = 16


class OffsetIndexCheck:
    """Checks an offset index against the batches of its segment.

    An entry is right if a batch starts at its position and every batch before that ends below its
    offset (KAFKA-806): more is not guaranteed.
    """

    def __init__(self, replica: Replica, segment: SegmentFiles, *, is_hot: bool) -> None:
        entry = OFFSET_INDEX_ENTRY
        if segment.offset_index_size:
            entry = offset_index_entry(segment, context=replica.directory.context)
        self._index = opened_index(replica, segment, "index", entry, is_hot=is_hot)
        entries = self._index.entries
        self._position = entries["position"].astype(np.int64)
        self._offset = entries["relative_offset"].astype(np.int64) + segment.base_offset
        self._order = np.argsort(self._position, kind="stable")
        self._wanted = self._position[self._order]
        self._is_border = np.zeros(len(entries), np.bool_)
        self._skips = np.zeros(len(entries), np.bool_)
        self._done = 0
        self._reached = _MIN

    def look(self, run: BatchRun) -> None:
        """Confirm the entries that point into this window."""
        if self._done == len(self._wanted):
            return
        before = self._reached_before(run)
        end = int(np.searchsorted(self._wanted, run.position[-1], side="right"))
        if end > self._done:
            found = np.searchsorted(run.position, self._wanted[self._done : end])
            asked = self._order[self._done : end]
            is_border = run.position[found] == self._wanted[self._done : end]
            self._is_border[asked] = is_border
            self._skips[asked] = is_border & (before[found] >= self._offset[asked])
            self._done = end

    def _reached_before(self, run: BatchRun) -> NDArray[np.int64]:
        """The greatest offset before each batch."""
        if run.is_row and run.base_offset[0] > self._reached:
            before = run.base_offset - 1
            before[0] = self._reached
            self._reached = int(run.last_offset[-1])
            return before
        before = np.empty(run.count, np.int64)
        before[0] = self._reached
        lasts = np.where(run.crc_valid, run.last_offset, _MIN)
        before[1:] = running_maximum(lasts[:-1])
        np.maximum(before, self._reached, out=before)
        self._reached = max(int(before[-1]), int(lasts[-1]))
        return before

    def findings(
        self, log_size: int, damaged: list[tuple[int, int]], batches: int
    ) -> Iterator[Finding]:
        """Yield the findings; positions in ``damaged`` ranges are ignored."""
        index = self._index
        yield from index.sizes()
        if index.segment.offset_index_size is not None:
            yield from self._sparse(log_size, damaged, batches)
        if not len(index.entries):
            return
        unknown = np.zeros(len(index.entries), np.bool_)
        for start, stop in damaged:
            unknown |= (self._position >= start) & (self._position < stop)
        past = self._position >= log_size
        falling = np.zeros(len(index.entries), np.bool_)
        falling[1:] = (np.diff(self._offset) <= 0) | (np.diff(self._position) < 0)
        yield from index.entries_of({
            INDEX_NOT_RISING: falling,
            INDEX_POINTS_PAST_LOG: past & ~unknown,
            INDEX_NOT_ON_A_BATCH: ~self._is_border & ~past & ~unknown,
            INDEX_SKIPS_RECORDS: self._skips,
        }, expected_entries(log_size, damaged, batches))  # fmt: skip

    def _sparse(
        self, log_size: int, damaged: list[tuple[int, int]], batches: int
    ) -> Iterator[Finding]:
        index = self._index
        expected = expected_entries(log_size, damaged, batches)
        if not index.is_hot and expected >= max(_MIN_EXPECTED, _SPARSE * len(index.entries)):
            yield index.found(
                INDEX_SPARSE,
                f"{len(index.entries):,} entries, usual are about {expected:,}",
                evidence={"entries": len(index.entries), "expected": expected},
            )


class TimeIndexCheck:
    """Checks a time index against the batches of its segment, in one pass.

    An entry may have any offset inside its batch (KAFKA-16310), so only batches that end at or
    below that offset must not be newer.
    """

    def __init__(self, replica: Replica, segment: SegmentFiles, *, is_hot: bool) -> None:
        self._index = opened_index(replica, segment, "timeindex", TIME_INDEX_ENTRY, is_hot=is_hot)
        entries = self._index.entries
        self._timestamp = entries["timestamp"].astype(np.int64)
        self._offset = entries["relative_offset"].astype(np.int64) + segment.base_offset
        self._order = np.argsort(self._offset, kind="stable")
        self._wanted = self._offset[self._order]
        self._skips = np.zeros(len(entries), np.bool_)
        self._unknown = np.ones(len(entries), np.bool_)
        self._done = 0
        self._newest = self._reached = _MIN

    def look(self, run: BatchRun) -> None:
        """Confirm the entries whose offset is at or below the end of this window."""
        if not len(self._wanted):
            return
        newest, lasts = run.max_timestamp, run.last_offset
        if run.is_row:
            start, end = np.searchsorted(self._wanted, [run.base_offset[0], lasts[-1] + 1])
            self._unknown[self._order[start:end]] = False
        else:
            valid = run.crc_valid
            self._find(run.base_offset[valid], lasts[valid])
            newest, lasts = (np.where(valid, column, _MIN) for column in (newest, lasts))
        rises = run.is_row
        lasts = running_maximum(lasts, self._reached, rises=rises)
        newest_before = np.empty(run.count + 1, np.int64)
        newest_before[0] = self._newest
        newest_before[1:] = running_maximum(
            newest, self._newest, rises=rises and run.summary.timestamps_rise
        )
        self._newest, self._reached = int(newest_before[-1]), int(lasts[-1])
        end = int(np.searchsorted(self._wanted, self._reached, side="right"))
        if end > self._done:
            asked, places = self._wanted[self._done : end], self._order[self._done : end]
            found = np.searchsorted(lasts, asked)
            covered = found + (lasts[found] == asked)
            self._skips[places] = newest_before[covered] > self._timestamp[places]
            self._done = end

    def _find(self, first: NDArray[np.int64], last: NDArray[np.int64]) -> None:
        """Note the entries whose offset is in one of these batches, in any order."""
        if not len(first):
            return
        if (first[1:] < first[:-1]).any():
            order = np.argsort(first, kind="stable")
            first, last = first[order], last[order]
        greatest = min(int(last.max()), _MAX - 1)
        start, end = np.searchsorted(self._wanted, [first[0], greatest + 1]).tolist()
        wanted = self._wanted[start:end]
        reached = running_maximum(last)[np.searchsorted(first, wanted, side="right") - 1]
        self._unknown[self._order[start:end][reached >= wanted]] = False

    def findings(
        self, greatest: int | None, *, is_whole: bool, is_closed: bool, log_size: int, batches: int
    ) -> Iterator[Finding]:
        """Yield what is wrong.

        Args:
            greatest: the greatest timestamp of the segment's batches; None if none could be read.
            is_whole: whether no byte of the segment is damaged, so that offsets not found do not
                exist.
            is_closed: whether another segment follows, so that the broker wrote a last entry when
                it rolled.
            log_size: of the segment, in bytes.
            batches: how many it has.
        """
        index = self._index
        yield from index.sizes()
        if not len(index.entries):
            is_there = index.segment.time_index_size is not None
            if is_there and is_closed and is_whole and greatest is not None and greatest >= 0:
                yield index.found(
                    TIME_INDEX_LAST_ENTRY_LOW,
                    "no entry, although the segment holds records with timestamps",
                    position=0,
                    evidence={"greatestTimestamp": greatest},
                )
            return
        falling = np.zeros(len(index.entries), np.bool_)
        falling[1:] = (np.diff(self._timestamp) <= 0) | (np.diff(self._offset) < 0)
        bad = {TIME_INDEX_NOT_RISING: falling, TIME_INDEX_SKIPS_RECORDS: self._skips}
        if is_whole:
            bad[TIME_INDEX_OFFSET_UNKNOWN] = self._unknown
        if is_whole:
            greatest = _NO_TIMESTAMP if greatest is None else greatest
            too_high = np.zeros(len(index.entries), np.bool_)
            too_high[-1] = self._timestamp[-1] > greatest
            bad[TIME_INDEX_LAST_ENTRY_HIGH] = too_high
            too_low = np.zeros(len(index.entries), np.bool_)
            too_low[-1] = is_closed and self._timestamp[-1] < greatest
            bad[TIME_INDEX_LAST_ENTRY_LOW] = too_low
        yield from index.entries_of(bad, expected_entries(log_size, [], batches))


class TransactionIndexCheck:
    """KL-213 for entries that no broker writes, then KL-707 and KL-708; it has no checksum."""

    def __init__(self, replica: Replica, segment: SegmentFiles, *, is_hot: bool) -> None:
        self._index = opened_index(
            replica, segment, "txnindex", TRANSACTION_INDEX_ENTRY, is_hot=is_hot
        )

    def findings(self, transactions: AbortedTransactionCheck) -> Iterator[Finding]:
        """Yield the findings, after all batches of the segment."""
        malformed = [*self._malformed()]
        yield from malformed
        if not malformed:
            index = self._index
            yield from transactions.findings(index.segment, index.entries, is_hot=index.is_hot)

    def _malformed(self) -> Iterator[Finding]:
        index = self._index
        odd = index.size_in_bytes % TRANSACTION_INDEX_ENTRY.size
        if odd:
            yield index.found(
                TRANSACTION_INDEX_MALFORMED,
                f"{index.size_in_bytes:,} bytes are not a whole number of entries of 34",
                position=index.size_in_bytes - odd,
                evidence={"sizeInBytes": index.size_in_bytes},
            )
        if len(index.entries):
            last = index.entries["last_offset"].astype(np.int64)
            bad = (index.entries["version"] != 0) | (last < index.segment.base_offset)
            bad[1:] |= np.diff(last) <= 0
            yield from index.entries_of({TRANSACTION_INDEX_MALFORMED: bad})
