"""The truncation rule: worked examples and its invariant (replica-divergence.md, section 4.7)."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fixtures.builder import parse_epochs
from kafkalog_reader.audits.election.follow import (
    FollowingEnd,
    elected,
    follow,
    target_of,
    truncated,
)
from kafkalog_reader.audits.log.epoch_log import EpochLog
from kafkalog_reader.audits.log.leader_epoch_cache import EpochEnd, LeaderEpochCache
from tests.chosen.examples import examples


def log(epochs: str, end: int, *, start: int = 0, high_watermark: int = 0) -> EpochLog:
    return EpochLog(
        cache=LeaderEpochCache.loaded(parse_epochs(epochs)),
        log_start_offset=start,
        log_end_offset=end,
        high_watermark=high_watermark,
    )


@pytest.mark.parametrize(
    ("follower", "leader", "new_epoch", "end"),
    [
        pytest.param(log("0:0", 10), log("0:0", 8), 1, 8, id="longer"),
        pytest.param(log("0:0 1:5", 9), log("0:0", 7), 2, 5, id="floor"),
        pytest.param(log("0:0 2:10", 15), log("0:0 1:10 3:12", 20), 4, 10, id="unknown_epoch"),
        pytest.param(log("0:0 1:8 2:8", 9), log("0:0", 12), 3, 8, id="replaced_entry"),
    ],
)
def test_worked_examples_of_the_format_reference(
    follower: EpochLog, leader: EpochLog, new_epoch: int, end: int
) -> None:
    assert follow(elected(leader, new_epoch), follower).truncation_offset == end


@pytest.mark.parametrize(
    ("leader", "follower", "targets"),
    [
        pytest.param(log("2:0 4:1", 1), log("1:0 3:1", 1), [1, 0], id="M1"),
        pytest.param(log("3:0 6:1 9:4", 4), log("0:0 5:1 8:4", 4), [4, 1, 0], id="M2"),
        pytest.param(log("4:1", 1), log("1:0 3:1", 1), [], id="M3"),
        pytest.param(log("3:10", 20, start=10), log("1:0", 10), [], id="M5"),
        pytest.param(log("0:0", 10), log("0:0", 15), [10], id="M6"),
        pytest.param(log("0:0 1:12", 14), log("0:0", 15), [12], id="M8"),
        pytest.param(log("0:0 1:2", 2), log("0:0", 3), [2], id="S5.1_B"),
        pytest.param(log("0:0 2:2", 2), log("0:0 1:2", 3), [2], id="S5.2_B"),
        pytest.param(log("0:0 2:2", 4), log("0:0 2:2 3:4", 4), [4], id="S3.2_E"),
    ],
)
def test_each_round_truncates_to_what_the_reference_says(
    leader: EpochLog, follower: EpochLog, targets: list[int]
) -> None:
    following = follow(elected(leader, 100), follower)
    assert [each.truncated_to for each in following.rounds] == targets


def test_an_entry_of_an_unwritten_epoch_goes_without_a_record() -> None:
    following = follow(elected(log("0:0 2:2", 4), 4), log("0:0 2:2 3:4", 4))
    assert following.truncation_offset == 4
    assert following.follower.cache == LeaderEpochCache(parse_epochs("0:0 2:2"))


def test_a_leader_that_stays_and_knows_nothing_newer_makes_the_follower_ask_for_ever() -> None:
    following = follow(log("0:0", 1), log("0:0 1:1", 1))  # M10
    assert following.outcome is FollowingEnd.LOOPS
    assert following.truncation_offset == 1


def test_a_follower_without_epochs_falls_back_to_its_high_watermark() -> None:
    assert follow(elected(log("0:0", 9), 1), log("", 9, high_watermark=6)).truncation_offset == 6


def test_a_follower_that_ends_below_the_leaders_start_begins_there() -> None:
    following = follow(elected(log("3:20", 30, start=20), 4), log("1:0", 10))
    assert following.outcome is FollowingEnd.RESTARTED
    assert following.follower.log_start_offset == 20
    assert following.truncation_offset == 0


@pytest.mark.parametrize(
    ("leader", "follower", "outcome", "end", "start"),
    [
        pytest.param(log("5:0", 9), log("", 0), "UNCHECKED", 0, 0, id="empty"),
        pytest.param(log("0:0", 9), log("1:0", 9), "LOOPS", 9, 0, id="no_answer_and_equally_long"),
        pytest.param(log("0:0", 9), log("1:0", 8), "LOOPS", 8, 0, id="no_answer_and_shorter"),
        pytest.param(
            log("0:0", 9), log("1:0", 10), "ENDED_AT_LEADER", 9, 0, id="no_answer_and_longer"
        ),
        pytest.param(log("", 9), log("1:0", 9), "LOOPS", 9, 0, id="a_leader_without_epochs"),
        pytest.param(
            log("1:0", 9, start=5), log("1:0", 4), "RESTARTED", 5, 5, id="ends_below_the_start"
        ),
        pytest.param(
            log("1:0", 9, start=5), log("1:0", 5), "ACCEPTED", 5, 0, id="ends_at_the_start"
        ),
        pytest.param(log("1:0", 9), log("1:0", 9), "ACCEPTED", 9, 0, id="equal"),
        pytest.param(log("1:0", 9), log("1:0", 8), "ACCEPTED", 8, 0, id="behind"),
        pytest.param(log("1:0", 9), log("1:0", 10), "ACCEPTED", 9, 0, id="ahead"),
    ],
)
def test_how_following_ends(
    leader: EpochLog, follower: EpochLog, outcome: str, end: int, start: int
) -> None:
    """By a leader that stays leader, so that no epoch begins at its end."""
    following = follow(leader, follower)
    assert following.outcome is FollowingEnd[outcome]
    after = following.follower
    assert (after.log_end_offset, after.log_start_offset) == (end, start)


@pytest.mark.parametrize(
    ("epochs", "epoch", "answered", "target"),
    [
        pytest.param("", 1, 4, 4, id="no_epoch"),
        pytest.param("", 1, 40, 20, id="no_epoch_and_short"),
        pytest.param("3:5", 1, 9, 5, id="nothing_that_old"),
        pytest.param("0:0 2:7", 1, 4, 7, id="only_an_older_one"),
        pytest.param("0:0 2:27", 1, 4, 20, id="an_older_one_that_ends_beyond_the_log"),
        pytest.param("1:0 2:7", 1, 4, 4, id="its_end_is_later"),
        pytest.param("1:0 2:7", 1, 9, 7, id="its_end_is_earlier"),
        pytest.param("1:0", 1, 40, 20, id="the_log_ends_earlier"),
    ],
)
def test_a_diverging_answer_gives_a_target(
    epochs: str, epoch: int, answered: int, target: int
) -> None:
    """AbstractFetcherThread#getOffsetTruncationState, for a log of 20 records."""
    assert target_of(EpochEnd(epoch, answered), log(epochs, 20)) == target


