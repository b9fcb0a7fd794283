"""How probable it is that two batches of a log are equal although nothing was sent again.

Applications send equal values, and at some rate in the same millisecond. How often that happens by
chance is what the log itself shows: how many pairs of batches have the same content at different
times, and how many pairs have the same time. A retry is one more copy where chance gives none. It
also comes late: a producer waits ``retry.backoff.ms`` before it sends again, while the log goes on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MOST_BY_CHANCE: Final = 0.01
"""Expected pairs by chance, as a share of the equal pairs, up to which these are no chance."""
_MOST_LATE_BY_CHANCE: Final = 0.05
"""The same, for pairs that are as late."""
_SOONEST: Final = 80
"""Milliseconds: ``retry.backoff.ms`` is 100, less 20 percent of jitter."""
_SIZES: Final = 64


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


def no_chance(
    sent: Sent, before: NDArray[np.intp], after: NDArray[np.intp], batches: int
) -> NDArray[np.bool_]:
    """Which of the pairs of equal batches are not explained by chance.

    Args:
        sent: neighbouring batches.
        before: of each pair, a row of ``sent``.
        after: of each pair, the row of the next batch with the same content and time.
        batches: of the log so far; the more there are, the more pairs are equal by chance.
    """
    if not len(before):
        return np.zeros(0, np.bool_)
    scale = max(batches / len(sent.time), 1.0)
    late = _late(sent, before, after, scale)
    return late | (_expected(sent, after, scale) <= _MOST_BY_CHANCE)


def _late(
    sent: Sent, before: NDArray[np.intp], after: NDArray[np.intp], scale: float
) -> NDArray[np.bool_]:
    """Which copies were stored later than batches ever are in this log, and than the first."""
    is_other = np.ones(len(sent.time), np.bool_)
    is_other[after] = False
    others = np.sort(sent.lateness[is_other])
    own = sent.lateness[after]
    as_late = len(others) - np.searchsorted(others, own)
    share = (as_late + 1) / (len(others) + 1)
    pairs_as_late = len(own) - np.searchsorted(np.sort(own), own)
    found: NDArray[np.bool_] = own - sent.lateness[before] >= _SOONEST
    return found & (share * scale * len(after) / pairs_as_late <= _MOST_LATE_BY_CHANCE)


def _expected(sent: Sent, after: NDArray[np.intp], scale: float) -> NDArray[np.float64]:
    """For each pair: pairs by chance of its kind, for each equal pair of that kind.

    A kind is how many records a batch has, and how often its content is there, both by powers of
    two. Contents that are rare, or long, are judged by others like them. Where no content of that
    length is there at another time, the log shows only that such pairs are rarer than one.
    """
    order = np.lexsort((sent.time, sent.content))
    is_next = sent.content[order][1:] == sent.content[order][:-1]
    same_time = is_next & (sent.time[order][1:] == sent.time[order][:-1])
    content_of, sizes = _groups(is_next)
    both_of, copies = _groups(same_time)
    first = order[np.searchsorted(content_of, np.arange(len(sizes)))]
    size_class = _power_of_two(sent.records)
    kind_of_content = size_class[first] * _SIZES + _power_of_two(sizes)
    pairs = np.bincount(kind_of_content, _pairs(sizes), _SIZES * _SIZES)
    content_of_both = content_of[np.searchsorted(both_of, np.arange(len(copies)))]
    equal = np.bincount(kind_of_content[content_of_both], _pairs(copies), _SIZES * _SIZES)

    apart = (pairs - equal).reshape(_SIZES, _SIZES).sum(axis=1)
    repeats_apart = np.cumsum(apart[::-1])[::-1]  # of batches at least as long
    of_content, of_both = (each.reshape(_SIZES, _SIZES).sum(axis=1) for each in (pairs, equal))
    odds, all_odds = _same_time_odds(sent, size_class, of_content, of_both)
    by_chance = np.repeat(odds, _SIZES) * (pairs - equal + 1) * scale
    by_chance[np.repeat(repeats_apart == 0, _SIZES)] = all_odds / 2
    kind = np.empty(len(order), np.int64)
    kind[order] = kind_of_content[content_of]
    found: NDArray[np.float64] = (by_chance / np.maximum(equal, 1))[kind[after]]
    return found


def _same_time_odds(
    sent: Sent,
    size_class: NDArray[np.int64],
    of_content: NDArray[np.float64],
    of_both: NDArray[np.float64],
) -> tuple[NDArray[np.float64], float]:
    """By size, and of all: pairs of different contents at the same time, to those at others.

    Args:
        sent: neighbouring batches.
        size_class: of each.
        of_content: by size, pairs with the same content.
        of_both: by size, pairs with the same content and time.
    """
    order = np.lexsort((sent.time, size_class))
    times, sizes = sent.time[order], size_class[order]
    both, counts = _groups((times[1:] == times[:-1]) & (sizes[1:] == sizes[:-1]))
    size_of_both = sizes[np.searchsorted(both, np.arange(len(counts)))]
    together = np.maximum(np.bincount(size_of_both, _pairs(counts), _SIZES) - of_both, 0)
    possible = np.maximum(_pairs(np.bincount(size_class, minlength=_SIZES)) - of_content, 0)
    _, all_counts = _groups(np.diff(np.sort(sent.time)) == 0)
    all_together = max(float(_pairs(all_counts).sum() - of_both.sum()), 0)
    all_possible = max(float(_pairs(np.array([len(order)])).sum() - of_content.sum()), 0)
    overall = (all_together + 1) / max(all_possible - all_together, 1)
    found = np.maximum((together + overall) / np.maximum(possible - together, 1), overall)
    if not all_possible and of_both.sum() > 1:  # nothing but one content: this shows nothing
        return found, float(of_both.sum())
    return found, all_together / max(all_possible - all_together, 1)


def _groups(continues: NDArray[np.bool_]) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
    """The number of the group of each row, and the sizes of the groups."""
    number = np.zeros(len(continues) + 1, np.intp)
    np.cumsum(~continues, out=number[1:])
    return number, np.bincount(number)


def _pairs(sizes: NDArray[np.int64]) -> NDArray[np.float64]:
    found: NDArray[np.float64] = sizes * (sizes - 1.0) / 2
    return found


def _power_of_two(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many bits each positive number has."""
    return np.frexp(numbers.astype(np.float64))[1].astype(np.int64)
