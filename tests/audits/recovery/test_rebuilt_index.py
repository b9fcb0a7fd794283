"""Indexes as recovery rebuilds them, against a plain model of Kafka's loop.

Source: Kafka 4.3, LogSegment#recover, OffsetIndex#append, TimeIndex#maybeAppend.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, cast

import numpy as np
import pytest

from kafkalog_reader.audits.recovery.batches import BatchWalk, StoredBatches
from kafkalog_reader.audits.recovery.index import HeldEntries
from kafkalog_reader.audits.recovery.rebuilt_index import (
    RebuiltIndex,
    may_be_full,
    rebuild_index,
)
from kafkalog_reader.audits.recovery.rule import LogConfig

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

OFFSET_ENTRY, TIME_ENTRY = 8, 12
"""Bytes of an entry: OffsetIndex.ENTRY_SIZE, TimeIndex.ENTRY_SIZE."""


@dataclass(frozen=True)
class Batch:
    """What recovery looks at."""

    size_in_bytes: int
    last_offset: int
    max_timestamp: int


class Refused(Exception):  # noqa: N818  both of Java's exceptions
    """An index does not take an entry."""


def kafka(batches: Sequence[Batch], base_offset: int, config: LogConfig) -> RebuiltIndex:
    """The loop of LogSegment#recover, entry by entry."""
    offsets: list[tuple[int, int]] = []
    times: list[tuple[int, int]] = []
    greatest = (-1, base_offset)
    valid_bytes = last_index_entry = 0

    def rebuilt_with(refused_at: int | None = None, *, is_full: bool = False) -> RebuiltIndex:
        entries = tuple((offset - base_offset, position) for offset, position in offsets)
        return RebuiltIndex(HeldEntries(entries), refused_at, is_full)

    def append_offset(offset: int) -> None:
        if len(offsets) >= config.max_index_size // OFFSET_ENTRY:
            raise Refused("full")
        if offsets and offset <= offsets[-1][0]:
            raise Refused("falls")
        offsets.append((offset, valid_bytes))

    def append_time(*, skip_full_check: bool = False) -> None:
        if not skip_full_check and len(times) >= config.max_index_size // TIME_ENTRY - 1:
            raise Refused("full")
        if times and greatest[1] < times[-1][1]:
            raise Refused("falls")
        if greatest[0] > (times[-1][0] if times else -1):
            if len(times) >= config.max_index_size // TIME_ENTRY:
                raise Refused("full")  # BufferOverflowException
            times.append(greatest)

    try:
        for batch in batches:
            if batch.max_timestamp > greatest[0]:
                greatest = (batch.max_timestamp, batch.last_offset)
            if valid_bytes - last_index_entry > config.index_interval:
                append_offset(batch.last_offset)
                append_time()
                last_index_entry = valid_bytes
            valid_bytes += batch.size_in_bytes
        append_time(skip_full_check=True)
    except Refused as refused:
        if str(refused) == "full":
            return rebuilt_with(is_full=True)
        return rebuilt_with(valid_bytes)
    return rebuilt_with()


class Walk:
    """The batches in runs, as a walk over a file yields them."""

    def __init__(self, batches: Sequence[Batch], runs: Sequence[int], start: int = 0) -> None:
        self.end_position = start
        self._start = start
        self._batches = batches
        self._runs = runs

    def __iter__(self) -> Iterator[StoredBatches]:
        sizes = np.array([batch.size_in_bytes for batch in self._batches], np.int64)
        positions = self._start + np.concatenate(([0], np.cumsum(sizes)))[:-1]
        for first, following in zip(self._runs, [*self._runs[1:], len(sizes)], strict=True):
            part = self._batches[first:following]
            last_offset = np.array([batch.last_offset for batch in part], np.int64)
            zeros = np.zeros(len(part), np.int64)
            self.end_position = int(positions[following - 1] + sizes[following - 1])
            yield StoredBatches(
                position=positions[first:following].astype(np.int64),
                size_in_bytes=sizes[first:following],
                base_offset=last_offset,
                last_offset=last_offset,
                leader_epoch=zeros,
                max_timestamp=np.array([batch.max_timestamp for batch in part], np.int64),
                records=zeros + 1,
                is_old=np.zeros(len(part), bool),
                is_sound=np.ones(len(part), bool),
                lacks_marker=np.zeros(len(part), bool),
            )


