"""Counts client records in a part of a replica or branch."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kafkalog_reader.audits.comparison.branch import Branch
    from kafkalog_reader.audits.comparison.compared_replicas import Comparison
    from kafkalog_reader.audits.election.candidate import Candidate


def records_between(
    candidate: Candidate, first_offset: int, next_offset: int, comparison: Comparison
) -> int:
    """Number of client records of a replica in a range of offsets."""
    if first_offset >= next_offset:
        return 0
    if any(difference.next_offset > first_offset for difference in comparison.differences):
        # a branch counts the records of one member
        return candidate.records(first_offset, next_offset)
    return sum(
        records_of(
            branch,
            candidate,
            max(first_offset, branch.first_offset),
            min(next_offset, branch.next_offset),
        )
        for branch in comparison.branches()
        if candidate.replica in branch.replicas
    )


def records_of(branch: Branch, holder: Candidate, first_offset: int, next_offset: int) -> int:
    """Number of client records in a part of a branch."""
    if first_offset >= next_offset:
        return 0
    if branch.is_dense:
        return next_offset - first_offset
    if (first_offset, next_offset) == (branch.first_offset, branch.next_offset):
        return branch.records
    return holder.records(first_offset, next_offset)
