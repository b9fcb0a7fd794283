"""Comparing many damaged batches at once gives the same result as one batch after another."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from fixtures.builder import Batch, cluster, data_batch, replica
from kafkalog_reader.audits.comparison import difference
from kafkalog_reader.audits.comparison.comparison import _Comparer
from kafkalog_reader.audits.comparison.damaged_stretch import damaged_stretch
from kafkalog_reader.audits.comparison.difference import DifferenceKind
from kafkalog_reader.audits.log.batch_stream import BatchStream
from kafkalog_reader.format.record import Record
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.tables.request import ReadRequest
from tests.audits.comparison.batches_alone import compared

if TYPE_CHECKING:
    from pathlib import Path

HEADER = 61
EPOCH = 15  # the last byte of the leader epoch, which no CRC covers


def sound_log(chance: random.Random) -> list[Batch]:
    """About seventy batches in three leader epochs, with gaps as after compaction."""
    log, offset = [], 0
    for number in range(70):
        count = chance.randint(1, 3)
        records = [Record(offset_delta=n, value=bytes([number])) for n in range(count)]
        log.append(data_batch(offset, records, leader_epoch=number // 25))
        offset += count + (chance.random() < 0.1)
    return log


def damaged(
    log: list[Batch],
    shared: set[int],
    share: float,
    chance: random.Random,
    *,
    others: float = 0.05,
) -> tuple[bytes, set[int]]:
    """The bytes of a copy, and the numbers of its batches whose CRC is wrong.

    Args:
        log: the batches.
        shared: which of them are damaged in the same way in other copies.
        share: share of the other batches that are damaged in this copy alone.
        chance: the random generator.
        others: share of the rest that has another leader epoch in the header, or other content.
    """
    content, wrong = bytearray(), set()
    for number, batch in enumerate(log):
        built = bytearray(batch.build())
        if number in shared:
            built[-1] ^= 1
            wrong.add(number)
        elif chance.random() < share:
            built[chance.randrange(HEADER, len(built))] ^= 1 << chance.randrange(8)
            wrong.add(number)
        elif chance.random() < others / 2:
            built[EPOCH] ^= 1 << chance.randrange(2)
        elif chance.random() < others / 2:
            records = [replace(record, value=b"?") for record in batch.records]
            built = bytearray(replace(batch, records=tuple(records)).build())
        content += built
    return bytes(content), wrong


@pytest.mark.parametrize("seed", range(30))
def test_many_at_once_are_as_one_by_one(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = random.Random(seed)
    log = sound_log(chance)
    shared = {n for n in range(len(log)) if chance.random() < 0.1}
    copies = {}
    for broker in range(chance.choice([2, 3, 4])):
        share = chance.choice([0, 0.1, 0.6])
        content, _ = damaged(log, shared if chance.random() < 0.5 else set(), share, chance)
        described = replica(log[:1], epochs="0:0")
        copies[broker] = replace(described, files={f"{0:020}.log": content})
    cluster(tmp_path, copies)
    window_size = chance.choice([300, 1000, 8 << 20])
    at_once = compared(tmp_path, window_size)
    monkeypatch.setattr(_Comparer, "_take_damaged", lambda *_: False)
    assert at_once == compared(tmp_path, window_size)


@pytest.mark.parametrize("seed", range(10))
def test_copies_that_begin_at_different_batches_are_in_step_all_the_same(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their windows begin at different batches, so that one batch has several indexes."""
    chance = random.Random(seed)
    log = sound_log(chance)
    described = replica(log[:1], epochs="0:0")
    for broker, left_out in enumerate(chance.sample([0, 4, 9], 3)):
        content, _ = damaged(log, set(), 0.3, chance)
        content = content[sum(len(each.build()) for each in log[:left_out]) :]
        cluster(tmp_path, {broker: replace(described, files={f"{0:020}.log": content})})
    at_once = compared(tmp_path, 8 << 20)
    assert at_once.differences
    monkeypatch.setattr(_Comparer, "_take_damaged", lambda *_: False)
    assert at_once == compared(tmp_path, 8 << 20)


