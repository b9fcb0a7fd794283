"""Makes one faulty copy as evidence for the commands."""

from __future__ import annotations

import os
import random
from typing import TYPE_CHECKING, Final

from fixtures.faults.catalogue import bases_of
from tests.agreement.commands import answers, contradictions

if TYPE_CHECKING:
    from pathlib import Path

    from fixtures.faults.fault import Fault
    from fixtures.faults.sample import Base

SEED: Final = os.environ.get("KAFKALOG_SEED", "1")


def base_of(fault: Fault, seed: str = SEED) -> Base:
    """A base that can have the fault, chosen by the seed."""
    return random.Random(f"{seed} {fault.id}").choice([*bases_of(fault)])


def contradicted(path: str, folder: Path) -> list[str]:
    """The contradictions between the commands; ``folder`` receives the output of `salvage`."""
    return list(contradictions(answers([path], folder / "salvaged")))


def contradicted_by_fault(fault: Fault, base: Base, folder: Path) -> list[str]:
    """Make a fault in a copy of a base below ``folder``; return the contradictions."""
    return contradicted(faulty_copy(fault, base, folder / "evidence"), folder)


def faulty_copy(fault: Fault, base: Base, root: Path) -> str:
    """Make a fault in a copy of a base below ``root``; return the path for the commands."""
    fault.change(base.copied(root / "disk"))
    return str(root) if fault.label is None else f"{fault.label}={root / 'disk'}"
