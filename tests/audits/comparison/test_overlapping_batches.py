"""Records of batches that overlap without having the same bounds are counted one by one.

The expected counts are those of the records that were written: a record conflicts where two copies
hold another key, value, header or time at its offset.
"""

from __future__ import annotations

import random
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from fixtures.builder import Batch, cluster, data_batch, replica
from kafkalog_reader.audits.comparison import overlapping_batches
from kafkalog_reader.format.record import Record
from tests.audits.comparison.batches_alone import compared

if TYPE_CHECKING:
    from pathlib import Path

    from kafkalog_reader.audits.comparison.compared_replicas import Comparison


def log(values: str, *sizes: int, key: bytes | None = None) -> list[Batch]:
    """One record for each letter, in batches of these sizes; a dot is an offset without one."""
    found, first = [], 0
    for size in sizes:
        records = [
            Record(offset_delta=n, timestamp_delta=first + n, key=key, value=value.encode())
            for n, value in enumerate(values[first : first + size])
            if value != "."
        ]
        found.append(data_batch(first, records, leader_epoch=0, last_offset_delta=size - 1))
        first += size
    return found


def comparison(root: Path, *logs: list[Batch]) -> Comparison:
    cluster(root, {n: replica(held, base_offset=0) for n, held in enumerate(logs)})
    return compared(root, 1 << 20)


def found(root: Path, *logs: list[Batch]) -> list[tuple[str, int, int, int, list[list[int]]]]:
    return [
        (
            each.kind.value,
            each.first_offset,
            each.next_offset,
            each.records,
            [[one.broker_id or 0 for one in side] for side in each.contents],
        )
        for each in comparison(root, *logs).differences
    ]


@pytest.mark.parametrize(
    ("left", "right"),
    [
        pytest.param((10,), (5, 5), id="one_batch_and_two"),
        pytest.param((5, 5), (10,), id="two_batches_and_one"),
        pytest.param((6, 4), (3, 5, 2), id="borders_alternate"),
        pytest.param((2, 2, 2, 2, 2), (1, 2, 2, 2, 3), id="no_border_in_common"),
    ],
)
def test_each_conflicting_record_counts_once(
    left: tuple[int, ...], right: tuple[int, ...], tmp_path: Path
) -> None:
    logs = log("abcdefghij", *left), log("abXdefXhij", *right)
    assert found(tmp_path, *logs) == [("conflict", 0, 10, 2, [[0], [1]])]


def test_copies_with_equal_bytes_are_one_side(tmp_path: Path) -> None:
    one, two = log("abcdefghij", 10), log("ABCDEFGHIJ", 4, 6)
    assert found(tmp_path, one, two, one) == [("conflict", 0, 10, 10, [[0, 2], [1]])]


def test_the_log_is_in_step_again_after_them(tmp_path: Path) -> None:
    logs = log("abcdefghijkl", 4, 4, 4), log("abcdEfghijkl", 4, 2, 2, 4)
    result = comparison(tmp_path, *logs)
    (difference,) = result.differences
    assert (difference.first_offset, difference.next_offset, difference.records) == (4, 8, 1)
    assert difference.batches == 2
    (root,) = result.roots
    assert (root.first_offset, root.next_offset, root.records) == (0, 12, 12)
    assert not root.children


def test_a_log_that_ends_inside_a_batch_conflicts_up_to_its_end(tmp_path: Path) -> None:
    """What follows is only behind."""
    logs = log("abXd", 4), log("abcdefghij", 10)
    ((kind, first, _, records, _),) = found(tmp_path, *logs)
    assert (kind, first, records) == ("conflict", 0, 1)


def test_equal_records_in_other_batches_do_not_conflict(tmp_path: Path) -> None:
    logs = log("abcdefghij", 10), log("abcdefghij", 3, 7)
    assert found(tmp_path, *logs) == [("cleaned", 0, 10, 0, [[0], [1]])]


def test_a_record_that_compaction_may_have_removed_does_not_conflict(tmp_path: Path) -> None:
    logs = log("abcdefghij", 10, key=b"k"), log("..cdeFghij", 3, 7, key=b"k")
    assert [each[3] for each in found(tmp_path, *logs)] == [1]


def test_a_copy_without_a_batch_there_lacks_the_records(tmp_path: Path) -> None:
    third = [log("abcdefghij", 2, 6, 2)[number] for number in (0, 2)]
    logs = log("abcdefghij", 2, 6, 2), log("abcDefghij", 2, 2, 4, 2), third
    assert found(tmp_path, *logs) == [
        ("conflict", 2, 8, 1, [[0], [1]]),
        ("missing", 2, 8, 6, [[0, 1]]),
    ]


def flipped(held: list[Batch], *numbers: int) -> list[Batch]:
    """The same, and the CRC of some batches is wrong."""
    return [
        replace(batch, lies={"crc": 1}) if n in numbers else batch for n, batch in enumerate(held)
    ]


