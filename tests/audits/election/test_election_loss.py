"""Losses if a log start is inside a batch, or if a transaction marker is damaged.

The expected numbers count records one by one, in each replica from its own log start
(replica-divergence.md, section 4.8).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from fixtures.builder import Batch, marker_batch, parse_log, replica
from kafkalog_reader.audits.comparison.committed import CommitBounds, CommitCount
from kafkalog_reader.audits.comparison.compared_replicas import NotCompared
from kafkalog_reader.audits.comparison.damaged_batches import DamagedBatches, DamagedRows
from kafkalog_reader.audits.comparison.verdict import Verdict
from kafkalog_reader.audits.election.candidate import Candidate
from kafkalog_reader.audits.election.election_loss import committed_records, lost_ranges
from kafkalog_reader.audits.log.epoch_log import EpochLog
from kafkalog_reader.audits.log.leader_epoch_cache import LeaderEpochCache
from kafkalog_reader.audits.tables.findings import findings_of
from kafkalog_reader.format.control_record import ControlType
from kafkalog_reader.salvage.merge_trial import with_merge_outcome
from tests.audits.comparison.bare_comparison import ONE, THREE, TWO, branch, comparison

if TYPE_CHECKING:
    from kafkalog_reader.audits.log.replica import Replica
    from kafkalog_reader.audits.partition.partition_audit import PartitionAudit
    from tests.audits.conftest import Audited

EMPTY = replica("", epochs="", high_watermark=0, base_offset=0)


def damaged(batch: Batch) -> Batch:
    """The same batch with a wrong checksum."""
    return replace(batch, lies={"crc": 1})


def lost(audit: PartitionAudit) -> dict[int, int]:
    """Number of distinct lost records by candidate."""
    return {each.candidate.broker_id: each.lost.total for each in audit.elections}


def test_followers_lose_records_from_their_own_log_start_on(audited: Audited) -> None:
    """Seed 501 of the random histories on 4.3.1: offsets 13 and 14 had been deleted."""
    newer = replica("13-15/e4 16-18/e4 19-22/e4", epochs="4:15", log_start=15, high_watermark=23)
    audit = audited(
        newer,
        newer,
        replica("0-0/e0 1-4/e1 5-8/e1 9-12/e1", epochs="1:8", log_start=8, high_watermark=13),
        replica("5-8/e1", epochs="1:8", log_start=8, high_watermark=9),
    )
    assert lost(audit) == {0: 0, 1: 0, 2: 8, 3: 12}


def test_a_leader_with_an_older_log_start_counts_no_more(audited: Audited) -> None:
    """Seed 625: nobody could read the records of broker 1 below 5, although its file has them."""
    audit = audited(
        replica("0-2/e0 5-5/e6", epochs="0:0 1:3 6:5", high_watermark=6),
        replica("0-2/e0 3-6/e4 7-8/e4", epochs="4:5", log_start=5, high_watermark=9),
        replica("", epochs="", base_offset=4, high_watermark=4),
    )
    assert lost(audit) == {0: 4, 1: 1, 2: 5}


def test_who_could_read_more_of_a_batch_loses_more(audited: Audited) -> None:
    held = "0-9/e0 10-14/e0"
    audit = audited(
        replica(held, epochs="0:12", log_start=12, high_watermark=15),
        replica(held, epochs="0:7", log_start=7, high_watermark=15),
        EMPTY,
    )
    assert lost(audit) == {0: 0, 1: 0, 2: 8}


def test_a_damaged_batch_that_reaches_over_the_log_start_is_not_a_loss_of_an_election(
    audited: Audited,
) -> None:
    first, second = parse_log("0-9/e0 10-14/e0")
    held = replica([damaged(first), second], epochs="0:7", log_start=7, high_watermark=15)
    assert lost(audited(held, EMPTY, clean=(0, 1)))[1] == 5


def test_where_only_a_damaged_copy_of_a_batch_begins_earlier_nothing_is_read_there(
    audited: Audited,
) -> None:
    """Seed 11011: the start of broker 1 deletes everything, and its log start was 1 like theirs."""
    first, second = parse_log("0-1/e0 2-4/e0")
    intact = replica([first, second], epochs="0:1", log_start=1, high_watermark=5)
    emptied = replica([damaged(first), second], epochs="0:1", log_start=1, high_watermark=5)
    assert lost(audited(intact, emptied)) == {0: 0, 1: 4}


def test_a_damaged_count_of_records_is_not_a_number_of_records(audited: Audited) -> None:
    """Seed 7021: a bit of the count had flipped, so that two offsets seemed to hold 258 records."""
    first, second = parse_log("0-3/e0 4-5/e0")
    flipped = replace(second, lies={"records_count": 258, "crc": 1})
    held = replica([first, flipped], high_watermark=4)
    assert lost(audited(held, replica("0-3/e0", high_watermark=4))) == {0: 0, 1: 0}


def test_a_damaged_marker_was_no_record_of_a_client(audited: Audited) -> None:
    """Seed 710: the marker was damaged on one broker, and the other logs began above it."""
    marker = marker_batch(3, control_type=ControlType.COMMIT, producer_id=1, producer_epoch=0)
    first, second = parse_log("0-2/e0 4-5/e0")
    held = replica([first, damaged(marker), second], high_watermark=6)
    assert lost(audited(held, EMPTY, clean=(0, 1)))[1] == 5


def test_a_follower_cut_to_its_log_start_keeps_no_record_below_it(audited: Audited) -> None:
    """Its cut is inside a batch, whose offset 4 it no longer serves, although its file held it."""
    audit = audited(
        replica("0-3/e3 4-5/e3 6-6/e3", high_watermark=0),
        replica("0-3/e1 4-9/e1", high_watermark=0),
        replica("4-5/e3 6-6/e3", epochs="3:5", log_start=5, high_watermark=7),
    )
    assert lost(audit)[1] == 7
    of_leader = next(each for each in audit.elections if each.candidate.broker_id == 1)
    assert [each.silent_divergence for each in of_leader.followers] == [None, None]


def test_logs_that_part_where_one_cannot_be_read_do_not_part(audited: Audited) -> None:
    """replica-divergence.md, section 4.3: logs are compared above the larger log start."""
    audit = audited(
        replica("1-2/e22 3-4/e22", epochs="22:2", log_start=2, high_watermark=5),
        replica("0-0/e2 1-1/e2", high_watermark=0),
    )
    assert (audit.verdict, audit.fork_offset) == (Verdict.LAGGING, None)
    assert {each.code for each in findings_of(audit)}.isdisjoint({"KL-503", "KL-517"})


def test_a_leader_emptied_by_its_start_has_nothing_otherwise(audited: Audited) -> None:
    """Seed 7131: damage ended its log below its log start, at which it begins again."""
    first, forked, last = parse_log("0-4/e0 5-8/e2 9-9/e2")
    leader = replica([first, forked, damaged(last)], epochs="0:0", log_start=10, high_watermark=10)
    follower = replica("0-4/e0 5-6/e0 7-8/e0 9-12/e4 13-15/e4", epochs="0:0 4:9", high_watermark=13)
    audit = audited(leader, follower)
    of_leader = next(each for each in audit.elections if each.candidate.broker_id == 0)
    (outcome,) = of_leader.followers
    assert (outcome.truncation_offset, outcome.silent_divergence) == (10, None)


def test_what_replicas_hold_alike_after_a_fork_is_lost_once(audited: Audited) -> None:
    """Seed 8011: broker 1 was cut inside a batch, which removed 3 and 4; it continued at 5."""
    written = "0-0/e0 1-4/e3 5-6/e5"
    audit = audited(
        replica(written, epochs="5:5", log_start=5, high_watermark=7),
        replica("0-0/e0 1-2/e0 5-6/e5", epochs="0:0 5:5", high_watermark=7),
        replica("0-0/e0 1-4/e3", epochs="3:5", log_start=5, high_watermark=5),
        replica(written, epochs="5:5 6:7", high_watermark=7),
    )
    assert lost(audit) == {0: 0, 1: 0, 2: 2, 3: 0}
    silent = {
        (each.candidate.broker_id, of.follower.broker_id): of.silent_divergence
        for each in audit.elections
        for of in each.followers
        if of.silent_divergence is not None
    }
    assert silent == {(1, 3): 1, (3, 1): 1}


WHOLE, WITH_A_HOLE = "0-0/e0 1-1/e0 2-3/e1", "0-0/e0 2-3/e1"


def lacking(audit: PartitionAudit) -> dict[int, tuple[int, int, int]]:
    """The records that each candidate lacks: committed, possibly committed, all."""
    counts = {each.candidate.broker_id: each.lacking for each in audit.elections}
    return {broker: (c.known, c.possible, c.total) for broker, c in counts.items()}


def test_a_leader_without_an_offset_inside_its_log_lacks_that_record(audited: Audited) -> None:
    """No follower truncates it, but no consumer of this leader gets it, nor will a later copy."""
    whole = replica(WHOLE, high_watermark=4)
    audit = audited(whole, whole, replica(WITH_A_HOLE, high_watermark=4))
    assert lacking(audit) == {0: (0, 0, 0), 1: (0, 0, 0), 2: (1, 0, 1)}
    assert lost(audit) == {0: 0, 1: 0, 2: 0}
    assert [each.kind.value for each in audit.elections] == ["clean", "clean", "unclean"]
    (kept,) = audit.elections[-1].apart_ranges
    assert [each.broker_id for each in kept.replicas] == [0, 1]
    assert (kept.first_offset, kept.next_offset) == (1, 2)


def test_an_absent_offset_above_the_high_watermarks_was_possibly_committed(
    audited: Audited,
) -> None:
    audit = audited(replica(WHOLE, high_watermark=1), replica(WITH_A_HOLE, high_watermark=1))
    assert lacking(audit) == {0: (0, 0, 0), 1: (0, 1, 1)}


def test_where_each_copy_lacks_another_offset_every_leader_loses_one(audited: Audited) -> None:
    audit = audited(
        replica("0-0/e0 2-2/e0 3-3/e0", high_watermark=4),
        replica("0-0/e0 1-1/e0 3-3/e0", high_watermark=4),
    )
    assert lacking(audit) == {0: (1, 0, 1), 1: (1, 0, 1)}
    merged = with_merge_outcome(audit).merge
    assert merged is not None
    assert (merged.gained_offsets, merged.lost) == (1, ())
    assert "KL-903" in {each.code for each in findings_of(audit)}


def test_a_record_that_its_only_holder_is_cut_of_is_lost(audited: Audited) -> None:
    """Broker 2 ends at 1, so that brokers 0 and 1 truncate there; only broker 0 had offset 1."""
    audit = audited(
        replica("0-0/e0 1-1/e0 2-2/e0", high_watermark=3),
        replica("0-0/e0 2-2/e0", high_watermark=3),
        replica("0-0/e0", high_watermark=1),
    )
    assert lost(audit) == {0: 0, 1: 0, 2: 2}
    last = audit.elections[-1]
    assert [(each.first_offset, len(each.replicas)) for each in last.lost_ranges] == [
        (1, 1),
        (2, 2),
    ]


def test_offsets_that_compaction_may_have_removed_speak_against_no_leader(
    audited: Audited,
) -> None:
    """The cleaner of broker 1 has processed these offsets."""
    cleaned = replica(WITH_A_HOLE, high_watermark=4, cleaner_offset=2)
    audit = audited(replica(WHOLE, high_watermark=4), cleaned)
    assert {each.kind.value for each in audit.elections} == {"clean"}
    assert lacking(audit) == {0: (0, 0, 0), 1: (0, 0, 0)}


def test_what_is_cut_of_one_copy_and_not_served_by_another_is_lost(audited: Audited) -> None:
    """Led by broker 2, broker 1 is cut at 5, and broker 0, without epochs, is not cut.

    Broker 0 serves no record below its log start, so that nobody has 5 to 7 afterwards.
    """
    held = "0-4/e0 5-11/e1"
    audit = audited(
        replica(held, epochs="", log_start=8, high_watermark=12),
        replica(held, high_watermark=5),
        replica("0-4/e0 5-11/e2", high_watermark=5),
        clean=(0, 1, 2),
    )
    (of_two,) = (each for each in audit.elections if each.candidate.broker_id == 2)
    kept = {each.follower.broker_id: each.kept_until for each in of_two.followers}
    assert kept == {0: 12, 1: 5}
    assert [(each.first_offset, each.next_offset) for each in of_two.lost_ranges] == [(5, 8)]
    assert [(each.first_offset, each.next_offset) for each in of_two.apart_ranges] == [(8, 12)]
    assert (of_two.lost.total, of_two.kept_apart.total) == (3, 4)


def candidate(
    one: Replica, end: int, hidden: tuple[tuple[int, int], ...] = (), known: int = 0
) -> Candidate:
    """A replica of offsets [0, end), each a record, of which 8 are possibly committed."""
    return Candidate(
        replica=one,
        bounds=CommitBounds(known=known, possible=8, high=9, log_end=end, superseded=None),
        log=EpochLog(cache=LeaderEpochCache(), log_start_offset=0, log_end_offset=end),
        log_start_offset=0,
        log_end_offset=end,
        last_leader_epoch=0,
        unreplaceable=0,
        records=lambda first, following: following - first,
        batch_start=lambda offset: offset,
        hidden=hidden,
    )


@pytest.mark.parametrize(
    ("one", "two", "damaged"),
    [
        pytest.param([], [], (0, 0, 0), id="nowhere"),
        pytest.param([(2, 5)], [], (0, 0, 0), id="on_one_replica"),
        pytest.param([(2, 5)], [(5, 7)], (0, 0, 0), id="side_by_side"),
        pytest.param([(2, 5)], [(4, 7)], (1, 0, 1), id="in_part"),
        pytest.param([(2, 5)], [(2, 5)], (3, 2, 1), id="everywhere"),
        pytest.param([(0, 9)], [(1, 2), (3, 5)], (3, 2, 1), id="two_inside_of_one"),
        pytest.param([(1, 2), (6, 12)], [(1, 2), (7, 20)], (4, 1, 1), id="beyond_the_end"),
        pytest.param([(0, 1), (2, 3), (5, 6)], [(0, 3), (5, 6)], (3, 2, 1), id="several"),
    ],
)
def test_offsets_that_damage_hides_on_every_copy_are_counted_apart(
    one: list[tuple[int, int]], two: list[tuple[int, int]], damaged: tuple[int, int, int]
) -> None:
    """All, known to be committed (below 4), and possibly committed (below 8) of offsets 0 to 9."""
    leader = candidate(THREE, 0)
    holders = [candidate(ONE, 10, tuple(one), known=4), candidate(TWO, 10, tuple(two))]
    found = comparison(branch(0, 10, ONE, TWO))
    for order in (holders, holders[::-1]):
        (lost,), apart = lost_ranges(leader, (), [leader, *order], found)
        assert apart == ()
        assert (lost.first_offset, lost.next_offset) == (0, 10)
        counts = lost.records
        assert (counts.damaged, counts.damaged_known, counts.damaged_possible) == damaged
        assert (counts.known, counts.possible, counts.only_if_unclean, counts.uncommitted) == (
            4, 4, 1, 1,
        )  # fmt: skip


def damaged_rows(first: int, following: int) -> DamagedBatches:
    """One damaged batch, a record an offset, that no copy has intact."""
    found = DamagedBatches()
    found.holders.append(())
    rows = DamagedRows(
        first_offset=np.array([first]),
        next_offset=np.array([following]),
        records=np.array([following - first]),
        intact_on=np.array([0], np.int32),
    )
    found._parts.append(rows)
    return found


def test_damage_that_copies_frame_otherwise_hides_no_more_than_the_offsets_there() -> None:
    """Of 4 to 7, each of two damaged batches may hold all four; 2 and 3 are known committed."""
    leader = candidate(THREE, 0)
    holders = [candidate(ONE, 10, known=4), candidate(TWO, 10)]
    whole = branch(0, 10, ONE, TWO)
    rows = {ONE: damaged_rows(2, 8), TWO: damaged_rows(3, 8), THREE: DamagedBatches()}
    found = replace(comparison(whole), damaged=rows)
    (lost,), _ = lost_ranges(leader, (), [leader, *holders], found)
    assert (lost.records.damaged_known, lost.records.damaged_possible) == (3, 4)
    assert lost.records.damaged == 10


@pytest.mark.parametrize("end", [0, 3, 6, 10])
def test_what_the_leader_has_is_not_lost(end: int) -> None:
    leader, other = candidate(ONE, end), candidate(TWO, 10)
    shared = branch(0, end, ONE, TWO, children=(branch(end, 10, TWO),))
    lost, apart = lost_ranges(leader, (), [leader, other], comparison(shared))
    assert apart == ()
    assert [(each.first_offset, each.next_offset) for each in lost] == (
        [(end, 10)] if end < 10 else []
    )
    assert sum(each.records.total for each in lost) == 10 - end


def test_records_of_a_branch_are_counted_by_what_its_holders_show() -> None:
    """Of 0 to 9, broker 1 shows 4 committed; 8 are possibly, and 1 more if unclean."""
    holders = [candidate(ONE, 10, ((2, 5),), known=4), candidate(TWO, 10, ((2, 5),))]
    whole = branch(0, 10, ONE, TWO)
    count = committed_records(whole, holders)
    assert count == CommitCount(known=4, possible=4, only_if_unclean=1, uncommitted=1)
    with_damage = committed_records(whole, holders, comparison(whole))
    assert (with_damage.damaged, with_damage.damaged_known) == (3, 2)
    assert committed_records(whole, holders, NotCompared("why")) == count


def test_where_no_record_can_be_read_none_is_subtracted_for_damage() -> None:
    """The records of a damaged batch at 2 to 7 are not among those that are counted, 8 and 9."""
    holders = [
        replace(
            candidate(each, 10, known=4),
            records=lambda first, following: max(0, following - max(first, 8)),
        )
        for each in (ONE, TWO)
    ]
    sparse = replace(branch(0, 10, ONE, TWO), records=2)
    rows = {ONE: damaged_rows(2, 8), TWO: damaged_rows(2, 8), THREE: DamagedBatches()}
    found = committed_records(sparse, holders, replace(comparison(sparse), damaged=rows))
    assert found == CommitCount(
        known=0, possible=0, only_if_unclean=1, uncommitted=1,
        damaged=6, damaged_known=2, damaged_possible=4,
    )  # fmt: skip
