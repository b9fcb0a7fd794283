"""The operations of the leader epoch cache, in each case that the format reference (8.2) lists."""

from __future__ import annotations

import pytest

from fixtures.builder import parse_epochs
from kafkalog_reader.audits.log.leader_epoch_cache import LeaderEpochCache


def cache(text: str) -> LeaderEpochCache:
    return LeaderEpochCache(parse_epochs(text))


@pytest.mark.parametrize(
    ("before", "entry", "after"),
    [
        pytest.param("0:0 2:5", (2, 7), "0:0 2:5", id="same_epoch_later_is_no_change"),
        pytest.param("0:0 2:5", (2, 3), "0:0 2:3", id="same_epoch_earlier_moves_its_start"),
        pytest.param("0:0 1:1", (2, 1), "0:0 2:1", id="same_start_offset_is_replaced"),
        pytest.param("0:0 3:4 5:9", (4, 2), "0:0 4:2", id="what_contradicts_goes"),
        pytest.param("", (7, 0), "7:0", id="first_entry"),
    ],
)
def test_assigning_an_epoch_removes_what_contradicts_it(
    before: str, entry: tuple[int, int], after: str
) -> None:
    assert cache(before).assign(*entry) == cache(after)


def test_truncating_from_the_end_drops_entries_at_the_new_end_too() -> None:
    assert cache("0:0 2:2 3:4").truncate_from_end(4) == cache("0:0 2:2")
    assert cache("0:0 2:2").truncate_from_end(0) == cache("")


@pytest.mark.parametrize(
    ("log_start", "after"),
    [(0, "0:0 2:5 4:9"), (3, "0:3 2:5 4:9"), (5, "2:5 4:9"), (7, "2:7 4:9"), (20, "4:20")],
)
def test_truncating_from_the_start_clips_the_epoch_in_force(log_start: int, after: str) -> None:
    assert cache("0:0 2:5 4:9").truncate_from_start(log_start) == cache(after)


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        pytest.param(None, None, id="nothing_asked"),
        pytest.param(6, (6, 12), id="latest_ends_at_the_log_end"),
        pytest.param(7, None, id="newer_than_all_is_undefined"),
        pytest.param(1, (1, 2), id="older_than_all_ends_where_the_first_begins"),
        pytest.param(2, (2, 5), id="known_epoch"),
        pytest.param(5, (4, 9), id="unknown_epoch_takes_the_floor"),
    ],
)
def test_end_of_an_epoch_is_answered_as_the_reference_lists(
    asked: int | None, answer: tuple[int, int] | None
) -> None:
    assert cache("2:2 4:5 6:9").end_for(asked, 12) == answer


def test_an_empty_cache_answers_nothing() -> None:
    assert cache("").end_for(0, 5) is None


def test_a_file_with_two_entries_of_one_start_offset_loads_the_later() -> None:
    assert LeaderEpochCache.loaded(parse_epochs("0:0 1:1 2:1")) == cache("0:0 2:1")
