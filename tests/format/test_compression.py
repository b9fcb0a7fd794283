"""Payloads of all codecs; the format reference, 14.7, has the results of Kafka's readers."""

from __future__ import annotations

import contextlib
import gzip
import random
import struct
import zlib

import cramjam
import lz4.frame
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from fixtures.builder.compression import compress
from kafkalog_reader.errors import CorruptRecordError, LimitReachedError
from kafkalog_reader.format.compression import Codec, codec_text, decompress
from tests.format.vectors import COMPRESSED_PAYLOADS, COMPRESSED_RECORDS, WHERE

CODECS = [Codec.GZIP, Codec.SNAPPY, Codec.LZ4, Codec.ZSTD]
HELLO = b"hello, hello, hello, hello"
XERIAL_HEADER = bytes.fromhex("82534e41505059000000000100000001")


def _xerial(*blocks: bytes) -> bytes:
    chunks = (bytes(cramjam.snappy.compress_raw(block)) for block in blocks)
    return XERIAL_HEADER + b"".join(struct.pack(">i", len(chunk)) + chunk for chunk in chunks)


def _lz4(header: str = "04224d18604082", end: str = "00000000") -> bytes:
    return bytes.fromhex(header + "020000806869" + end)


@pytest.mark.parametrize("name", COMPRESSED_PAYLOADS)
def test_payload_of_the_reference_is_decompressed(name: str) -> None:
    _, payload = COMPRESSED_PAYLOADS[name]
    assert decompress(Codec[name.upper()], bytes.fromhex(payload), WHERE) == COMPRESSED_RECORDS


@pytest.mark.parametrize(
    ("codec", "payload", "content"),
    [
        pytest.param(Codec.GZIP, gzip.compress(b"a") + gzip.compress(b"b"), b"ab", id="gzip_twice"),
        pytest.param(Codec.GZIP, gzip.compress(b"a") + bytes(9), b"a", id="gzip_then_zeros"),
        pytest.param(
            Codec.SNAPPY, bytes(cramjam.snappy.compress_raw(HELLO)), HELLO, id="raw_snappy"
        ),
        pytest.param(
            Codec.SNAPPY, bytes(cramjam.snappy.compress_raw(b"x")), b"x", id="raw_snappy_of_a_byte"
        ),
        pytest.param(Codec.SNAPPY, _xerial(b"a") + _xerial(b"b"), b"ab", id="xerial_twice"),
        pytest.param(Codec.SNAPPY, _xerial(b"a") + b"xyz", b"a", id="xerial_then_stray_bytes"),
        pytest.param(Codec.SNAPPY, XERIAL_HEADER, b"", id="xerial_header_only"),
        pytest.param(
            Codec.ZSTD,
            zstandard.compress(b"a") + zstandard.compress(b"b"),
            b"ab",
            id="zstd_twice",
        ),
        pytest.param(Codec.LZ4, _lz4(), b"hi", id="lz4_stored_block"),
        pytest.param(Codec.LZ4, _lz4() + _lz4(), b"hi", id="lz4_twice_reads_the_first"),
        pytest.param(Codec.LZ4, _lz4(end="00000080"), b"hi", id="lz4_end_mark_with_stored_bit"),
    ],
)
def test_odd_payload_is_read_as_kafka_reads_it(
    codec: Codec, payload: bytes, content: bytes
) -> None:
    assert decompress(codec, payload, WHERE) == content


@pytest.mark.parametrize(
    ("codec", "payload"),
    [
        pytest.param(Codec.SNAPPY, b"", id="no_bytes_as_snappy"),
        pytest.param(Codec.SNAPPY, XERIAL_HEADER + b"\0\0\0\0", id="xerial_block_of_no_bytes"),
        pytest.param(Codec.SNAPPY, XERIAL_HEADER + b"\xff" * 4, id="xerial_negative_block"),
        pytest.param(Codec.SNAPPY, _xerial(HELLO)[:-1], id="xerial_cut_short"),
        pytest.param(Codec.LZ4, _lz4("04224d1860401a"), id="lz4_wrong_header_checksum"),
        pytest.param(Codec.LZ4, _lz4(end=""), id="lz4_without_end_mark"),
        pytest.param(Codec.LZ4, lz4.frame.compress(bytes(200_000)), id="lz4_dependent_blocks"),
        pytest.param(Codec.LZ4, b"", id="no_bytes_as_lz4"),
        pytest.param(Codec.LZ4, bytes.fromhex("04224d18604082ffffff7f"), id="lz4_block_of_2_gib"),
        pytest.param(Codec.GZIP, b"", id="no_bytes_as_gzip"),
        pytest.param(Codec.GZIP, gzip.compress(HELLO)[:-1], id="gzip_cut_short"),
        pytest.param(Codec.GZIP, gzip.compress(HELLO)[:-8] + bytes(8), id="gzip_wrong_crc"),
        pytest.param(Codec.GZIP, zlib.compress(HELLO), id="zlib_instead_of_gzip"),
        pytest.param(Codec.ZSTD, zstandard.compress(HELLO)[:-1], id="zstd_cut_short"),
        pytest.param(Codec.ZSTD, zstandard.compress(HELLO) + b"x" * 9, id="zstd_then_garbage"),
    ],
)
def test_payload_that_kafka_refuses_is_corrupt(codec: Codec, payload: bytes) -> None:
    with pytest.raises(CorruptRecordError) as caught:
        decompress(codec, payload, WHERE)
    assert caught.value.where == WHERE


