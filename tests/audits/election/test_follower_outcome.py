"""Followers that cannot get in sync without help.

A follower that fetches from the middle of a batch refuses the batch, as 4.3.1 does in state M8. A
follower whose leader has lost the epoch of its own last batches truncates them each time after it
fetched them: seed 11021 of the random histories on 4.3.1, 14,482 rounds until it was stopped.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from fixtures.builder import Replica, cluster, parse_log, replica
from fixtures.synthetic.truncation import SCENARIOS
from kafkalog_reader.audits.comparison.compared_replicas import Comparison
from kafkalog_reader.audits.election.follow import FollowingEnd, elected
from kafkalog_reader.audits.election.follower_outcome import follower_outcome
from kafkalog_reader.audits.election.truncation_rule import TruncationRule
from kafkalog_reader.audits.partition.auditor import audit_partition
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.tables.request import ReadRequest

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from pathlib import Path

    from kafkalog_reader.audits.election.follower_outcome import FollowerOutcome
    from kafkalog_reader.audits.partition.partition_audit import PartitionAudit
    from tests.audits.conftest import Audited

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


def test_a_follower_that_has_all_of_what_a_leader_forgot_fetches_nothing_again(
    tmp_path: Path,
) -> None:
    """It forgot it, too: it asks with epoch 2, which for the leader ends where it fetches.

    Only a fetched batch sets another epoch, and there is none (kafka-on-disk-format.md, 8.4).
    """
    found = outcomes(tmp_path, {0: FORGOT, 1: FORGOT}, clean=(0, 1))
    assert found == {(0, 1): FollowingEnd.ACCEPTED, (1, 0): FollowingEnd.ACCEPTED}


@pytest.mark.parametrize(
    ("rules", "refetches"),
    [
        (("current",), True),
        (("current", "several-rounds", "one-round"), True),
        (("several-rounds", "current"), False),
        (("one-round", "current"), False),
    ],
)
def test_only_a_fetch_that_sends_an_epoch_can_be_refused_for_it(
    rules: tuple[str, ...], refetches: bool, audited: Audited
) -> None:
    """Fetches send the last epoch since 2.7; of several possible rules the first is used."""
    found = followed(audited(FORGOT, KNOWS, clean=(0, 1)), tuple(map(TruncationRule, rules)))
    assert (found.following.outcome is FollowingEnd.REFETCHES) is refetches
    assert found.rule is TruncationRule(rules[0])


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


def followed(
    audit: PartitionAudit, rules: tuple[TruncationRule, ...] = (TruncationRule.CURRENT,)
) -> FollowerOutcome:
    """Broker 1 follows broker 0, which is elected."""
    leading, follower = sorted(audit.candidates, key=lambda each: each.broker_id or 0)
    assert leading.log is not None
    assert isinstance(audit.comparison, Comparison)
    leader = elected(leading.log, 100)
    return follower_outcome(follower, leading, leader, audit.comparison, rules)


ABC = "a@0/e0 b@1/e0 c@2/e1"


@pytest.mark.parametrize(
    ("leader", "follower", "cut", "silent", "is_needless"),
    [
        pytest.param((ABC, None), ("a@0/e0", None), (1, 1, 0), None, False, id="behind"),
        pytest.param((ABC, None), (ABC, None), (3, 3, 0), None, False, id="equal"),
        pytest.param(
            (ABC, None), ("a@0/e0 b@1/e0 x@2/e0 y@3/e0", None), (2, 2, 2), None, False, id="forked"
        ),
        pytest.param((ABC, None), (ABC, "0:0"), (2, 2, 1), None, True, id="lost_an_epoch"),
        pytest.param(
            ("a@0/e0 b@1/e0 c@2/e0", None), ("a@0/e0 b@1/e0 x@2/e0", None), (3, 3, 0), 2, False,
            id="other_content_under_one_epoch",
        ),
        pytest.param(
            ("a@0/e0 b@1/e0 c@2/e0", None), ("a@0/e0 x@1/e0 y@2/e0 z@3/e0", None), (3, 3, 1), 1,
            False, id="a_part_of_it_is_cut",
        ),
        pytest.param(
            ("0-9/e0 10-14/e0", "0:0 1:12"), ("0-9/e0 10-14/e0", None), (12, 10, 5), 10, True,
            id="cut_inside_an_equal_batch",
        ),
        pytest.param(
            ("0-9/e0 10-11/e0 12-13/e1", None), ("0-9/e0 10-14/e0", None), (12, 10, 5), 10, False,
            id="cut_inside_a_longer_batch",
        ),
        pytest.param(
            ("0-9/e0", None), ("0-9/e0 10-14/e0", None), (10, 10, 5), None, False, id="longer"
        ),
    ],
)  # fmt: skip
def test_what_a_follower_truncates(
    leader: tuple[str, str | None],
    follower: tuple[str, str | None],
    cut: tuple[int, int, int],
    silent: int | None,
    is_needless: bool,
    audited: Audited,
) -> None:
    """Target, end of what stays, records cut; KL-517 and KL-518 (replica-divergence.md, 4.7).

    A cut removes whole batches, and the log end is the target all the same.
    """
    replicas = [replica(log, epochs=epochs, high_watermark=0) for log, epochs in (leader, follower)]
    found = followed(audited(*replicas, clean=(0, 1)))
    assert (found.truncation_offset, found.kept_until, found.records_cut) == cut
    assert (found.silent_divergence, found.is_needless) == (silent, is_needless)
    assert found.is_cut is (cut[2] > 0)
    assert found.otherwise == ()


@pytest.mark.parametrize(
    ("rules", "target", "otherwise"),
    [
        (("current",), 0, []),
        (("current", "several-rounds"), 0, []),
        (("current", "one-round"), 0, [("one-round", 1)]),
        (("current", "several-rounds", "one-round"), 0, [("one-round", 1)]),
        (("one-round", "current", "several-rounds"), 1, [("current", 0), ("several-rounds", 0)]),
    ],
)
def test_other_rules_are_named_where_they_cut_elsewhere(
    rules: tuple[str, ...], target: int, otherwise: list[tuple[str, int]], audited: Audited
) -> None:
    """KIP-279: asked once, the leader answers that what it had before epoch 3 ended at 1."""
    leader = replica("a@0/e2 b@1/e4", high_watermark=0)
    follower = replica("x@0/e1 y@1/e3", high_watermark=0)
    audit = audited(leader, follower, clean=(0, 1))
    found = followed(audit, tuple(map(TruncationRule, rules)))
    assert found.truncation_offset == target
    assert [(rule.value, offset) for rule, offset in found.otherwise] == otherwise


@pytest.mark.parametrize(("log_start", "kept_until"), [(4, 0), (5, 5), (6, 5)])
def test_what_is_cut_at_the_log_start_was_the_whole_log(
    log_start: int, kept_until: int, audited: Audited
) -> None:
    """The leader's epoch 0 ends at 5, inside of the follower's only batch."""
    leader = replica("0-4/e0 5-9/e1", high_watermark=0)
    follower = replica("0-9/e0", log_start=log_start, high_watermark=log_start)
    found = followed(audited(leader, follower, clean=(0, 1)))
    assert (found.truncation_offset, found.kept_until) == (5, kept_until)
    assert found.records_cut == 10 - log_start


@pytest.mark.parametrize(
    ("lies", "clean", "ends", "silent"),
    [
        ({"base_offset": 2 + 2**20}, (0, 1), FollowingEnd.ACCEPTED, 2),
        ({"leader_epoch": 2**24 + 1}, (0,), FollowingEnd.LOOPS, None),
    ],
)
def test_only_a_follower_in_sync_keeps_a_wrong_header_unnoticed(
    lies: Mapping[str, int],
    clean: tuple[int, ...],
    ends: FollowingEnd,
    silent: int | None,
    audited: Audited,
) -> None:
    """4.4.0 kept a wrong base offset, and asked for ever with an epoch that its start had read.

    See replica-divergence.md, 4.9. Everybody sees a follower that is not in the ISR.
    """
    first, second, third = parse_log("0-1/e0 2-3/e0 4-5/e0")
    sound = replica([first, second, third], epochs="0:0", high_watermark=6)
    wrong = replica([first, replace(second, lies=lies), third], epochs="0:0", high_watermark=6)
    found = followed(audited(sound, wrong, clean=clean))
    assert (found.following.outcome, found.silent_divergence) == (ends, silent)
    assert not found.is_cut


def test_a_truncation_to_the_log_end_cuts_nothing(audited: Audited) -> None:
    """Also where an earlier batch reaches over it: UnifiedLog#truncateTo has no effect there.

    The base offset of the last batch was 6, and the log ends at 2 (kafka-on-disk-format.md, 8.5).
    """
    first, second, third = parse_log("0-3/e0 4-5/e0 6-7/e0")
    sound = replica([first, second, third], high_watermark=2)
    moved = replica([first, second, replace(third, lies={"base_offset": 0})], high_watermark=2)
    found = followed(audited(sound, moved, clean=(0, 1)))
    assert (found.log_end_offset, found.truncation_offset) == (2, 2)
    assert (found.kept_until, found.records_cut) == (2, 0)
