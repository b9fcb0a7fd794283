"""The order of elections: section 4.9 of the reference, one criterion after the other."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from fixtures.builder import cluster, replica
from kafkalog_reader.audits.comparison.committed import CommitBounds, CommitCount
from kafkalog_reader.audits.election.candidate import Candidate
from kafkalog_reader.audits.election.candidates import Election, ElectionKind, ranked
from kafkalog_reader.audits.election.election_loss import LostRange
from kafkalog_reader.audits.log.epoch_log import EpochLog
from kafkalog_reader.audits.log.leader_epoch_cache import LeaderEpochCache
from kafkalog_reader.audits.partition.auditor import audit_partition
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.tables.request import ReadRequest
from tests.audits.bare_replica import bare

if TYPE_CHECKING:
    from pathlib import Path

AB = "a@0/e0 b@1/e0"


def elections(path: Path, logs: dict[int, tuple[str, int]]) -> tuple[Election, ...]:
    """Of brokers with these logs and checkpointed high watermarks."""
    cluster(path, {n: replica(log, high_watermark=high) for n, (log, high) in logs.items()})
    ((_, directories),) = discover([str(path)]).topic_partitions(ReadRequest())
    return audit_partition(directories).elections


def order(found: tuple[Election, ...]) -> list[int | None]:
    assert [each.rank for each in found] == list(range(1, len(found) + 1))
    return [each.candidate.broker_id for each in found]


@pytest.mark.parametrize(
    ("logs", "expected"),
    [
        pytest.param({0: (AB, 2), 1: (AB, 2)}, [0, 1], id="equal: the smaller id"),
        pytest.param({0: (AB, 2), 1: (f"{AB} c@2/e0", 2)}, [1, 0], id="uncommitted: the longer"),
        pytest.param({0: ("a@0/e0", 1), 1: (AB, 2)}, [1, 0], id="committed: the one that has it"),
        pytest.param(
            {0: (f"{AB} c@2/e0 d@3/e0", 2), 1: (f"{AB} x@2/e1", 3)},
            [1, 0],
            id="a committed record outweighs the length",
        ),
        pytest.param(
            {0: (f"{AB} x@2/e1", 2), 1: (f"{AB} y@2/e2", 2)}, [1, 0], id="the newer leader epoch"
        ),
    ],
)
def test_the_best_election_comes_first(
    tmp_path: Path, logs: dict[int, tuple[str, int]], expected: list[int]
) -> None:
    assert order(elections(tmp_path, logs)) == expected


def with_members(found: tuple[Election, ...], *members: int) -> list[Election]:
    """The same elections where only these brokers are in the ISR or ELR."""
    return [
        replace(
            each, candidate=replace(each.candidate, is_member=each.candidate.broker_id in members)
        )
        for each in found
    ]


def test_a_member_of_the_isr_comes_before_another_copy_of_the_same(tmp_path: Path) -> None:
    """What is not committed justifies no unclean election."""
    logs = {0: (f"{AB} x@2/e1", 2), 1: (f"{AB} y@2/e2", 2), 2: (f"{AB} y@2/e2", 2)}
    found = elections(tmp_path, logs)
    assert order(found) == [1, 2, 0]
    assert order(ranked(with_members(found, 0, 2))) == [2, 1, 0]


def test_committed_records_outweigh_membership(tmp_path: Path) -> None:
    found = elections(tmp_path, {0: (f"{AB} c@2/e0", 3), 1: (AB, 2)})
    assert order(ranked(with_members(found, 1))) == [0, 1]


def test_every_election_begins_an_epoch_of_its_own(tmp_path: Path) -> None:
    """The new leader epoch follows the greatest that the partition had."""
    found = elections(tmp_path, {0: (f"{AB} c@2/e4", 2), 1: (AB, 2)})
    assert {each.leader_epoch for each in found} == {5}
    followers = {
        each.candidate.broker_id: [f.follower.broker_id for f in each.followers] for each in found
    }
    assert followers == {0: [1], 1: [0]}


def test_what_followers_keep_apart_is_lacking_but_not_lost(tmp_path: Path) -> None:
    """Under one leader epoch nobody notices the difference: KL-517."""
    found = elections(tmp_path, {0: (f"{AB} c@2/e0", 2), 1: (f"{AB} d@2/e0 e@3/e0", 2)})
    for each in found:
        assert each.lacking.total == each.lost.total + each.kept_apart.total
        lacking = each.lacking_ranges
        assert [r.first_offset for r in lacking] == sorted(r.first_offset for r in lacking)


def election(broker_id: int | None, end: int = 9, *, committed: int = 5, **fields: Any) -> Election:
    """One that loses nothing; the fields are of ``CommitCount``, ``Candidate`` or ``Election``."""
    counts = {name: fields.pop(name) for name in CommitCount.__slots__ if name in fields}
    apart = fields.pop("apart", CommitCount())
    candidate = Candidate(
        replica=bare(broker_id),
        bounds=CommitBounds(
            known=committed, possible=committed, high=committed, log_end=end, superseded=None
        ),
        log=EpochLog(cache=LeaderEpochCache(), log_start_offset=0, log_end_offset=end),
        log_start_offset=0,
        log_end_offset=end,
        last_leader_epoch=fields.pop("last_leader_epoch", 0),
        unreplaceable=fields.pop("unreplaceable", 0),
        records=lambda first, following: following - first,
        batch_start=lambda offset: offset,
        **fields,
    )

    def part(records: CommitCount) -> tuple[LostRange, ...]:
        return (LostRange(replicas=(), first_offset=0, next_offset=1, records=records),)

    return Election(
        candidate=candidate,
        followers=(),
        lost_ranges=part(CommitCount(**counts)),
        apart_ranges=part(apart),
    )


WORSE: list[dict[str, Any]] = [
    {"known": 1},
    {"possible": 1},
    {"unreadable_from": 4},
    {"is_member": False},
    {"cut_transactions": (3,)},
    {"unreplaceable": 1},
    {"only_if_unclean": 1},
    {"damaged": 1},
    {"last_leader_epoch": -1},
    {"end": 8},
]
"""What speaks against a leader, the worst first (reference, 4.9).

