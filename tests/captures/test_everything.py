"""The committed captures of scenario ``everything`` are read as their clients saw them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fixtures import captures, truth
from tests.captures import agreement, every_kind

if TYPE_CHECKING:
    from collections.abc import Callable

    from fixtures.truth import CaptureTruth, Truth

CAPTURES = ("running", "stopped", "killed")


@pytest.fixture(scope="module")
def everything() -> Truth:
    return truth.load(captures.path("everything"))


def test_all_captures_are_tested(everything: Truth) -> None:
    assert tuple(everything.captures) == CAPTURES


@pytest.mark.parametrize("agrees", agreement.ALL, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", CAPTURES)
def test_reader_agrees_with_the_broker(
    everything: Truth, name: str, agrees: Callable[[Truth, CaptureTruth], None]
) -> None:
    agrees(everything, everything.captures[name])


@pytest.mark.parametrize("holds", every_kind.ALL, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", CAPTURES)
def test_capture_is_of_every_kind(
    everything: Truth, name: str, holds: Callable[[Truth, CaptureTruth], None]
) -> None:
    holds(everything, everything.captures[name])