def test_each_damaged_batch_is_counted_and_reported(tmp_path: Path) -> None:
    chance = random.Random(1)
    log = sound_log(chance)
    content, wrong = damaged(log, {4, 5, 9}, 0.3, chance, others=0)
    described = replica(log, epochs="0:0 1:25 2:50")
    cluster(tmp_path, {0: replace(described, files={f"{0:020}.log": content}), 1: described})
    found = compared(tmp_path, 8 << 20)
    first, second = found.replicas
    assert [found.damaged[each].count for each in (first, second)] == [len(wrong), 0]
    assert {each.kind for each in found.differences} == {DifferenceKind.DAMAGED}
    assert sum(each.batches for each in found.differences) == len(wrong)
    assert sum(each.records for each in found.differences) == sum(
        len(log[n].records) for n in wrong
    )
    offsets = {o for each in found.differences for o in range(each.first_offset, each.next_offset)}
    assert offsets == {o for n in wrong for o in range(log[n].base_offset, log[n].next_offset)}
    assert [place.where.offset for place in found.damaged[first].places] == [
        log[n].base_offset for n in sorted(wrong)
    ]
    assert all(place.intact_on == (second,) for place in found.damaged[first].places)


@pytest.mark.parametrize(
    ("batches", "count"),
    [
        pytest.param({}, 70, id="equal_to_the_end"),
        pytest.param({3: "crc", 40: "crc"}, 70, id="damage_does_not_end_it"),
        pytest.param({3: "crc", 40: "leader_epoch"}, 40, id="another_epoch_ends_it"),
        pytest.param({0: "leader_epoch"}, 0, id="at_the_first_batch"),
    ],
)
def test_a_stretch_goes_on_while_only_damage_differs(
    batches: dict[int, str], count: int, tmp_path: Path
) -> None:
    log = sound_log(random.Random(3))
    changed = [
        replace(batch, lies={batches[number]: 9}) if number in batches else batch
        for number, batch in enumerate(log)
    ]
    described = replica(log[:1], epochs="0:0")
    for broker, held in enumerate((log, changed)):
        content = b"".join(batch.build() for batch in held)
        cluster(tmp_path, {broker: replace(described, files={f"{0:020}.log": content})})
    ((_, directories),) = discover([str(tmp_path)]).topic_partitions(ReadRequest())
    stretch = damaged_stretch([BatchStream(each) for each in directories], len(log))
    assert stretch.count == count
    assert np.flatnonzero(stretch.differs).tolist() == [n for n in batches if n < count]
    assert np.flatnonzero(~stretch.intact[1]).tolist() == [n for n in batches if n < count]
    assert stretch.intact[0].all()


@pytest.mark.parametrize(
    ("offsets", "expected"),
    [
        pytest.param([0, 1, 2, 3, 4], [(1, 4)], id="in_a_row"),
        pytest.param([0, 1, 5, 6, 7], [(1, 2), (5, 7)], id="after_a_gap"),
        pytest.param([0, 1, 2, 6, 7], [(1, 3), (6, 7)], id="before_a_gap"),
    ],
)
def test_damaged_neighbours_are_one_difference(
    offsets: list[int], expected: list[tuple[int, int]], tmp_path: Path
) -> None:
    """All but the first and the last of five batches are damaged in one copy."""
    log = [data_batch(offset, [Record(offset_delta=0, value=b"v")]) for offset in offsets]
    wrong = [log[0], *(replace(each, lies={"crc": 1}) for each in log[1:4]), log[4]]
    for broker, held in enumerate((log, wrong)):
        cluster(tmp_path, {broker: replica(held, epochs="0:0")})
    found = compared(tmp_path, 8 << 20).differences
    assert [(each.first_offset, each.next_offset) for each in found] == expected
    assert sum(each.batches for each in found) == 3


def test_damaged_neighbours_that_are_left_out_count_as_one_range(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(difference, "MAX", 1)
    log = [data_batch(offset, [Record(offset_delta=0, value=b"v")]) for offset in range(6)]
    wrong = [
        batch if number in {1, 5} else replace(batch, lies={"crc": 1})
        for number, batch in enumerate(log)
    ]
    for broker, held in enumerate((log, wrong)):
        cluster(tmp_path, {broker: replica(held, epochs="0:0")})
    found = compared(tmp_path, 8 << 20)
    assert [(each.first_offset, each.next_offset) for each in found.differences] == [(0, 1)]
    assert found.differences_left_out == 1, "the offsets 2 to 4"
