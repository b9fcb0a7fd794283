"""Measures two readers side by side: A B A B, one ratio per round."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

Pass = Callable[[], float]
"""Does the work once and returns the seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rounds:
    """Seconds of every round; ``ours`` is empty where only the peer was measured."""

    ours: Sequence[float]
    peer: Sequence[float]

    @property
    def ratios(self) -> list[float]:
        """How many times faster we were, round by round."""
        if not self.ours:
            return []
        return [peer / ours for ours, peer in zip(self.ours, self.peer, strict=True)]


def alternate(ours: Pass | None, peer: Pass, rounds: int) -> Rounds:
    """Measure both in turn, so that a slow minute of the machine slows both; None is skipped."""
    if ours is None:
        return Rounds(ours=(), peer=[peer() for _ in range(rounds)])
    ours()  # first touch of code and pages; whoever started the peer warmed it
    pairs = [(ours(), peer()) for _ in range(rounds)]
    return Rounds(ours=[pair[0] for pair in pairs], peer=[pair[1] for pair in pairs])


@contextmanager
def one_core() -> Iterator[None]:
    """Keep this process, and those it starts meanwhile, on one core."""
    cores = os.sched_getaffinity(0)
    _pin({max(cores)})
    try:
        yield
    finally:
        _pin(cores)


def _pin(cores: set[int]) -> None:
    # Zero would mean the calling thread alone; Arrow's and the codecs' threads may exist already.
    for thread in Path("/proc/self/task").iterdir():
        with suppress(ProcessLookupError):  # it ended meanwhile
            os.sched_setaffinity(int(thread.name), cores)
