"""What real nodes do with a damaged metadata log, and what the commands said before the start."""

from __future__ import annotations

import json
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from fixtures import live
from fixtures.quorums.metadata_damage import TOPIC, damages
from fixtures.scenarios.metadata_starts import ENDS, LAYOUTS, OBSERVED, PARTITIONS, READY, RELEASES
from kafkalog_reader.cli.main import kafkalog
from kafkalog_reader.cli.run import status

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.oracle

Run = tuple[str, str]
RUNS: list[Run] = [(layout, release) for layout in LAYOUTS for release in RELEASES]
STARTS = [
    pytest.param((layout, release), role, state, id=f"{release}-{role}-{state}")
    for layout, release in RUNS
    for role in LAYOUTS[layout]
    for state in damages(release)
]

EITHER = {("3.9.1", "broker", "cutBelowChange")}
"""Came up in one run and waited in others, for the same files."""


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[Run, Future[Path]]]:
    """The runs, two at a time: a start leaves half of a small machine idle."""
    folder = tmp_path_factory.mktemp("starts")
    with ThreadPoolExecutor(2) as pool:
        yield {
            run: pool.submit(live.run, "metadata_starts", folder / "-".join(run), *run)
            for run in RUNS
        }


def said(capfd: pytest.CaptureFixture[str], *command: str) -> list[dict[str, Any]]:
    capfd.readouterr()
    status(kafkalog, [*command, "--format", "json"])
    return [json.loads(line) for line in capfd.readouterr().out.splitlines()]


@pytest.mark.parametrize(("run", "role", "state"), STARTS)
def test_node_does_what_was_predicted(
    outputs: dict[Run, Future[Path]],
    run: Run,
    role: str,
    state: str,
    capfd: pytest.CaptureFixture[str],
) -> None:
    output = outputs[run].result()
    found = json.loads((output / OBSERVED).read_text())[role][state]
    comes_up = found["outcome"] == READY
    root = str(output / role / state)
    rows = [each for each in said(capfd, "table", "recoveries", root) if each["topic"] == TOPIC]
    assert len(rows) == PARTITIONS
    (quorum,) = said(capfd, "quorum", root)
    refuses = {each["nodeId"]: each["refusal"] is not None for each in quorum["copies"]}
    if role != "broker":
        (controller,) = (each for each in quorum["voters"])
        assert refuses[controller["nodeId"]] != comes_up, quorum["copies"]
    if (run[1], role, state) in EITHER:
        return
    if role != "controller":
        aborts = {each["outcome"] == "brokerAborts" for each in rows}
        assert aborts == {not comes_up}, rows
    stray = [f"{TOPIC}-{each['partition']}" for each in rows if each["outcome"] == "stray"]
    assert sorted(stray) == found["stray"], rows


def test_states_tell_predictions_apart(outputs: dict[Run, Future[Path]]) -> None:
    for run in RUNS:
        observed = json.loads((outputs[run].result() / OBSERVED).read_text())
        for role, states in observed.items():
            assert states["sound"] == states["sound"] | {"outcome": READY, "stray": []}, (run, role)
            ended = {name for name, each in states.items() if each["outcome"] == ENDS}
            assert ("unknownFeature" in ended) == (role != "broker"), (run, role)
            if run[1] == "3.3.2":  # its log begins at offset 0
                assert "zeroed" not in ended, (run, role)
            elif (role, run[1]) != ("broker", "3.6.2"):
                assert "zeroed" in ended, (run, role)
        if "combined" in observed:
            assert bool(observed["combined"]["cut"]["stray"]) == (run[1] != "3.3.2"), run
