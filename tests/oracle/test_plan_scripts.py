"""Scripts of plans are executed on real brokers, with everything done that they request."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fixtures import live
from fixtures.plans.agreement import disagreements
from fixtures.plans.execution import AFTER
from fixtures.plans.named_states import NAMED

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.oracle


@pytest.mark.parametrize("name", sorted(NAMED))
def test_a_script_keeps_what_its_plan_promises(tmp_path: Path, name: str) -> None:
    output = live.run("plan_scripts", tmp_path / "output", name)
    assert disagreements(output) == []
    for topic in NAMED[name].topics:
        logs = {
            tuple(log.read_bytes() for log in sorted(copy.glob("*.log")))
            for copy in (output / f"state-{name}" / AFTER).glob(f"broker-*/{topic}-0")
        }
        assert len(logs) == 1, topic
