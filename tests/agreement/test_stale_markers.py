"""What the only step of a plan settles, moving a stale clean-shutdown marker, is not open.

Broker 0 has 40 batches and lost the end of the last one; its indexes end in zeros, as a crash
leaves them. By the marker, its start trusts them, and retention deletes the log. Broker 1 has 10.
"""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fixtures.builder import cluster, replica
from kafkalog_reader.cli.plan import plan_command
from kafkalog_reader.cli.verify import verify_command
from tests.agreement.commands import asked, objects

if TYPE_CHECKING:
    import pytest

SEGMENT = f"{0:020}"
ABOUT_STARTS = {"KL-412", "KL-418", "KL-520", "KL-903"}


def held(batches: int) -> Any:
    log = " ".join(f"0123456789@{offset}/e0" for offset in range(batches))
    return replica(log, recovery_point=batches, high_watermark=batches, index_interval=200)


def planned() -> dict[str, Any]:
    (plan,) = objects(asked(plan_command, "evidence", "--format", "json")[1])
    return plan


def codes(plan: dict[str, Any]) -> set[str]:
    return {each["code"] for each in plan["findings"]}


def test_what_the_plans_step_settles_is_not_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    root = Path("evidence")
    cluster(root, {0: held(40), 1: held(10)}, clean=(0,))
    folder = next(root.glob("*0/t-0"))
    log = folder / f"{SEGMENT}.log"
    log.write_bytes(log.read_bytes()[:-9])
    for index in (folder / f"{SEGMENT}.index", folder / f"{SEGMENT}.timeindex"):
        index.write_bytes(index.read_bytes() + bytes(48))
    found = {
        row["code"] for row in objects(asked(verify_command, "evidence", "--format", "json")[1])
    }
    assert {"KL-418", "KL-520", "KL-903"} <= found
    before = planned()
    assert not codes(before) & ABOUT_STARTS
    (step,) = before["steps"]
    (move,) = (shlex.split(each) for each in step["commands"] if each.startswith("mv "))
    Path(move[2]).parent.mkdir(parents=True)
    shutil.move(move[1], move[2])
    after = planned()
    assert not codes(after) & ABOUT_STARTS
    assert after["lost"]["lostRecords"] == 0
    assert [each["firstOffset"] for each in after["lostAlready"]] == [39]
