"""`verify`, `recoveries`, `replica-diff`, `salvage` and `plan` do not contradict each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fixtures import captures
from fixtures.faults.catalogue import FAULTS
from fixtures.synthetic import SCENARIOS
from fixtures.synthetic.across_replicas import CROSS_FAULTS
from tests.agreement.faulty_copy import base_of, contradicted, contradicted_by_fault

if TYPE_CHECKING:
    from pathlib import Path

    from fixtures.faults.fault import Fault
    from fixtures.synthetic.across_replicas import CrossFault


@pytest.mark.parametrize("state", captures.states())
def test_commands_agree_on_what_brokers_left(state: str, tmp_path: Path) -> None:
    assert contradicted(str(captures.path(state)), tmp_path) == []


@pytest.mark.parametrize("name", sorted(SCENARIOS))
def test_commands_agree_on_a_scenario(name: str, tmp_path: Path) -> None:
    assert contradicted(str(SCENARIOS[name].write(tmp_path / "evidence")), tmp_path) == []


@pytest.mark.parametrize("fault", CROSS_FAULTS, ids=lambda fault: fault.id)
def test_commands_agree_on_a_fault_across_replicas(fault: CrossFault, tmp_path: Path) -> None:
    assert contradicted(str(fault.write(tmp_path / "evidence")), tmp_path) == []


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.id)
def test_commands_agree_on_a_fault_of_one_copy(fault: Fault, tmp_path: Path) -> None:
    """The base depends on KAFKALOG_SEED; `make agreement-long` takes all bases."""
    base = base_of(fault)
    assert not contradicted_by_fault(fault, base, tmp_path), base.name
