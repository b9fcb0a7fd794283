"""Batches accepted in one pass agree with the declared format; others are left for more checks."""

from __future__ import annotations

import gzip
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from fixtures.builder.stored_batches import build_record_batch
from kafkalog_reader.decode.codec_libraries import MAX_BLOCK, CodecLibraries
from kafkalog_reader.format.compression import Codec
from kafkalog_reader.format.decompression_limit import Limits
from kafkalog_reader.format.record import Record
from tests.chosen.examples import examples
from tests.format.vectors import COMMIT, EMPTY, PLAIN, TRANSACTIONAL, T
from tests.kernel.decoding import Room
from tests.kernel.test_records import RECORDS, expected_rows, without_control_type
from tests.tables.logs import batch

NO_OFFSET = 2**63 - 1
LIBRARIES = CodecLibraries(Limits())
NO_LIBRARIES = SimpleNamespace(**{name: np.zeros(8, np.int64) for name in vars(LIBRARIES)})


def take(
    kernel: SimpleNamespace, log: bytes, *, room: Room | None = None, start: int = 0, **options: Any
) -> Any:
    """The batches that a new ``SoundBatches`` accepts from a log, and the columns it filled."""
    asked = {"lowest": 0, "stop": NO_OFFSET, "control": True, "libraries": NO_LIBRARIES} | options
    sound = kernel.sound_batches.SoundBatches(*asked.values(), np.zeros(MAX_BLOCK, np.uint8))
    room = room or Room(kernel, 512, 1 << 16, 256)
    sound.decode(log, start, len(log), room.columns)
    return sound, room


@settings(deadline=None, max_examples=examples(60))
@given(records=RECORDS, base_offset=st.integers(0, 2**40))
def test_records_are_those_of_the_declared_format(
    kernel: SimpleNamespace, records: list[Record], base_offset: int
) -> None:
    log = build_record_batch(records, base_offset=base_offset, max_timestamp=T)
    sound, room = take(kernel, log + log)
    assert sound.position == 2 * len(log)
    assert without_control_type(room.rows()) == 2 * expected_rows(log)


def test_vectors_one_after_the_other_are_taken_with_the_last_ones_offset(
    kernel: SimpleNamespace,
) -> None:
    sound, room = take(kernel, PLAIN + EMPTY + TRANSACTIONAL + COMMIT)
    assert [row[0] for row in room.rows()] == [100, 101, 102, 0, 1]
    assert sound.last_offset == 1
    assert room.timestamp_type[:5].tolist() == [0] * 5


def test_records_of_control_batches_are_passed_over_on_request(kernel: SimpleNamespace) -> None:
    sound, room = take(kernel, COMMIT + PLAIN, control=False)
    assert [row[0] for row in room.rows()] == [100, 101, 102]
    assert sound.position == len(COMMIT + PLAIN)


def test_log_append_time_is_the_type_of_its_records(kernel: SimpleNamespace) -> None:
    log = build_record_batch([Record(offset_delta=0)], flags=0x08, max_timestamp=7)
    _, room = take(kernel, log)
    assert (room.rows()[0][1], room.timestamp_type[0]) == (7000, 1)


NEGATIVE_COUNT = build_record_batch([Record(offset_delta=0)], records_count=-1)
LAST_OFFSETS = build_record_batch([Record(offset_delta=0)], base_offset=NO_OFFSET)
DELTA_TOO_LARGE = build_record_batch([Record(offset_delta=1)], last_offset_delta=0)