def test_a_truncation_takes_entries_at_its_target_and_the_high_watermark_along() -> None:
    before = log("0:0 1:5 2:9", 12, start=3, high_watermark=8)
    assert truncated(before, 9) == log("0:0 1:5", 9, start=3, high_watermark=8)
    assert truncated(before, 5) == log("0:0", 5, start=3, high_watermark=5)
    assert truncated(before, 2) == log("0:0", 2, start=2, high_watermark=2)
    assert truncated(before, 12) == before
    assert truncated(before, 13) == before


@pytest.mark.parametrize("end", [*FollowingEnd])
def test_only_three_ends_keep_a_follower_out_of_the_isr(end: FollowingEnd) -> None:
    assert end.is_in_sync is (end.name not in {"STUCK", "LOOPS", "REFETCHES"})


@dataclass
class Broker:
    """A replica in a model of a cluster; a record is a leader epoch and a unique number."""

    records: list[tuple[int, int]] = field(default_factory=list)
    cache: LeaderEpochCache = field(default_factory=LeaderEpochCache)
    leads: int | None = None

    def append(self, record: tuple[int, int]) -> None:
        self.cache = self.cache.assign(record[0], len(self.records))
        self.records.append(record)

    def cut(self, end: int) -> None:
        del self.records[end:]
        self.cache = self.cache.truncate_from_end(end)

    def epoch_log(self) -> EpochLog:
        return EpochLog(cache=self.cache, log_start_offset=0, log_end_offset=len(self.records))


def common_prefix(one: Broker, other: Broker) -> int:
    for offset, pair in enumerate(zip(one.records, other.records, strict=False)):
        if pair[0] != pair[1]:
            return offset
    return min(len(one.records), len(other.records))


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["elect", "write", "replicate", "crash"]),
        st.integers(0, 2),
        st.integers(0, 2),
        st.integers(1, 4),
    ),
    max_size=40,
)


@settings(max_examples=examples(1000), deadline=None)
@given(steps=STEPS)
def test_with_intact_epoch_files_a_follower_ends_at_the_longest_common_prefix(
    steps: list[tuple[str, int, int, int]],
) -> None:
    """Unclean elections, two leaders writing at once, lost unflushed tails."""
    brokers = [Broker() for _ in range(3)]
    epoch, number = 0, 0
    for step, one, other, count in steps:
        broker = brokers[one]
        if step == "elect":
            epoch += 1
            broker.leads = epoch
            broker.cache = broker.cache.assign(epoch, len(broker.records))
        elif step == "write" and broker.leads is not None:
            for _ in range(count):
                number += 1
                broker.append((broker.leads, number))
        elif step == "replicate" and one != other and brokers[other].leads is not None:
            if broker.leads is not None and broker.leads > (brokers[other].leads or 0):
                continue  # nobody follows an older leader
            leader = brokers[other]
            broker.leads = None
            broker.cut(common_prefix(leader, broker))
            for record in leader.records[len(broker.records) :][:count]:
                broker.append(record)
        elif step == "crash":
            broker.leads = None
            broker.cut(max(0, len(broker.records) - count))
    for leader in brokers:
        candidate = elected(leader.epoch_log(), epoch + 1)
        for follower in brokers:
            if follower is not leader:
                following = follow(candidate, follower.epoch_log())
                assert following.truncation_offset == common_prefix(leader, follower)
