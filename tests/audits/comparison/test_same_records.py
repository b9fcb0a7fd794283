"""Copies of one batch that were cleaned at different times hold equal records at equal offsets."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from fixtures.builder import Batch, cluster, data_batch, replica
from kafkalog_reader.audits.comparison.difference import DifferenceKind
from kafkalog_reader.audits.comparison.same_batch import differing_kind
from kafkalog_reader.audits.comparison.same_records import records_agree
from kafkalog_reader.audits.log.batch_stream import BatchStream
from kafkalog_reader.format.batch_fields import DELETE_HORIZON_BIT
from kafkalog_reader.format.compression import Codec
from kafkalog_reader.format.record import Record, RecordHeader
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.tables.request import ReadRequest

if TYPE_CHECKING:
    from pathlib import Path

FIRST = 100
COUNT = 12
TIME = 1_700_000_000_000


def records(chance: random.Random) -> list[Record]:
    """The records that were produced."""
    return [
        Record(
            offset_delta=n,
            timestamp_delta=chance.randrange(1000),
            key=chance.choice([None, b"", b"key"]),
            value=chance.choice([None, b"", bytes([n])]),
            headers=tuple(
                RecordHeader(key="name", value=chance.choice([None, b"x"]))
                for _ in range(chance.randrange(3))
            ),
        )
        for n in range(COUNT)
    ]


def cleaned(produced: list[Record], chance: random.Random) -> Batch:
    """A copy with some of the records; it may have a delete horizon."""
    kept = [record for record in produced if chance.random() < 0.7]
    if not kept:
        kept = produced[:1]
    shift = chance.choice([0, 5000])
    kept = [replace(record, timestamp_delta=record.timestamp_delta - shift) for record in kept]
    return data_batch(
        FIRST,
        kept,
        base_timestamp=TIME + shift,
        last_offset_delta=COUNT - 1,
        codec=chance.choice([Codec.NONE, Codec.GZIP, Codec.ZSTD]),
        flags=DELETE_HORIZON_BIT if shift else 0,
    )


def changed(batch: Batch, chance: random.Random) -> Batch:
    """The same records, except that one is different."""
    at = chance.randrange(len(batch.records))
    record = batch.records[at]
    other = chance.choice([
        replace(record, key=b"other"),
        replace(record, value=b"other"),
        replace(record, timestamp_delta=record.timestamp_delta + 1),
        replace(record, headers=(*record.headers, RecordHeader(key="more", value=None))),
    ])  # fmt: skip
    return replace(batch, records=(*batch.records[:at], other, *batch.records[at + 1 :]))


def streams_of(root: Path, copies: list[Batch]) -> list[BatchStream]:
    cluster(root, {n: replica([copy], base_offset=0) for n, copy in enumerate(copies)})
    ((_, directories),) = discover([str(root)]).topic_partitions(ReadRequest())
    return [BatchStream(each) for each in directories]


def absolute(batch: Batch) -> dict[int, tuple[object, ...]]:
    return {
        batch.base_offset + r.offset_delta: (
            batch.base_timestamp + r.timestamp_delta, r.key, r.value, r.headers,
        )
        for r in batch.records
    }  # fmt: skip


@pytest.mark.parametrize("seed", range(60))
def test_records_agree_where_both_copies_have_them(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    produced = records(chance)
    copies = [cleaned(produced, chance) for _ in range(chance.choice([2, 3]))]
    if seed % 2:
        copies[-1] = changed(copies[-1], chance)
    held = [absolute(copy) for copy in copies]
    expected = all(
        one[offset] == other[offset] for one in held for other in held
        for offset in one.keys() & other.keys()
    )  # fmt: skip
    streams = streams_of(tmp_path, copies)
    assert records_agree(streams) is expected
    kind = differing_kind(streams, is_reframed=False, may_be_cleaned=True)
    same_bytes = len({bytes(stream.batch[21:]) for stream in streams}) == 1
    assert kind is (
        DifferenceKind.UNCOVERED if same_bytes
        else DifferenceKind.CLEANED if expected
        else DifferenceKind.CONFLICT
    )  # fmt: skip


def test_a_batch_that_was_emptied_agrees_with_all(tmp_path: Path) -> None:
    produced = records(random.Random(1))
    full = data_batch(FIRST, produced, base_timestamp=TIME)
    emptied = replace(full, records=())
    assert records_agree(streams_of(tmp_path, [full, emptied])) is True


@pytest.mark.parametrize("number", [0, 1, -1])
def test_records_that_do_not_rise_take_a_closer_look(number: int, tmp_path: Path) -> None:
    produced = records(random.Random(1))
    full = data_batch(FIRST, produced, base_timestamp=TIME)
    twice = replace(full, records=(*produced[:number], produced[number], *produced[number:]))
    assert records_agree(streams_of(tmp_path, [full, twice])) is None
