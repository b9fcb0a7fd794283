"""A real broker that starts with wrong disks does what was predicted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pytest

import kafkalog_reader
from fixtures import live
from fixtures.disks.base import BROKER
from fixtures.disks.start import BEFORE, read_seen
from fixtures.disks.states import STATES

if TYPE_CHECKING:
    from pathlib import Path

_LOSSES: Final = ("cut", "emptied", "expired")


@pytest.mark.oracle
def test_broker_does_with_its_disks_what_was_predicted(tmp_path: Path) -> None:
    output = live.run("disks", tmp_path / "output", timeout=600)
    assert [line for state in STATES for line in disagreements(output, state.name)] == []
    outcomes = {each.outcome for state in STATES for each in read_seen(output / state.name)}
    assert outcomes == {"loads", "cut", "stray", "directoryOffline", "brokerAborts"}


def disagreements(output: Path, state: str) -> list[str]:
    """The differences from the prediction, as text."""
    predicted = _predicted(output, state)
    found = []
    for each in read_seen(output / state):
        place = (each.disk, each.topic, each.partition)
        row = predicted.get(place)
        if row is None:
            found.append(f"{state} {place}: came {each.outcome}, nothing was predicted")
            continue
        outcome = "cut" if row["outcome"] in _LOSSES else row["outcome"]
        outcome = "loads" if outcome == "hidden" else outcome
        came = each.outcome, each.log_end
        if (outcome, row["logEndOffsetAfterStart"]) != came:
            found.append(
                f"{state} {place}: predicted {outcome}, {row['logEndOffsetAfterStart']}, "
                f"came {came} ({row['reason']})"
            )
    return found


def _predicted(output: Path, state: str) -> dict[tuple[str, str, int], dict[str, Any]]:
    folders = (f"{BROKER}={output / state / BEFORE}", str(output / "base" / "controller"))
    rows = (
        kafkalog_reader.open(*folders, follow_links=True).table("recoveries").to_arrow().to_pylist()
    )
    return {
        (row["logDirectory"].rpartition("/")[2], row["topic"], row["partition"]): row
        for row in rows
    }
