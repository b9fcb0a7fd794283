"""A row of the table: the work, the peer, the target and the figure."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from benchmarks.rounds import Rounds

MIB: Final = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """The amount of work of a run; ``peers_only`` leaves out our side."""

    quick: bool = False
    peers_only: bool = False

    @property
    def rounds(self) -> int:
        return 3 if self.quick else 9

    @property
    def warm_seconds(self) -> float:
        """Seconds that the peer reads before it is measured: Java compiles meanwhile."""
        return 3.0 if self.quick else 5.0


@dataclass(frozen=True, slots=True)
class Target:
    """The promised figure. More is better for ratios (``×``) and speeds (``/s``), else less."""

    limit: float
    unit: str = "×"

    def met(self, value: float) -> bool:
        return value >= self.limit if self._wants_more else value <= self.limit

    def __str__(self) -> str:
        return f"{'≥' if self._wants_more else '≤'} {self.limit:g} {self.unit}"

    @property
    def _wants_more(self) -> bool:
        return self.unit == "×" or self.unit.endswith("/s")


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """The figure of a row; ``value`` is None if our side was not run."""

    ours: str
    peer: str
    value: float | None
    spread: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of the table; without a target it only informs."""

    name: str
    work: str
    against: str
    target: Target | None
    measure: Callable[[Bench], Figure]


def speed_figure(rounds: Rounds, amount: int, unit: str) -> Figure:
    """Two speeds and their ratio: each pass did ``amount`` of ``unit``."""
    ratios = rounds.ratios
    return Figure(
        ours=_speed(rounds.ours, amount, unit),
        peer=_speed(rounds.peer, amount, unit),
        value=median(ratios) if ratios else None,
        spread=(min(ratios), max(ratios)) if ratios else None,
    )


def _speed(seconds: Sequence[float], amount: int, unit: str) -> str:
    return f"{amount / median(seconds) / 1e6:.2f} M {unit}/s" if seconds else "–"
