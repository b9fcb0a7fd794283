"""The streaming comparison equals a plain one of lists of records, offset by offset."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st

from fixtures.builder import cluster, data_batch, replica
from kafkalog_reader.format.record import Record
from tests.audits.comparison.batches_alone import compared

if TYPE_CHECKING:
    from fixtures.builder.batch import Batch
    from kafkalog_reader.audits.comparison.difference import Comparison

ROLL = st.sampled_from([200, 1 << 20])
SIZES = st.lists(st.integers(1, 9), min_size=0, max_size=12)


def batches(first: int, epoch: int, sizes: list[int], tag: str) -> list[Batch]:
    found = []
    for size in sizes:
        records = [
            Record(offset_delta=n, timestamp_delta=0, key=None, value=f"{tag}{first + n}".encode())
            for n in range(size)
        ]
        found.append(data_batch(first, records, leader_epoch=epoch, base_timestamp=1))
        first += size
    return found


def compared_in_files(logs: list[list[Batch]], segment_bytes: list[int]) -> Comparison:
    with tempfile.TemporaryDirectory() as folder:
        held = {
            number: replica(log, segment_bytes=size, base_offset=0)
            for number, (log, size) in enumerate(zip(logs, segment_bytes, strict=True))
        }
        cluster(Path(folder), held)
        return compared(folder, 1024)


@settings(max_examples=150, deadline=None)
@given(
    shared=SIZES,
    tails=st.lists(SIZES, min_size=2, max_size=3),
    rolls=st.lists(st.sampled_from([200, 333, 900, 1 << 20]), min_size=3, max_size=3),
)
def test_fork_is_the_end_of_the_common_prefix_wherever_segments_roll(
    shared: list[int], tails: list[list[int]], rolls: list[int]
) -> None:
    end = sum(shared)
    logs = [
        batches(0, 0, shared, "s") + batches(end, number + 1, tail, f"t{number}")
        for number, tail in enumerate(tails)
    ]
    comparison = compared_in_files(logs, rolls[: len(logs)])
    replicas = comparison.replicas
    for one in range(len(logs)):
        for other in range(one):
            both_go_on = bool(tails[one]) and bool(tails[other])
            fork = comparison.content_fork(replicas[one], replicas[other])
            assert fork == (end if both_go_on else None)
    held = dict.fromkeys(replicas, 0)
    for branch in comparison.branches():
        for each in branch.replicas:
            held[each] += branch.records
    assert list(held.values()) == [end + sum(tail) for tail in tails]
    assert comparison.differences == ()


@settings(max_examples=100, deadline=None)
@given(
    shared=SIZES, first=st.integers(0, 11), rolls=st.tuples(*[st.sampled_from([200, 1 << 20])] * 2)
)
def test_a_log_that_begins_later_joins_the_same_history(
    shared: list[int], first: int, rolls: tuple[int, int]
) -> None:
    log = batches(0, 0, shared, "s")
    later = log[first:]
    if not later:
        return
    comparison = compared_in_files([log, later], list(rolls))
    assert comparison.differences == ()
    assert comparison.content_fork(*comparison.replicas) is None
    common = [branch for branch in comparison.branches() if branch.replicas == comparison.replicas]
    assert sum(branch.records for branch in common) == sum(shared[first:])
