"""The states in which candidates are elected: committed captures and synthetic scenarios."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from fixtures import captures
from fixtures.synthetic import SCENARIOS

if TYPE_CHECKING:
    from pathlib import Path

REPLICATED: Final = ("s1", "s3_2", "s5_1", "s5_2")


def captured_states() -> list[str]:
    """The committed captures of several brokers, as input for scenario ``elections``."""
    return [
        f"{state.replace('/', '.')}={captures.path(state)}"
        for state in captures.states(*REPLICATED)
    ]


def synthetic_states(root: Path) -> list[str]:
    """The reference's scenarios, written by the builder below ``root``."""
    return [f"{name}={scenario.write(root / name)}" for name, scenario in SCENARIOS.items()]
