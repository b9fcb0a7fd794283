"""One copy with a fault, as evidence to ask the commands about."""

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
    """One base that can have the fault; another seed may choose another one."""
    return random.Random(f"{seed} {fault.id}").choice([*bases_of(fault)])


def contradicted(path: str, folder: Path) -> list[str]:
    """What the commands cannot all be right about; ``folder`` takes what salvage writes."""
    return list(contradictions(answers([path], folder / "salvaged")))


def contradicted_by_fault(fault: Fault, base: Base, folder: Path) -> list[str]:
    """Make a fault in a copy of a base below ``folder``, and ask about it."""
    return contradicted(faulty_copy(fault, base, folder / "evidence"), folder)


def faulty_copy(fault: Fault, base: Base, root: Path) -> str:
    """Make a fault in a copy of a base below ``root``; return the path to ask about."""
    fault.change(base.copied(root / "disk"))
    return str(root) if fault.label is None else f"{fault.label}={root / 'disk'}"
