"""An index rebuilt over falling offsets equals that of Kafka's loop, batch by batch."""

from __future__ import annotations

import struct
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fixtures.builder import EPOCH_MILLIS, Batch, data_batch
from kafkalog_reader.audits.log.leader_epoch_cache import LeaderEpochCache
from kafkalog_reader.audits.log.read_segment import ReadSegment
from kafkalog_reader.audits.recovery.rule import LogConfig
from kafkalog_reader.audits.recovery.segment import LoadingSegment, read_next_offset, recover
from kafkalog_reader.format.record import Record
from kafkalog_reader.io.progress import no_progress
from kafkalog_reader.io.read_context import ReadContext
from kafkalog_reader.io.segment_files import SegmentFiles
from kafkalog_reader.scan.scan import CHAIN, Scan
from tests.chosen.examples import examples

BATCHES = st.lists(
    st.tuples(st.integers(0, 40), st.integers(0, 5), st.integers(0, 200), st.integers(-1, 6)),
    max_size=12,
)


@settings(deadline=None, max_examples=examples(150))
@given(fields=BATCHES, interval=st.integers(0, 500))
def test_recovery_does_what_kafkas_loop_does(
    fields: list[tuple[int, int, int, int]], interval: int
) -> None:
    batches = [
        data_batch(
            offset,
            [Record(offset_delta=0, value=bytes(size))],
            leader_epoch=leader_epoch,
            base_timestamp=EPOCH_MILLIS + timestamp,
        )
        for offset, timestamp, size, leader_epoch in fields
    ]
    falls, epochs = _kafkas_loop(batches, interval)
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / f"{0:020}.log"
        path.write_bytes(b"".join(batch.build() for batch in batches))
        found = recover(
            _segment(path), LeaderEpochCache(), LogConfig(index_interval=interval), no_progress
        )
    assert found.falls == falls
    assert [(each.leader_epoch, each.start_offset) for each in found.cache.entries] == epochs
    assert falls or found.next_offset == (batches[-1].last_offset + 1 if batches else 0)
    assert not found.problem


def _kafkas_loop(batches: list[Batch], interval: int) -> tuple[bool, list[tuple[int, int]]]:
    """``LogSegment#recover`` of Kafka 4.3, with the refusals of its two indexes."""
    valid_bytes = last_index_entry = 0
    newest = (-1, -1)
    offset_entry: int | None = None
    time_entry: tuple[int, int] | None = None
    cache = LeaderEpochCache()

    def ended(*, falls: bool) -> tuple[bool, list[tuple[int, int]]]:
        return falls, [(each.leader_epoch, each.start_offset) for each in cache.entries]

    for batch in batches:
        if batch.max_timestamp > newest[0]:
            newest = (batch.max_timestamp, batch.last_offset)
        if valid_bytes - last_index_entry > interval:
            if offset_entry is not None and batch.last_offset <= offset_entry:
                return ended(falls=True)
            offset_entry = batch.last_offset
            if time_entry is not None and newest[1] < time_entry[1]:
                return ended(falls=True)
            if time_entry is None or newest[0] > time_entry[0]:
                time_entry = newest
            last_index_entry = valid_bytes
        valid_bytes += len(batch.build())
        latest = cache.latest
        if batch.leader_epoch >= 0 and (latest is None or batch.leader_epoch > latest.leader_epoch):
            cache = cache.assign(batch.leader_epoch, batch.base_offset)
    return ended(falls=time_entry is not None and newest[1] < time_entry[1])


def _segment(path: Path) -> LoadingSegment:
    size = path.stat().st_size
    files = SegmentFiles(
        base_offset=0,
        suffix=None,
        directory=str(path.parent),
        log_size=size,
        offset_index_size=None,
        time_index_size=None,
        transaction_index_size=None,
        modified_at=0,
    )
    return LoadingSegment(files=files, base_offset=0, start=0, stop=size, context=ReadContext())


def test_a_segment_without_batches_has_no_timestamp_and_ends_at_its_base(tmp_path: Path) -> None:
    """LogSegment#maxTimestampSoFar of an empty segment is -1, TimestampOffset.UNKNOWN."""
    path = tmp_path / f"{0:020}.log"
    path.write_bytes(b"")
    found = recover(_segment(path), LeaderEpochCache(), LogConfig(), no_progress)
    assert (found.stop, found.next_offset, found.greatest_offset) == (0, 0, -1)
    assert (found.greatest_timestamp, found.cache.entries) == (-1, ())


