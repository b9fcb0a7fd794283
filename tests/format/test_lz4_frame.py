"""LZ4 frames as Kafka's KafkaLZ4BlockInputStream reads them: format reference 14.7."""

from __future__ import annotations

import random

import lz4.frame
import pytest

from kafkalog_reader.errors import CorruptRecordError, LimitReachedError, LogPosition
from kafkalog_reader.format.lz4_frame import decompress_lz4_frame

WHERE = LogPosition("segment.log", 1000)
HEADER = bytes.fromhex("04224d18604082")
"""Independent blocks of at most 64 KiB, without checksums."""
END = bytes(4)
NOISE = random.Random(1).randbytes(150_000)


def stored(content: bytes) -> bytes:
    """A block that is not compressed."""
    return (0x80000000 | len(content)).to_bytes(4, "little") + content


def test_stored_blocks_are_joined_up_to_the_end_mark() -> None:
    payload = HEADER + stored(b"ab") + stored(b"c") + END + b"ignored"
    assert decompress_lz4_frame(payload, WHERE, 3) == b"abc"
    assert decompress_lz4_frame(HEADER + END, WHERE, 0) == b""


def test_output_of_exactly_the_limit_is_read() -> None:
    payload = HEADER + stored(b"ab") + stored(b"c") + END
    with pytest.raises(LimitReachedError):
        decompress_lz4_frame(payload, WHERE, 2)


@pytest.mark.parametrize("block_checksum", [False, True])
@pytest.mark.parametrize("store_size", [False, True])
@pytest.mark.parametrize("content", [NOISE, bytes(150_000)], ids=["noise", "zeros"])
def test_frames_of_lz4_itself_are_read(
    content: bytes, store_size: bool, block_checksum: bool
) -> None:
    payload = lz4.frame.compress(
        content,
        block_linked=False,
        block_size=lz4.frame.BLOCKSIZE_MAX64KB,
        block_checksum=block_checksum,
        content_checksum=True,
        store_size=store_size,
    )
    assert decompress_lz4_frame(payload, WHERE, len(content)) == content


@pytest.mark.parametrize(
    ("size", "code"),
    [
        (lz4.frame.BLOCKSIZE_MAX64KB, 4),
        (lz4.frame.BLOCKSIZE_MAX256KB, 5),
        (lz4.frame.BLOCKSIZE_MAX1MB, 6),
        (lz4.frame.BLOCKSIZE_MAX4MB, 7),
    ],
)
def test_block_has_at_most_the_size_that_its_frame_announces(size: int, code: int) -> None:
    largest = {4: 64 << 10, 5: 256 << 10, 6: 1 << 20, 7: 4 << 20}[code]
    header = lz4.frame.compress(
        bytes(5 << 20), block_linked=False, block_size=size, store_size=False
    )[:7]
    assert header[5] >> 4 == code
    content = bytes(largest)
    assert decompress_lz4_frame(header + stored(content) + END, WHERE, largest) == content
    with pytest.raises(CorruptRecordError, match=f"at most {largest} allowed"):
        decompress_lz4_frame(header + stored(content + b"x") + END, WHERE, largest + 1)


def test_smaller_block_sizes_are_not_defined() -> None:
    payload = bytes.fromhex("04224d18603000") + END
    with pytest.raises(CorruptRecordError, match="block size code 3, expected 4 to 7"):
        decompress_lz4_frame(payload, WHERE, 9, check_header=False)


def test_header_checksum_of_a_message_of_magic_0_is_not_checked() -> None:
    payload = HEADER[:6] + b"\x1a" + stored(b"hi") + END
    assert decompress_lz4_frame(payload, WHERE, 9, check_header=False) == b"hi"
    with pytest.raises(CorruptRecordError, match="checksum stored 0x1a, computed 0x82"):
        decompress_lz4_frame(payload, WHERE, 9)


@pytest.mark.parametrize(
    "header",
    [
        pytest.param("04224d19604082", id="magic"),
        pytest.param("04224d18204082", id="version_0"),
        pytest.param("04224d18404082", id="dependent_blocks"),
        pytest.param("04224d18614082", id="dictionary"),
        pytest.param("04224d1860c082", id="reserved_bit_of_the_block_size"),
        pytest.param("04224d18604182", id="reserved_low_bits"),
        pytest.param("04224d186040", id="cut_short"),
    ],
)
def test_frame_that_kafka_does_not_read_is_refused(header: str) -> None:
    with pytest.raises(CorruptRecordError, match="not an lz4 frame that Kafka reads") as caught:
        decompress_lz4_frame(bytes.fromhex(header), WHERE, 9, check_header=False)
    assert caught.value.where == WHERE


def test_frame_must_end_with_a_mark() -> None:
    for cut in (HEADER, HEADER + END[:3], HEADER + stored(b"ab"), HEADER + stored(b"ab") + END[:3]):
        with pytest.raises(CorruptRecordError, match="no end mark"):
            decompress_lz4_frame(cut, WHERE, 9)
    with pytest.raises(CorruptRecordError, match="block cut short: 1 of 2"):
        decompress_lz4_frame(HEADER + stored(b"ab")[:-1], WHERE, 9)


def test_each_block_is_checked_before_it_is_decompressed() -> None:
    payload = lz4.frame.compress(
        NOISE, block_linked=False, block_size=lz4.frame.BLOCKSIZE_MAX64KB, block_checksum=True,
        store_size=False,
    )  # fmt: skip
    second = 7 + 4 + (64 << 10) + 4
    damaged = bytearray(payload)
    damaged[second + 4] ^= 1
    with pytest.raises(CorruptRecordError, match="block checksum stored"):
        decompress_lz4_frame(bytes(damaged), WHERE, len(NOISE))


def test_block_that_is_not_lz4_is_corrupt() -> None:
    block = b"\xff\xff"
    payload = HEADER + len(block).to_bytes(4, "little") + block + END
    with pytest.raises(CorruptRecordError, match="does not decompress"):
        decompress_lz4_frame(payload, WHERE, 9)
