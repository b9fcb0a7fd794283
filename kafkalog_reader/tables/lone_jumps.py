"""Lone batches after a gap that no evidence supports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kafkalog_reader.tables.doubtful_batches import JUMPED, DoubtfulBatches

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kafkalog_reader.tables.index_votes import IndexVotes
    from kafkalog_reader.tables.offset_chain import OffsetChain

_FEW: Final = 3
_BATCHES_A_JUMP: Final = 20
"""Lone jumps more frequent than one in this many batches are taken for compaction."""


def lone_jumps(
    chains: list[OffsetChain],
    votes: IndexVotes,
    *,
    lowest: int,
    end_position: int,
    next_base: int | None,
) -> list[DoubtfulBatches]:
    """The chains of a segment that was not compacted whose jump in offsets is doubtful.

    Args:
        chains: of the whole segment, in file order.
        votes: what its offset index says.
        lowest: the lowest offset that a batch of it can have.
        end_position: where the segment file ends.
        next_base: base offset of the segment that follows; None for the last.
    """
    found = list(_jumps(chains, votes, lowest, end_position, next_base))
    batches = sum(chain.batches for chain in chains)
    if len(found) > _FEW and len(found) * _BATCHES_A_JUMP > batches:
        return []
    return [
        DoubtfulBatches(
            position=chain.position,
            end_position=chain.end_position,
            first_offset=chain.base_offset,
            last_offset=chain.last_offset,
            likely_offset=None,
            problem=f"jump from offset {due} to {chain.base_offset}, {why}",
            code=JUMPED,
        )
        for chain, due, why in found
    ]


def _jumps(
    chains: list[OffsetChain],
    votes: IndexVotes,
    lowest: int,
    end_position: int,
    next_base: int | None,
) -> Iterator[tuple[OffsetChain, int, str]]:
    """Each doubtful chain, the offset that is due where it begins, and why it is doubtful."""
    final = len(chains) - 1
    position, due = 0, lowest
    for number, chain in enumerate(chains):
        adjoins = chain.position == position
        jumped = adjoins and chain.base_offset > due
        expected, due = due, chain.last_offset + 1
        position = chain.end_position
        if adjoins and chain.base_offset == expected:
            continue
        vote = votes.of(chain)
        if chain.batches > 1 or vote > 0:
            if jumped and vote < 0:
                yield (
                    chain,
                    expected,
                    "and the offset index names other offsets for these positions",
                )
            continue
        if number < final:
            jumped |= chains[number + 1].position == chain.end_position
        elif next_base is not None:
            if chain.last_offset + 1 == next_base:
                continue
            jumped |= chain.end_position == end_position
        if jumped:
            yield chain, expected, "and nothing after it goes on from there"