@pytest.mark.parametrize("damaged", [(0,), (1,), (0, 1)])
def test_damage_in_one_of_them_is_no_conflict(damaged: tuple[int, ...], tmp_path: Path) -> None:
    """Nobody can say that "every checksum is valid" there."""
    logs = log("abcdefghij", 4, 6), flipped(log("abcdefghij", 2, 2, 6), *damaged)
    assert found(tmp_path, *logs) == [("damaged", 0, 4, 4, [[0], [1]])]
    (difference,) = comparison(tmp_path / "again", *logs).differences
    assert [each.broker_id for each in difference.damaged] == [1]


def test_the_whole_batch_may_be_the_damaged_one(tmp_path: Path) -> None:
    logs = flipped(log("abcdefghij", 4, 6), 0), log("abcdefghij", 2, 2, 6)
    assert found(tmp_path, *logs) == [("damaged", 0, 4, 4, [[0], [1]])]


def test_records_that_differ_beside_the_damage_are_a_conflict(tmp_path: Path) -> None:
    logs = log("abcdefghij", 4, 6), flipped(log("abcXefghij", 2, 2, 6), 0)
    assert found(tmp_path, *logs) == [("conflict", 0, 4, 1, [[0], [1]])]


def test_a_damaged_end_reaches_no_further_than_to_the_next_batch(tmp_path: Path) -> None:
    """A flipped bit in the last offset delta is found by the CRC, which covers it."""
    whole = log("abcdefghij", 4, 2, 4)
    wrong = [replace(whole[0], lies={"crc": 1, "last_offset_delta": 1 << 20}), *whole[1:]]
    assert found(tmp_path / "2", whole, wrong) == [("damaged", 0, 4, 4, [[0], [1]])]
    late = whole[1:]
    assert found(tmp_path / "3", whole, wrong, late) == [("damaged", 0, 4, 4, [[0], [1]])]
    assert found(tmp_path / "last", whole[:1], wrong[:1]) == [("damaged", 0, 4, 4, [[0], [1]])]
    other = log("abcdefghij", 2, 2, 2, 4)
    assert found(tmp_path / "other", other, wrong) == [("damaged", 0, 4, 4, [[0], [1]])]


def test_what_is_damaged_may_be_intact_in_a_larger_batch(tmp_path: Path) -> None:
    logs = log("abcdefghij", 4, 6), flipped(log("abcdefghij", 2, 2, 6), 1)
    result = comparison(tmp_path, *logs)
    (damaged,) = (each for each in result.damaged.values() if each.count)
    assert (damaged.count, damaged.alone) == (1, 0)


def test_a_damaged_first_record_is_not_intact_beside_itself(tmp_path: Path) -> None:
    logs = flipped(log("abcd", 4), 0), flipped(log("abcd", 1, 3), 0)
    found = [each for each in comparison(tmp_path, *logs).damaged.values() if each.count]
    assert [(each.count, each.alone) for each in found] == [(1, 1), (1, 1)]


@pytest.mark.parametrize(("left_out", "records"), [(0, 2), (1, 10)])
def test_records_of_many_bytes_are_counted_by_the_headers(
    left_out: int, records: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    logs = log("abcdefghij", 10), log("abXdefXhij", 5, 5)
    size = sum(len(batch.build()) for held in logs for batch in held)
    monkeypatch.setattr(overlapping_batches, "_MAX_BYTES", size - left_out)
    assert [each[3] for each in found(tmp_path, *logs)] == [records]


@pytest.mark.parametrize("seed", range(20))
def test_random_bounds(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    size = chance.randint(2, 30)
    values = ["".join(chance.choice("ab") for _ in range(size)) for _ in range(2)]
    logs = []
    for held in values:
        borders = sorted(chance.sample(range(1, size), chance.randint(0, min(4, size - 1))))
        sizes = [b - a for a, b in zip([0, *borders], [*borders, size], strict=True)]
        logs.append((held, sizes))
    differences = found(tmp_path, *(log(held, *sizes) for held, sizes in logs))
    differing = {n for n in range(size) if values[0][n] != values[1][n]}
    ranges = [range(first, stop) for kind, first, stop, *_ in differences if kind == "conflict"]
    assert differing == {n for each in ranges for n in each} & differing
    counted = sum(records for kind, *_, records, _ in differences if kind == "conflict")
    assert len(differing) <= counted <= sum(map(len, ranges))
    assert {kind for kind, *_ in differences} <= {"conflict", "cleaned"}
    assert len({n for each in ranges for n in each}) == sum(map(len, ranges))


def test_another_leader_epoch_inside_a_batch_is_no_other_batching(tmp_path: Path) -> None:
    """The records at 2 and 3 are equal, but each is of its own leader's history."""
    first = log("abcd", 2, 2)
    logs = [first[0], replace(first[1], leader_epoch=1)], log("abcd", 4)
    ((kind, start, stop, records, _),) = found(tmp_path, *logs)
    assert (kind, start, stop) == ("conflict", 0, 4)
    assert records >= 2


def test_another_leader_epoch_after_several_batches_is_one_as_well(tmp_path: Path) -> None:
    first = log("abcdefgh", 2, 4, 2)
    logs = [*first[:2], replace(first[2], leader_epoch=1)], log("abcdefgh", 3, 5)
    ranges = found(tmp_path, *logs)
    assert {kind for kind, *_ in ranges} == {"conflict"}
    assert ranges[-1][2] == 8
