"""Selects the offset ranges with the greatest total weight whose offsets rise in order."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_RANGES: Final = 200_000
"""Above that, take the first rising ranges: hostile input could add ranges without end."""
JOINED: Final = 2
"""The bonus for a range that begins where the one before it ends."""


def heaviest_rising(
    ranges: Sequence[tuple[int, int]], weights: Sequence[int], *, start: int, stop: int
) -> list[int]:
    """Select ranges, in order, each beginning above the end of the one before it.

    Ranges that join count more; so do those around one that is passed over and leaves exactly its
    room: it was moved. Of equal selections the earlier ranges are taken.

    Args:
        ranges: first and last offset, both inclusive.
        weights: of each range.
        start: where the first one may be expected to begin.
        stop: where the last one may be expected to end, exclusive.

    Returns:
        The numbers of the selected ranges.
    """
    if len(ranges) > MAX_RANGES:
        return _first_rising(ranges, start)
    best: list[int] = []
    parents: list[int] = []
    ends: list[int] = []  # rising, with ever greater totals
    totals: list[int] = []
    numbers: list[int] = []
    ending_at: dict[int, int] = {start - 1: -1}
    for number, (first, last) in enumerate(ranges):
        total, parent = 0, -1
        at = bisect_left(ends, first) - 1
        if at >= 0:
            total, parent = totals[at], numbers[at]
        joined = ending_at.get(first - 1)
        if joined is not None:
            with_joined = (best[joined] if joined >= 0 else 0) + JOINED
            if with_joined >= total:
                total, parent = with_joined, joined
        if number:
            earlier = number - 2
            end = ranges[earlier][1] if earlier >= 0 else start - 1
            moved_first, moved_last = ranges[number - 1]
            if first - end - 1 == moved_last - moved_first + 1:
                around = (best[earlier] if earlier >= 0 else 0) + JOINED
                if around > total:
                    total, parent = around, earlier
        total += weights[number]
        best.append(total)
        parents.append(parent)
        known = ending_at.get(last)
        if known is None or (known >= 0 and best[known] < total):
            ending_at[last] = number
        _insert(ends, totals, numbers, last, total, number)
    if not best:
        return []
    winner = max(
        range(len(best)), key=lambda n: (best[n] + JOINED * (ranges[n][1] + 1 == stop), -n)
    )
    chosen = []
    while winner >= 0:
        chosen.append(winner)
        winner = parents[winner]
    return chosen[::-1]


def _insert(
    ends: list[int], totals: list[int], numbers: list[int], last: int, total: int, number: int
) -> None:
    """Note a total reachable up to ``last``, unless a lower end reaches as much."""
    at = bisect_right(ends, last)
    if at and totals[at - 1] >= total:
        return
    stop = at
    while stop < len(ends) and totals[stop] <= total:
        stop += 1
    if at and ends[at - 1] == last:
        at -= 1
    ends[at:stop], totals[at:stop], numbers[at:stop] = [last], [total], [number]


def _first_rising(ranges: Sequence[tuple[int, int]], start: int) -> list[int]:
    chosen, due = [], start
    for number, (first, last) in enumerate(ranges):
        if first >= due:
            chosen.append(number)
            due = last + 1
    return chosen
