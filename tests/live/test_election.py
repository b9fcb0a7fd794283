"""One real election in fifty states at once: followers truncate as predicted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fixtures import live
from fixtures.elections.agreement import disagreements
from fixtures.elections.observation import observations
from tests.oracle.states import captured_states, synthetic_states

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.broker


def test_followers_of_broker_0_cut_what_was_predicted(tmp_path: Path) -> None:
    states = [*captured_states(), *synthetic_states(tmp_path / "synthetic")]
    output = live.run("elections", tmp_path / "output", "0", *states)
    assert disagreements(output) == []
    seen = observations(output)
    assert len({each.state for each in seen}) == len(states) >= 50
    assert sum(each.truncation_offset < each.follower_log_end_offset for each in seen) >= 15
    # M2: the first of its three rounds needs no request, because the start drops that epoch.
    assert max(each.rounds for each in seen) == 2
