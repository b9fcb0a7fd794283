"""The order of elections: section 4.8 of the reference, one criterion after the other."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from fixtures.builder import cluster, replica
from kafkalog_reader.audits.election.candidates import ranked
from kafkalog_reader.audits.partition.auditor import audit_partition
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.tables.request import ReadRequest

if TYPE_CHECKING:
    from pathlib import Path

    from kafkalog_reader.audits.election.candidates import Election

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
