"""Another cluster gets the committed offsets from a file that ``kafkalog groups`` wrote."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from fixtures import live
from fixtures.scenarios.groups_moved import GROUPS, SEEN

if TYPE_CHECKING:
    from pathlib import Path

EXPECTED = {
    group: sorted([topic, partition, offset] for (topic, partition), offset in commits.items())
    for group, commits in GROUPS.items()
}


@pytest.mark.oracle
def test_kafka_sets_the_offsets_of_a_reset_file(tmp_path: Path) -> None:
    output = live.run("groups_moved", tmp_path / "output")
    seen = json.loads((output / SEEN).read_text())
    found = {
        name: {group: sorted(offsets) for group, offsets in groups.items()}
        for name, groups in seen.items()
    }
    assert found == {"both": EXPECTED, "billing": {"billing": EXPECTED["billing"]}}
