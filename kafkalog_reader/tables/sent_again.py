"""Finds batches of a log that are there again as a whole, in one batch or in several.

A producer that gets no answer sends a whole batch again. Where batches are equal, or records stand
in the order of an earlier batch, ``no_chance`` says whether the application's values explain it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from kafkalog_reader.kernel import repeats
from kafkalog_reader.tables.chance import Sent, lateness, no_chance

if TYPE_CHECKING:
    from numpy.typing import NDArray

_FACTOR: Final = np.uint64(0x9E37_79B9_7F4A_7C15)
_LOW_BITS: Final = np.uint64((1 << 63) - 1)
_JUDGED: Final = 65_536
"""Earlier batches by which those of a step are judged."""
_ROW: Final = "row"
_OF_UNITS: Final = ("content", "time", "latest", "records")


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """Records of one log in its order, whole batches.

    Attributes:
        first_row: the number of the first record in the log's order.
        batches: base offset of the batch of each.
        content, hashes: of each record, without and with its time.
        times: of the client, in milliseconds; 0 where the broker set it.
        previous: the number of the newest equal record before each; -1 for none.
    """

    first_row: int
    batches: NDArray[np.int64]
    content: NDArray[np.int64]
    hashes: NDArray[np.int64]
    times: NDArray[np.int64]
    previous: NDArray[np.int64]


class BatchesAgain:
    """Finds the batches that were sent again, step by step.

    Args:
        near: how many records back the first copy may be.
        size: of a ring of records, a power of two.
    """

    def __init__(self, near: int, size: int) -> None:
        heads = np.full(size, -1, np.int64)
        links, hashes, batches = (np.zeros(size, np.int64) for _ in range(3))
        copies, seen = (np.zeros(size, np.int32) for _ in range(2))
        self._recent = repeats.RecentRecords(heads, links, hashes, batches, copies, seen, near)
        self._rows = np.zeros(size, np.int64)
        self._starts = np.full(size, -1, np.int64)
        self._mask = size - 1
        self._near = near
        self._units = self._before = 0
        self._judged = {name: np.empty(0, np.int64) for name in _OF_UNITS}

    def forget(self) -> None:
        """Begin another log."""
        self._recent.forget()
        self._before = self._units
        self._judged = {name: np.empty(0, np.int64) for name in _OF_UNITS}

    def look(self, step: Step) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Which records are there again with their whole batch.

        Returns:
            For each record the number of the one that it repeats, -1 for none; and how many copies
            of its batch there are so far.
        """
        count = len(step.batches)
        starts = np.flatnonzero(np.diff(step.batches, prepend=-1))
        lengths = np.diff(starts, append=count)
        unit_of = np.repeat(np.arange(len(starts)), lengths)
        inside = np.arange(count) - starts[unit_of]
        rows = step.first_row + np.arange(count)
        self._starts[rows & self._mask] = step.first_row + starts[unit_of]
        previous, copies = self._units_again(step, starts, lengths, inside)
        chosen = self._judge(step, starts, lengths, previous)
        again = np.full(count, -1, np.int64)
        number = np.ones(count, np.int32)
        of_chosen = chosen[unit_of]
        first = self._rows[previous & self._mask]
        again[of_chosen] = (first[unit_of] + inside)[of_chosen]
        number[of_chosen] = copies[unit_of][of_chosen]
        in_parts = self._in_parts(step, np.where(of_chosen, -1, step.previous))
        again[in_parts] = step.previous[in_parts]
        number[in_parts] = 2
        return again, number

    def _units_again(
        self,
        step: Step,
        starts: NDArray[np.intp],
        lengths: NDArray[np.intp],
        inside: NDArray[np.intp],
    ) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """The number of the newest equal batch before each batch, and the copies so far."""
        hashes = _of_units(step.hashes, inside, starts)
        numbers = np.arange(self._units, self._units + len(starts))
        self._units += len(starts)
        self._rows[numbers & self._mask] = step.first_row + starts
        previous, copies = np.empty(len(starts), np.int64), np.empty(len(starts), np.int32)
        self._recent.add(hashes, step.first_row + starts, previous, copies)
        too_far = step.first_row + starts - self._rows[previous & self._mask] > self._near
        previous[too_far] = -1
        first_time = np.repeat(step.times[starts], lengths)
        since = (step.times - first_time).astype(np.uint64) * _FACTOR
        relative = (step.content.astype(np.uint64) ^ since).astype(np.int64)
        new = {
            "content": _of_units(relative, inside, starts),
            "time": step.times[starts],
            "latest": np.maximum.reduceat(step.times, starts),
            "records": lengths.astype(np.int64),
        }
        self._judged = {
            name: np.concatenate([self._judged[name][-_JUDGED:], new[name]]) for name in _OF_UNITS
        }
        return previous, copies

    def _judge(
        self,
        step: Step,
        starts: NDArray[np.intp],
        lengths: NDArray[np.intp],
        previous: NDArray[np.int64],
    ) -> NDArray[np.bool_]:
        """Which batches are there again, and not by chance."""
        chosen = np.zeros(len(starts), np.bool_)
        again = np.flatnonzero(previous >= 0)
        if not len(again):
            return chosen
        judged = self._judged
        first = self._units - len(judged["time"])
        after = again + len(judged["time"]) - len(starts)
        before = np.where(previous[again] >= first, previous[again] - first, after)
        sent = Sent(
            content=judged["content"],
            time=judged["time"],
            lateness=lateness(judged["latest"]),
            records=judged["records"],
        )
        chosen[again] = no_chance(sent, before, after, self._units - self._before)
        return chosen

    def _in_parts(self, step: Step, previous: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which records repeat whole earlier batches in their order, at other borders."""
        count = len(previous)
        found = np.zeros(count, np.bool_)
        follows = (previous[1:] >= 0) & (previous[1:] == previous[:-1] + 1)
        if not follows.any():
            return found
        runs = np.flatnonzero(np.concatenate([[True], ~follows]))
        at = np.arange(count)
        start = self._starts[previous & self._mask]
        begins = (previous >= 0) & (start == previous)
        ends = (previous >= 0) & (self._starts[(previous + 1) & self._mask] != start)
        first = np.minimum.reduceat(np.where(begins, at, count), runs)
        last = np.maximum.reduceat(np.where(ends, at, -1), runs)
        of_run = np.cumsum(np.concatenate([[True], ~follows])) - 1
        whole = (last > first)[of_run] & (at >= first[of_run]) & (at <= last[of_run])
        rows = np.flatnonzero(whole)
        if not len(rows):
            return found
        sent = Sent(
            content=step.content,
            time=step.times,
            lateness=np.zeros(count, np.int64),
            records=np.ones(count, np.int64),
        )
        total = step.first_row + count
        is_none = np.zeros(count, np.bool_)
        is_none[rows] = ~no_chance(sent, rows, rows, total)
        by_chance = np.logical_or.reduceat(is_none, runs)[of_run]
        found[whole & ~by_chance] = True
        return found


def _of_units(
    of_records: NDArray[np.int64], inside: NDArray[np.intp], starts: NDArray[np.intp]
) -> NDArray[np.int64]:
    """One hash for the records of each batch; their order counts."""
    mixed = (of_records.astype(np.uint64) + inside.astype(np.uint64) * _FACTOR) * _FACTOR
    mixed ^= mixed >> np.uint64(31)
    mixed *= _FACTOR
    return (np.add.reduceat(mixed, starts) & _LOW_BITS).astype(np.int64)
