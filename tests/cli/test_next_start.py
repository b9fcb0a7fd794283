"""What `verify` keeps of partitions is enough for the plan that `plan` makes of all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fixtures import captures
from fixtures.synthetic import SCENARIOS
from kafkalog_reader import registry
from kafkalog_reader.audits.plan.decisions import Decisions
from kafkalog_reader.audits.plan.next_start import is_safe_in_any_order
from kafkalog_reader.audits.tables.verification import verify
from kafkalog_reader.cli.next_start import NextStart
from kafkalog_reader.cli.options import supplied
from kafkalog_reader.report.plan_headline import headline

if TYPE_CHECKING:
    from pathlib import Path

    from kafkalog_reader.audits.plan.plan import Plan

STATES = [f"capture {name}" for name in captures.states() if not name.startswith("release")]
STATES += [f"scenario {name}" for name in sorted(SCENARIOS)]


def plans_of(path: str) -> tuple[Plan | None, Plan]:
    """The plan of what is kept, and that of everything."""
    evidence = supplied((path,))
    request = registry.request(registry.table("findings"))
    next_start, whole = NextStart(evidence, (path,), {}), Decisions()
    for unit in registry.table("findings").units(evidence, request):
        found = verify(unit, request)
        next_start.add(found)
        if found.unit is None:
            whole.add_directory(each for each, _ in found.findings)
        for audit, findings in found.audits:
            whole.add(audit, findings, found.unit)
    next_start.is_whole = True
    kept = next_start.plan
    return kept, whole.plan(paths=(path,), quorums=() if kept is None else kept.quorums)


@pytest.mark.parametrize("state", STATES)
def test_partitions_that_are_alike_need_not_be_kept(state: str, tmp_path: Path) -> None:
    kind, _, name = state.partition(" ")
    path = captures.path(name) if kind == "capture" else SCENARIOS[name].write(tmp_path / "logs")
    kept, whole = plans_of(str(path))
    if kept is None:
        assert not whole.partitions
        return
    assert kept.partitions == whole.partitions
    assert kept.brokers == whole.brokers
    starts, of_whole = ([s.brokers for s in each.order.starts] for each in (kept, whole))
    assert starts == of_whole
    assert is_safe_in_any_order(kept) == is_safe_in_any_order(whole)
    if not is_safe_in_any_order(kept) and not kept.is_one_broker:
        assert headline(kept) == headline(whole)


def test_of_a_sound_cluster_no_choice_is_kept() -> None:
    kept, whole = plans_of(str(captures.path("s3_2/healed")))
    assert kept is not None
    assert (len(kept.choices), len(whole.choices)) == (0, 1)
    assert kept.brokers == (0, 1, 2)
