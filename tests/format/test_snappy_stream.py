"""snappy-java's stream of blocks, and raw blocks: format reference 14.7."""

from __future__ import annotations

import cramjam
import pytest

from kafkalog_reader.errors import CorruptRecordError, LimitReachedError, LogPosition
from kafkalog_reader.format.snappy_stream import HEADER_SIZE, decompress_snappy

WHERE = LogPosition("segment.log", 1000)
HEADER = bytes.fromhex("82534e41505059000000000100000001")


def raw(content: bytes) -> bytes:
    return bytes(cramjam.snappy.compress_raw(content))


def block(content: bytes) -> bytes:
    compressed = raw(content)
    return len(compressed).to_bytes(4, "big") + compressed


def test_header_has_a_magic_and_two_versions() -> None:
    assert len(HEADER) == HEADER_SIZE


@pytest.mark.parametrize(
    ("payload", "content"),
    [
        pytest.param(HEADER, b"", id="no_blocks"),
        pytest.param(HEADER + block(b"ab") + block(b"c"), b"abc", id="two_blocks"),
        pytest.param(HEADER + block(b"a") + HEADER + block(b"b"), b"ab", id="two_streams"),
        pytest.param(HEADER + block(b"a") + b"xyz", b"a", id="three_stray_bytes"),
        pytest.param(HEADER + block(b""), b"", id="block_of_nothing"),
        pytest.param(raw(b"abc"), b"abc", id="raw"),
        pytest.param(raw(b"a" * 99), b"a" * 99, id="raw_block_with_a_copy"),
        pytest.param(raw(b"0123456789abcdefXYZ"), b"0123456789abcdefXYZ", id="long_raw_block"),
    ],
)
def test_payload_is_read(payload: bytes, content: bytes) -> None:
    assert decompress_snappy(payload, WHERE, len(content)) == content


@pytest.mark.parametrize(
    ("payload", "problem"),
    [
        pytest.param(HEADER + bytes(4), "block of 0 bytes, 0 left", id="block_without_bytes"),
        pytest.param(HEADER + block(b"abc")[:-1], "block of 5 bytes, 4 left", id="cut_short"),
        pytest.param(HEADER + b"\xff" * 4, "block of 4294967295 bytes, 0 left", id="negative"),
        pytest.param(HEADER + block(b"a") + bytes(4), "block of 0 bytes, 0 left", id="four_stray"),
    ],
)
def test_lengths_of_blocks_are_checked(payload: bytes, problem: str) -> None:
    with pytest.raises(CorruptRecordError) as caught:
        decompress_snappy(payload, WHERE, 100)
    assert caught.value.problem == f"snappy {problem}"
    assert caught.value.where == WHERE


@pytest.mark.parametrize("payload", [b"", HEADER[:-1], HEADER + b"\0\0\0\1\x05"])
def test_other_bytes_are_no_snappy(payload: bytes) -> None:
    with pytest.raises(CorruptRecordError):
        decompress_snappy(payload, WHERE, 1 << 30)


def test_limit_is_that_of_all_blocks() -> None:
    payload = HEADER + block(b"a" * 60) + block(b"b" * 40)
    assert len(decompress_snappy(payload, WHERE, 100)) == 100
    with pytest.raises(LimitReachedError):
        decompress_snappy(payload, WHERE, 99)
    with pytest.raises(LimitReachedError):
        decompress_snappy(raw(b"a" * 60), WHERE, 59)
