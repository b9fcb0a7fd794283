"""The evidence from which parts are taken: captures, scenarios, faults and random clusters."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from fixtures import captures
from fixtures.elections.vote import BEFORE
from fixtures.faults.catalogue import FAULTS
from fixtures.plans.random_cluster import deal, sources
from fixtures.synthetic import SCENARIOS
from fixtures.synthetic.across_replicas import CROSS_FAULTS
from tests.agreement.faulty_copy import SEED, base_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from fixtures.faults.fault import Fault
    from fixtures.faults.sample import Base


@dataclass(frozen=True, slots=True)
class Input:
    """Evidence that can be written."""

    name: str
    write: Callable[[Path], object]


def _copy(state: str, root: Path) -> None:
    shutil.copytree(captures.path(state), root)


def _fault(fault: Fault, base: Base, root: Path) -> None:
    fault.change(base.copied(root / "disk"))


def _dealt(seed: int, root: Path) -> None:
    scratch = root.parent / "dealt"
    scratch.mkdir()
    deal(seed, sources(scratch), scratch, scratch / "output")
    (scratch / "output" / BEFORE).rename(root)


def inputs(clusters: int = 30) -> Iterator[Input]:
    """All of them."""
    for state in captures.states():
        yield Input(f"capture {state}", partial(_copy, state))
    for name in sorted(SCENARIOS):
        yield Input(f"scenario {name}", SCENARIOS[name].write)
    for seed in range(clusters):
        yield Input(f"cluster {seed}", partial(_dealt, seed))
    for fault in CROSS_FAULTS:
        yield Input(f"across {fault.id}", fault.write)
    for fault in FAULTS:
        if fault.label is None:
            yield Input(f"fault {fault.id}", partial(_fault, fault, base_of(fault, SEED)))
