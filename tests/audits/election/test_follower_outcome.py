"""Followers that cannot get in sync without help.

A follower that fetches from the middle of a batch refuses the batch, as 4.3.1 does in state M8. A
follower whose leader has lost the epoch of its own last batches truncates them each time after it
fetched them: seed 11021 of the random histories on 4.3.1, 14,482 rounds until it was stopped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fixtures.builder import Replica, cluster, replica
from fixtures.synthetic.truncation import SCENARIOS
from kafkalog_reader.audits.election.follow import FollowingEnd
from kafkalog_reader.audits.partition.auditor import audit_partition
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.tables.request import ReadRequest

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from pathlib import Path

LONG = replica("0-9/e0 10-14/e0", high_watermark=10)
M8 = next(each for each in SCENARIOS if each.name == "m8")


def outcomes(
    root: Path, replicas: Mapping[int, Replica], clean: Collection[int] = ()
) -> dict[tuple[int, int], FollowingEnd]:
    """By leader and follower."""
    cluster(root, replicas, clean=clean)
    ((_, directories),) = discover([str(root)]).topic_partitions(ReadRequest())
    audit = audit_partition(directories)
    return {
        (election.candidate.broker_id, each.follower.broker_id): each.following.outcome
        for election in audit.elections
        for each in election.followers
    }


def test_a_follower_cut_inside_of_the_leaders_batch_is_stuck(tmp_path: Path) -> None:
    """Seen on real brokers: follower 0 never got in sync with leader 1; 1 did with leader 0."""
    assert outcomes(tmp_path, M8.replicas) == {
        (0, 1): FollowingEnd.ACCEPTED,
        (1, 0): FollowingEnd.STUCK,
    }


@pytest.mark.parametrize(
    "follower",
    [
        replica("0-9/e0", high_watermark=10),
        replica("0-9/e0 10-12/e1", epochs="0:0 1:10", high_watermark=10),
        replica("", epochs="", high_watermark=0),
    ],
    ids=["behind", "forked", "empty"],
)
def test_a_follower_that_fetches_from_a_border_is_not(tmp_path: Path, follower: Replica) -> None:
    found = outcomes(tmp_path, {0: LONG, 1: follower})
    assert FollowingEnd.STUCK not in found.values()


FORGOT = replica("0-7/e0 8-11/e2 12-14/e8", epochs="0:0 2:8", high_watermark=15)
KNOWS = replica("0-7/e0 8-11/e2 12-14/e8", epochs="0:0 2:8 8:12", high_watermark=15)


@pytest.mark.parametrize(
    "follower",
    [KNOWS, replica("", epochs="", high_watermark=0), replica("0-7/e0 8-11/e2", high_watermark=12)],
    ids=["cut", "empty", "behind"],
)
def test_what_a_leader_forgot_is_fetched_for_ever(tmp_path: Path, follower: Replica) -> None:
    replicas = {0: FORGOT, 1: follower}
    assert outcomes(tmp_path, replicas, clean=(0, 1))[0, 1] is FollowingEnd.REFETCHES
    recovered = outcomes(tmp_path / "killed", replicas)  # its start learns epochs from its batches
    assert recovered[0, 1] is not FollowingEnd.REFETCHES


@pytest.mark.parametrize(
    "leader",
    [
        KNOWS,
        replica("0-7/e0 8-11/e2 12-14/e8 15-15/e9", epochs="0:0 2:8 9:15", high_watermark=16),
        replica("0-7/e0 8-11/e2 12-14/e8", epochs="", high_watermark=15),
    ],
    ids=["known", "a later one is known", "none is known"],
)
def test_a_leader_that_knows_its_last_epoch_is_followed(tmp_path: Path, leader: Replica) -> None:
    follower = replica("0-7/e0", high_watermark=8)
    found = outcomes(tmp_path, {0: leader, 1: follower}, clean=(0, 1))
    assert found[0, 1] is not FollowingEnd.REFETCHES


UNDERCUT = replica("0-4/e0 5-9/e0", epochs="0:0 2:5", high_watermark=10)


@pytest.mark.parametrize(
    "follower",
    [
        replica("0-4/e0", high_watermark=5),
        replica("0-4/e0 5-9/e0", epochs="0:0", high_watermark=10),
        replica("", epochs="", high_watermark=0),
    ],
    ids=["behind", "as_long", "empty"],
)
def test_an_epoch_that_begins_below_the_leaders_older_batches_is_fetched_for_ever(
    tmp_path: Path, follower: Replica
) -> None:
    """For the leader, epoch 0 ends at 5, although its own batch at 5 to 9 is of epoch 0."""
    replicas = {0: UNDERCUT, 1: follower}
    assert outcomes(tmp_path, replicas, clean=(0, 1))[0, 1] is FollowingEnd.REFETCHES
    intact = {0: replica("0-4/e0 5-9/e0", epochs="0:0", high_watermark=10), 1: follower}
    assert outcomes(tmp_path / "intact", intact, clean=(0, 1))[0, 1] is not FollowingEnd.REFETCHES


def test_later_batches_end_the_fetching_under_an_older_epoch(tmp_path: Path) -> None:
    """One fetch also returns the batches of epoch 2, and the leader knows where that epoch ends."""
    leader = replica("0-4/e0 5-9/e0 10-12/e2", epochs="0:0 2:5", high_watermark=13)
    replicas = {0: leader, 1: replica("0-4/e0", high_watermark=5)}
    assert outcomes(tmp_path, replicas, clean=(0, 1))[0, 1] is not FollowingEnd.REFETCHES