def test_lz4_frame_with_checksums_and_large_blocks_is_decompressed() -> None:
    content = random.Random(1).randbytes(300_000) + bytes(300_000)
    payload = lz4.frame.compress(
        content,
        block_linked=False,
        block_size=lz4.frame.BLOCKSIZE_MAX256KB,
        block_checksum=True,
        content_checksum=True,
        store_size=True,
    )
    assert decompress(Codec.LZ4, payload, WHERE) == content


def test_wrong_lz4_block_checksum_is_corrupt() -> None:
    payload = lz4.frame.compress(HELLO, block_linked=False, block_checksum=True, store_size=False)
    damaged = payload[:-8] + bytes([payload[-8] ^ 1]) + payload[-7:]
    with pytest.raises(CorruptRecordError, match="block checksum"):
        decompress(Codec.LZ4, damaged, WHERE)


@pytest.mark.parametrize("codec", CODECS)
def test_bomb_stops_at_the_limit(codec: Codec) -> None:
    payload = compress(codec, bytes(10_000_000))
    assert len(payload) < 500_000
    with pytest.raises(LimitReachedError, match=r"more than 1,000,000 bytes"):
        decompress(codec, payload, WHERE, limit=1_000_000)


def test_gzip_of_many_members_is_read_in_linear_time() -> None:
    assert decompress(Codec.GZIP, gzip.compress(b"a") * 50_000, WHERE) == b"a" * 50_000


def test_a_codec_has_the_name_that_kafka_prints() -> None:
    names = [codec_text(number) for number in range(8)]
    assert names[:5] == ["none", "gzip", "snappy", "lz4", "zstd"]
    assert names[5:] == ["unknown(5)", "unknown(6)", "unknown(7)"]


@pytest.mark.parametrize("codec", CODECS)
def test_payload_of_exactly_the_limit_is_read(codec: Codec) -> None:
    content = bytes(100_000)
    assert decompress(codec, compress(codec, content), WHERE, limit=100_000) == content


def test_snappy_block_that_announces_4_gib_allocates_nothing() -> None:
    with pytest.raises(LimitReachedError, match="the limit"):
        decompress(Codec.SNAPPY, bytes.fromhex("ffffffff0f") + HELLO, WHERE)


@pytest.mark.parametrize("codec", CODECS)
@given(content=st.binary(max_size=2000), repeat=st.integers(1, 200))
def test_any_content_comes_back(codec: Codec, content: bytes, repeat: int) -> None:
    assert decompress(codec, compress(codec, content * repeat), WHERE) == content * repeat


@given(content=st.binary(max_size=2000), repeat=st.integers(1, 100))
def test_other_libraries_read_what_is_written(content: bytes, repeat: int) -> None:
    content = content * repeat
    assert gzip.decompress(compress(Codec.GZIP, content)) == content
    assert lz4.frame.decompress(compress(Codec.LZ4, content)) == content
    zstd = bytes(cramjam.zstd.decompress(compress(Codec.ZSTD, content)))
    assert zstd == content


@pytest.mark.parametrize("codec", CODECS)
@given(payload=st.binary(max_size=300))
def test_any_bytes_decompress_or_are_refused(codec: Codec, payload: bytes) -> None:
    with contextlib.suppress(CorruptRecordError, LimitReachedError):
        decompress(codec, payload, WHERE, limit=1 << 20)


@pytest.mark.parametrize("codec", CODECS)
@given(position=st.integers(0, 10_000), byte=st.integers(0, 255))
def test_damaged_payload_decompresses_or_is_refused(codec: Codec, position: int, byte: int) -> None:
    payload = bytearray(compress(codec, HELLO * 20))
    payload[position % len(payload)] = byte
    with contextlib.suppress(CorruptRecordError, LimitReachedError):
        decompress(codec, bytes(payload), WHERE, limit=1 << 20)
