"""Scenarios of several real brokers pass the checks of the committed captures."""

from __future__ import annotations

import tempfile
from typing import TYPE_CHECKING, Any

import pytest

from fixtures import live, truth
from tests.captures import replication
from tests.fixtures import consistency
from tests.live.processes import processes_naming

if TYPE_CHECKING:
    from pathlib import Path

    from fixtures.truth import Truth


@pytest.fixture
def run(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Truth:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))  # brokers' commands name it
    output = live.run(request.param, tmp_path / "output")
    assert processes_naming(tmp_path) == []
    return truth.load(output)


@pytest.mark.broker
@pytest.mark.parametrize("run", ["s3_2"], indirect=True)
def test_two_leaders_write_and_the_cut_off_one_loses(run: Truth) -> None:
    _check(run)
    captures = run.expected["captures"]
    assert captures["both-led"]["forkOffset"] == 2
    assert _log_ends(captures["both-led"]) == [5, 4, 4]
    assert _log_ends(captures["healed"]) == [4, 4, 4]


@pytest.mark.oracle
@pytest.mark.parametrize("run", ["s1"], indirect=True)
def test_record_that_failed_for_its_producer_is_kept_twice(run: Truth) -> None:
    _check(run)
    captures = run.expected["captures"]
    assert _log_ends(captures["stale"]) == _log_ends(captures["shrunk"]) == [4, 2, 4]
    assert _log_ends(captures["healed"]) == [4, 4, 4]


@pytest.mark.oracle
@pytest.mark.parametrize("run", ["s5_1", "s5_2"], indirect=True)
def test_record_only_the_crashed_leader_had_is_cut(run: Truth) -> None:
    _check(run)
    captures = run.expected["captures"]
    assert _log_ends(captures["a-down"]) == [3, 2]
    assert captures["c-written"]["forkOffset"] == 2
    values = [each["value"] for each in captures["d-resynchronised"]["replicas"]["0"]["records"]]
    assert values == ["a", "b", "d"]


def _check(scenario: Truth) -> None:
    for capture in scenario.captures.values():
        for holds in (*consistency.ALL, *replication.ALL):
            holds(scenario, capture)


def _log_ends(capture: dict[str, Any]) -> list[int]:
    return [replica["logEnd"] for replica in capture["replicas"].values()]
