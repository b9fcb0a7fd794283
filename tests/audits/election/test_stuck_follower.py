"""A follower that fetches from the middle of a batch refuses it, as 4.3.1 does in state M8."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fixtures.builder import Replica, cluster, replica
from fixtures.synthetic.truncation import SCENARIOS
from kafkalog_reader.audits.election.follow import Outcome
from kafkalog_reader.audits.partition.partition_audit import audit_partition
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.tables.request import ReadRequest

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

LONG = replica("0-9/e0 10-14/e0", high_watermark=10)
M8 = next(each for each in SCENARIOS if each.name == "m8")


def outcomes(root: Path, replicas: Mapping[int, Replica]) -> dict[tuple[int, int], Outcome]:
    """By leader and follower."""
    cluster(root, replicas)
    ((_, directories),) = discover([str(root)]).topic_partitions(ReadRequest())
    audit = audit_partition(directories)
    return {
        (election.candidate, each.follower): each.following.outcome
        for election in audit.elections
        for each in election.followers
    }


def test_a_follower_cut_inside_of_the_leaders_batch_is_stuck(tmp_path: Path) -> None:
    """Seen with real brokers: leader 1 and follower 0 never got in sync, the other way they do."""
    assert outcomes(tmp_path, M8.replicas) == {(0, 1): Outcome.ACCEPTED, (1, 0): Outcome.STUCK}


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
    assert Outcome.STUCK not in found.values()
