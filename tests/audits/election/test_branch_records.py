"""Client records in a range of offsets: from branches if they say it, or else counted."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kafkalog_reader.audits.comparison.committed import CommitBounds
from kafkalog_reader.audits.comparison.difference import Difference, DifferenceKind
from kafkalog_reader.audits.election.branch_records import records_between, records_of
from kafkalog_reader.audits.election.candidate import Candidate
from tests.audits.comparison.bare_comparison import ONE, TWO, branch, comparison

COUNTED = 1000
"""What the candidate counts in its files, so that it shows that it was asked."""
HOLDER = Candidate(
    replica=ONE,
    bounds=CommitBounds(known=0, possible=9, high=9, log_end=9, superseded=None),
    log=None,
    log_start_offset=0,
    log_end_offset=9,
    last_leader_epoch=0,
    unreplaceable=0,
    records=lambda first, following: COUNTED + following - first,
    batch_start=lambda offset: offset,
)
DENSE = branch(0, 4, ONE, TWO, children=(branch(4, 8, ONE), branch(4, 6, TWO)))
SPARSE = replace(branch(0, 8, ONE, TWO), records=3)


@pytest.mark.parametrize(
    ("first", "following", "expected"),
    [(0, 8, 8), (0, 4, 4), (3, 5, 2), (4, 5, 1), (7, 20, 1), (5, 5, 0), (6, 5, 0), (8, 9, 0)],
)
def test_in_a_dense_branch_each_offset_is_a_record(
    first: int, following: int, expected: int
) -> None:
    assert records_between(HOLDER, first, following, comparison(DENSE)) == expected


def test_branches_of_other_replicas_do_not_count() -> None:
    other = replace(HOLDER, replica=TWO)
    assert records_between(other, 0, 8, comparison(DENSE)) == 6


@pytest.mark.parametrize(
    ("first", "following", "expected"),
    [(0, 8, 3), (0, 7, COUNTED + 7), (1, 8, COUNTED + 7), (3, 3, 0), (4, 3, 0)],
)
def test_a_part_of_a_branch_with_gaps_is_counted(first: int, following: int, expected: int) -> None:
    assert records_of(SPARSE, HOLDER, first, following) == expected
    assert records_between(HOLDER, first, following, comparison(SPARSE)) == expected


@pytest.mark.parametrize(
    ("kind", "first", "is_counted"),
    [
        (DifferenceKind.MISSING, 0, True),
        (DifferenceKind.MISSING, 5, True),
        (DifferenceKind.MISSING, 6, False),
        (DifferenceKind.DAMAGED, 0, True),
        (DifferenceKind.CONFLICT, 0, True),
    ],
)
def test_where_members_differ_the_replica_itself_is_counted(
    kind: DifferenceKind, first: int, is_counted: bool
) -> None:
    """The difference reaches from 4 to 6; a branch counts the records of one member."""
    difference = Difference(
        kind=kind, first_offset=4, next_offset=6, batches=1, records=2, contents=((ONE,),)
    )
    found = records_between(HOLDER, first, 8, comparison(DENSE, differences=(difference,)))
    assert found == 8 - first + (COUNTED if is_counted else 0)
