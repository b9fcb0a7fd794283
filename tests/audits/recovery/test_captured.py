"""The predictions for damaged files equal what real brokers did with the same files."""

from __future__ import annotations

from functools import cache
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import fixtures
from fixtures.recovery import aged
from fixtures.recovery.capture import read_expected, unpack
from fixtures.recovery.clean_damages import CLEAN
from fixtures.recovery.copied_replica import CopiedReplica
from fixtures.recovery.unclean_damages import UNCLEAN
from tests.oracle.recovery_agreement import disagreements, predictions

if TYPE_CHECKING:
    from fixtures.recovery.observation import Observation

CAPTURE = Path(fixtures.__file__).parent / "recovery" / "captured"
IS_BEFORE_4_4 = "Apache Kafka 4.3" in (CAPTURE / "README.md").read_text()
DAMAGES = {
    "killed": {damage.name: damage for damage in (*UNCLEAN, *aged.KILLED)},
    "stopped": {damage.name: damage for damage in (*CLEAN, *aged.STOPPED)},
}


@cache
def _starts() -> dict[str, list[Observation]]:
    expected = sorted(read_expected(CAPTURE), key=lambda each: each.start)
    return {start: list(each) for start, each in groupby(expected, lambda each: each.start)}


@pytest.mark.parametrize("start", list(_starts()))
def test_start_comes_as_it_came(start: str, tmp_path: Path) -> None:
    kind = "stopped" if start.startswith("clean") else "killed"
    started_at = unpack(CAPTURE, kind, tmp_path)
    observed = _starts()[start]
    for each in observed:
        topic, _, partition = each.partition.rpartition("-")
        damage = DAMAGES[kind][each.damage]
        damage.inject(CopiedReplica(tmp_path, topic, int(partition)))
    predicted = predictions(tmp_path, started_at=started_at, is_before_4_4=IS_BEFORE_4_4)
    assert list(disagreements(observed, predicted)) == []


def test_every_damage_was_started_on() -> None:
    started = {
        (each.start.startswith("clean"), each.damage) for s in _starts().values() for each in s
    }
    assert started == {
        (damage.is_clean, damage.name)
        for by_name in DAMAGES.values()
        for damage in by_name.values()
    }


def test_every_outcome_was_seen() -> None:
    outcomes = {each.outcome for observed in _starts().values() for each in observed}
    assert outcomes == {
        "loads", "hidden", "cut", "emptied", "stray", "directoryOffline", "brokerAborts", "expired",
    }  # fmt: skip
