"""Which records of a topic are in several of its partitions, by their hashes, in bounded memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST: Final = 1 << 22
"""Hashes kept of a topic; beyond it every second one is dropped, again and again."""


class TopicContents:
    """The hashes of the records of a topic, partition by partition.

    Args:
        most: how many hashes are kept.

    Attributes:
        one_in: which part of all hashes is looked at: 1 for every one, 2 for every second.
    """

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self.begin_topic()

    def begin_topic(self) -> None:
        """Forget everything."""
        self.one_in = 1
        self._before = np.empty(0, np.int64)
        self._here: list[NDArray[np.int64]] = []
        self._held = 0

    def begin_partition(self) -> None:
        """Begin another partition of the same topic."""
        self._before = np.unique(np.concatenate([self._before, *self._here]))
        self._here = []
        self._held = len(self._before)

    def look(self, hashes: NDArray[np.int64]) -> int:
        """How many records have a copy in an earlier partition; about, if not all are kept."""
        kept = hashes[hashes % self.one_in == 0]
        found = 0
        if len(self._before) and len(kept):
            places = np.searchsorted(self._before, kept)
            nearest = self._before[np.minimum(places, len(self._before) - 1)]
            found = int(np.count_nonzero(nearest == kept)) * self.one_in
        self._here.append(kept)
        self._held += len(kept)
        while self._held > self._most:
            self._thin_out()
        return found

    def _thin_out(self) -> None:
        self.one_in *= 2
        self._before = self._before[self._before % self.one_in == 0]
        self._here = [each[each % self.one_in == 0] for each in self._here]
        self._held = len(self._before) + sum(map(len, self._here))
