"""Lineages as step functions, and where two of them diverge."""

from __future__ import annotations

from fixtures.builder import parse_epochs
from kafkalog_reader.audits.log.leader_epoch_cache import LeaderEpochCache
from kafkalog_reader.audits.log.lineage import (
    EpochInterval,
    Lineage,
    combined_lineage,
    declared_lineage,
    lineage_fork,
)


def lineage(*intervals: tuple[int, int, int]) -> Lineage:
    return Lineage(tuple(EpochInterval(*interval) for interval in intervals))


def test_checkpoint_entries_last_to_the_next_and_are_clipped_to_the_log() -> None:
    cache = LeaderEpochCache(parse_epochs("0:0 2:4 3:9"))
    assert declared_lineage(cache, 2, 9) == lineage((0, 2, 4), (2, 4, 9))


def test_an_empty_checkpoint_declares_nothing() -> None:
    assert declared_lineage(LeaderEpochCache(parse_epochs("")), 0, 9) == lineage()


def test_batches_win_and_the_checkpoint_fills_what_compaction_emptied() -> None:
    data = lineage((0, 0, 5), (2, 8, 10))
    declared = lineage((0, 0, 6), (2, 6, 12))
    assert combined_lineage(data, declared) == lineage((0, 0, 6), (2, 6, 12))


def test_equal_lineages_agree_to_the_end_of_the_common_range() -> None:
    fork = lineage_fork(lineage((0, 0, 9)), lineage((0, 0, 5)), 0, 5)
    assert fork.offset == fork.next_offset == 5


def test_lineages_part_at_the_first_step_that_differs() -> None:
    fork = lineage_fork(lineage((0, 0, 5)), lineage((0, 0, 2), (2, 2, 4)), 0, 4)
    assert (fork.offset, fork.next_offset, fork.met_again) == (2, 4, False)


def test_a_meeting_after_the_fork_is_reported() -> None:
    one = lineage((0, 0, 2), (1, 2, 4), (3, 4, 6))
    other = lineage((0, 0, 2), (2, 2, 4), (3, 4, 6))
    assert lineage_fork(one, other, 0, 6).met_again


def test_different_first_steps_after_different_log_starts_are_not_a_fork() -> None:
    fork = lineage_fork(lineage((0, 3, 9)), lineage((0, 0, 9)), 3, 9)
    assert fork.offset == fork.next_offset == 9


def test_logs_without_a_common_range_have_none() -> None:
    fork = lineage_fork(lineage((1, 0, 10)), lineage((3, 10, 20)), 10, 10)
    assert fork.first_offset == fork.offset == fork.next_offset


def test_an_epoch_whose_first_batches_were_cleaned_before_the_copy_is_no_fork() -> None:
    """T38: the follower's epoch 0 reaches to 6 only because its epoch 1 begins there."""
    leader, follower = lineage((0, 0, 4), (1, 4, 9)), lineage((0, 0, 6), (1, 6, 9))
    fetched = lineage((0, 0, 2), (1, 6, 9))
    for kept in (lineage((0, 0, 2), (1, 4, 9)), fetched):
        for sides in ((0, 1), (1, 0)):
            both, data = (leader, follower), (kept, fetched)
            fork = lineage_fork(
                both[sides[0]], both[sides[1]], 0, 9, data=(data[sides[0]], data[sides[1]])
            )
            assert (fork.offset, fork.met_again) == (9, False)


def test_a_batch_of_the_lower_epoch_makes_it_a_fork() -> None:
    leader, follower = lineage((0, 0, 4), (1, 4, 9)), lineage((0, 0, 6), (1, 6, 9))
    data = (lineage((0, 0, 2), (1, 6, 9)), lineage((0, 0, 2), (0, 5, 6), (1, 6, 9)))
    fork = lineage_fork(leader, follower, 0, 9, data=data)
    assert (fork.offset, fork.met_again) == (4, True)


def test_epochs_that_do_not_agree_again_are_a_fork_without_batches() -> None:
    leader, follower = lineage((0, 0, 4), (2, 4, 9)), lineage((0, 0, 6), (1, 6, 9))
    data = (lineage((0, 0, 2), (2, 8, 9)), lineage((0, 0, 2), (1, 6, 9)))
    assert lineage_fork(leader, follower, 0, 9, data=data).offset == 4
