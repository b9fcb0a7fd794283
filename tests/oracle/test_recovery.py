"""Real brokers start on damaged files; what they do is what was predicted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fixtures import live
from fixtures.recovery.clean_damages import CLEAN
from fixtures.recovery.unclean_damages import UNCLEAN
from tests.oracle.recovery_agreement import cases, disagreements

if TYPE_CHECKING:
    from pathlib import Path

DAMAGES = (*UNCLEAN, *CLEAN)
TOGETHER = [damage for damage in DAMAGES if not damage.alone]


@pytest.mark.broker
def test_broker_does_with_shared_damage_what_was_predicted(tmp_path: Path) -> None:
    output = live.run("recovery_together", tmp_path / "output")
    assert disagreements(output) == []
    assert len(list(cases(output))) == len(TOGETHER) >= 100


@pytest.mark.oracle
def test_broker_does_with_every_damage_what_was_predicted(tmp_path: Path) -> None:
    output = live.run("recovery", tmp_path / "output", timeout=900)
    assert disagreements(output) == []
    assert len(list(cases(output))) == len(DAMAGES) >= 130