No record that was not committed justifies an unclean election. Damage before committed records
does: consumers stop there, and it stays on a leader for ever.
"""


@pytest.mark.parametrize("number", range(len(WORSE)))
def test_each_criterion_outweighs_all_that_come_after_it(number: int) -> None:
    later: dict[str, Any] = {}
    for each in WORSE[number + 1 :]:
        later |= each
    worse = election(1, **WORSE[number])
    assert order(ranked([worse, election(2, **later)])) == [2, 1]
    assert order(ranked([worse, election(2)])) == [2, 1]


def test_damage_after_what_was_committed_justifies_no_unclean_election() -> None:
    damaged = election(1, unreadable_from=5, damaged=1)
    assert order(ranked([election(2, is_member=False), damaged])) == [1, 2]


def test_equal_leaders_are_ordered_by_their_id_and_an_unknown_one_is_last() -> None:
    assert order(ranked([election(None), election(3), election(2)])) == [2, 3, None]


@pytest.mark.parametrize(
    ("lost", "apart", "kind"),
    [
        ({}, CommitCount(), ElectionKind.CLEAN),
        ({"only_if_unclean": 1, "uncommitted": 1, "damaged": 1}, CommitCount(), ElectionKind.CLEAN),
        ({"possible": 1}, CommitCount(), ElectionKind.UNDETERMINED),
        ({"known": 1}, CommitCount(), ElectionKind.UNCLEAN),
        ({}, CommitCount(possible=1), ElectionKind.UNDETERMINED),
        ({"possible": 1}, CommitCount(known=1), ElectionKind.UNCLEAN),
    ],
)
def test_an_election_is_called_by_the_committed_records_that_its_leader_lacks(
    lost: dict[str, int], apart: CommitCount, kind: ElectionKind
) -> None:
    """Also if a follower keeps them apart: no consumer gets them from this leader."""
    assert election(1, apart=apart, **lost).kind is kind


def test_a_replica_that_does_not_start_is_absent_from_every_election(tmp_path: Path) -> None:
    cluster(tmp_path, {n: replica(AB, high_watermark=2) for n in range(3)}, clean=(0, 1, 2))
    (checkpoint,) = tmp_path.glob("broker-1/t-0/leader-epoch-checkpoint")
    checkpoint.write_text("not a checkpoint")
    ((_, directories),) = discover([str(tmp_path)]).topic_partitions(ReadRequest())
    found = audit_partition(directories).elections
    assert order(found) == [0, 2]
    assert [[one.broker_id for one in each.absent] for each in found] == [[1], [1]]
    assert [[f.follower.broker_id for f in each.followers] for each in found] == [[2], [0]]
