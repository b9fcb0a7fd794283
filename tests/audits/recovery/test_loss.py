"""Records that a start removes are counted while their segment is read, or by reading it again."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import pytest

from fixtures.builder import cluster, data_batch, marker_batch, message_batch, replica
from kafkalog_reader.audits.comparison.committed import CommitCount
from kafkalog_reader.audits.log.batch_stream import BatchStream
from kafkalog_reader.audits.log.held_records import HeldRecords, sum_of
from kafkalog_reader.audits.recovery.loss import LostBytes
from kafkalog_reader.format.compression import Codec
from kafkalog_reader.format.control_record import ControlType
from kafkalog_reader.format.record import Record
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.io.partition_directory import segments
from kafkalog_reader.io.read_context import ReadContext
from kafkalog_reader.tables.request import ReadRequest

if TYPE_CHECKING:
    from pathlib import Path

    from kafkalog_reader.audits.log.read_segment import ReadSegment
    from kafkalog_reader.io.segment_files import SegmentFiles

RECORDS = 5
BATCHES = 60
MEBIBYTE = 1 << 20
LARGE = [Record(offset_delta=n, value=bytes(range(256)) * 80) for n in range(RECORDS)]
SMALL = [Record(offset_delta=n, value=b"small") for n in range(3)]
WRONG_CRC = {3, 11, 12, 30}
WRONG_LENGTH = {20, 41}


class Place(NamedTuple):
    """The position of a batch, and the client records from there to the end.

    With a wrong CRC the header's count applies, with a wrong length the offsets up to the next
    batch.
    """

    position: int
    records: HeldRecords


def write_damaged(root: Path) -> list[Place]:
    """Write a log of six mebibytes in one segment, damaged at random places."""
    content = bytearray()
    begins, held, damaged = [], [], []
    for n in range(BATCHES):
        is_marker = n % 7 == 6
        batch = (
            marker_batch(
                n * RECORDS, control_type=ControlType.COMMIT, producer_id=7, producer_epoch=0
            )
            if is_marker
            else data_batch(n * RECORDS, LARGE)
        )
        begins.append(len(content))
        held.append(0 if is_marker or n in WRONG_CRC | WRONG_LENGTH else RECORDS)
        damaged.append(RECORDS if n in WRONG_CRC | WRONG_LENGTH else 0)
        content += batch.build()
        if n in WRONG_CRC:
            content[-1] ^= 1
        elif n in WRONG_LENGTH:
            content[begins[-1] + 8 : begins[-1] + 12] = b"\x7f" * 4
    cluster(root, {0: replica("0-4/e0", files={f"{0:020}.log": bytes(content)})})
    return [
        Place(begin, HeldRecords(sum(held[n:]), sum(damaged[n:]))) for n, begin in enumerate(begins)
    ]


def read_whole(root: Path) -> tuple[SegmentFiles, ReadSegment]:
    """The only segment below a folder, and the result of reading it."""
    (directory,) = discover([str(root)]).partition_directories(ReadRequest())
    stream = BatchStream(directory, window_size=MEBIBYTE)
    while not stream.ended:
        stream.advance(stream.left_in_window)
    (segment,) = segments(directory)
    return segment, stream.read_segments[segment.path("log")]


@pytest.mark.parametrize("is_known", [True, False])
def test_sound_records_are_counted_from_any_batch_on(is_known: bool, tmp_path: Path) -> None:
    places = write_damaged(tmp_path)
    segment, read = read_whole(tmp_path)
    for number, place in enumerate(places):
        lost = LostBytes(
            files=segment,
            start=place.position,
            stop=segment.log_size or 0,
            context=ReadContext(),
            first_offset=number * RECORDS,
        )
        bytes_read: list[int] = []
        assert lost.records(bytes_read.append, read if is_known else None) == place.records
        if is_known and place.position >= places[min(WRONG_CRC)].position:
            assert sum(bytes_read) < 2 * MEBIBYTE


def test_nothing_is_read_again_from_the_first_damage_on(tmp_path: Path) -> None:
    places = write_damaged(tmp_path)
    segment, read = read_whole(tmp_path)
    first = places[min(WRONG_CRC)]
    assert read.records_since(first.position) == first
    assert not read.is_sound
    assert read.sound_bytes <= first.position
    lost = LostBytes(
        files=segment, start=first.position, stop=read.size_in_bytes, context=ReadContext()
    )
    assert lost.records(pytest.fail, read) == first.records


def test_what_was_cut_before_is_read(tmp_path: Path) -> None:
    places = write_damaged(tmp_path)
    segment, read = read_whole(tmp_path)
    first, stop = places[min(WRONG_CRC)], places[25]
    lost = LostBytes(files=segment, start=first.position, stop=stop.position, context=ReadContext())
    assert lost.records(lambda _: None, read) == HeldRecords(
        first.records.sound - stop.records.sound, first.records.damaged - stop.records.damaged
    )


def test_no_bound_is_above_the_last_offset() -> None:
    """Offsets in damaged files may have any value; tables hold signed 64 bits."""
    highest = 2**63 - 1
    assert sum_of([HeldRecords(1, highest - 1), HeldRecords(2, 700)]) == HeldRecords(3, highest)
    assert (CommitCount(damaged=highest) + CommitCount(damaged=1)).damaged == highest


def test_messages_in_wrappers_behind_damage_are_counted(tmp_path: Path) -> None:
    log = [
        message_batch(n * 3, SMALL, magic=1, codec=Codec.GZIP)
        if n % 2
        else data_batch(n * 3, SMALL)
        for n in range(10)
    ]
    whole = b"".join(batch.build() for batch in log)
    content = whole[:70] + b"?" + whole[71:]
    cluster(tmp_path, {0: replica("0-2/e0", files={f"{0:020}.log": content})})
    segment, read = read_whole(tmp_path)
    assert read.records_since(0) is None
    lost = LostBytes(files=segment, start=0, stop=len(content), context=ReadContext())
    assert lost.records(lambda _: None, read) == HeldRecords(9 * len(SMALL), len(SMALL))
