"""Scenarios of the reference on real brokers: verdict, fork, findings, rows of all elections.

The expected rows follow from the content of each replica in the scenario. A follower truncates at
the end of the common prefix, or at its high watermark in releases without leader epochs.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

import kafkalog_reader
from fixtures import live, truth
from fixtures.elections.agreement import disagreements
from fixtures.elections.observation import observations
from tests.captures import replication
from tests.fixtures import consistency

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from fixtures.truth import CaptureTruth, Truth

    Run = Callable[[str], Truth]

pytestmark = pytest.mark.oracle

VERDICTS: Final = {
    "s2": {"cut-off": "consistent", "elected": "consistent"},
    "s3_1": {"cut-off": "lagging", "healed": "consistent"},
    "s3_2_b": {"both-led": "forked", "healed": "consistent"},
    "s4_1": {"cut-off": "lagging"},
    "s4_2": {"both-led": "forked", "healed": "consistent"},
    "h2": {"behind": "lagging", "returned": "consistent"},
    "h4": {"sent-again": "lagging"},
    "s3_2_2.8.2": {"both-led": "forked", "healed": "consistent"},
    **{
        f"s5_{number}_{release}": {
            "a-down": "lagging",
            "c-written": "forked",
            "d-resynchronised": "consistent",
        }
        for number in (1, 2)
        for release in ("2.8.2", "0.11.0.3", "0.10.2.2")
    },
    "s5_2_0.10.2.2": {"a-down": "lagging", "c-written": "forked", "d-diverged": "forked"},
}
CODES: Final = {"s3_2_b": {"KL-503", "KL-601"}, "h4": {"KL-502", "KL-602"}, "s2": {"KL-522"}}
"""Findings that some capture of a scenario must show."""


AT_ONCE: Final = 2
"""Scenarios that are set up at the same time: each mostly waits for sessions to end."""


@pytest.fixture(scope="module")
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    """Set up the scenarios of the chosen tests, in their order."""
    folder = tmp_path_factory.mktemp("scenarios")
    with ThreadPoolExecutor(AT_ONCE) as pool:
        started = {
            name: pool.submit(live.run, name, folder / name)
            for name in VERDICTS
            if name in _asked_for(request.session.items)
        }
        try:
            yield lambda name: truth.load(started[name].result())
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _asked_for(items: list[pytest.Item]) -> set[str]:
    """The scenarios of the chosen tests of this module; a test without a scenario needs all."""
    ours = [each for each in items if each.path == Path(__file__)]
    named = {each.callspec.params["name"] for each in ours if hasattr(each, "callspec")}
    return named if len(named) == len(ours) else set(VERDICTS)


@pytest.mark.parametrize("name", VERDICTS)
def test_scenario_is_reported_as_it_was_made(run: Run, name: str) -> None:
    scenario = run(name)
    assert set(scenario.captures) == set(VERDICTS[name])
    found = set()
    for capture in scenario.captures.values():
        _check(scenario, capture)
        opened = kafkalog_reader.open(*sorted(map(str, capture.files.glob("broker-*"))))
        (partition,) = opened.table("partitions", topic="t").to_arrow().to_pylist()
        known = scenario.expected["captures"][capture.name]
        assert partition["verdict"] == VERDICTS[name][capture.name], capture.name
        assert partition["forkOffset"] == known["forkOffset"], capture.name
        rows = opened.table("elections", topic="t").to_arrow().to_pylist()
        predicted = {(row["candidateBrokerId"], row["followerBrokerId"]): row for row in rows}
        expected = dict(_expected_rows(known["replicas"]))
        assert set(predicted) == set(expected)
        for pair, columns in expected.items():
            assert columns == {column: predicted[pair][column] for column in columns}, pair
        whole = kafkalog_reader.open(*sorted(map(str, capture.files.iterdir())))
        findings = whole.table("findings", topic="t").to_arrow().to_pylist()
        found |= {finding["code"] for finding in findings}
    assert found >= CODES.get(name, set())


def test_every_candidate_in_every_state_of_the_scenarios(run: Run, tmp_path: Path) -> None:
    states = [
        f"{name}.{capture.name}={capture.files}"
        for name in VERDICTS
        for capture in run(name).captures.values()
    ]
    output = live.run("elections", tmp_path / "output", "0,1,2", *states)
    assert disagreements(output) == []
    assert len({each.state for each in observations(output)}) == len(states)


def _check(scenario: Truth, capture: CaptureTruth) -> None:
    is_latest = scenario.expected["kafka"].startswith("4.")
    if is_latest:
        for holds in (*consistency.ALL, *replication.ALL):
            holds(scenario, capture)
    else:  # their tool and their log lines differ
        replication.each_copy_holds_the_records_it_is_known_to_hold(scenario, capture)
        replication.leader_epochs_are_those_of_the_scenario(scenario, capture)


def _expected_rows(
    replicas: dict[str, Any],
) -> Iterator[tuple[tuple[int, int], dict[str, Any]]]:
    logs = {
        int(broker): [(each["leaderEpoch"], each["value"]) for each in replica["records"]]
        for broker, replica in replicas.items()
    }
    everything = {(at, *record) for log in logs.values() for at, record in enumerate(log)}
    for leader, leads in logs.items():
        for follower, log in logs.items():
            if follower == leader:
                continue
            fork = next(
                (at for at, pair in enumerate(zip(leads, log, strict=False)) if pair[0] != pair[1]),
                min(len(leads), len(log)),
            )
            has_epochs = bool(replicas[str(follower)]["leaderEpochs"])
            mark = replicas[str(follower)]["highWatermark"]
            end = fork if has_epochs else min(mark, len(leads))
            columns = {
                "followerLogEndOffset": len(log),
                "recordsCutAtStart": 0,
                "truncationOffset": end if end < len(log) else len(log),
                "recordsCut": len(log) - min(end, len(log)),
                "silentDivergence": min(end, len(log)) > fork,
            }
            if has_epochs:
                kept = {(at, *record) for at, record in enumerate(leads)}
                columns["lostRecords"] = len(everything - kept)
            yield (leader, follower), columns
