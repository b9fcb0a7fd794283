"""The states in which candidates are elected: committed captures, and the synthetic scenarios."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from fixtures.synthetic import SCENARIOS

CAPTURES: Final = Path(__file__).parents[2] / "fixtures" / "captures"
REPLICATED: Final = ("s1", "s3_2", "s5_1", "s5_2")


def captured_states(captures: Path = CAPTURES) -> list[str]:
    """The committed captures of several brokers, as scenario ``elections`` takes them."""
    return [
        f"{name}.{folder.name}={folder}"
        for name in REPLICATED
        for folder in sorted((captures / name).iterdir())
        if folder.is_dir() and folder.name != "truth"
    ]


def synthetic_states(root: Path) -> list[str]:
    """The reference's scenarios, written by the builder below ``root``."""
    return [f"{name}={scenario.write(root / name)}" for name, scenario in SCENARIOS.items()]
