"""The streaming comparison equals a plain one of lists of records, offset by offset."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fixtures.builder import cluster, data_batch, parse_log, replica
from kafkalog_reader.audits.comparison.compared_replicas import Comparison
from kafkalog_reader.audits.comparison.difference import DifferenceKind
from kafkalog_reader.format.record import Record
from tests.audits.comparison.batches_alone import compared
from tests.chosen.examples import examples

if TYPE_CHECKING:
    from fixtures.builder.batch import Batch
    from tests.audits.conftest import Audited

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


@settings(max_examples=examples(150), deadline=None)
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


@settings(max_examples=examples(100), deadline=None)
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


def differences(*logs: str) -> list[tuple[str, int, int, int, list[int | None]]]:
    """The kind, the offsets, the records, and who lacks them."""
    found = compared_in_files([[*parse_log(log)] for log in logs], [1 << 20] * len(logs))
    return [
        (
            each.kind.value,
            each.first_offset,
            each.next_offset,
            each.records,
            [one.broker_id for one in each.absent],
        )
        for each in found.differences
    ]


@pytest.mark.parametrize(
    ("logs", "expected"),
    [
        pytest.param(
            ["0-1/e0 2-5/e1", "0-1/e0 4-6/e2"], [("missing", 2, 4, 2, [1])], id="up_to_its_batch"
        ),
        pytest.param(
            ["0-1/e0 4-6/e2", "0-1/e0 2-5/e1"], [("missing", 2, 4, 2, [0])], id="the_first_copy"
        ),
        pytest.param(
            ["0-1/e0 2-3/e1", "0-1/e0 2-9/e3", "0-1/e0 5-6/e2"],
            [("missing", 2, 4, 2, [2])],
            id="up_to_the_end_of_the_other_batch",
        ),
        pytest.param(["0-1/e0 2-5/e1", "0-1/e0 2-6/e2"], [], id="nothing"),
        pytest.param(["0-1/e0 2-3/e0", "0-1/e0"], [], id="a_shorter_log"),
        pytest.param(
            ["0-1/e0 2-3/e0 4-5/e0", "0-1/e0 4-5/e0"], [("missing", 2, 4, 2, [1])], id="no_fork"
        ),
    ],
)
def test_offsets_that_a_copy_lacks_where_it_parts_are_missing(
    logs: list[str], expected: list[tuple[str, int, int, int, list[int | None]]]
) -> None:
    assert differences(*logs) == expected


@pytest.mark.parametrize("start", [0, 2**62, 2**63 - 10])
def test_a_leader_epoch_that_only_one_header_has_is_misread(start: int, audited: Audited) -> None:
    """No checksum covers it: both checkpoints and the other copy say 0 (reference, 4.1)."""
    first, second, third = (
        replace(batch, base_offset=start + batch.base_offset)
        for batch in parse_log("0-1/e0 2-3/e0 4-5/e0")
    )
    flipped = replace(second, lies={"leader_epoch": 4})
    held = [
        replica(log, epochs=f"0:{start}", high_watermark=start + 6, log_start=start)
        for log in ([first, flipped, third], [first, second, third])
    ]
    found = audited(*held).comparison
    assert isinstance(found, Comparison)
    one, _ = found.replicas
    assert found.misread_epochs == {one: {4: 0}}
    (difference,) = found.differences
    assert (difference.first_offset, difference.next_offset) == (start + 2, start + 4)
    assert difference.damaged == (one,)
    assert not found.forks


@pytest.mark.parametrize("wrong_copy", [0, 1])
def test_a_base_offset_that_only_one_header_has_is_put_right(
    wrong_copy: int, audited: Audited
) -> None:
    """No checksum covers it, and the other copy has the same bytes where it belongs (4.1)."""
    first, second, third = parse_log("0-1/e0 2-3/e0 4-5/e0")
    moved = replace(second, lies={"base_offset": 2 + 2**20})
    logs = [[first, second, third], [first, second, third]]
    logs[wrong_copy][1] = moved
    found = audited(*(replica(log, epochs="0:0", high_watermark=6) for log in logs)).comparison
    assert isinstance(found, Comparison)
    (difference,) = found.differences
    assert difference.kind is DifferenceKind.UNCOVERED
    assert (difference.first_offset, difference.next_offset) == (2, 4)
    assert difference.moved == (found.replicas[wrong_copy],)
    assert not found.forks


@pytest.mark.parametrize(("epoch", "companion"), [(1, 0), (2, 1)])
def test_a_copy_with_a_gap_at_the_fork_follows_its_own_epoch(epoch: int, companion: int) -> None:
    """Its next batch is above what the others have there."""
    logs = ["0-1/e0 2-3/e1", "0-1/e0 2-3/e2", f"0-1/e0 9-9/e{epoch}"]
    found = compared_in_files([[*parse_log(log)] for log in logs], [1 << 20] * 3)
    (root,) = found.roots
    sides = sorted(tuple(each.broker_id for each in side.replicas) for side in root.children)
    assert sides == sorted([(companion, 2), (1 - companion,)])
    one, other, third = found.replicas
    assert found.content_fork((one, other)[1 - companion], third) == 2
    assert [
        (each.kind.value, each.first_offset, each.next_offset, each.absent)
        for each in found.differences
    ] == [("missing", 2, 4, (third,))]


@pytest.mark.parametrize("epoch", [0, 1])
def test_a_retry_under_a_later_epoch_is_not_at_a_wrong_offset(epoch: int) -> None:
    """A client sent the batch again to a new leader: equal under the checksum, of another history.

    Batches of different leader epochs are never one batch (replica-divergence.md, 4.3); under the
    same epoch the offset of a batch that breaks continuity is restored from its peer (4.1).
    """
    retried = data_batch(4, parse_log("2-3/e0")[0].records, leader_epoch=epoch)
    sent = replace(retried, base_offset=2, leader_epoch=0)
    first, other = parse_log("0-1/e0 4-5/e0")
    found = compared_in_files([[first, sent, other], [first, retried]], [1 << 20] * 2)
    kinds = [DifferenceKind.UNCOVERED] if epoch == 0 else [DifferenceKind.MISSING]
    assert [each.kind for each in found.differences] == kinds
    (difference,) = found.differences
    assert (difference.first_offset, difference.next_offset) == (2, 4)
    _, second = found.replicas
    assert (difference.moved, difference.absent) == (
        ((second,), ()) if epoch == 0 else ((), (second,))
    )
    assert [each.next_offset for each in found.forks] == ([] if epoch == 0 else [4])


def test_a_damaged_batch_into_which_the_next_one_of_another_copy_reaches() -> None:
    """By its header the batch of the first copy has the offsets 2 to 5; the other has 4 to 7."""
    first, wrong, other = parse_log("0-1/e0 2-5/e0 4-7/e0")
    logs = [[first, replace(wrong, lies={"crc": 1})], [first, other]]
    found = compared_in_files(logs, [1 << 20] * 2)
    one, two = found.replicas
    (difference,) = found.differences
    assert (difference.first_offset, difference.next_offset) == (2, 6)
    assert (difference.damaged, difference.absent) == ((one,), (two,))
    assert [found.damaged[each].count for each in (one, two)] == [1, 0]


def test_a_copy_that_goes_on_where_a_damaged_batch_ends_only_lacks_it() -> None:
    """The damaged copy does not contradict the third one, which has no batch of its offsets."""
    first, batch, last = parse_log("0-1/e0 2-5/e0 6-7/e0")
    damaged = replace(batch, lies={"crc": 1})
    found = compared_in_files(
        [[first, damaged, last], [first, batch, last], [first, last]], [1 << 20] * 3
    )
    one, two, three = found.replicas
    here, lacked = found.differences
    assert (here.kind, here.damaged, here.absent) == (DifferenceKind.DAMAGED, (one,), ())
    assert (lacked.kind, lacked.contents, lacked.absent) == (
        DifferenceKind.MISSING,
        ((one, two),),
        (three,),
    )
    assert {(each.first_offset, each.next_offset) for each in found.differences} == {(2, 6)}
