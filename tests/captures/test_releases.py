"""Committed captures of old releases hold what their clients saw."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fixtures import captures, truth
from fixtures.release import RELEASES
from tests.captures import released

if TYPE_CHECKING:
    from collections.abc import Callable

    from fixtures.truth import CaptureTruth, Truth

MAX_SIZE = 300_000


@pytest.fixture(params=RELEASES, scope="module")
def scenario(request: pytest.FixtureRequest) -> Truth:
    return truth.load(captures.path(f"release_{request.param}"))


@pytest.mark.parametrize("holds", released.ALL, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", ["running", "stopped"])
def test_capture_is_what_the_release_said(
    scenario: Truth, name: str, holds: Callable[[Truth, CaptureTruth], None]
) -> None:
    holds(scenario, scenario.captures[name])


def test_captures_are_of_this_release_and_small(scenario: Truth) -> None:
    assert scenario.path.name == f"release_{scenario.expected['kafka']}"
    for capture in scenario.captures.values():
        assert sum(path.stat().st_size for path in capture.files.rglob("*")) < MAX_SIZE
