"""A lone batch after a gap is doubtful unless other evidence supports it."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import pytest

from kafkalog_reader.tables.lone_jumps import lone_jumps
from kafkalog_reader.tables.offset_chain import OffsetChain

if TYPE_CHECKING:
    from kafkalog_reader.tables.index_votes import IndexVotes


class Votes:
    """One vote for every chain."""

    def __init__(self, vote: int) -> None:
        self.vote = vote

    def of(self, chain: OffsetChain) -> int:
        assert chain.batches
        return self.vote


def chain(number: int, base_offset: int, batches: int = 1) -> OffsetChain:
    return OffsetChain(number * 100, number * 100 + 100, base_offset, base_offset + 9, batches)


def doubtful(
    chains: list[OffsetChain], *, vote: int = 0, next_base: int | None = None
) -> list[int]:
    found = lone_jumps(
        chains,
        cast("IndexVotes", Votes(vote)),
        lowest=0,
        end_position=chains[-1].end_position,
        next_base=next_base,
    )
    return [each.first_offset for each in found]


@pytest.mark.parametrize(
    ("vote", "expected"),
    [
        pytest.param(0, [50], id="nobody_supports_it"),
        pytest.param(1, [], id="the_index_supports_it"),
    ],
)
def test_a_lone_batch_in_the_middle_needs_support(vote: int, expected: list[int]) -> None:
    assert doubtful([chain(0, 0), chain(1, 50), chain(2, 70, 5)], vote=vote) == expected


def test_several_batches_are_doubtful_only_if_the_index_contradicts_them() -> None:
    chains = [chain(0, 0), chain(1, 50, 5)]
    assert doubtful(chains) == []
    assert doubtful(chains, vote=-1) == [50]


@pytest.mark.parametrize(
    ("next_base", "expected"),
    [
        pytest.param(None, [50], id="no_next_segment"),
        pytest.param(60, [], id="next_segment_begins_there"),
        pytest.param(70, [50], id="next_segment_begins_elsewhere"),
    ],
)
def test_the_next_segment_vouches_for_the_last_batch(
    next_base: int | None, expected: list[int]
) -> None:
    assert doubtful([chain(0, 0, 5), chain(1, 50)], next_base=next_base) == expected


def test_many_jumps_are_taken_for_compaction() -> None:
    assert len(doubtful([chain(n, n * 20) for n in range(4)], next_base=1000)) == 3
    assert doubtful([chain(n, n * 20) for n in range(5)], next_base=1000) == []
