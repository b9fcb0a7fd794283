"""Real brokers that start on damaged files do what was predicted."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import pytest

from fixtures import live
from fixtures.recovery import aged
from fixtures.recovery.clean_damages import CLEAN
from fixtures.recovery.observation import observations
from fixtures.recovery.start import BEFORE
from fixtures.recovery.unclean_damages import UNCLEAN
from tests.oracle.recovery_agreement import disagreements, predictions

if TYPE_CHECKING:
    from pathlib import Path

    from fixtures.recovery.observation import Observation

DAMAGES = (*UNCLEAN, *CLEAN, *aged.KILLED, *aged.STOPPED)
AGED = {damage.name for damage in (*aged.KILLED, *aged.STOPPED)}
YOUNG = {"first-segment-older-than-retention-and-without-time-index"}
"""Without a time index, the file's modification time counts."""
TOGETHER = [damage for damage in DAMAGES if not damage.alone]


@pytest.mark.broker
def test_broker_does_with_shared_damage_what_was_predicted(tmp_path: Path) -> None:
    output = live.run("recovery_2", tmp_path / "output")
    assert _disagreements(output) == []
    assert _expired(output) & AGED == AGED - YOUNG
    assert len(observations(output)) == len(TOGETHER) >= 100


@pytest.mark.oracle
def test_broker_does_with_every_damage_what_was_predicted(tmp_path: Path) -> None:
    output = live.run("recovery", tmp_path / "output", timeout=1800)
    assert _disagreements(output) == []
    assert _expired(output) & AGED == AGED - YOUNG
    assert len(observations(output)) == len(DAMAGES) >= 180


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("release", "fewest"), [("2.8.2", 100), ("0.11.0.3", 100), ("0.10.2.2", 80)]
)
def test_old_broker_does_with_damage_what_was_predicted(
    release: str, fewest: int, tmp_path: Path
) -> None:
    output = live.run(f"recovery_{release}", tmp_path / "output", timeout=400)
    assert _disagreements(output, release) == []
    assert len(observations(output)) >= fewest


def _expired(output: Path) -> set[str]:
    """The damage after which retention deleted segments."""
    return {each.damage for each in observations(output) if each.outcome == "expired"}


def _disagreements(output: Path, release: str | None = None) -> list[str]:
    by_start: dict[str, list[Observation]] = defaultdict(list)
    for each in observations(output):
        by_start[each.start].append(each)
    return [
        line
        for start, observed in by_start.items()
        for line in disagreements(observed, predictions(output / start / BEFORE, release))
    ]
