"""``kafkalog dump`` decodes internal topics to the output of Kafka's tool."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from fixtures import captures, jars
from fixtures.dump import dump_log_segments

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Run

pytestmark = pytest.mark.oracle

TOPICS = {
    "__consumer_offsets": "--offsets-decoder",
    "__transaction_state": "--transaction-log-decoder",
    "__cluster_metadata": "--cluster-metadata-decoder",
}


@pytest.mark.parametrize("option", TOPICS.values(), ids=TOPICS)
def test_every_line_is_that_of_kafkas_tool(
    option: str, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    topic = next(name for name, each in TOPICS.items() if each == option)
    for state in captures.states():
        for path in captures.path(state).glob(f"*/{topic}-*"):
            target = tmp_path / "states" / state.replace("/", "-") / path.parent.name / path.name
            shutil.copytree(path, target)
    names = sorted(path.name for path in (tmp_path / "states").iterdir())
    expected = dump_log_segments(tmp_path / "states", names, [".log"], [option])
    monkeypatch.chdir(tmp_path / "states")
    files = [
        line.removeprefix("Dumping ")
        for line in expected.splitlines()
        if line.startswith("Dumping ")
    ]
    found = run("dump", option, *files).out
    assert len(files) > 5
    assert "| offset: " in expected
    assert found.splitlines() == expected.splitlines(), jars.LATEST_TOOLS
