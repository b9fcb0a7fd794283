"""Records that a start removes are counted while their segment is read, or by reading it again."""

from __future__ import annotations

import zlib
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
from kafkalog_reader.io.segment_files import SegmentFiles
from kafkalog_reader.tables.request import ReadRequest

if TYPE_CHECKING:
    from pathlib import Path

    from kafkalog_reader.audits.log.read_segment import ReadSegment

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
        files=segment, start=first.position, stop=read.size_in_bytes, context=ReadContext(),
        first_offset=min(WRONG_CRC) * RECORDS,
    )  # fmt: skip
    assert lost.records(pytest.fail, read) == first.records


def test_what_was_cut_before_is_read(tmp_path: Path) -> None:
    places = write_damaged(tmp_path)
    segment, read = read_whole(tmp_path)
    first, stop = places[min(WRONG_CRC)], places[25]
    lost = LostBytes(
        files=segment, start=first.position, stop=stop.position, context=ReadContext(),
        first_offset=min(WRONG_CRC) * RECORDS,
    )  # fmt: skip
    assert lost.records(lambda _: None, read) == HeldRecords(
        first.records.sound - stop.records.sound, first.records.damaged - stop.records.damaged
    )


def test_no_bound_is_above_the_last_offset() -> None:
    """Offsets in damaged files may have any value; tables hold signed 64 bits."""
    highest = 2**63 - 1
    assert sum_of([HeldRecords(1, highest - 1), HeldRecords(2, 700)]) == HeldRecords(3, highest)
    assert (CommitCount(damaged=highest) + CommitCount(damaged=1)).damaged == highest


def test_messages_in_wrappers_after_damage_are_counted(tmp_path: Path) -> None:
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
    lost = LostBytes(
        files=segment, start=0, stop=len(content), context=ReadContext(), first_offset=0
    )
    assert lost.records(lambda _: None, read) == HeldRecords(9 * len(SMALL), len(SMALL))


def lost_in(folder: Path, *parts: bytes, base_offset: int = 0) -> LostBytes:
    """A segment that begins at ``base_offset``, all of which is lost."""
    content = b"".join(parts)
    path = folder / f"{base_offset:020}.log"
    path.write_bytes(content)
    files = SegmentFiles(
        base_offset=base_offset, suffix=None, directory=str(folder), log_size=len(content),
        offset_index_size=None, time_index_size=None, transaction_index_size=None, modified_at=0,
    )  # fmt: skip
    return LostBytes(
        files=files, start=0, stop=len(content), context=ReadContext(), first_offset=base_offset
    )


@pytest.mark.parametrize(
    ("first", "following", "outside"),
    [(10, 17, 0), (11, 30, 3), (10, 16, 3), (13, 16, 6), (0, 10, 9), (0, 9, 9)],
)
def test_records_outside_a_range_of_base_offsets(
    first: int, following: int, outside: int, tmp_path: Path
) -> None:
    """Three batches of three records each begin at 10, 13 and 16."""
    lost = lost_in(tmp_path, *(data_batch(10 + 3 * n, SMALL).build() for n in range(3)))
    assert lost.records_outside(first, following, lambda _: None) == outside


def test_a_marker_outside_a_range_is_no_client_record(tmp_path: Path) -> None:
    marker = marker_batch(10, control_type=ControlType.COMMIT, producer_id=7, producer_epoch=0)
    lost = lost_in(tmp_path, marker.build(), data_batch(11, SMALL).build())
    assert lost.records_outside(0, 5, lambda _: None) == 3


def test_a_wrapper_that_cannot_be_read_counts_as_one_record(tmp_path: Path) -> None:
    sound = message_batch(0, SMALL, magic=1, codec=Codec.GZIP).build()
    broken = bytearray(message_batch(3, SMALL, magic=1, codec=Codec.GZIP).build())
    broken[40:] = bytes(len(broken) - 40)
    broken[12:16] = zlib.crc32(broken[16:]).to_bytes(4, "big")
    for parts, count in (([sound], 3), ([sound, bytes(broken)], 4)):
        assert lost_in(tmp_path, *parts).records(lambda _: None) == HeldRecords(count, 0)


def test_offsets_up_to_the_next_segment_may_be_lost(tmp_path: Path) -> None:
    """Behind the batch 10 to 12 are zeros up to the end; the next segment begins at 20."""
    lost = lost_in(tmp_path, data_batch(10, SMALL).build(), bytes(400), base_offset=10)
    assert lost.records(lambda _: None, None, 20) == HeldRecords(3, 7)
    assert lost.records(lambda _: None, None, None).damaged == 0
