"""Committed captures of several brokers are read as their scenarios define them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fixtures import captures, truth
from tests.captures import replication

if TYPE_CHECKING:
    from collections.abc import Callable

    from fixtures.truth import CaptureTruth, Truth


@pytest.fixture(params=["s1", "s3_2", "s5_1", "s5_2"], scope="module")
def scenario(request: pytest.FixtureRequest) -> Truth:
    return truth.load(captures.path(request.param))


@pytest.mark.parametrize("holds", replication.ALL, ids=lambda check: check.__name__)
def test_reader_agrees_with_the_scenario(
    scenario: Truth, holds: Callable[[Truth, CaptureTruth], None]
) -> None:
    for capture in scenario.captures.values():
        holds(scenario, capture)
