"""Changes of one partition do not overlap; each offset keeps the most important."""

from __future__ import annotations

from random import Random

import pytest

from kafkalog_reader.audits.change import Change, ChangeKind, disjoint, part_of

KINDS = tuple(
    map(
        ChangeKind,
        [
            "partitionGone",
            "partitionNew",
            "lostCommitted",
            "missing",
            "damaged",
            "rewritten",
            "truncated",
            "notCompared",
            "compacted",
            "expired",
            "added",
            "unchanged",
        ],
    )
)
"""The most important first: a loss is never hidden by what covers it."""


def change(kind: ChangeKind, first: int | None, stop: int | None, records: int | None) -> Change:
    return Change(
        topic="t", partition=0, kind=kind, first_offset=first, next_offset=stop, records=records,
        detail="",
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(200))
def test_every_offset_is_covered_once_by_the_most_important(seed: int) -> None:
    random = Random(seed)
    drawn = []
    for _ in range(random.randrange(1, 8)):
        first = random.randrange(20)
        stop = first + random.randrange(1, 10)
        drawn.append(change(random.choice(KINDS), first, stop, random.choice([None, stop - first])))
    expected: dict[int, int] = {}
    for each in drawn:
        assert each.first_offset is not None
        assert each.next_offset is not None
        for offset in range(each.first_offset, each.next_offset):
            rank = KINDS.index(each.kind)
            expected[offset] = min(expected.get(offset, rank), rank)
    found: dict[int, int] = {}
    for each in disjoint(drawn):
        assert each.first_offset is not None
        assert each.next_offset is not None
        if each.records is not None:
            assert each.records == each.next_offset - each.first_offset
        for offset in range(each.first_offset, each.next_offset):
            assert offset not in found
            found[offset] = KINDS.index(each.kind)
    assert found == expected


def test_a_piece_of_a_compacted_range_has_an_unknown_number_of_records() -> None:
    sparse = change(ChangeKind.UNCHANGED, 0, 10, 4)
    assert part_of(sparse, 0, 10).records == 4
    assert part_of(sparse, 0, 5).records is None
    assert part_of(change(ChangeKind.UNCHANGED, 0, 10, 10), 2, 5).records == 3


def test_changes_without_offsets_stay() -> None:
    gone = change(ChangeKind.PARTITION_GONE, None, None, 0)
    assert list(disjoint([gone])) == [gone]