def test_batches_without_timestamps_and_epochs_leave_none(tmp_path: Path) -> None:
    path = tmp_path / f"{0:020}.log"
    records = [Record(offset_delta=0)]
    path.write_bytes(
        b"".join(
            data_batch(offset, records, leader_epoch=-1, base_timestamp=-1).build()
            for offset in (0, 1)
        )
    )
    found = recover(_segment(path), LeaderEpochCache(), LogConfig(), no_progress)
    assert (found.next_offset, found.greatest_offset, found.greatest_timestamp) == (2, 1, -1)
    assert [*found.cache.entries] == []


@pytest.mark.parametrize("taken", [0, 1, 2, 3])
@pytest.mark.parametrize(
    "offsets",
    [
        pytest.param([10, 11, 12, 13], id="rise"),
        pytest.param([10, 11, 12, 12], id="one_is_stored_twice"),
        pytest.param([10, 11, 11, 12], id="an_earlier_one"),
        pytest.param([10, 20, 15, 16], id="fall"),
    ],
)
def test_what_was_read_before_need_not_be_read_again(
    tmp_path: Path, offsets: list[int], taken: int
) -> None:
    """A recovery that continues after an earlier reading finds what one of all batches finds."""
    path = tmp_path / f"{0:020}.log"
    path.write_bytes(
        b"".join(
            data_batch(
                offset, [Record(offset_delta=0)], leader_epoch=number,
                base_timestamp=EPOCH_MILLIS - number,
            ).build()
            for number, offset in enumerate(offsets)
        )
    )  # fmt: skip
    (run,) = Scan(str(path), CHAIN, context=ReadContext()).runs()
    known = ReadSegment(0, path.stat().st_size)
    for number in range(taken):
        known.add(run.taken(slice(number, number + 1)))
    segment, config = _segment(path), LogConfig(index_interval=0)
    expected = recover(segment, LeaderEpochCache(), config, no_progress)
    assert recover(segment, LeaderEpochCache(), config, no_progress, known) == expected
    assert expected.greatest_offset == max(offsets) or expected.falls
    assert expected.next_offset == offsets[-1] + 1 or expected.falls


SIZE = len(data_batch(0, [Record(offset_delta=0)]).build())


@pytest.mark.parametrize(
    ("offsets", "entry", "end"),
    [
        pytest.param([10, 20, 30], None, 31, id="without_entries_all_is_read"),
        pytest.param([10, 20, 30], (20, SIZE), 31, id="from_the_entry_on"),
        pytest.param([10, 20, 30], (30, 2 * SIZE), 31, id="from_the_last_batch_on"),
        pytest.param([10, 20, 30], (31, 2 * SIZE), 0, id="the_entry_is_one_too_high"),
        pytest.param([10, 20, 30], (20, 3 * SIZE), 0, id="the_entry_is_after_the_file"),
        pytest.param([10, 20, 15], (20, SIZE), 16, id="found_and_then_offsets_fall"),
        pytest.param([10, 20, 15], (21, SIZE), 0, id="not_found_and_offsets_fall"),
        pytest.param([10, 20, 15], (15, 2 * SIZE), 16, id="the_last_one_fell"),
    ],
)
def test_the_end_of_a_segment_is_read_from_its_last_index_entry_on(
    tmp_path: Path, offsets: list[int], entry: tuple[int, int] | None, end: int
) -> None:
    """LogSegment#readNextOffset: the end of what a search for that offset finds, else the base."""
    path = tmp_path / f"{0:020}.log"
    records = [Record(offset_delta=0)]
    path.write_bytes(b"".join(data_batch(offset, records).build() for offset in offsets))
    content = b"" if entry is None else struct.pack(">ii", *entry)
    path.with_suffix(".index").write_bytes(content)
    segment = _segment(path)
    segment.files = replace(segment.files, offset_index_size=len(content))
    assert read_next_offset(segment, no_progress) == end


def test_a_part_whose_offsets_fall_is_read_from_its_own_start(tmp_path: Path) -> None:
    """The part of a split file has no index entry: LogSegment#readNextOffset begins at its start.

    The last batch from there ends the log: kafka-on-disk-format.md, section 6.1.
    """
    path = tmp_path / f"{0:020}.log"
    records = [Record(offset_delta=0)]
    path.write_bytes(b"".join(data_batch(offset, records).build() for offset in (0, 100, 109, 105)))
    part = replace(_segment(path), base_offset=100, start=SIZE)
    found = recover(part, LeaderEpochCache(), LogConfig(), no_progress)
    assert (found.next_offset, found.greatest_offset, found.stop) == (106, 109, 4 * SIZE)
    assert not found.falls
