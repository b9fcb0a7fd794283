"""Branches and comparisons of three replicas without files."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.comparison.branch import Branch
from kafkalog_reader.audits.comparison.compared_replicas import Comparison
from kafkalog_reader.audits.comparison.damaged_batches import DamagedBatches
from kafkalog_reader.audits.comparison.difference import Difference, DifferenceKind
from kafkalog_reader.audits.log.lineage import EpochInterval
from tests.audits.bare_replica import bare

if TYPE_CHECKING:
    from kafkalog_reader.audits.log.replica import Replica

ONE: Final = bare(1)
TWO: Final = bare(2)
THREE: Final = bare(3)
LACKED: Final = Difference(
    kind=DifferenceKind.MISSING,
    first_offset=5,
    next_offset=7,
    batches=1,
    records=2,
    contents=((ONE,),),
    absent=(TWO,),
)
"""One replica lacks a batch of another."""


def branch(
    first: int, following: int, *replicas: Replica, children: tuple[Branch, ...] = ()
) -> Branch:
    """A branch of one record a batch, under leader epoch 0."""
    return Branch(
        replicas=replicas, first_offset=first, next_offset=following, batches=following - first,
        records=following - first, control_records=0, size_in_bytes=0,
        intervals=(EpochInterval(0, first, following),), children=children,
    )  # fmt: skip


def comparison(
    *roots: Branch, differences: tuple[Difference, ...] = (), **starts: int
) -> Comparison:
    """A comparison of all three; ``start1=5`` is the log start offset of broker 1."""
    replicas = tuple(
        replace(each, log_start_offset=starts.get(f"start{each.broker_id}", 0))
        for each in (ONE, TWO, THREE)
    )
    return Comparison(
        replicas=replicas,
        roots=roots,
        differences=differences,
        damaged={each: DamagedBatches() for each in replicas},
    )
