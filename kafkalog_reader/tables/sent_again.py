"""Finds batches of a log that are there again as a whole, in one batch or in several.

A producer that gets no answer sends a whole batch again. Where batches are equal, or records stand
in the order of an earlier batch, ``no_chance`` says whether the application's values explain it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from kafkalog_reader.kernel import repeats
from kafkalog_reader.tables.chance import Pairs, Sent, lateness, no_chance

if TYPE_CHECKING:
    from numpy.typing import NDArray

_FACTOR: Final = np.uint64(0x9E37_79B9_7F4A_7C15)
_LOW_BITS: Final = np.uint64((1 << 63) - 1)
_JUDGED: Final = 65_536
"""Earlier batches by which those of a step are judged."""
_NO_TIME: Final = -(1 << 62)
_OF_UNITS: Final = ("content", "time", "latest", "appended", "records")


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """Records of one log in its order, whole batches.

    Attributes:
        first_row: the number of the first record in the log's order.
        batches: base offset of the batch of each.
        content, hashes: of each record, without and with its time.
        times: of the client, in milliseconds; where the broker set it, what is left of them.
        timestamps: as stored, in milliseconds.
        is_broker_time: whether the broker set it.
        is_plain: whether the producer is not idempotent.
        previous: the number of the newest equal record before each; -1 for none.
    """

    first_row: int
    batches: NDArray[np.int64]
    content: NDArray[np.int64]
    hashes: NDArray[np.int64]
    times: NDArray[np.int64]
    timestamps: NDArray[np.int64]
    is_broker_time: NDArray[np.bool_]
    is_plain: NDArray[np.bool_]
    previous: NDArray[np.int64]

    @property
    def appended(self) -> NDArray[np.int64]:
        """How long after its client's time each was stored, if the broker set the time; or -1."""
        return np.where(self.is_broker_time, np.maximum(self.timestamps - self.times, 0), -1)


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
        self._hashes, self._lateness = (np.zeros(size, np.int64) for _ in range(2))
        self._first_row = self._next_row = 0
        self._latest = _NO_TIME
        self._mask = size - 1
        self._near = near
        self._units = self._before = 0
        self._judged = {name: np.empty(0, np.int64) for name in _OF_UNITS}

    def forget(self) -> None:
        """Begin another log."""
        self._recent.forget()
        self._before = self._units
        self._first_row = self._next_row
        self._latest = _NO_TIME
        self._judged = {name: np.empty(0, np.int64) for name in _OF_UNITS}

    def look(self, step: Step) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Which records are there again with their whole batch.

        Returns:
            For each record the number of the one that it repeats, -1 for none; and how many copies
            of its batch there are so far.
        """
        count = len(step.batches)
        self._next_row = step.first_row + count
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
        previous = self._in_order(step, starts, lengths)
        in_parts = self._at_other_borders(step, np.where(of_chosen, -1, previous), starts, lengths)
        again[in_parts] = previous[in_parts]
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
            "appended": step.appended[starts],
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
        appended = judged["appended"]
        late = np.where(appended >= 0, appended, lateness(judged["latest"]))
        sent = Sent(
            content=judged["content"],
            time=judged["time"],
            lateness=late,
            records=judged["records"],
        )
        pairs = Pairs(
            number=previous[again],
            row=after,
            distance=self._units - len(starts) + again - previous[again],
            waited=late[after] - late[before],
        )
        chosen[again] = no_chance(sent, pairs, self._units - self._before)
        return chosen

    def _in_order(
        self, step: Step, starts: NDArray[np.intp], lengths: NDArray[np.intp]
    ) -> NDArray[np.int64]:
        """The number of the record that each repeats, where possible in the order of its batch.

        Of several equal ones that is not always the newest. Tried are the distance that most
        records of a batch have, and that of the batch before it, which may be its first part.
        """
        count = len(step.previous)
        unit_of = np.repeat(np.arange(len(starts)), lengths)
        row = step.first_row + np.arange(count)
        self._hashes[row & self._mask] = step.hashes
        which = np.flatnonzero((step.previous >= 0) & (lengths[unit_of] > 1))
        if not len(which):
            return step.previous
        distance, units = (row - step.previous)[which], unit_of[which]
        order = np.lexsort((distance, units))
        distance, units = distance[order], units[order]
        is_first = np.append(True, (np.diff(distance) != 0) | (np.diff(units) != 0))
        firsts = np.flatnonzero(is_first)
        frequency = np.diff(firsts, append=len(order))
        best = firsts[np.lexsort((-distance[firsts], frequency, units[firsts]))]
        of_unit = np.zeros(len(starts), np.int64)
        of_unit[units[best]] = distance[best]
        found, most = step.previous, np.zeros(len(starts), np.int64)
        for tried in (of_unit, np.append(0, of_unit[:-1])):
            at = row - tried[unit_of]
            is_equal = (
                (tried[unit_of] > 0)
                & (at >= np.maximum(self._first_row, row - self._near))
                & (self._hashes[at & self._mask] == step.hashes)
                & (self._starts[at & self._mask] != self._starts[row & self._mask])
            )
            equal = np.add.reduceat(is_equal, starts, dtype=np.int64)
            found = np.where(is_equal & (equal > most)[unit_of], at, found)
            most = np.maximum(most, equal)
        return found

    def _at_other_borders(
        self,
        step: Step,
        previous: NDArray[np.int64],
        starts: NDArray[np.intp],
        lengths: NDArray[np.intp],
    ) -> NDArray[np.bool_]:
        """Which records repeat whole batches in their order, before them or their own.

        A producer or broker may divide a batch that it sends again, or put others behind it, and
        the batch that is stored later may be the one that was sent first. With idempotence, batches
        keep their borders.
        """
        count = len(previous)
        late = self._late(step)
        found = np.zeros(count, np.bool_)
        if not (previous >= 0).any():
            return found
        is_again = previous >= 0
        goes_on = is_again[1:] & (previous[1:] == previous[:-1] + 1)
        runs = np.flatnonzero(np.concatenate([[True], ~goes_on]))
        of_run = np.cumsum(np.concatenate([[True], ~goes_on])) - 1
        start = self._starts[previous & self._mask]
        whole = np.zeros(count, np.bool_)
        begins, ends = (np.zeros(count, np.bool_) for _ in range(2))
        begins[starts] = ends[starts + lengths - 1] = True
        for is_first, is_last in (
            (start == previous, self._starts[(previous + 1) & self._mask] != start),
            (begins & step.is_plain, ends),
        ):
            at = np.arange(count)
            first = np.minimum.reduceat(np.where(is_again & is_first, at, count), runs)
            last = np.maximum.reduceat(np.where(is_again & is_last, at, -1), runs)
            whole |= is_again & (at >= first[of_run]) & (at <= last[of_run])
        inside = np.arange(count) - np.repeat(starts, lengths)
        stop = start + np.repeat(lengths, lengths)
        is_as_long = (
            (previous - inside == start)
            & (self._starts[(stop - 1) & self._mask] == start)
            & (self._starts[stop & self._mask] != start)
        )
        if not (whole & ~is_as_long).any():
            return found  # equal batches, which are judged as such
        rows = np.flatnonzero(whole)
        is_unknown = step.is_broker_time & ~begins
        sent = Sent(
            content=step.content,
            time=np.where(is_unknown, _NO_TIME + np.arange(count), step.times),
            lateness=late,
            records=np.ones(count, np.int64),
        )
        waited = late[rows] - self._lateness[previous[rows] & self._mask]
        distance = step.first_row + rows - previous[rows]
        pairs = Pairs(number=previous[rows], row=rows, distance=distance, waited=waited)
        found[rows] = no_chance(sent, pairs, step.first_row + count)
        return found

    def _late(self, step: Step) -> NDArray[np.int64]:
        """How late each record was stored."""
        seen = np.maximum.accumulate(np.maximum(step.times, self._latest))
        before = np.concatenate([[self._latest], seen[:-1]])
        self._latest = int(seen[-1])
        appended = step.appended
        late = np.where(appended >= 0, appended, np.maximum(before - step.times, 0))
        self._lateness[(step.first_row + np.arange(len(late))) & self._mask] = late
        return late


def _of_units(
    of_records: NDArray[np.int64], inside: NDArray[np.intp], starts: NDArray[np.intp]
) -> NDArray[np.int64]:
    """One hash for the records of each batch; their order counts."""
    mixed = (of_records.astype(np.uint64) + inside.astype(np.uint64) * _FACTOR) * _FACTOR
    mixed ^= mixed >> np.uint64(31)
    mixed *= _FACTOR
    return (np.add.reduceat(mixed, starts) & _LOW_BITS).astype(np.int64)
