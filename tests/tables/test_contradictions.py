"""Copies that hold other records under one leader epoch are found by a look at a few places."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from fixtures.builder import Batch, cluster, data_batch, parse_log, replica
from fixtures.builder.stored_messages import build_message
from kafkalog_reader.format.batch_fields import DELETE_HORIZON_BIT
from kafkalog_reader.format.record import Record
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.io.one_look import one_look
from kafkalog_reader.io.read_context import ReadContext
from kafkalog_reader.scan.log_tail import scan_tail
from kafkalog_reader.tables.contradictions import contradictions
from kafkalog_reader.tables.request import ReadRequest
from tests.io.counted_rate import CountedRate
from tests.tables.logs import write_segment

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kafkalog_reader.io.directories import PartitionDirectory

BIG = 40_000


def log(values: str, size: int = 2, *, epoch: int = 0, padding: int = 0) -> list[Batch]:
    """One record for each letter; a dot is an offset that compaction removed."""
    found = []
    for first in range(0, len(values), size):
        part = values[first : first + size]
        records = [
            Record(
                offset_delta=n, timestamp_delta=0, key=b"k", value=value.encode() + bytes(padding)
            )
            for n, value in enumerate(part)
            if value != "."
        ]
        if records:
            last = len(part) - 1
            found.append(data_batch(first, records, leader_epoch=epoch, last_offset_delta=last))
    return found


def copies(root: Path, *logs: list[Batch], **more: object) -> Sequence[PartitionDirectory]:
    cluster(root, {n: replica(each, base_offset=0, **more) for n, each in enumerate(logs)})  # type: ignore[arg-type]
    ((_, found),) = discover([str(root)]).topic_partitions(ReadRequest())
    return found


def found(directories: Sequence[PartitionDirectory], end: int) -> list[tuple[int, list[list[int]]]]:
    return [
        (
            each.first_offset,
            [[one.log_directory.broker_id or 0 for one in side] for side in each.sides],
        )
        for each in contradictions(directories, end)
    ]


def test_other_records_are_found_where_they_begin(tmp_path: Path) -> None:
    held = copies(tmp_path, log("abcdefgh"), log("abcdeFgh"), log("abcdefgh"))
    assert found(held, 8) == [(5, [[0, 2], [1]])]
    (only,) = contradictions(held, 8)
    assert only.outvoted() == [held[1]]
    assert only.outvoted([held[1]]) == []
    assert only.outvoted([held[0], held[1]]) == [held[1]]
    assert only.against(held[0]) == [held[1]]
    assert only.against(held[1]) == [held[0], held[2]]


def test_one_copy_against_one_is_outvoted_by_the_isr_alone(tmp_path: Path) -> None:
    held = copies(tmp_path, log("ab"), log("aX"))
    (only,) = contradictions(held, 2)
    assert only.outvoted() == []
    assert only.outvoted([held[1]]) == [held[0]]


@pytest.mark.parametrize("size", [200, 1000, 1 << 20])
def test_batches_of_other_sizes_are_compared_record_by_record(tmp_path: Path, size: int) -> None:
    held = copies(tmp_path, log("abcdefgh", 2), log("abcdefgX", 3), segment_bytes=size)
    assert [offset for offset, _ in found(held, 8)] == [7]
    assert not found(copies(tmp_path / "b", log("abcdefgh", 2), log("abcdefgh", 3)), 8)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        pytest.param(log("abcdefgh"), log("abcdefgh"), id="equal"),
        pytest.param(log("abcdefgh"), log("abcd"), id="shorter"),
        pytest.param(log("abcdefgh"), [], id="empty"),
        pytest.param(log("abcdefgh"), log("..c.e.gh"), id="compacted"),
        pytest.param(log("abcdefgh", 4), log(".b.d.f.h", 4), id="compacted_inside_batches"),
        pytest.param(log("abcd"), log("abcX", epoch=1), id="another_epoch"),
        pytest.param(
            log("abcd"),
            [replace(each, flags=DELETE_HORIZON_BIT) for each in log("abcd")],
            id="delete_horizon",
        ),
        pytest.param(
            log("abcd"),
            [*log("ab"), replace(log("abcX")[1], lies={"crc": 1})],
            id="damage",
        ),
        pytest.param(
            log("abcdef"),
            [log("ab")[0], replace(log("abcdef")[1], lies={"base_offset": 4}), log("abcdef")[2]],
            id="a_wrong_base_offset",
        ),
        pytest.param(
            log("abcdef"),
            [log("ab")[0], replace(log("abcdef")[1], lies={"leader_epoch": 4}), log("abcdef")[2]],
            id="a_wrong_leader_epoch",
        ),
        pytest.param(log("abcd"), [*parse_log("0-1/e1 2-3/e1")], id="a_fork"),
    ],
)  # fmt: skip
def test_sound_damaged_and_forked_copies_do_not_contradict_each_other(
    left: list[Batch], right: list[Batch], tmp_path: Path
) -> None:
    held = copies(tmp_path, left, right)
    assert found(held, 8) == []
    assert found([*reversed(held)], 8) == []


def test_a_fork_is_known_by_its_headers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Batches that overlap under other leader epochs are not decoded."""
    forks = "0-3/e0 a,b,c@4/e0", "0-3/e0 d@4/e2 e@5/e2"
    held = copies(tmp_path, *(list(parse_log(each)) for each in forks))
    monkeypatch.setattr("kafkalog_reader.tables.hashed_records.hashed_records", no_call)
    assert found(held, 6) == []


def no_call(*_: object) -> None:
    pytest.fail("records are decoded")