@pytest.mark.parametrize(
    "left",
    [
        pytest.param(PLAIN[:-1] + b"\xff", id="wrong_crc"),
        pytest.param(PLAIN[:-1], id="torn"),
        pytest.param(PLAIN[:16] + b"\x01" + PLAIN[17:], id="magic_1"),
        pytest.param(bytes(100), id="zeros"),
        pytest.param(batch(3, codec=Codec.ZSTD), id="zstd_without_a_library"),
        pytest.param(batch(3, codec=Codec.LZ4), id="lz4_without_a_library"),
        pytest.param(batch(3, codec=Codec.GZIP), id="gzip_without_a_library"),
        pytest.param(batch(3, codec=Codec.SNAPPY), id="snappy_without_a_function"),
        pytest.param(NEGATIVE_COUNT, id="negative_count"),
        pytest.param(DELTA_TOO_LARGE, id="offset_delta_too_large"),
        pytest.param(LAST_OFFSETS, id="offsets_to_the_last_one"),
    ],
)
def test_what_is_not_sound_or_of_another_kind_is_left(kernel: SimpleNamespace, left: bytes) -> None:
    sound, room = take(kernel, PLAIN + left + PLAIN)
    assert (sound.position, sound.last_offset) == (len(PLAIN), 102)
    assert without_control_type(room.rows()) == expected_rows(PLAIN)
    assert not sound.is_full


@pytest.mark.parametrize(("lowest", "stop"), [(1, NO_OFFSET), (0, 5), (4, 6)])
def test_batches_that_reach_beyond_the_offsets_requested_are_left(
    kernel: SimpleNamespace, lowest: int, stop: int
) -> None:
    log = batch(0) + batch(3)
    sound, room = take(kernel, log, lowest=lowest, stop=stop)
    assert [row[0] for row in room.rows()] == ([0, 1, 2] if lowest == 0 else [])
    assert sound.position == (len(batch(0)) if lowest == 0 else 0)


@pytest.mark.parametrize("room", [(4, 1 << 16, 256), (512, 37, 256), (512, 1 << 16, 3)])
def test_full_columns_stop_before_the_batch_that_does_not_fit(
    kernel: SimpleNamespace, room: tuple[Any, ...]
) -> None:
    sound, filled = take(kernel, PLAIN + PLAIN, room=Room(kernel, *room))
    assert sound.is_full
    assert sound.position == len(PLAIN)
    assert without_control_type(filled.rows()) == expected_rows(PLAIN)


@settings(deadline=None)
@given(at=st.integers(0, len(PLAIN) - 1), bit=st.integers(0, 7))
def test_a_flipped_bit_leaves_the_batch_unless_no_crc_covers_it(
    kernel: SimpleNamespace, at: int, bit: int
) -> None:
    damaged = bytearray(PLAIN)
    damaged[at] ^= 1 << bit
    sound, room = take(kernel, bytes(damaged) + PLAIN)
    not_covered = at < 8 or 12 <= at < 16  # base offset, leader epoch
    is_taken = sound.position > 0
    assert is_taken == (not_covered and int.from_bytes(damaged[:8], "big", signed=True) >= 0)
    assert (len(room.rows()) > 0) == is_taken


