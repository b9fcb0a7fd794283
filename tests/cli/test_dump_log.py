"""Every line for every file of the real captures equals the output of Kafka 4.3.1."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fixtures import captures, jars, truth

if TYPE_CHECKING:
    from tests.cli.conftest import Run

EVERY = [
    (scenario, capture)
    for scenario in captures.names()
    # Tools of older releases use another format.
    if truth.load(captures.path(scenario)).expected["kafka"] in (jars.LATEST, jars.LATEST_TOOLS)
    for capture in truth.load(captures.path(scenario)).captures
]


def test_there_are_captures() -> None:
    assert "s3_2" in {scenario for scenario, _capture in EVERY}


@pytest.mark.parametrize("deep", [False, True], ids=["batches", "records"])
@pytest.mark.parametrize(("scenario", "capture"), EVERY)
def test_every_line_is_kafkas(
    scenario: str, capture: str, deep: bool, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(captures.path(scenario))
    dumped = list(truth.load(captures.path(scenario)).captures[capture].dump(deep=deep))
    assert dumped
    answer = run("dump", *(["--deep-iteration"] if deep else []), *(file.file for file in dumped))
    assert answer.status == 0
    expected = [line for file in dumped for line in (f"Dumping {file.file}", *file.lines)]
    assert answer.out.splitlines() == expected
