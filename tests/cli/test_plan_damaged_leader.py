"""A plan where the copy that has the newest records is damaged, and an intact one lacks them.

2.4.1 with a zeroed block in the middle of one of two copies, the other one intact and six records
shorter: as follower the intact copy fetched these six, and then had everything. Led by the damaged
one, consumers stopped at the block for good.
"""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING, Any

import pytest

from fixtures.builder import cluster, replica
from fixtures.plans.named_states import flip_bit
from kafkalog_reader.cli.replica_diff import replica_diff
from kafkalog_reader.cli.run import status

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Run

SHORT = "a@0/e0 b@1/e0 c@2/e0"
LONG = f"{SHORT} d@3/e0 e@4/e0"


@pytest.fixture
def unmerged(monkeypatch: pytest.MonkeyPatch) -> None:
    """As for partitions that are too large to try a merge."""
    monkeypatch.setattr("kafkalog_reader.salvage.merge_trial.MAX_BYTES", 0)


def write(root: Path, logs: dict[int, str], *damaged: int) -> Path:
    """Brokers that stopped cleanly; the second batch of some copies has a flipped bit."""
    copies = {
        broker: replica(log, high_watermark=2, recovery_point=len(log.split()))
        for broker, log in logs.items()
    }
    folders = cluster(root, copies, clean=tuple(logs))
    for broker in damaged:
        flip_bit(folders[broker] / "t-0")
    return root


def planned(run: Run, root: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(run("plan", root, "--format", "json").out)
    return document


def reassigned(document: dict[str, Any]) -> list[tuple[str, list[int], list[int]]]:
    """Kind of step, whose copy, and who has one then."""
    return [
        (
            each["kind"],
            each["brokers"],
            json.loads(shlex.split(each["commands"][0])[2])["partitions"][0]["replicas"],
        )
        for each in document["steps"]
        if each["kind"] in ("removeReplicas", "addReplicas")
    ]


def test_a_merge_comes_first(run: Run, tmp_path: Path) -> None:
    root = write(tmp_path, {1: SHORT, 2: LONG}, 2)
    assert [each["kind"] for each in planned(run, root)["steps"]] == ["save", "replaceCopy"]


@pytest.mark.usefixtures("unmerged")
def test_a_damaged_leader_hands_over_once_another_copy_is_whole(run: Run, tmp_path: Path) -> None:
    root = write(tmp_path, {1: SHORT, 2: LONG}, 2)
    document = planned(run, root)
    (partition,) = document["partitions"]
    assert partition["mayLead"] == [2]
    assert document["startOrder"] == [[2], [1]]
    assert reassigned(document) == [("removeReplicas", [2], [1]), ("addReplicas", [2], [2, 1])]
    words = " ".join(run("plan", root).out.split())
    assert "then replace 1 copy by reassignments. No supplied record is lost then." in words
    assert "cannot be read past the damage" not in words


@pytest.mark.usefixtures("unmerged")
@pytest.mark.parametrize(
    ("logs", "damaged"),
    [
        pytest.param({1: SHORT, 2: LONG}, (1, 2), id="damaged on both"),
        pytest.param({1: "a@0/e0", 2: LONG}, (2,), id="the follower would fetch the damage"),
        pytest.param({1: SHORT, 2: LONG, 3: SHORT}, (2, 3), id="a follower is damaged, too"),
    ],
)
def test_it_does_not_hand_over_where_a_copy_stays_damaged(
    logs: dict[int, str], damaged: tuple[int, ...], run: Run, tmp_path: Path
) -> None:
    root = write(tmp_path, logs, *damaged)
    assert reassigned(planned(run, root)) == []
    assert "t-0 cannot be read past the damage of its leader's copy" in " ".join(
        run("plan", root).out.split()
    )


@pytest.mark.usefixtures("unmerged")
def test_each_damaged_follower_is_made_again(run: Run, tmp_path: Path) -> None:
    root = write(tmp_path, {1: SHORT, 2: LONG, 3: SHORT}, 1, 3)
    assert reassigned(planned(run, root)) == [
        ("removeReplicas", [1], [2, 3]),
        ("addReplicas", [1], [2, 1, 3]),
        ("removeReplicas", [3], [2, 1]),
        ("addReplicas", [3], [2, 1, 3]),
    ]


@pytest.mark.usefixtures("unmerged")
def test_damage_that_a_follower_cuts_off_needs_no_new_copy(run: Run, tmp_path: Path) -> None:
    root = write(tmp_path, {1: "a@0/e0 X@1/e1", 2: "a@0/e0 b@1/e2 c@2/e2"}, 1)
    assert reassigned(planned(run, root)) == []


@pytest.mark.usefixtures("unmerged")
def test_replica_diff_says_the_same(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    root = write(tmp_path, {1: SHORT, 2: LONG}, 2)
    assert status(replica_diff, [str(root), "--topic", "t", "--partition", "0"]) == 1
    words = " ".join(capfd.readouterr().out.split())
    assert (
        "UNREADABLE: with broker 2 leading, consumers stop at its damage, offset 1; broker 1 has "
        "every record whole once in sync: then it should lead, and this copy be made again"
    ) in words
    assert (
        "broker 2 should lead this partition until broker 1 is in sync and has every record whole; "
        "then broker 1 should lead"
    ) in words
