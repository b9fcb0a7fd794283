"""`verify`, `recoveries`, `replica-diff`, `salvage` and `plan` do not contradict each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fixtures import CAPTURES
from fixtures.builder import cluster
from fixtures.builder.metadata_log import metadata_log
from fixtures.faults.catalogue import FAULTS, bases_of
from fixtures.synthetic import SCENARIOS
from fixtures.synthetic.across_replicas import CROSS_FAULTS
from tests.agreement.commands import answers, contradictions

if TYPE_CHECKING:
    from pathlib import Path

    from fixtures.faults.fault import Fault
    from fixtures.synthetic.across_replicas import CrossFault

STATES = sorted(
    path.relative_to(CAPTURES)
    for path in CAPTURES.glob("*/*")
    if path.is_dir() and path.name != "truth"
)


def contradicted(tmp_path: Path, path: str) -> list[str]:
    return list(contradictions(answers([path], tmp_path / "salvaged")))


@pytest.mark.parametrize("state", STATES, ids=str)
def test_commands_agree_on_what_brokers_left(state: Path, tmp_path: Path) -> None:
    assert contradicted(tmp_path, str(CAPTURES / state)) == []


@pytest.mark.parametrize("name", sorted(SCENARIOS))
def test_commands_agree_on_a_scenario(name: str, tmp_path: Path) -> None:
    SCENARIOS[name].write(tmp_path / "evidence")
    assert contradicted(tmp_path, str(tmp_path / "evidence")) == []


@pytest.mark.parametrize("fault", CROSS_FAULTS, ids=lambda fault: fault.id)
def test_commands_agree_on_a_fault_across_replicas(fault: CrossFault, tmp_path: Path) -> None:
    brokers = {node: [copy.build()] for node, copy in fault.copies().items()}
    if fault.metadata is not None:
        brokers[0].append(metadata_log([fault.metadata]))
    cluster(tmp_path / "evidence", brokers)
    assert contradicted(tmp_path, str(tmp_path / "evidence")) == []


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.id)
def test_commands_agree_on_a_fault_of_one_copy(fault: Fault, tmp_path: Path) -> None:
    """One base a fault, another one for the next."""
    bases = [*bases_of(fault)]
    sample = bases[FAULTS.index(fault) % len(bases)].copied(tmp_path / "evidence" / "disk")
    fault.change(sample)
    path = tmp_path / "evidence"
    assert not contradicted(
        tmp_path, str(path) if fault.label is None else f"{fault.label}={path / 'disk'}"
    )
