"""Controllers that never knew the topics of a broker: what ``kafkalog quorum`` prints keeps all."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from fixtures import live
from fixtures.scenarios.younger_controllers import LATER, OBSERVED, PARTITIONS, RECORDS, TOPIC

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.oracle


@pytest.fixture(scope="module")
def observed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    folder: Path = tmp_path_factory.mktemp("younger") / "output"
    output = live.run("younger_controllers", folder)
    found: dict[str, dict[str, Any]] = json.loads((output / OBSERVED).read_text())
    return found


def folders(*topics: str) -> list[str]:
    return sorted(f"{topic}-{number}" for topic in topics for number in range(PARTITIONS))


@pytest.mark.parametrize(
    ("state", "verdict", "stray", "served"),
    [
        ("twoIds", "noMajority", [], [TOPIC, LATER]),
        ("formatted", "youngerLog", [TOPIC], [TOPIC]),
        ("restored", "youngerLog", [LATER], [TOPIC, LATER]),
    ],
)
def test_all_partitions_are_served_after_the_steps(
    observed: dict[str, dict[str, Any]],
    state: str,
    verdict: str,
    stray: list[str],
    served: list[str],
) -> None:
    found = observed[state]
    assert found["answer"]["verdict"] == verdict
    assert found["strayAsItIs"] == folders(*stray)
    assert found["strayAfterwards"] == []
    assert sorted(found["records"]) == folders(*served)
    assert sum(found["records"].values()) == RECORDS * len(served)
