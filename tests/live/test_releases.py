"""Brokers of old releases pass the checks of the committed captures."""

from __future__ import annotations

import tempfile
from typing import TYPE_CHECKING

import pytest

from fixtures import live, truth
from fixtures.release import RELEASES
from tests.captures import released
from tests.live.processes import processes_naming

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.oracle


@pytest.mark.parametrize("release", RELEASES)
def test_what_a_release_writes_is_what_its_clients_saw(
    release: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))  # brokers' commands name it
    scenario = truth.load(live.run(f"release_{release}", tmp_path / "output"))
    assert processes_naming(tmp_path) == []
    for capture in scenario.captures.values():
        for holds in released.ALL:
            holds(scenario, capture)
