"""A branch while it grows: counts, intervals of leader epochs and fingerprints."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fixtures.builder import Batch, cluster, marker_batch, parse_log, replica
from kafkalog_reader.audits.comparison.branch import BranchBuilder, _fingerprint
from kafkalog_reader.audits.comparison.compared_log import ComparedLog
from kafkalog_reader.audits.log.batch_stream import BatchStream
from kafkalog_reader.audits.log.replica import Replica
from kafkalog_reader.format.control_record import ControlType
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.tables.request import ReadRequest
from tests.audits.comparison.bare_comparison import ONE, THREE, TWO, branch

if TYPE_CHECKING:
    from pathlib import Path

    from kafkalog_reader.audits.comparison.branch import Branch

EPOCHS = "0-1/e0 2-4/e0 5-5/e2 6-9/e2 10-10/e5"


def compared_log(root: Path, batches: list[Batch]) -> ComparedLog:
    cluster(root, {0: replica(batches, base_offset=0)})
    (directory,) = discover([str(root)]).partition_directories(ReadRequest())
    owner = Replica(directory=directory, log_start_offset=0, size_in_bytes=0)
    return ComparedLog.of(0, owner, BatchStream(directory))


def built(root: Path, batches: list[Batch], *steps: tuple[int, int], apart: bool = False) -> Branch:
    """The branch after these steps, each the first batch and how many."""
    log = compared_log(root, batches)
    builder = BranchBuilder((log,), batches[steps[0][0]].base_offset, is_apart=apart)
    assert builder.is_blank
    for first, count in steps:
        builder.add(log.stream.run, first, count)
    assert not builder.is_blank
    return builder.build()


@pytest.mark.parametrize("steps", [[(0, 5)], [(0, 1), (1, 4)], [(0, 2), (2, 1), (3, 2)]])
def test_steps_of_any_size_make_the_same_branch(
    steps: list[tuple[int, int]], tmp_path: Path
) -> None:
    batches = list(parse_log(EPOCHS))
    found = built(tmp_path, batches, *steps)
    assert (found.first_offset, found.next_offset) == (0, 11)
    assert (found.batches, found.records, found.control_records) == (5, 11, 0)
    assert found.size_in_bytes == sum(len(each.build()) for each in batches)
    assert [tuple(each) for each in found.intervals] == [(0, 0, 5), (2, 5, 10), (5, 10, 11)]
    assert found.is_dense
    assert (found.contents, found.children) == ((), ())


@pytest.mark.parametrize(
    ("first", "count", "records", "intervals"),
    [
        (0, 2, 5, [(0, 0, 5)]),
        (1, 2, 4, [(0, 2, 5), (2, 5, 6)]),
        (2, 2, 5, [(2, 5, 10)]),
        (3, 2, 5, [(2, 6, 10), (5, 10, 11)]),
        (4, 1, 1, [(5, 10, 11)]),
    ],
)
def test_a_part_of_a_window(
    first: int, count: int, records: int, intervals: list[tuple[int, int, int]], tmp_path: Path
) -> None:
    batches = list(parse_log(EPOCHS))
    found = built(tmp_path, batches, (first, count))
    assert (found.batches, found.records) == (count, records)
    assert found.size_in_bytes == sum(len(b.build()) for b in batches[first : first + count])
    assert [tuple(each) for each in found.intervals] == intervals


def test_markers_and_removed_records_are_not_records_of_clients(tmp_path: Path) -> None:
    marker = marker_batch(10, control_type=ControlType.COMMIT, producer_id=1, producer_epoch=0)
    batches = [*parse_log("0-9/e0[0,4,9]"), marker, *parse_log("11-12/e0")]
    found = built(tmp_path, batches, (0, 3))
    assert (found.records, found.control_records, found.next_offset) == (5, 1, 13)
    assert not found.is_dense
    only = built(tmp_path / "only", [marker], (0, 1))
    assert (only.records, only.control_records, only.next_offset) == (0, 1, 11)


def test_only_after_a_fork_contents_have_fingerprints(tmp_path: Path) -> None:
    batches = list(parse_log(EPOCHS))
    whole = built(tmp_path / "one", batches, (0, 5), apart=True)
    steps = built(tmp_path / "two", batches, (0, 1), (1, 3), (4, 1), apart=True)
    assert whole.contents == steps.contents
    assert [interval for interval, _ in whole.contents] == list(whole.intervals)
    other = list(parse_log(EPOCHS.replace("5-5/e2", "x@5/e2")))
    changed = built(tmp_path / "three", other, (0, 5), apart=True)
    alike = [one == two for one, two in zip(whole.contents, changed.contents, strict=True)]
    assert alike == [True, False, True]


def test_batches_that_differ_by_any_bit_of_the_offset_are_unlike(tmp_path: Path) -> None:
    """The checksum does not cover the offset, so the fingerprint must tell these apart."""
    (batch,) = parse_log("0-0/e0")
    run = compared_log(tmp_path, [batch]).stream.run
    found = set()
    for offset in (0, *(1 << bit for bit in range(63))):
        run.move(0, offset)
        found.add(_fingerprint(run, slice(0, 1)))
    assert len(found) == 64


def test_a_split_into_several_histories_is_a_fork(tmp_path: Path) -> None:
    batches = list(parse_log(EPOCHS))
    log = compared_log(tmp_path, batches)
    root = BranchBuilder((log,), 0)
    root.add(log.stream.run, 0, 2)
    (only,) = root.split([(log,)], 5)
    only.add(log.stream.run, 2, 2)
    children = only.split([(log,), (log,)], 10)
    for child in children:
        child.add(log.stream.run, 4, 1)
    found = root.build()
    assert [(each.first_offset, each.next_offset) for each in found.walk()] == [
        (0, 5), (5, 10), (10, 11), (10, 11),
    ]  # fmt: skip
    assert [bool(each.contents) for each in found.walk()] == [False, False, True, True]
    assert [each.is_fork for each in found.walk()] == [False, True, False, False]
    (later,) = children[0].split([(log,)], 11)
    later.add(log.stream.run, 4, 1)
    assert later.build().contents, "what follows a fork is apart, too"


def test_a_branch_without_batches_begins_and_ends_at_its_offset(tmp_path: Path) -> None:
    log = compared_log(tmp_path, list(parse_log("7-7/e0")))
    found = BranchBuilder((log,), 7).build()
    assert (found.first_offset, found.next_offset, found.batches) == (7, 7, 0)
    assert found.replicas == (log.replica,)


def test_a_walk_visits_the_nearest_first_and_ends_with_the_longest() -> None:
    tree = branch(
        0, 2, ONE, TWO, THREE,
        children=(
            branch(2, 5, ONE, TWO, children=(branch(5, 6, ONE), branch(5, 8, TWO))),
            branch(2, 3, THREE),
        ),
    )  # fmt: skip
    assert [each.next_offset for each in tree.walk()] == [2, 5, 6, 8, 3]
    assert (tree.tree_next_offset, tree.children[1].tree_next_offset) == (8, 3)
