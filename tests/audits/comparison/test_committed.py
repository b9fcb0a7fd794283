"""Bounds of the high watermark: which records are committed, and which a newer leader lacks."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest

from kafkalog_reader.audits.comparison.committed import (
    CommitBounds,
    CommitCount,
    commit_bounds,
    newest_replica,
    superseded_at,
)
from tests.audits.bare_replica import bare, history

ONE, TWO, THREE = (bare(number, epochs="0:0", high_watermark=0) for number in (1, 2, 3))


def bound(
    known: int, possible: int, high: int, log_end: int, superseded: int | None = None
) -> CommitBounds:
    return CommitBounds(
        known=known, possible=possible, high=high, log_end=log_end, superseded=superseded
    )


def test_the_newest_replica_has_the_greatest_epoch_then_the_longest_log_then_is_the_first() -> None:
    short, long = history((1, 0, 5)), history((1, 0, 6))
    assert newest_replica({ONE: long, TWO: history((2, 0, 3))}) == TWO
    assert newest_replica({ONE: short, TWO: long}) == TWO
    assert newest_replica({ONE: long, TWO: long}) == ONE
    assert newest_replica({ONE: history()}) is None
    assert newest_replica({ONE: short, TWO: long}, named=ONE) == ONE


def test_a_history_is_superseded_where_the_newest_one_leaves_it() -> None:
    newest = history((0, 0, 4), (2, 4, 6))
    assert superseded_at(history((0, 0, 6)), newest) == 4
    assert superseded_at(history((0, 0, 4)), newest) is None, "a prefix"
    assert superseded_at(history((0, 0, 4), (2, 4, 5)), newest) is None, "it has the epoch"
    assert superseded_at(history(start=4), newest) is None, "empty"


def test_without_a_newer_epoch_all_records_may_be_committed() -> None:
    bounds = commit_bounds({ONE: history((0, 0, 6), high_watermark=2), TWO: history((0, 0, 4))})
    assert bounds == {ONE: bound(2, 6, 6, 6), TWO: bound(0, 4, 4, 4)}


def test_what_an_in_sync_replica_lacks_is_not_committed() -> None:
    histories = {ONE: history((0, 0, 6), high_watermark=2), TWO: history((0, 0, 4))}
    assert commit_bounds(histories, in_sync=[ONE, TWO])[ONE] == bound(2, 4, 4, 6)
    assert commit_bounds(histories, in_sync=[ONE])[ONE] == bound(2, 6, 6, 6)
    assert commit_bounds(histories, in_sync=None)[ONE] == bound(2, 6, 6, 6)


@pytest.mark.parametrize(("row", "possible"), [(4, 4), (5, 6)])
def test_an_in_sync_replica_that_lost_its_end_bounds_nothing(row: int, possible: int) -> None:
    """Its high watermark was never above its log end while it ran: it once had offset 4."""
    torn = replace(TWO, checkpointed_high_watermark=row)
    histories = {ONE: history((0, 0, 6), high_watermark=2), torn: history((0, 0, 4))}
    assert commit_bounds(histories, in_sync=[ONE, torn])[ONE] == bound(2, possible, possible, 6)


def test_above_the_fork_with_the_newest_leader_only_an_unclean_election_left_commits() -> None:
    old, new = history((0, 0, 6), high_watermark=2), history((0, 0, 4), (1, 4, 5))
    assert commit_bounds({ONE: old, TWO: new})[ONE] == bound(2, 4, 6, 6, superseded=4)


@pytest.mark.parametrize("missing", ["checkpointed_high_watermark", "epoch_entries"])
def test_an_in_sync_replica_bounds_nothing_without_its_small_files(missing: str) -> None:
    """Its log may have had more, by its high watermark, or another history, by its epochs."""
    alone = replace(TWO, **{missing: None})
    histories = {ONE: history((0, 0, 6), high_watermark=2), alone: history((0, 0, 4))}
    assert commit_bounds(histories, in_sync=[ONE, alone])[ONE] == bound(2, 6, 6, 6)


def test_the_end_of_an_in_sync_replica_bounds_only_the_history_that_it_has() -> None:
    """An unclean election let a high watermark go back: offset 5 may have been committed."""
    old, new = history((0, 0, 6), high_watermark=2), history((0, 0, 4), (1, 4, 5))
    found = commit_bounds({ONE: old, TWO: new}, in_sync=[TWO])
    assert found[ONE] == bound(2, 4, 6, 6, superseded=4)


def test_an_in_sync_replica_that_ends_in_half_a_batch_bounds_nothing() -> None:
    torn = replace(history((0, 0, 4)), lost_its_end=True)
    histories = {ONE: history((0, 0, 6), high_watermark=2), TWO: torn}
    assert commit_bounds(histories, in_sync=[ONE, TWO])[ONE] == bound(2, 6, 6, 6)
    assert commit_bounds(histories, in_sync=[ONE, TWO])[TWO] == bound(0, 4, 4, 4)


@pytest.mark.parametrize(
    ("row", "possible", "superseded"), [(4, 4, 4), (5, 5, 5), (6, 6, None), (9, 6, None)]
)
def test_a_leader_that_lost_its_end_supersedes_nothing_below_its_high_watermark(
    row: int, possible: int, superseded: int | None
) -> None:
    """Broker 2 leads a newer epoch, and its log was cut short: it held all that it committed."""
    torn = replace(TWO, checkpointed_high_watermark=row)
    histories = {ONE: history((0, 0, 6), high_watermark=2), torn: history((0, 0, 4))}
    found = commit_bounds(histories, in_sync=[torn], named=torn)[ONE]
    assert (found.possible, found.superseded) == (possible, superseded)


def test_a_high_watermark_of_the_leader_says_nothing_after_its_own_records() -> None:
    """It has another record at offset 4, so what broker 1 has there was never committed."""
    led = replace(TWO, checkpointed_high_watermark=6)
    histories = {ONE: history((0, 0, 6)), led: history((0, 0, 4), (1, 4, 5))}
    assert commit_bounds(histories, in_sync=[led], named=led)[ONE].possible == 4


@pytest.mark.parametrize(("high_watermark", "possible"), [(4, 4), (5, 6)])
def test_a_high_watermark_above_the_fork_shows_an_unclean_election(
    high_watermark: int, possible: int
) -> None:
    """KL-514: after it, committed records may be on any branch."""
    old = history((0, 0, 6), high_watermark=high_watermark)
    found = commit_bounds({ONE: old, TWO: history((0, 0, 4), (1, 4, 5))})[ONE]
    assert found == bound(high_watermark, possible, 6, 6, superseded=4)


@pytest.mark.parametrize(("epoch", "possible"), [(0, 4), (1, 6)])
def test_an_unclean_election_says_nothing_about_records_before_it(
    epoch: int, possible: int
) -> None:
    """Broker 2 was elected in epoch 1: whether the ISR of before had offset 5 is unknown."""
    histories = {ONE: history((0, 0, 6)), TWO: history((0, 0, 4), (1, 4, 5))}
    found = commit_bounds(histories, in_sync=[TWO], unclean_epoch=epoch)
    assert (found[ONE].possible, found[ONE].superseded) == (possible, 4)
    assert found[TWO] == bound(0, 5, 5, 5)


def test_a_named_leader_supersedes_also_a_log_with_its_epochs() -> None:
    histories = {ONE: history((0, 0, 6)), TWO: history((0, 0, 4)), THREE: history((1, 0, 2))}
    bounds = commit_bounds(histories, named=THREE)
    assert bounds[THREE].superseded is None
    assert bounds[ONE].superseded == 0


def test_counts_add_up_and_the_strongest_state_speaks() -> None:
    count = CommitCount(known=1, possible=2) + CommitCount(
        possible=3, only_if_unclean=4, uncommitted=5
    )
    assert count == CommitCount(known=1, possible=5, only_if_unclean=4, uncommitted=5)
    assert (count.total, count.state) == (15, "known")
    assert CommitCount(possible=1).state == "possible"
    assert CommitCount(only_if_unclean=1, uncommitted=1).state == "onlyIfUnclean"
    assert CommitCount(uncommitted=1, damaged=1).state == "none"
    assert CommitCount(uncommitted=1, damaged=1, damaged_possible=1).state == "possible"
    assert CommitCount(damaged=1, damaged_known=1).state == "known"


FIELDS = [each.name for each in fields(CommitCount)]


@pytest.mark.parametrize("name", FIELDS)
def test_each_number_is_added_and_subtracted_by_itself(name: str) -> None:
    five, three, two = (CommitCount(**{name: number}) for number in (5, 3, 2))
    assert three + two == five
    assert five - two == three
    assert two - two == two - five == CommitCount()
    assert CommitCount() - two == CommitCount()
    assert bool(five) == bool(five.total or five.damaged)
    assert five.may_be_committed == (
        name in ("known", "possible", "damaged_known", "damaged_possible")
    )
    assert five.total == (0 if name.startswith("damaged") else 5)
    assert five.only_damaged == (five if name.startswith("damaged") else CommitCount())
    assert five.only_sound == (CommitCount() if name.startswith("damaged") else five)


def test_damaged_batches_hold_no_more_than_there_are_offsets() -> None:
    greatest = 2**63 - 1
    for name in ("damaged", "damaged_known", "damaged_possible"):
        most = CommitCount(**{name: greatest})
        for more in (1, greatest):
            assert most + CommitCount(**{name: more}) == most


def test_a_damaged_batch_alone_is_something() -> None:
    assert CommitCount(damaged=1)
    assert CommitCount(uncommitted=1)
    assert not CommitCount()


def test_an_empty_log_in_sync_bounds_all() -> None:
    """Without a checkpoint, too: nothing shows that it ever had more."""
    bounds = commit_bounds({ONE: history((0, 0, 6)), TWO: history()}, in_sync=[ONE, TWO])
    assert bounds == {ONE: bound(0, 0, 0, 6), TWO: bound(0, 0, 0, 0)}


def test_a_log_without_batches_has_a_last_epoch_below_all() -> None:
    assert (history().last_epoch, history((0, 0, 3)).last_epoch) == (-1, 0)
