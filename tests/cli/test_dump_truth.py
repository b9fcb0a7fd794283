"""Every line about every file of the real captures is what Kafka 4.3.1 printed about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fixtures import CAPTURES, jars, truth

if TYPE_CHECKING:
    from tests.cli.conftest import Run

EVERY = [
    (scenario.parent.name, capture)
    for scenario in sorted(CAPTURES.glob(f"*/{truth.EXPECTED}"))
    # Tools of older releases print otherwise.
    if truth.load(scenario.parent).expected["kafka"] in (jars.LATEST, jars.LATEST_TOOLS)
    for capture in truth.load(scenario.parent).captures
]


def test_there_are_captures() -> None:
    assert "s3_2" in {scenario for scenario, _capture in EVERY}


@pytest.mark.parametrize("deep", [False, True], ids=["batches", "records"])
@pytest.mark.parametrize(("scenario", "capture"), EVERY)
def test_every_line_is_kafkas(
    scenario: str, capture: str, deep: bool, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(CAPTURES / scenario)
    dumped = list(truth.load(CAPTURES / scenario).captures[capture].dump(deep=deep))
    assert dumped
    answer = run("dump", *(["--deep-iteration"] if deep else []), *(file.file for file in dumped))
    assert answer.status == 0
    expected = [line for file in dumped for line in (f"Dumping {file.file}", *file.lines)]
    assert answer.out.splitlines() == expected
