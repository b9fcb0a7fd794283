"""The verdict of a partition, from made-up branches, differences and unreadable regions.

Source: replica-divergence.md, sections 3 (verdicts, damage that a peer replaces) and 4.4.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from kafkalog_reader.audits.comparison.committed import CommitBounds
from kafkalog_reader.audits.comparison.damaged_batches import DamagedBatches
from kafkalog_reader.audits.comparison.difference import Difference, DifferenceKind
from kafkalog_reader.audits.comparison.verdict import (
    Verdict,
    is_damage,
    is_replaced,
    is_unread,
    shares_nothing,
    verdict_of,
)
from kafkalog_reader.scan.scan_end import ScanEnd
from kafkalog_reader.scan.unreadable_region import UnreadableRegion
from tests.audits.bare_replica import history
from tests.audits.comparison.bare_comparison import ONE, THREE, TWO, branch, comparison

if TYPE_CHECKING:
    from kafkalog_reader.audits.comparison.branch import Branch
    from kafkalog_reader.audits.comparison.compared_replicas import Comparison

SAME = comparison(branch(0, 9, ONE, TWO))
FORK = branch(0, 4, ONE, TWO, children=(branch(4, 9, ONE), branch(4, 9, TWO)))


def region(
    first: int | None = 4,
    following: int | None = 6,
    *,
    end: ScanEnd = ScanEnd.IMPOSSIBLE_LENGTH,
    magic: int | None = None,
    begins: bool = False,
) -> UnreadableRegion:
    return UnreadableRegion(
        file="t-0/0.log", start=10, stop=99, first_offset=first, next_offset=following, end=end,
        problem="in other words", magic=magic, begins_batch=begins,
    )  # fmt: skip


def difference(kind: DifferenceKind) -> Difference:
    return Difference(
        kind=kind, first_offset=4, next_offset=6, batches=1, records=2, contents=((ONE,), (TWO,))
    )


def verdict(
    found: Comparison,
    *stops: UnreadableRegion,
    ends: tuple[int, int] = (9, 9),
    superseded: int | None = None,
) -> Verdict:
    """The verdict of two replicas; the regions are on the first."""
    bounds = [
        CommitBounds(known=0, possible=9, high=9, log_end=9, superseded=each)
        for each in (None, superseded)
    ]
    return verdict_of(
        [history((0, 0, end)) for end in ends], bounds, found, {ONE: stops, TWO: (), THREE: ()}
    )


def damaged(count: int, alone: int) -> Comparison:
    batches = DamagedBatches()
    batches.count, batches.alone = count, alone
    return replace(SAME, damaged={ONE: batches, TWO: DamagedBatches()})


def test_verdicts_are_listed_from_harmless_to_worst() -> None:
    assert [each.badness for each in Verdict] == list(range(len(Verdict)))
    assert Verdict.CONSISTENT.badness < Verdict.FORKED.badness < Verdict.UNDECIDABLE.badness


def test_equal_replicas_are_consistent_and_a_prefix_lags() -> None:
    assert verdict(SAME) is Verdict.CONSISTENT
    assert verdict(SAME, ends=(9, 7)) is Verdict.LAGGING


def test_what_a_newer_leader_lacks_will_be_truncated() -> None:
    assert verdict(SAME, ends=(9, 7), superseded=7) is Verdict.PENDING_TRUNCATION
    assert verdict(SAME, superseded=0) is Verdict.PENDING_TRUNCATION


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (DifferenceKind.CLEANED, Verdict.CONSISTENT),
        (DifferenceKind.HIDDEN, Verdict.CONSISTENT),
        (DifferenceKind.DAMAGED, Verdict.DAMAGED_RECOVERABLE),
        (DifferenceKind.MISSING, Verdict.DAMAGED_RECOVERABLE),
        (DifferenceKind.UNCOVERED, Verdict.DAMAGED_RECOVERABLE),
        (DifferenceKind.CONFLICT, Verdict.FORKED),
        (DifferenceKind.NOT_COMPARED, Verdict.UNDECIDABLE),
    ],
)
def test_a_difference_under_one_leader_epoch(kind: DifferenceKind, expected: Verdict) -> None:
    assert verdict(replace(SAME, differences=(difference(kind),))) is expected


@pytest.mark.parametrize(
    ("roots", "start", "expected"),
    [
        pytest.param((FORK,), 0, Verdict.FORKED, id="a_fork"),
        pytest.param((FORK,), 9, Verdict.CONSISTENT, id="a_fork_below_a_log_start"),
        pytest.param((branch(0, 9, ONE), branch(3, 9, TWO)), 0, Verdict.FORKED, id="no_batch"),
        pytest.param((branch(0, 3, ONE), branch(3, 9, TWO)), 0, Verdict.CONSISTENT, id="no_offset"),
    ],
)
def test_replicas_with_different_records_are_forked(
    roots: tuple[Branch, ...], start: int, expected: Verdict
) -> None:
    assert verdict(comparison(*roots, start1=start)) is expected
    superseded = verdict(comparison(*roots, start1=start), superseded=4)
    assert superseded is (
        Verdict.FORKED if expected is Verdict.FORKED else Verdict.PENDING_TRUNCATION
    )


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ((0, 5), (4, 9), True),
        ((4, 9), (0, 5), True),
        ((0, 4), (4, 9), False),
        ((4, 9), (0, 4), False),
        ((0, 9), (2, 3), True),
    ],
)
def test_logs_share_nothing_if_they_overlap_in_different_trees(
    first: tuple[int, int], second: tuple[int, int], expected: bool
) -> None:
    assert shares_nothing(comparison(branch(*first, ONE), branch(*second, TWO))) is expected
    empty = branch(20, 20, THREE)
    assert shares_nothing(comparison(branch(*first, ONE), branch(*second, TWO), empty)) is expected


def test_a_tree_reaches_to_the_end_of_its_longest_branch() -> None:
    tree = branch(0, 4, ONE, TWO, children=(branch(4, 8, ONE), branch(4, 6, TWO)))
    assert shares_nothing(comparison(tree, branch(7, 9, THREE)))
    assert not shares_nothing(comparison(tree, branch(8, 9, THREE)))


@pytest.mark.parametrize(
    ("count", "alone", "expected"),
    [
        (0, 0, Verdict.CONSISTENT),
        (2, 0, Verdict.DAMAGED_RECOVERABLE),
        (2, 1, Verdict.DAMAGED_UNRECOVERABLE),
    ],
)
def test_wrong_checksums(count: int, alone: int, expected: Verdict) -> None:
    assert verdict(damaged(count, alone)) is expected


@pytest.mark.parametrize(
    ("stop", "expected"),
    [
        pytest.param(region(), Verdict.DAMAGED_RECOVERABLE, id="the_other_has_it"),
        pytest.param(region(8, 11), Verdict.DAMAGED_UNRECOVERABLE, id="the_other_ends_inside"),
        pytest.param(region(9, None, end=ScanEnd.TORN), Verdict.CONSISTENT, id="torn_end"),
        pytest.param(region(9, None, end=ScanEnd.ZEROS), Verdict.CONSISTENT, id="zeros_at_the_end"),
        pytest.param(region(end=ScanEnd.ZEROS), Verdict.DAMAGED_RECOVERABLE, id="zeros_inside"),
        pytest.param(region(end=ScanEnd.REFUSED), Verdict.UNDECIDABLE, id="not_permitted"),
        pytest.param(
            region(9, None, end=ScanEnd.UNKNOWN_MAGIC, magic=3, begins=True),
            Verdict.UNDECIDABLE,
            id="next_format",
        ),
        pytest.param(
            region(end=ScanEnd.UNKNOWN_MAGIC, magic=3, begins=True),
            Verdict.DAMAGED_RECOVERABLE,
            id="next_format_before_known_ones",
        ),
        pytest.param(
            region(9, None, end=ScanEnd.UNKNOWN_MAGIC, magic=3),
            Verdict.DAMAGED_RECOVERABLE,
            id="next_format_where_no_batch_begins",
        ),
        pytest.param(
            region(end=ScanEnd.UNKNOWN_MAGIC, magic=34, begins=True),
            Verdict.DAMAGED_RECOVERABLE,
            id="the_magic_of_2_with_a_flipped_bit",
        ),
    ],
)
def test_unreadable_regions(stop: UnreadableRegion, expected: Verdict) -> None:
    assert verdict(SAME, stop) is expected
    assert is_unread(stop) is (expected is Verdict.UNDECIDABLE)
    assert is_damage(stop) is ("DAMAGED" in expected.name)


def test_one_region_that_nobody_replaces_decides() -> None:
    assert verdict(SAME, region(), region(8, 11)) is Verdict.DAMAGED_UNRECOVERABLE
    both = replace(damaged(2, 0), roots=SAME.roots)
    assert verdict(both, region()) is Verdict.DAMAGED_RECOVERABLE
    assert verdict(both, region(8, 11)) is Verdict.DAMAGED_UNRECOVERABLE


@pytest.mark.parametrize(
    ("stop", "others", "expected"),
    [
        pytest.param(region(4, 6), (), True, id="whole"),
        pytest.param(region(None, 6), (), False, id="nobody_knows_what_is_missing"),
        pytest.param(region(6, 6), (region(6, 6),), True, id="no_offset_is_missing"),
        pytest.param(region(4, 9), (), True, id="to_the_end_of_the_other"),
        pytest.param(region(4, 10), (), False, id="one_offset_more"),
        pytest.param(region(4, 6), (region(5, 7),), False, id="the_other_stops_inside"),
        pytest.param(region(4, 6), (region(6, 7),), True, id="the_other_stops_after_it"),
        pytest.param(region(4, 6), (region(2, 4),), True, id="the_other_stops_before_it"),
        pytest.param(region(4, 6), (region(2, 5),), False, id="the_other_stops_until_it"),
        pytest.param(region(4, 6), (region(2, None),), False, id="the_other_ends_before_it"),
        pytest.param(region(4, 6), (region(None, 3),), False, id="the_other_stops_anywhere"),
        pytest.param(region(9, None), (), True, id="bytes_after_the_end"),
        pytest.param(region(10, None), (), False, id="after_the_end_of_the_other"),
        pytest.param(region(8, None, begins=True), (), True, id="a_last_batch_of_the_other"),
        pytest.param(region(9, None, begins=True), (), False, id="a_last_batch_nobody_has"),
    ],
)
def test_a_region_is_replaced_by_a_replica_that_reads_all_of_it(
    stop: UnreadableRegion, others: tuple[UnreadableRegion, ...], expected: bool
) -> None:
    assert is_replaced(SAME, ONE, stop, {ONE: (stop,), TWO: others}) is expected


def test_no_replica_replaces_its_own_region() -> None:
    alone = comparison(branch(0, 9, ONE))
    assert not is_replaced(alone, ONE, region(), {ONE: (), TWO: ()})


def test_another_history_replaces_nothing() -> None:
    stops = {ONE: (region(5, 7),), TWO: (), THREE: ()}
    forked = comparison(FORK)
    assert not is_replaced(forked, ONE, region(5, 7), stops)
    assert is_replaced(forked, ONE, region(2, 4), stops), "below the fork both are one history"
    assert not is_replaced(forked, THREE, region(2, 4), stops), "it is on no branch"


def test_a_longer_replica_of_the_same_history_replaces_what_the_shorter_lacks() -> None:
    longer = comparison(branch(0, 4, ONE, TWO, children=(branch(4, 9, TWO),)))
    stops = {ONE: (region(4, 7),), TWO: ()}
    assert is_replaced(longer, ONE, region(4, 7), stops)
    assert not is_replaced(longer, ONE, region(4, 10), stops)
