"""What happened between two copies of one broker's disks, range by range.

Records of the old copy that the new one lacks went by retention below the new log start; above the
new log end they were truncated, and below the old high watermark they were committed.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from fixtures.builder import cluster, parse_log, replica
from kafkalog_reader.audits.change import LOSSES, ChangeKind
from kafkalog_reader.audits.changes import changes, two_times
from kafkalog_reader.errors import UsageError
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.io.progress import no_progress
from kafkalog_reader.tables.request import ReadRequest

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from fixtures.builder import Replica
    from kafkalog_reader.audits.change import Change

Found = list[tuple[str, int | None, int | None, int | None]]
HELD = "0-4/e0 5-9/e0"
SAME = ("AAAAAAAAAAEAAAAAAAAABQ",) * 2


def compared(root: Path, old: list[Replica], new: list[Replica], **brokers: int) -> list[Change]:
    cluster(root / "old", {brokers.get("old_id", 1): old})
    cluster(root / "new", {brokers.get("new_id", 1): new})
    evidence = two_times(discover([str(root / "old")]), discover([str(root / "new")]))
    return list(changes(evidence, ReadRequest(), no_progress))


def found(root: Path, old: Replica, new: Replica) -> Found:
    return [
        (each.kind.value, each.first_offset, each.next_offset, each.records)
        for each in compared(root, [old], [new])
    ]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param((HELD, 10, None), (HELD, 10, None), [("unchanged", 0, 10, 10)], id="same"),
        pytest.param(
            (HELD, 10, None),
            (f"{HELD} 10-11/e0", 12, None),
            [("unchanged", 0, 10, 10), ("added", 10, 12, 2)],
            id="grown",
        ),
        pytest.param(
            (HELD, 10, None),
            ("5-9/e0", 10, 5),
            [("expired", 0, 5, 5), ("unchanged", 5, 10, 5)],
            id="retention",
        ),
        pytest.param(
            (HELD, 5, None),
            ("0-4/e0", 5, None),
            [("unchanged", 0, 5, 5), ("truncated", 5, 10, 5)],
            id="truncated_at_the_high_watermark",
        ),
        pytest.param(
            (HELD, 6, None),
            ("0-4/e0", 5, None),
            [("unchanged", 0, 5, 5), ("lostCommitted", 5, 6, 1), ("truncated", 6, 10, 4)],
            id="truncated_below_it",
        ),
        pytest.param(
            (HELD, 10, None),
            ("0-4/e0", 5, None),
            [("unchanged", 0, 5, 5), ("lostCommitted", 5, 10, 5)],
            id="all_of_it_was_committed",
        ),
        pytest.param(
            (HELD, 12, None),
            ("0-4/e0", 5, None),
            [
                ("unchanged", 0, 5, 5),
                ("lostCommitted", 5, 10, 5),
                ("lostCommitted", 10, 12, None),
            ],
            id="the_high_watermark_is_beyond_the_end",
        ),
        pytest.param(
            (HELD, None, None),
            ("0-4/e0", 5, None),
            [("unchanged", 0, 5, 5), ("truncated", 5, 10, 5)],
            id="no_high_watermark",
        ),
        pytest.param(
            (HELD, 5, None),
            ("0-4/e0 5-8/e1", 5, None),
            [("unchanged", 0, 5, 5), ("rewritten", 5, 9, 4), ("truncated", 9, 10, 1)],
            id="rewritten",
        ),
        pytest.param(
            (HELD, 7, None),
            ("0-4/e0 5-8/e1", 5, None),
            [
                ("unchanged", 0, 5, 5),
                ("lostCommitted", 5, 7, 2),
                ("rewritten", 7, 9, 2),
                ("truncated", 9, 10, 1),
            ],
            id="committed_ones_were_rewritten",
        ),
    ],
)
def test_each_range_has_one_explanation(
    tmp_path: Path,
    old: tuple[str, int | None, int | None],
    new: tuple[str, int | None, int | None],
    expected: Found,
) -> None:
    """Each copy is its log, its high watermark and its log start."""
    copies = [replica(log, high_watermark=high, log_start=start) for log, high, start in (old, new)]
    assert sorted(found(tmp_path, *copies)) == sorted(expected)


def different(root: Path, old: Replica, new: Replica) -> Change:
    """The only range inside of both logs that is not as it was."""
    listed = compared(root, [old], [new])
    assert {*uncovered(listed, 10)} == set()
    (found,) = (each for each in listed if each.kind is not ChangeKind.UNCHANGED)
    return found


def uncovered(listed: list[Change], stop: int) -> Iterator[int]:
    """The offsets from 0 to ``stop`` that not exactly one of the changes covers."""
    for offset in range(stop):
        covering = [
            each
            for each in listed
            if None not in (each.first_offset, each.next_offset)
            and offset in range(each.first_offset or 0, each.next_offset or 0)
        ]
        if len(covering) != 1:
            yield offset


def test_offsets_that_neither_copy_has_are_between_them(tmp_path: Path) -> None:
    old = replica("0-4/e0", high_watermark=5)
    new = replica("8-9/e0", log_start=8, high_watermark=10)
    listed = compared(tmp_path, [old], [new])
    assert {*uncovered(listed, 10)} == set()
    assert [(each.kind.value, each.first_offset, each.records) for each in listed] == [
        ("expired", 0, 5), ("expired", 5, None), ("added", 8, 2),
    ]  # fmt: skip


def test_what_the_new_copy_lacks_inside_its_log_is_missing(tmp_path: Path) -> None:
    change = different(
        tmp_path,
        replica("0-4/e0 5-6/e0 7-9/e0", high_watermark=10),
        replica("0-4/e0 7-9/e0", high_watermark=10),
    )
    assert (change.kind, change.records) == (ChangeKind.MISSING, 2)
    assert (change.first_offset, change.next_offset) == (5, 7)
    assert change.detail == "missing inside the log of the new copy, and nothing explains it"


@pytest.mark.parametrize("side", ["old", "new"])
def test_damage_is_in_the_copy_that_has_it(tmp_path: Path, side: str) -> None:
    first, second = parse_log(HELD)
    copies = {"old": [first, second], "new": [first, second]}
    copies[side][1] = replace(second, lies={"crc": 1})
    held = [replica(copies[each], epochs="0:0", high_watermark=10) for each in ("old", "new")]
    change = different(tmp_path, *held)
    assert (change.kind, change.first_offset, change.next_offset) == (ChangeKind.DAMAGED, 5, 10)
    assert change.detail == f"wrong checksum in the {side} copy"


def test_partitions_come_and_go(tmp_path: Path) -> None:
    kept, gone, made = (replica(HELD, topic=name, high_watermark=10) for name in "abc")
    empty = replica("", epochs="", topic="d", high_watermark=0)
    listed = compared(tmp_path, [kept, gone, empty], [kept, made, empty])
    kinds = {(each.topic, each.partition): each.kind for each in listed}
    assert kinds == {
        ("a", 0): ChangeKind.UNCHANGED,
        ("b", 0): ChangeKind.PARTITION_GONE,
        ("c", 0): ChangeKind.PARTITION_NEW,
        ("d", 0): ChangeKind.UNCHANGED,
    }


def test_only_what_a_correct_broker_does_not_do_is_a_loss() -> None:
    assert {each.value for each in LOSSES} == {
        "lostCommitted", "missing", "damaged", "partitionGone",
    }  # fmt: skip


def refused(
    root: Path, old: dict[int, Any], new: dict[int, Any], cluster_ids: Sequence[str] = SAME
) -> str:
    for name, brokers, cluster_id in zip(("old", "new"), (old, new), cluster_ids, strict=True):
        cluster(root / name, brokers, cluster_id=cluster_id)
    with pytest.raises(UsageError) as caught:
        two_times(discover([str(root / "old")]), discover([str(root / "new")]))
    return str(caught.value)


def test_two_brokers_are_not_two_times_of_one(tmp_path: Path) -> None:
    one = replica(HELD)
    assert refused(tmp_path / "a", {1: one}, {2: one}) == (
        "OLD is of broker 1, NEW of broker 2: replica-diff compares brokers"
    )
    assert refused(tmp_path / "b", {1: one, 3: one}, {1: one}) == (
        "OLD holds brokers 1, 3: give a copy of one broker"
    )
    assert refused(tmp_path / "c", {1: one}, {2: one, 1: one}) == (
        "NEW holds brokers 1, 2: give a copy of one broker"
    )


def test_two_clusters_are_not_compared(tmp_path: Path) -> None:
    one = replica(HELD)
    other = "AAAAAAAAAAEAAAAAAAAABg"
    assert refused(tmp_path, {1: one}, {1: one}, (SAME[0], other)) == (
        f"OLD and NEW are of different clusters: {SAME[0]}, {other}"
    )


def test_copies_of_unknown_brokers_are_taken_for_one(tmp_path: Path) -> None:
    for name in ("old", "new"):
        root = cluster(tmp_path / name, {1: replica(HELD, high_watermark=10)})[1]
        if name == "new":
            (root / "meta.properties").unlink()
    evidence = two_times(*(discover([str(tmp_path / each)]) for each in ("old", "new")))
    labels = [each.broker_label for each in evidence.roots]
    assert labels == ["old", "new"]
    (change,) = changes(evidence, ReadRequest(), no_progress)
    assert change.kind is ChangeKind.UNCHANGED


def test_records_below_the_log_start_are_not_lost(tmp_path: Path) -> None:
    """DeleteRecords raised the log start to 5 long ago; then the only segment was removed."""
    old = replica("0-9/e0", log_start=5, high_watermark=10)
    empty = replica(base_offset=0, log_start=5, high_watermark=10)
    cluster(tmp_path / "old", {1: [old]})
    cluster(tmp_path / "new", {1: [empty]})
    (tmp_path / "new" / "broker-1" / "t-0" / f"{0:020}.log").unlink()
    evidence = two_times(discover([str(tmp_path / "old")]), discover([str(tmp_path / "new")]))
    below, lost = changes(evidence, ReadRequest(), no_progress)
    assert (below.kind, below.first_offset, below.next_offset) == (ChangeKind.EXPIRED, 0, 5)
    assert below.detail == "below the log start of both copies, 5"
    assert (lost.kind, lost.first_offset, lost.next_offset) == (ChangeKind.LOST_COMMITTED, 5, 10)
    assert lost.records == 5