def last_entry(found: RebuiltIndex) -> tuple[int, int] | None:
    return found.entries.entries[-1] if found.entries.entries else None


def rebuilt(
    batches: Sequence[Batch], config: LogConfig, runs: Sequence[int] = (0,), base_offset: int = 0
) -> RebuiltIndex:
    return rebuild_index(cast("BatchWalk", Walk(batches, runs)), base_offset, config)


@pytest.mark.parametrize(
    ("size", "entry"),
    [
        pytest.param(99, None, id="one byte less than the interval"),
        pytest.param(100, None, id="the interval"),
        pytest.param(101, (1, 101), id="one byte more"),
    ],
)
def test_a_batch_more_than_an_interval_after_the_last_entry_gets_one(
    size: int, entry: tuple[int, int] | None
) -> None:
    batches = [Batch(size, 0, 5), Batch(1, 1, 6)]
    assert last_entry(rebuilt(batches, LogConfig(index_interval=100))) == entry


@pytest.mark.parametrize(("second", "refuses"), [(8, True), (9, True), (10, False)])
def test_an_offset_must_rise_from_entry_to_entry(second: int, refuses: bool) -> None:
    batches = [Batch(50, 0, 1), Batch(50, 9, 2), Batch(50, second, 3), Batch(50, 11, 4)]
    found = rebuilt(batches, LogConfig(index_interval=40))
    assert found.refused_at == (100 if refuses else None)
    assert last_entry(found) == ((9, 50) if refuses else (11, 150))


@pytest.mark.parametrize(("last", "refuses"), [(4, True), (5, False), (6, False)])
def test_the_offset_of_the_greatest_timestamp_may_not_fall(last: int, refuses: bool) -> None:
    """The last batch gets no entry in the offset index, but one in the time index."""
    batches = [Batch(50, 4, 1), Batch(49, 5, 2), Batch(10, last, 9)]
    found = rebuilt(batches, LogConfig(index_interval=49))
    assert found == RebuiltIndex(HeldEntries(((5, 50),)), 109 if refuses else None)


@pytest.mark.parametrize("room", [1, 2, 3])
def test_an_index_is_full_at_its_last_entry(room: int) -> None:
    batches = [Batch(50, number, number) for number in range(5)]
    found = rebuilt(batches, LogConfig(index_interval=10, max_index_size=room * TIME_ENTRY))
    assert found.is_full
    assert found == kafka(
        batches, 0, LogConfig(index_interval=10, max_index_size=room * TIME_ENTRY)
    )


@pytest.mark.parametrize(("size", "may"), [(101, False), (101 + 1, True)])
def test_a_log_of_few_intervals_cannot_fill_an_index(size: int, may: bool) -> None:
    config = LogConfig(index_interval=100, max_index_size=2 * TIME_ENTRY + TIME_ENTRY - 1)
    assert may_be_full(size, config) is may


@pytest.mark.parametrize("seed", range(300))
def test_random_batches_give_what_kafkas_loop_gives(seed: int) -> None:
    random = Random(seed)
    offset, batches = 0, []
    for _ in range(random.randint(1, 60)):
        offset += random.choice([1, 1, 1, 2, 5, 0 if seed % 3 else 1, -3 if seed % 5 == 0 else 1])
        batches.append(Batch(random.randint(1, 90), offset, random.choice([offset, 3, 50, -1])))
    config = LogConfig(
        index_interval=random.choice([0, 1, 60, 200]),
        max_index_size=random.choice([0, 11, 12, 36, 96, 10_000]),
    )
    cuts = sorted({0, *(random.randrange(len(batches)) for _ in range(random.randint(0, 4)))})
    base_offset = random.choice([0, batches[0].last_offset, 7])
    assert rebuilt(batches, config, cuts, base_offset) == kafka(batches, base_offset, config)