def random_log(chance: random.Random, letters: str, fork: int) -> list[Batch]:
    """Batches of one to three records; from ``fork`` on they are of a higher leader epoch."""
    cut: list[Batch] = []
    at = 0
    while at < len(letters):
        stop = min(at + chance.randint(1, 3), len(letters))
        stop = min(stop, fork) if at < fork else stop
        records = [
            Record(offset_delta=n, timestamp_delta=0, key=b"k", value=letter.encode())
            for n, letter in enumerate(letters[at:stop])
        ]
        cut.append(data_batch(at, records, leader_epoch=int(at >= fork)))
        at = stop
    return cut


def test_the_first_contradiction_of_random_copies_is_found(tmp_path: Path) -> None:
    """Expected: the letters themselves, where two copies have another one under one epoch."""
    chance = random.Random(7)
    contradicting = 0
    for number in range(80):
        common = "".join(chance.choice("ab") for _ in range(9))
        held: list[dict[int, tuple[int, str]]] = []
        logs = []
        for _ in range(chance.choice([2, 3, 3])):
            letters = common[: chance.randint(1, 9)]
            if chance.random() < 0.4:
                at = chance.randrange(len(letters))
                letters = letters[:at] + "X" + letters[at + 1 :]
            fork = chance.choice([9, 9, chance.randrange(9)])
            cut_alike = random.Random(chance.choice([number, chance.random()]))
            logs.append(random_log(cut_alike, letters, fork))
            held.append({at: (int(at >= fork), letter) for at, letter in enumerate(letters)})
        expected = next(
            (
                at
                for at in range(9)
                if any(
                    one[at][0] == other[at][0] and one[at][1] != other[at][1]
                    for one, other in combinations([each for each in held if at in each], 2)
                )
            ),
            None,
        )
        contradicting += expected is not None
        first = [at for at, _ in found(copies(tmp_path / str(number), *logs), 9)]
        assert first == ([] if expected is None else [expected]), number
    assert 20 < contradicting < 60


def test_shortcuts_change_no_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Copies with damage, in several segments: equal bytes or headers only save decoding."""
    chance = random.Random(3)
    answers = []
    held = []
    for number in range(60):
        letters = "".join(chance.choice("ab") for _ in range(12))
        logs = []
        for _ in range(3):
            at = chance.randrange(12)
            changed = letters[:at] + chance.choice("abX.") + letters[at + 1 :]
            logs.append(log(changed, chance.choice([2, 2, 3]), epoch=chance.choice([0, 0, 1])))
        directories = copies(
            tmp_path / str(number), *logs, segment_bytes=chance.choice([250, 1 << 20])
        )
        damaged = min(Path(chance.choice(directories).path).glob("*.log"))
        content = bytearray(damaged.read_bytes())
        if content and chance.random() < 0.5:
            content[chance.randrange(len(content))] ^= 1
            damaged.write_bytes(content)
        held.append(directories)
        answers.append(found(directories, 12))
    for shortcut in ("_have_equal_bytes", "_have_equal_headers"):
        monkeypatch.setattr(f"kafkalog_reader.tables.contradictions.{shortcut}", lambda _: False)
    assert answers == [found(directories, 12) for directories in held]
    assert 10 < sum(map(bool, answers)) < 50


def test_what_the_end_of_a_log_was_found_in_is_not_read_again(tmp_path: Path) -> None:
    copies(tmp_path, log("abcdefgh"), log("abcdefgh"))
    rate = CountedRate()
    evidence = discover([str(tmp_path)], ReadContext(rate=rate))
    ((_, held),) = evidence.topic_partitions(ReadRequest())
    with one_look(held) as looked_at:
        rate.taken.clear()
        assert [scan_tail(each).next_offset for each in looked_at] == [8, 8]
        assert len(rate.taken) == 2
        assert contradictions(looked_at, 8) == ()
        assert len(rate.taken) == 2


def test_the_end_is_compared_too(tmp_path: Path) -> None:
    values = "a" * 40
    held = copies(
        tmp_path, log(values, padding=4000), log(values[:-1] + "X", padding=4000), segment_bytes=BIG
    )
    assert [offset for offset, _ in found(held, 40)] == [39]


def test_segments_may_begin_elsewhere(tmp_path: Path) -> None:
    one, two = log("a" * 20, padding=4000), log("a" * 5 + "X" * 15, padding=4000)
    cluster(
        tmp_path,
        {
            0: replica(one, base_offset=0, segment_bytes=20_000),
            1: replica(two, base_offset=0, segment_bytes=28_000),
        },
    )
    ((_, held),) = discover([str(tmp_path)]).topic_partitions(ReadRequest())
    assert found(held, 20)


def test_records_below_the_log_start_do_not_count(tmp_path: Path) -> None:
    held = copies(tmp_path, log("abcd"), log("Xbcd"), log_start=2)
    assert found(held, 4) == []


def test_old_formats_are_not_compared(tmp_path: Path) -> None:
    held = copies(tmp_path, log("ab"), log("ab"))
    for copy, value in zip(held, (b"a", b"X"), strict=True):
        message = build_message(b"k", value, offset=0, magic=1, timestamp=1)
        write_segment(Path(copy.path), [message])
    assert found(held, 1) == []


def test_little_of_a_large_log_is_read(tmp_path: Path) -> None:
    """At most four places of 32 KiB of each copy, and the indexes."""
    chance = random.Random(1)
    values = "".join(chance.choice("ab") for _ in range(400))
    logs = [log(values, padding=4000) for _ in range(3)]
    copies(tmp_path, *logs, segment_bytes=100_000)
    rate = CountedRate()
    evidence = discover([str(tmp_path)], ReadContext(rate=rate))
    ((_, held),) = evidence.topic_partitions(ReadRequest())
    rate.taken.clear()
    assert contradictions(held, 400) == ()
    assert sum(rate.taken) <= 3 * 4 * (36 << 10)