@pytest.mark.parametrize("codec", [codec for codec in Codec if codec])
@pytest.mark.parametrize("size", [200, 40_000])
def test_a_block_is_decompressed_by_the_library_found(
    kernel: SimpleNamespace, codec: Codec, size: int
) -> None:
    records = [Record(offset_delta=0, key=None, value=b"0123456789" * (size // 10))]
    plain = build_record_batch(records, base_offset=9)
    log = build_record_batch(records, base_offset=9, codec=codec)
    room = Room(kernel, 512, 1 << 17, 256)
    sound, room = take(kernel, log + log, room=room, libraries=LIBRARIES)
    if not kernel.record_batches.is_compiled():  # Python cannot call functions by address
        assert sound.position == 0
        return
    assert LIBRARIES.address[codec] != 0
    assert sound.position == 2 * len(log)
    assert without_control_type(room.rows()) == 2 * expected_rows(plain)


def frame_of(content: bytes, level: int = 3, **fields: Any) -> bytes:
    """A zstd frame without content size, as Kafka's producer writes it."""
    return zstandard.ZstdCompressor(level, write_content_size=False, **fields).compress(content)


UNCOMPRESSED = batch(0)[61:]
FRAME = frame_of(UNCOMPRESSED)
CHECKED = frame_of(UNCOMPRESSED, write_checksum=True)
STORED = (len(UNCOMPRESSED) << 3 | 1).to_bytes(3, "little")
SKIPPABLE = bytes.fromhex("502a4d18 03000000") + b"abc"


def batch_of(codec: Codec, payload: bytes) -> bytes:
    """``batch(0)`` with another payload and a correct CRC."""
    records = [Record(offset_delta=0)]
    return build_record_batch(
        records, codec=codec, payload=payload, base_timestamp=T, max_timestamp=T + 2,
        last_offset_delta=2, records_count=3,
    )  # fmt: skip


def with_window(descriptor: int) -> bytes:
    assert FRAME[4] == 0  # without content size, so that a window is stated
    return FRAME[:5] + bytes([descriptor]) + FRAME[6:]


@pytest.mark.parametrize(
    "payload",
    [
        pytest.param(FRAME, id="as_the_producer"),
        pytest.param(CHECKED, id="with_checksum"),
        pytest.param(zstandard.compress(UNCOMPRESSED), id="with_content_size"),
        pytest.param(FRAME[:6] + STORED + UNCOMPRESSED, id="stored_block"),
        pytest.param(with_window(17 << 3), id="window_of_128_mib"),
    ],
)
def test_one_zstd_frame_is_taken_whatever_its_header_tells(
    kernel: SimpleNamespace, payload: bytes
) -> None:
    sound, room = take(kernel, batch_of(Codec.ZSTD, payload), libraries=LIBRARIES)
    taken = kernel.record_batches.is_compiled()
    assert sound.position == (len(batch_of(Codec.ZSTD, payload)) if taken else 0)
    assert without_control_type(room.rows()) == (expected_rows(batch(0)) if taken else [])


@pytest.mark.parametrize(
    "payload",
    [
        pytest.param(FRAME + FRAME, id="two_frames"),
        pytest.param(SKIPPABLE + FRAME, id="after_a_skippable_frame"),
        pytest.param(FRAME + SKIPPABLE, id="before_a_skippable_frame"),
        pytest.param(SKIPPABLE, id="skippable_frame"),
        pytest.param(FRAME + b"\0", id="trailing_byte"),
        pytest.param(FRAME[:-1], id="cut_short"),
        pytest.param(b"", id="nothing"),
        pytest.param(frame_of(b""), id="empty_content"),
        pytest.param(CHECKED[:-1] + bytes([CHECKED[-1] ^ 1]), id="wrong_checksum"),
        pytest.param(with_window(17 << 3 | 1), id="window_above_128_mib"),
        pytest.param(with_window(0xFF), id="largest_window"),
        pytest.param(FRAME[:4] + b"\x01" + FRAME[5:6] + b"\x07" + FRAME[6:], id="dictionary"),
        pytest.param(FRAME[:4] + b"\x08" + FRAME[5:], id="reserved_bit"),
        pytest.param(frame_of(UNCOMPRESSED + bytes(MAX_BLOCK)), id="more_than_there_is_room"),
        pytest.param(UNCOMPRESSED, id="no_frame"),
    ],
)
def test_an_unusual_or_damaged_zstd_payload_is_left(
    kernel: SimpleNamespace, payload: bytes
) -> None:
    log = PLAIN + batch_of(Codec.ZSTD, payload) + PLAIN
    sound, room = take(kernel, log, libraries=LIBRARIES)
    assert sound.position == len(PLAIN)
    assert without_control_type(room.rows()) == expected_rows(PLAIN)


@settings(deadline=None)
@given(at=st.integers(0, len(CHECKED) - 1), bit=st.integers(0, 7))
def test_a_flipped_bit_in_a_zstd_frame_is_not_another_record(
    kernel: SimpleNamespace, at: int, bit: int
) -> None:
    damaged = bytearray(CHECKED)
    damaged[at] ^= 1 << bit
    sound, room = take(kernel, batch_of(Codec.ZSTD, bytes(damaged)), libraries=LIBRARIES)
    expected = expected_rows(batch(0)) if sound.position else []
    assert without_control_type(room.rows()) == expected


MEMBER = gzip.compress(UNCOMPRESSED, mtime=0)
NAMED = MEMBER[:3] + b"\x08" + MEMBER[4:10] + b"name\0" + MEMBER[10:]


@pytest.mark.parametrize(
    ("payload", "taken"),
    [
        pytest.param(MEMBER, True, id="as_the_producer"),
        pytest.param(gzip.compress(UNCOMPRESSED, 0), True, id="stored_block"),
        pytest.param(MEMBER[:4] + b"\xff" * 6 + MEMBER[10:], True, id="other_time_and_system"),
        pytest.param(NAMED, False, id="with_a_file_name"),
        pytest.param(MEMBER + MEMBER, False, id="two_members"),
        pytest.param(MEMBER + gzip.compress(b""), False, id="two_members_one_empty"),
        pytest.param(MEMBER + MEMBER[-8:], False, id="trailer_twice"),
        pytest.param(MEMBER + b"\0", False, id="trailing_byte"),
        pytest.param(MEMBER[:-1], False, id="cut_short"),
        pytest.param(MEMBER[:19], False, id="header_and_little_more"),
        pytest.param(MEMBER[:-8] + b"\0" * 4 + MEMBER[-4:], False, id="wrong_crc"),
        pytest.param(MEMBER[:-4] + b"\xff" * 4, False, id="size_of_4_gib"),
        pytest.param(MEMBER[:-4] + (5).to_bytes(4, "little"), False, id="smaller_size"),
        pytest.param(MEMBER[:10] + b"\x07" + MEMBER[11:], False, id="reserved_block_type"),
        pytest.param(gzip.compress(bytes(MAX_BLOCK + 1)), False, id="more_than_the_room"),
        pytest.param(b"", False, id="nothing"),
    ],
)
def test_a_gzip_member_alone_is_taken_nothing_else(
    kernel: SimpleNamespace, payload: bytes, taken: bool
) -> None:
    taken = taken and kernel.record_batches.is_compiled()
    log = batch_of(Codec.GZIP, payload) + batch_of(Codec.GZIP, MEMBER)
    sound, room = take(kernel, log, libraries=LIBRARIES)
    assert sound.position == (len(log) if taken else 0)
    assert without_control_type(room.rows()) == 2 * taken * expected_rows(batch(0))


@settings(deadline=None)
@given(at=st.integers(0, len(MEMBER) - 1), bit=st.integers(0, 7))
def test_a_flipped_bit_in_a_gzip_member_is_not_another_record(
    kernel: SimpleNamespace, at: int, bit: int
) -> None:
    damaged = bytearray(MEMBER)
    damaged[at] ^= 1 << bit
    log = batch_of(Codec.GZIP, bytes(damaged))
    sound, room = take(kernel, log, libraries=LIBRARIES)
    assert without_control_type(room.rows()) == bool(sound.position) * expected_rows(batch(0))


def test_a_damaged_gzip_member_leaves_nothing_behind_for_the_next(kernel: SimpleNamespace) -> None:
    libraries = CodecLibraries(Limits())
    for at in range(10, len(MEMBER) - 8):
        damaged = MEMBER[:at] + bytes([MEMBER[at] ^ 0xFF]) + MEMBER[at + 1 :]
        take(kernel, batch_of(Codec.GZIP, damaged), libraries=libraries)
        sound, room = take(kernel, batch_of(Codec.GZIP, MEMBER), libraries=libraries)
        assert (sound.position > 0) == kernel.record_batches.is_compiled()
        assert len(room.rows()) == 3 * (sound.position > 0)


def test_a_range_outside_of_the_buffer_and_too_little_scratch_are_refused(
    kernel: SimpleNamespace,
) -> None:
    with pytest.raises(ValueError, match="buffer"):
        take(kernel, PLAIN, start=len(PLAIN) + 1)
    with pytest.raises(ValueError, match="room for blocks"):
        kernel.sound_batches.SoundBatches(0, 0, True, LIBRARIES, np.zeros(100, np.uint8))
    few = SimpleNamespace(**{name: np.zeros(4, np.int64) for name in vars(LIBRARIES)})
    with pytest.raises(ValueError, match="fewer libraries"):
        take(kernel, PLAIN, libraries=few)
