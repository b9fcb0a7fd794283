"""Finds records that are in a log several times, in one pass and in bounded memory.

Two records are the same if key, value, headers and the time that the client gave them are equal. A
batch is stored as a whole, so equal records in one batch were sent like that: copies are in
different batches. Only copies near each other are found.

Applications send equal records, too. So a copy has a cause only if a whole batch is there again, in
one batch or in several, and chance does not explain it; other copies are merely equal.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kafkalog_reader.kernel import repeats
from kafkalog_reader.tables import record_hashes
from kafkalog_reader.tables.sent_again import BatchesAgain, Step

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from kafkalog_reader.tables.topic_contents import TopicContents

COLUMNS: Final = (
    "clusterId", "brokerId", "topic", "partition", "offset", "batchBaseOffset", "leaderEpoch",
    "producerId", "producerEpoch", "sequence", "transactionState", *record_hashes.COLUMNS,
    record_hashes.BASE_TIMESTAMP,
)  # fmt: skip
"""Columns of the table ``records`` that are read."""
MOST_TIMES: Final = 1000
"""Contents that are there more often are counted as this often."""
_NOT_IDEMPOTENT: Final = -1
_NO_TIMESTAMP: Final = -1
_MICROSECONDS: Final = 1000
"""In a millisecond."""
_ROWS: Final = 65_536
"""Records looked at in one step."""
_KEPT: Final = {
    "offset": np.int64, "leaderEpoch": np.int64, "producerId": np.int64,
    "producerEpoch": np.int64, "sequence": np.int64,
}  # fmt: skip


class Cause(IntEnum):
    """Why a record is there again, by what its header has in common with the copy before it."""

    RETRY = 0
    """Sent without idempotence, again to the same leader."""
    RETRY_TO_NEXT_LEADER = 1
    """Sent without idempotence, again under a later leader epoch."""
    SAME_SEQUENCE = 2
    """The same producer id, producer epoch and sequence: a broker accepted a batch twice."""
    SENT_AGAIN = 3
    """Another sequence or another producer: the application sent it again."""
    NONE = 4
    """Merely equal."""


@dataclass(frozen=True, slots=True)
class Copies:
    """Surplus records of one step, in log order.

    Attributes:
        rows: which of the rows of the step they are.
        offset, previous_offset: of each, and of the copy before it.
        number: 2 for the second copy, and so on.
        cause: a ``Cause`` for each.
    """

    rows: NDArray[np.intp]
    offset: NDArray[np.int64]
    previous_offset: NDArray[np.int64]
    number: NDArray[np.int32]
    cause: NDArray[np.int8]

    def chosen(self, which: NDArray[np.bool_]) -> Copies:
        """Some of them."""
        return Copies(
            rows=self.rows[which],
            offset=self.offset[which],
            previous_offset=self.previous_offset[which],
            number=self.number[which],
            cause=self.cause[which],
        )


@dataclass(slots=True)
class Duplicates:
    """How often the records of one log are there.

    Attributes:
        records: records that were compared.
        not_compared: records without a timestamp (format 0), which cannot be told from equal ones.
        broker_times: records whose time the broker set, so that it was not compared.
        surplus_bytes: of keys and values of the copies after the first.
        elsewhere: records that an earlier partition of the topic has, too.
        equal: records that merely are equal to one before.
        first, last: the offsets of the first record that is there again, and of the last copy.
    """

    records: int = 0
    not_compared: int = 0
    broker_times: int = 0
    surplus_bytes: int = 0
    elsewhere: int = 0
    equal: int = 0
    first: int | None = None
    last: int | None = None
    _by_number: NDArray[np.int64] = field(
        default_factory=lambda: np.zeros(MOST_TIMES + 2, np.int64)
    )
    _by_cause: NDArray[np.int64] = field(default_factory=lambda: np.zeros(len(Cause), np.int64))

    @property
    def surplus(self) -> int:
        """Copies after the first one."""
        return int(self._by_cause.sum())

    @property
    def histogram(self) -> Mapping[int, int]:
        """How many contents are there how often, twice or more."""
        at_least = self._by_number
        times = at_least[2:-1] - at_least[3:]
        return {int(number) + 2: int(times[number]) for number in np.flatnonzero(times)}

    def caused_by(self, cause: Cause) -> int:
        """Copies with that cause."""
        return int(self._by_cause[cause])

    def add(self, copies: Copies, size_in_bytes: int) -> None:
        """Add copies with a cause of one step, and the bytes that they take."""
        if not len(copies.rows):
            return
        numbers = np.minimum(copies.number, MOST_TIMES)
        self._by_number[: MOST_TIMES + 1] += np.bincount(numbers, minlength=MOST_TIMES + 1)
        self._by_cause += np.bincount(copies.cause, minlength=len(Cause))
        self.surplus_bytes += size_in_bytes
        if self.first is None:
            self.first = int(copies.previous_offset.min())
        self.last = int(copies.offset[-1])


class DuplicateWatch:
    """Finds the copies of records, log by log.

    Args:
        near: how many records of a log back a copy may be.
        contents: of earlier partitions of the same topic; None if these do not matter.
        with_equal: whether records that merely are equal are yielded, too.
    """

    def __init__(
        self, near: int, contents: TopicContents | None = None, *, with_equal: bool = False
    ) -> None:
        self._contents = contents
        self._with_equal = with_equal
        size = 1 << max(near + _ROWS - 1, 1).bit_length()
        heads = np.full(size, -1, np.int64)
        links, hashes, batches = (np.zeros(size, np.int64) for _ in range(3))
        copies, seen = (np.zeros(size, np.int32) for _ in range(2))
        self._recent = repeats.RecentRecords(heads, links, hashes, batches, copies, seen, near)
        self._again = BatchesAgain(near, size)
        self._kept = {name: np.zeros(size, kind) for name, kind in _KEPT.items()}
        self._mask = size - 1
        self._rows = 0
        self._waiting: list[pa.RecordBatch] = []
        self.found = Duplicates()

    def begin(self) -> None:
        """Begin another log."""
        self._recent.forget()
        self._again.forget()
        self._waiting = []
        self.found = Duplicates()

    def look(self, rows: pa.RecordBatch) -> Iterator[tuple[pa.RecordBatch, Copies]]:
        """Take records of one log in its order, in ``COLUMNS``; yield those that are copies.

        Records of aborted transactions are left out, because no consumer of committed records gets
        them, and the application must send them again.
        """
        aborted = pc.equal(rows["transactionState"], "aborted")
        timeless = pc.equal(rows["timestampType"], _NO_TIMESTAMP)
        self.found.not_compared += pc.sum(timeless).as_py() or 0
        left_out = pc.fill_null(pc.or_(aborted, timeless), False)
        if pc.any(left_out).as_py():
            rows = rows.filter(pc.invert(left_out))
        for start in range(0, rows.num_rows, _ROWS):
            yield from self._step(rows.slice(start, _ROWS))

    def end(self) -> Iterator[tuple[pa.RecordBatch, Copies]]:
        """Yield the copies among the last records of the log."""
        if self._waiting:
            whole = pa.concat_batches(self._waiting)
            self._waiting = []
            yield from self._found_in(whole)

    def _step(self, rows: pa.RecordBatch) -> Iterator[tuple[pa.RecordBatch, Copies]]:
        """Wait for whole batches, but not for more records than are near anyway."""
        batches = rows["batchBaseOffset"].to_numpy()
        waiting = sum(each.num_rows for each in self._waiting)
        borders = np.flatnonzero(np.diff(batches)) + 1
        if self._waiting and self._waiting[-1]["batchBaseOffset"][-1].as_py() != batches[0]:
            borders = np.concatenate([[0], borders])
        if waiting + rows.num_rows >= _ROWS and not len(borders):
            borders = np.array([rows.num_rows])  # a batch of so many records is looked at in parts
        if waiting + rows.num_rows < _ROWS or not len(borders):
            self._waiting.append(rows)
            return
        border = int(borders[-1])
        whole = pa.concat_batches([*self._waiting, rows.slice(0, border)])
        self._waiting = [rows.slice(border)] if border < rows.num_rows else []
        yield from self._found_in(whole)

    def _found_in(self, rows: pa.RecordBatch) -> Iterator[tuple[pa.RecordBatch, Copies]]:
        for start, stop in _steps(rows["batchBaseOffset"].to_numpy()):
            step = rows.slice(start, stop - start)
            copies = self._copies(step)
            has_cause = copies.cause != Cause.NONE
            self.found.equal += int((~has_cause).sum())
            caused = copies.chosen(has_cause)
            found = step.take(pa.array(caused.rows))
            size = sum(pc.sum(pc.binary_length(found[name])).as_py() or 0 for name in _OF_CLIENT)
            self.found.add(caused, size)
            if self._with_equal:
                yield step.take(pa.array(copies.rows)), copies
            else:
                yield found, caused

    def _copies(self, rows: pa.RecordBatch) -> Copies:
        count = rows.num_rows
        self.found.records += count
        by_broker = pc.not_equal(rows["timestampType"], record_hashes.CREATE_TIME)
        self.found.broker_times += pc.sum(by_broker).as_py() or 0
        first_row = self._rows
        slots = np.arange(first_row, first_row + count) & self._mask
        self._rows += count
        for name, kept in self._kept.items():
            kept[slots] = rows[name].cast(pa.int64()).to_numpy()
        previous, number = np.empty(count, np.int64), np.empty(count, np.int32)
        batches = rows["batchBaseOffset"].to_numpy()
        content, times = record_hashes.timeless_hashes(rows), record_hashes.client_times(rows)
        hashes = record_hashes.with_times(content, times)
        self._recent.add(hashes, batches, previous, number)
        if self._contents is not None:  # times that the broker set say nothing across partitions
            is_client_time = pc.invert(by_broker).to_numpy(zero_copy_only=False)
            self.found.elsewhere += self._contents.look(hashes[is_client_time])
        repeated, copies = self._again.look(
            Step(
                first_row=first_row, batches=batches, content=content, hashes=hashes,
                times=times // _MICROSECONDS,
                timestamps=record_hashes.numbers(rows["timestamp"]) // _MICROSECONDS,
                is_broker_time=by_broker.to_numpy(zero_copy_only=False),
                is_plain=self._kept["producerId"][slots] == _NOT_IDEMPOTENT, previous=previous,
            )
        )  # fmt: skip
        is_whole = repeated >= 0
        previous, number = np.where(is_whole, (repeated, copies), (previous, number))
        again = np.flatnonzero(previous >= 0)
        before = {name: kept[previous[again] & self._mask] for name, kept in self._kept.items()}
        now = {name: kept[slots[again]] for name, kept in self._kept.items()}
        cause = _causes(before, now)
        cause[~is_whole[again]] = Cause.NONE
        return Copies(
            rows=again,
            offset=now["offset"],
            previous_offset=before["offset"],
            number=number[again].astype(np.int32),
            cause=cause,
        )


def _steps(batches: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Ranges of whole batches with about ``_ROWS`` records; a longer batch is cut."""
    borders = np.append(np.flatnonzero(np.diff(batches)) + 1, len(batches))
    start = 0
    while start < len(batches):
        fitting = borders[(borders > start) & (borders <= start + _ROWS)]
        stop = int(fitting[-1]) if len(fitting) else min(start + _ROWS, len(batches))
        yield start, stop
        start = stop


_OF_CLIENT: Final = ("key", "value")


def _causes(
    before: Mapping[str, NDArray[np.int64]], now: Mapping[str, NDArray[np.int64]]
) -> NDArray[np.int8]:
    is_same = {name: before[name] == now[name] for name in before}
    is_plain = (before["producerId"] == _NOT_IDEMPOTENT) & (now["producerId"] == _NOT_IDEMPOTENT)
    is_repeated = (
        is_same["producerId"]
        & is_same["producerEpoch"]
        & is_same["sequence"]
        & (now["sequence"] >= 0)
    )
    found = np.full(len(is_plain), Cause.SENT_AGAIN, np.int8)
    found[is_repeated] = Cause.SAME_SEQUENCE
    found[is_plain] = Cause.RETRY
    found[is_plain & ~is_same["leaderEpoch"]] = Cause.RETRY_TO_NEXT_LEADER
    return found
