"""Committed captures of several brokers are read as their scenarios define them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fixtures import captures, truth
from tests.captures import replication

if TYPE_CHECKING:
    from collections.abc import Callable

    from fixtures.truth import CaptureTruth, Truth


@pytest.fixture(params=["s1", "s3_2", "s3_2_b", "s5_1", "s5_2"], scope="module")
def scenario(request: pytest.FixtureRequest) -> Truth:
    return truth.load(captures.path(request.param))


@pytest.mark.parametrize("holds", replication.ALL, ids=lambda check: check.__name__)
def test_reader_agrees_with_the_scenario(
    scenario: Truth, holds: Callable[[Truth, CaptureTruth], None]
) -> None:
    for capture in scenario.captures.values():
        holds(scenario, capture)


@pytest.mark.parametrize(
    "holds",
    [
        replication.each_copy_holds_the_records_it_is_known_to_hold,
        replication.leader_epochs_are_those_of_the_scenario,
    ],
    ids=lambda check: check.__name__,
)
def test_reader_agrees_with_brokers_from_before_leader_epochs(
    holds: Callable[[Truth, CaptureTruth], None],
) -> None:
    """Their dump and their log lines differ."""
    scenario = truth.load(captures.path("s5_2_0.10.2.2"))
    assert set(scenario.captures) == {"a-down", "c-written", "d-diverged"}
    for capture in scenario.captures.values():
        holds(scenario, capture)
