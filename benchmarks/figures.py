"""The last figure of every row that was measured in full, kept in a file between runs."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from benchmarks.row import Figure

if TYPE_CHECKING:
    from collections.abc import Mapping

FILE: Final = Path(__file__).with_suffix(".json")


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """A figure and the day (UTC, ISO 8601) it was taken."""

    figure: Figure
    day: str


def load(file: Path = FILE) -> dict[str, Measured]:
    """Figures by the name of their row; none without the file."""
    if not file.exists():
        return {}
    return {name: _measured(**kept) for name, kept in json.loads(file.read_text()).items()}


def save(figures: Mapping[str, Measured], file: Path = FILE) -> None:
    """Write all figures, one row per line, so that a diff shows which were measured again."""
    lines = (f"  {json.dumps(name)}: {_line(kept)}" for name, kept in figures.items())
    file.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def _line(kept: Measured) -> str:
    figure = kept.figure
    known: dict[str, Any] = {
        "day": kept.day,
        "value": figure.value,
        "spread": figure.spread,
        "ours": figure.ours,
        "peer": figure.peer,
    }
    return json.dumps(known, ensure_ascii=False)


def _measured(
    day: str, value: float, spread: tuple[float, float] | None, ours: str, peer: str
) -> Measured:
    between = None if spread is None else (spread[0], spread[1])
    return Measured(figure=Figure(ours=ours, peer=peer, value=value, spread=between), day=day)
