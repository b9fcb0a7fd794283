"""How probable it is that batches of a log are equal although nothing was sent again.

Applications send equal values, and at some rate in the same millisecond. What is stored at the same
time is compared with what is stored at other times: how often are two of those equal, in the whole
log and among close neighbours? If equal ones at the same time are as frequent, they are chance. The
same is asked about runs of batches, because a producer that sends again repeats several in order.

A retry also comes late: a producer waits ``retry.backoff.ms`` before it sends again, while the log
goes on. Where other batches hardly ever are as late, that decides alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

_MOST_BY_CHANCE: Final = 0.05
"""Share of equal pairs that chance may explain where the others are called retries."""
_CHANCE: Final = 0.001
"""Probability of that many equal pairs, up to which they are no chance."""
_MOST_LATE_BY_CHANCE: Final = 0.005
"""Pairs by chance that are as late, as a share of all that are."""
_SOONEST: Final = 10
"""Milliseconds. A producer waits for 80 or more, ``retry.backoff.ms`` less jitter, but a log shows
only how much later those were created that it sent meanwhile."""
_LAGS: Final = 16
_CLOSE: Final = 2
"""How many rows, and milliseconds, close neighbours are apart at most."""
_QUICK: Final = 100
"""Equal records that an application sends in a row in one millisecond, for each that is equal and
in the next one."""
_ERRORS: Final = 3
"""Standard errors by which neighbours are equal more often than others."""
_REPEATS: Final = 1.0
_NO_REPEATS: Final = 0.01
_ALL_DIFFER: Final = 0.001
"""Equal pairs at different times that may be there beyond those seen: if there are some; if there
are none; and if also no different ones are there at the same time."""
_SIZES: Final = 64
_FACTORS: Final = tuple(map(np.uint64, (0x9E37_79B9_7F4A_7C15, 0xBF58_476D_1CE4_E5B9)))
_SHIFT: Final = np.uint64(31)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """What neighbouring batches are, in log order.

    Attributes:
        content: equal where all but the time is equal.
        time: of the first record, in milliseconds.
        lateness: how long after its time a batch was stored, in milliseconds, as far as known.
        records: number of records.
    """

    content: NDArray[np.int64]
    time: NDArray[np.int64]
    lateness: NDArray[np.int64]
    records: NDArray[np.int64]


def lateness(latest: NDArray[np.int64]) -> NDArray[np.int64]:
    """How far the greatest timestamp of each batch is below one that is in the log before it."""
    before = np.maximum.accumulate(latest)
    late = np.zeros(len(latest), np.int64)
    late[1:] = np.maximum(before[:-1] - latest[1:], 0)
    return late


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairs:
    """Batches that are there again.

    Attributes:
        number: of the first of each pair; neighbours have consecutive numbers.
        row: of the second of each pair, in ``Sent``.
        distance: from the first to the second.
        waited: how much later than the first the second was stored, as far as known.
    """

    number: NDArray[np.int64]
    row: NDArray[np.intp]
    distance: NDArray[np.int64]
    waited: NDArray[np.int64]

    def chosen(self, which: NDArray[np.intp]) -> Pairs:
        """Some of them, in that order."""
        return Pairs(
            number=self.number[which],
            row=self.row[which],
            distance=self.distance[which],
            waited=self.waited[which],
        )


def no_chance(sent: Sent, pairs: Pairs, batches: int) -> NDArray[np.bool_]:
    """Which of the pairs of equal batches are not explained by chance.

    Args:
        sent: neighbouring batches.
        pairs: of each batch that is there again, and the next one with its content and time.
        batches: of the log so far; the more there are, the more pairs are equal by chance.
    """
    if not len(pairs.row):
        return np.zeros(0, np.bool_)
    scale = max(batches / len(sent.time), 1.0)
    order = np.argsort(pairs.row, kind="stable")
    ordered = pairs.chosen(order)
    is_next = (np.diff(ordered.row) == 1) & (np.diff(ordered.number) == 1)
    run_of, lengths = _groups(is_next)
    runs = ordered.chosen(np.searchsorted(run_of, np.arange(len(lengths))))
    all_batches = _Compared(sent)
    found = all_batches.are_rare(pairs.row, scale)
    is_run = _late(sent, runs, scale)
    classes = _power_of_two(np.minimum(lengths, runs.distance)) - 1
    for number, longer in enumerate(_runs(sent, int(classes.max())), start=1):
        which = np.flatnonzero(classes == number)
        by_chance = all_batches.runs_by_chance(1 << number)
        if len(which) and by_chance <= _MOST_BY_CHANCE * int((classes >= number).sum()):
            is_run[which] |= _Compared(longer).are_rare(runs.row[which], scale, least=0)
    found[order] |= is_run[run_of]
    return found


def _late(sent: Sent, pairs: Pairs, scale: float) -> NDArray[np.bool_]:
    """Which copies were stored later than the first, and than others are in this log.

    Where a clock was set back, most batches that are late are no copies.
    """
    is_other = np.ones(len(sent.time), np.bool_)
    is_other[pairs.row] = False
    others = np.sort(sent.lateness[is_other])
    own = sent.lateness[pairs.row]
    as_late = len(others) - np.searchsorted(others, own)
    share = (as_late + 1) / (len(others) + 1)
    pairs_as_late = len(own) - np.searchsorted(np.sort(own), own)
    found: NDArray[np.bool_] = (pairs.waited >= _SOONEST) & (as_late <= pairs_as_late)
    return found & (share * scale * len(own) / pairs_as_late <= _MOST_LATE_BY_CHANCE)


def _runs(sent: Sent, doublings: int) -> Iterator[Sent]:
    """The runs of 2, 4, 8, ... neighbours that begin at each row, as if each was one batch."""
    content, records = sent.content.astype(np.uint64), sent.records
    length = 1
    for _ in range(doublings):
        count = len(content) - length
        content = content[:count] * _FACTORS[0] + content[length:]
        content = (content ^ (content >> _SHIFT)) * _FACTORS[1]
        records = records[:count] + records[length:]
        length *= 2
        yield Sent(
            content=content.astype(np.int64),
            time=sent.time[: len(content)],
            lateness=sent.lateness[: len(content)],
            records=records,
        )


class _Compared:
    """Batches compared with others of about as many records, by kind.

    A kind is how many records a batch has, and how often its content is there, both by powers of
    two. Contents that are rare, or long, are judged by others like them.
    """

    def __init__(self, sent: Sent) -> None:
        count = len(sent.time)
        by_time = np.argsort(sent.time, kind="stable")
        order = by_time[np.argsort(sent.content[by_time], kind="stable")]
        content, time = sent.content[order], sent.time[order]
        is_next = content[1:] == content[:-1]
        content_of, sizes = _groups(is_next)
        _, copies = _groups(is_next & (time[1:] == time[:-1]))
        length = _power_of_two(sent.records)
        by_both = by_time[np.lexsort((length[by_time], sent.time[by_time]))]
        is_same = (np.diff(sent.time[by_both]) == 0) & (np.diff(length[by_both]) == 0)
        time_of, at_once = _groups(is_same)
        together = np.empty(count, np.int64)
        together[by_both] = at_once[time_of] - 1
        firsts = np.cumsum(sizes) - sizes
        lengths = length[order[firsts]]
        kinds = lengths * _SIZES + _power_of_two(sizes)
        as_long = np.bincount(length, minlength=_SIZES)[lengths]
        self._sent = sent
        self._by_time = by_time
        self._kind = np.empty(count, np.int64)
        self._kind[order] = kinds[content_of]
        of_both = kinds[content_of[np.cumsum(copies) - copies]]
        self._same = _by_kind(of_both, copies * (copies - 1.0) / 2)
        self._same_apart = _by_kind(kinds, sizes * (sizes - 1.0) / 2) - self._same
        self._at_once = _by_kind(self._kind, together) / 2
        self._at_others = _by_kind(kinds, sizes * (as_long - 1.0)) / 2 - self._at_once

    def runs_by_chance(self, length: int) -> float:
        """How many runs of that length are equal, at least, where each of them is by chance."""
        share = self._same_apart.sum() / max(self._at_others.sum(), 1)
        return float(self._at_once.sum() * share**length)

    def are_rare(self, after: NDArray[np.intp], scale: float, least: int = 1) -> NDArray[np.bool_]:
        """Which equal pairs are of a kind that chance does not explain.

        If all have one time, that shows nothing; ``least`` equal pairs are no chance even then.
        """
        of_pairs = self._kind[after]
        links = _by_kind(of_pairs, np.ones(len(after)))
        no_length = np.zeros(_SIZES)
        is_rare = self._rare(links, scale, least, no_length, no_length).ravel()[of_pairs]
        if is_rare.any():
            near = self._near()
            is_rare = self._rare(links, scale, least, *near).ravel()[of_pairs]
        return is_rare

    def _rare(
        self,
        links: NDArray[np.float64],
        scale: float,
        least: int,
        near: NDArray[np.float64],
        in_a_row: NDArray[np.float64],
    ) -> NDArray[np.bool_]:
        """By kind. ``near`` and ``in_a_row`` say what equal neighbours explain, by length."""
        share = self._same_apart / np.maximum(self._at_others, 1)
        by_chance = (self._at_once - self._same) * share / np.maximum(1 - share, 1e-9)
        by_chance = np.maximum(by_chance, _QUICK * in_a_row[:, np.newaxis])
        is_precise = by_chance <= _MOST_BY_CHANCE * self._same
        same, same_apart, at_once, at_others, links = (
            np.cumsum(each, axis=1)
            for each in (self._same, self._same_apart, self._at_once, self._at_others, links)
        )
        unseen = self._unseen()[:, np.newaxis]
        share = np.maximum((same_apart + unseen) / (at_others + 1), near[:, np.newaxis])
        of_shorter = np.minimum.accumulate(np.where(at_others > 0, share, 1), axis=0)
        share = np.minimum(share, of_shorter)  # longer ones are equal less often
        is_alone = (at_others == 0) & ((at_once > same) | (same > least))
        improbable = _log_of_ways(links, at_once - same) + links * np.log(np.minimum(share, 1))
        found: NDArray[np.bool_] = is_precise & ~is_alone & (improbable <= np.log(_CHANCE / scale))
        return found

    def _unseen(self) -> NDArray[np.float64]:
        """Equal pairs at different times that are assumed beyond those seen, by length."""
        has_repeats = np.cumsum(self._same_apart.sum(axis=1)[::-1])[::-1] > 0  # or longer ones
        none = _ALL_DIFFER if self._at_once.sum() == self._same.sum() else _NO_REPEATS
        return np.where(has_repeats, _REPEATS, none)

    def _near(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """How often close neighbours at different times are equal because they are close.

        Returns:
            By length the share, at the distance where it is greatest, and how many of those that
            are closest are equal beyond chance.
        """
        chance = self._same_apart.sum(axis=1) / np.maximum(self._at_others.sum(axis=1), 1)
        found, beyond = np.zeros(_SIZES), np.zeros(_SIZES)
        order = self._by_time
        time, content = self._sent.time[order], self._sent.content[order]
        length = self._kind[order] // _SIZES
        for lag in range(1, min(_LAGS, len(order) - 1) + 1):
            since = np.where(length[lag:] == length[:-lag], time[lag:] - time[:-lag], 0)
            is_equal = (since > 0) & (content[lag:] == content[:-lag])
            if not is_equal.any():
                continue
            for most in (_CLOSE, None):
                is_apart = (since > 0) if most is None else (since > 0) & (since <= most)
                pairs = np.bincount(length[:-lag], is_apart, _SIZES)
                equal = np.bincount(length[:-lag], is_apart & is_equal, _SIZES)
                share = equal / (pairs + 1)
                error = np.sqrt(np.maximum(chance * (1 - chance), 0) / np.maximum(pairs, 1))
                is_more = share > chance + _ERRORS * error
                np.maximum(found, np.where(is_more, share, 0), out=found)
                if most is not None and lag <= most:
                    beyond += np.where(is_more, equal - chance * pairs, 0)
        return found, beyond


def _by_kind(kind: NDArray[np.int64], numbers: NDArray[np.generic]) -> NDArray[np.float64]:
    """Sums by number of records and frequency."""
    found: NDArray[np.float64] = np.bincount(kind, numbers, _SIZES * _SIZES).astype(np.float64)
    return found.reshape(_SIZES, _SIZES)


_LOG_FACTORIAL_TERMS: Final = np.array([1 / 12, -1 / 360, 1 / 1260])


def _log_of_ways(chosen: NDArray[np.float64], others: NDArray[np.float64]) -> NDArray[np.float64]:
    """The logarithm of the number of ways to choose so many of them and the others."""
    return _log_factorial(chosen + others) - _log_factorial(chosen) - _log_factorial(others)


def _log_factorial(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    """Stirling's series, after ten factors."""
    large = numbers + 10
    found: NDArray[np.float64] = (large + 0.5) * np.log(large) - large + np.log(2 * np.pi) / 2
    for power, factor in enumerate(_LOG_FACTORIAL_TERMS):
        found += factor / large ** (2 * power + 1)
    for factor in range(1, 11):
        found -= np.log(numbers + factor)
    return found


def _groups(continues: NDArray[np.bool_]) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
    """The number of the group of each row, and the sizes of the groups."""
    number = np.zeros(len(continues) + 1, np.intp)
    np.cumsum(~continues, out=number[1:])
    return number, np.bincount(number)


def _power_of_two(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many bits each positive number has."""
    return np.frexp(numbers.astype(np.float64))[1].astype(np.int64)
