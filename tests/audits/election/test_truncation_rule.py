"""The truncation rules of older releases, and which of them fit the files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fixtures.builder import parse_epochs
from kafkalog_reader.audits.election.follow import FollowingEnd
from kafkalog_reader.audits.election.truncation_rule import (
    TruncationRule,
    follow_in_one_round,
    follow_in_several_rounds,
    follow_to_high_watermark,
    possible_rules,
    rule_named,
)
from kafkalog_reader.audits.log.epoch_log import EpochLog
from kafkalog_reader.audits.log.leader_epoch_cache import LeaderEpochCache
from tests.audits.bare_replica import bare, history

if TYPE_CHECKING:
    from kafkalog_reader.audits.log.replica import Replica

WITH_EPOCHS = (TruncationRule.CURRENT, TruncationRule.SEVERAL_ROUNDS, TruncationRule.ONE_ROUND)


def log(epochs: str, end: int, *, start: int = 0, high_watermark: int = 0) -> EpochLog:
    return EpochLog(
        cache=LeaderEpochCache.loaded(parse_epochs(epochs)),
        log_start_offset=start,
        log_end_offset=end,
        high_watermark=high_watermark,
    )


@pytest.mark.parametrize(
    ("replica", "has_epochs", "rules"),
    [
        pytest.param(bare(0, topic_id="x"), True, (TruncationRule.CURRENT,), id="topic_id"),
        pytest.param(bare(0, directory_id="x"), True, (TruncationRule.CURRENT,), id="directory_id"),
        pytest.param(bare(0, epochs="0:0"), True, WITH_EPOCHS, id="checkpoint"),
        pytest.param(bare(0, epochs=""), False, WITH_EPOCHS, id="empty_checkpoint"),
        pytest.param(bare(0), True, WITH_EPOCHS, id="epochs_in_batches_only"),
        pytest.param(bare(0), False, (TruncationRule.HIGH_WATERMARK,), id="no_epochs_at_all"),
    ],
)
def test_rules_that_the_files_allow(
    replica: Replica, has_epochs: bool, rules: tuple[TruncationRule, ...]
) -> None:
    log_of_replica = history((0, 0, 5)) if has_epochs else history()
    assert possible_rules([replica], [log_of_replica]) == rules


def test_one_replica_with_a_topic_id_decides_for_all() -> None:
    replicas = [bare(0), bare(1, topic_id="x")]
    assert possible_rules(replicas, [history(), history()]) == (TruncationRule.CURRENT,)


def test_a_rule_is_found_by_the_name_that_an_option_gives() -> None:
    assert rule_named(None) is None
    assert rule_named("one-round") is TruncationRule.ONE_ROUND


@pytest.mark.parametrize(
    ("high_watermark", "end"), [(0, 0), (4, 4), (7, 7)], ids=["zero", "inside", "at_the_end"]
)
def test_before_epochs_a_follower_cuts_to_its_own_high_watermark(
    high_watermark: int, end: int
) -> None:
    following = follow_to_high_watermark(log("", 9), log("", 7, high_watermark=high_watermark))
    assert following.truncation_offset == end
    assert following.outcome is FollowingEnd.HIGH_WATERMARK


@pytest.mark.parametrize(
    ("leader", "follower", "offset", "outcome", "rounds"),
    [
        # KIP-101: the follower requests the end of its newest epoch and truncates there.
        pytest.param(
            log("0:0 1:5", 9), log("0:0", 7, high_watermark=2), 5, FollowingEnd.ACCEPTED, 1,
            id="cut_where_the_epoch_ended",
        ),
        pytest.param(
            log("0:0 1:7", 9), log("0:0", 7, high_watermark=2), 7, FollowingEnd.ACCEPTED, 0,
            id="ended_exactly_at_the_end",
        ),
        pytest.param(
            log("0:0", 9), log("0:0", 7, high_watermark=2), 7, FollowingEnd.ACCEPTED, 0,
            id="same_epoch_longer_leader",
        ),
        # The flaw that KIP-279 fixes: the leader skipped epoch 1 and answers only with an offset.
        pytest.param(
            log("0:0 2:6", 9), log("0:0 1:5", 8, high_watermark=2), 6, FollowingEnd.ACCEPTED, 1,
            id="offset_of_an_unknown_epoch",
        ),
        pytest.param(
            log("3:0", 9), log("2:0", 7, high_watermark=2), 2, FollowingEnd.HIGH_WATERMARK, 0,
            id="older_than_all_is_undefined",
        ),
        pytest.param(
            log("0:0", 9), log("", 7, high_watermark=2), 2, FollowingEnd.HIGH_WATERMARK, 0,
            id="no_epoch_to_ask_for",
        ),
    ],
)  # fmt: skip
def test_one_round(
    leader: EpochLog, follower: EpochLog, offset: int, outcome: FollowingEnd, rounds: int
) -> None:
    following = follow_in_one_round(leader, follower)
    assert (following.truncation_offset, following.outcome) == (offset, outcome)
    assert len(following.rounds) == rounds


def test_several_rounds_go_below_an_epoch_that_the_leader_skipped() -> None:
    """KIP-279: the leader does not know epoch 1, so that the follower also requests epoch 0."""
    leader, follower = log("0:0 2:6", 9), log("0:0 1:5", 8, high_watermark=2)
    following = follow_in_several_rounds(leader, follower)
    assert following.truncation_offset == 5
    assert following.outcome is FollowingEnd.ACCEPTED
    assert [each.asked for each in following.rounds] == [1]


def test_several_rounds_without_an_epoch_to_ask_for_cut_to_the_high_watermark() -> None:
    following = follow_in_several_rounds(log("0:0", 9), log("", 7, high_watermark=2))
    assert following.truncation_offset == 2
    assert following.outcome is FollowingEnd.HIGH_WATERMARK
    assert not following.rounds


def test_several_rounds_without_an_answer_cut_to_the_high_watermark() -> None:
    following = follow_in_several_rounds(log("", 9), log("0:0", 7, high_watermark=3))
    assert following.truncation_offset == 3
    assert following.outcome is FollowingEnd.HIGH_WATERMARK


def test_several_rounds_cut_again_where_the_leader_skipped_two_epochs() -> None:
    """Source: AbstractFetcherThread#getOffsetTruncationState.

    The leader answers a request for epoch 4 with 3, which the follower lacks. The follower
    truncates to the end of its own epoch 2 and then requests that epoch.
    """
    leader, follower = log("0:0 3:6 5:7", 20), log("0:0 2:5 4:8", 12, high_watermark=2)
    following = follow_in_several_rounds(leader, follower)
    assert [(each.asked, each.truncated_to) for each in following.rounds] == [(4, 8), (2, 5)]
    assert following.truncation_offset == 5
    assert following.outcome is FollowingEnd.ACCEPTED
