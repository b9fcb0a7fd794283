"""The fast codecs agree with the declared format, and with Kafka's reader in edge cases."""

from __future__ import annotations

import contextlib
import random

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from fixtures.builder.compression import compress
from kafkalog_reader.decode.decompression import Decompressor, Limits
from kafkalog_reader.errors import CorruptRecordError, KafkaLogError, LimitReachedError
from kafkalog_reader.format.compression import Codec, decompress
from kafkalog_reader.kernel import codes
from tests.chosen.examples import examples
from tests.format.vectors import WHERE

CONTENT = random.Random(1).randbytes(3000) * 40
GZIP, SNAPPY, ZSTD = (compress(c, b"hi") for c in (Codec.GZIP, Codec.SNAPPY, Codec.ZSTD))
LZ4 = bytes.fromhex("04224d18604082 02000080 6869 00000000".replace(" ", ""))
XERIAL_HEADER = SNAPPY[:16]


def fast(codec: Codec, payload: bytes, limits: Limits | None = None) -> bytes:
    decompressor = Decompressor(limits or Limits())
    size = decompressor.add(codec, memoryview(payload), WHERE)
    assert size == decompressor.size
    return bytes(decompressor.buffer)


@pytest.mark.parametrize(
    ("codec", "payload", "content"),
    [
        pytest.param(Codec.GZIP, GZIP + GZIP, b"hihi", id="two_gzip_members"),
        pytest.param(Codec.GZIP, GZIP + bytes(9), b"hi", id="gzip_and_zeros"),
        pytest.param(Codec.SNAPPY, SNAPPY[20:], b"hi", id="raw_snappy_block"),
        pytest.param(Codec.SNAPPY, SNAPPY + SNAPPY, b"hihi", id="two_xerial_streams"),
        pytest.param(Codec.SNAPPY, SNAPPY + b"abc", b"hi", id="xerial_and_stray_bytes"),
        pytest.param(Codec.SNAPPY, XERIAL_HEADER, b"", id="xerial_header_only"),
        pytest.param(Codec.ZSTD, ZSTD + ZSTD, b"hihi", id="two_zstd_frames"),
        pytest.param(Codec.LZ4, LZ4, b"hi", id="lz4"),
        pytest.param(Codec.LZ4, LZ4 + LZ4, b"hi", id="two_lz4_frames_only_first"),
    ],
)
def test_what_kafka_accepts_is_accepted(codec: Codec, payload: bytes, content: bytes) -> None:
    assert fast(codec, payload) == content


@pytest.mark.parametrize(
    ("codec", "payload"),
    [
        pytest.param(Codec.SNAPPY, b"", id="no_bytes_as_snappy"),
        pytest.param(Codec.LZ4, LZ4.replace(b"\x82", b"\x1a"), id="lz4_header_checksum_of_magic_0"),
        pytest.param(Codec.LZ4, LZ4[:-4], id="lz4_without_end_mark"),
        pytest.param(Codec.LZ4, LZ4[:4] + b"\x40" + LZ4[5:], id="lz4_dependent_blocks"),
        pytest.param(Codec.ZSTD, ZSTD[:-1], id="zstd_cut_short"),
        pytest.param(Codec.ZSTD, ZSTD + b"??", id="zstd_and_stray_bytes"),
        pytest.param(Codec.GZIP, GZIP[:-1], id="gzip_cut_short"),
    ],
)
def test_what_kafka_refuses_is_refused(codec: Codec, payload: bytes) -> None:
    with pytest.raises(CorruptRecordError):
        fast(codec, payload)


@pytest.mark.parametrize("codec", Codec)
@pytest.mark.parametrize("size", [0, 1, 32_768, 32_769, 65_536, 65_537, 120_000])
def test_content_of_any_size_comes_back(codec: Codec, size: int) -> None:
    assert fast(codec, compress(codec, CONTENT[:size])) == CONTENT[:size]


@settings(max_examples=examples(300), deadline=None)
@given(
    codec=st.sampled_from([codec for codec in Codec if codec]),
    size=st.sampled_from([3, 700, 70_000]),
    seed=st.integers(0, 2**32),
)
def test_mutated_payloads_decompress_as_the_declared_format_says(
    codec: Codec, size: int, seed: int
) -> None:
    chance = random.Random(seed)
    payload = bytearray(compress(codec, CONTENT[:size]))
    for _ in range(chance.randint(1, 2)):
        payload[chance.randrange(len(payload))] = chance.randrange(256)
    expected = found = None
    with contextlib.suppress(KafkaLogError):
        expected = decompress(codec, bytes(payload), WHERE)
    with contextlib.suppress(KafkaLogError):
        found = fast(codec, bytes(payload))
    assert found == expected


@pytest.mark.parametrize("codec", [codec for codec in Codec if codec])
def test_a_payload_that_grows_beyond_a_limit_is_refused(codec: Codec) -> None:
    payload = compress(codec, bytes(1_000_000))
    limits = Limits(batch_bytes=100_000)
    with pytest.raises(LimitReachedError, match="limit"):
        fast(codec, payload, limits)
    assert fast(codec, payload, Limits(batch_bytes=1_000_000)) == bytes(1_000_000)


def test_a_snappy_block_that_announces_terabytes_is_refused_before_it_is_allocated() -> None:
    with pytest.raises(LimitReachedError, match="limit"):
        fast(Codec.SNAPPY, b"\xff\xff\xff\xff\x0f" + b"x" * 30)


def test_a_zstd_frame_that_announces_terabytes_is_refused_before_it_is_allocated() -> None:
    frame = zstandard.ZstdCompressor().compress(bytes(100))
    announced = frame[:4] + b"\xe0" + (1 << 44).to_bytes(8, "little") + frame[6:]
    with pytest.raises(CorruptRecordError):
        fast(Codec.ZSTD, announced)


def test_a_failed_payload_leaves_what_was_there_before() -> None:
    decompressor = Decompressor(Limits())
    decompressor.add(Codec.NONE, memoryview(b"before"), WHERE)
    for codec in (Codec.GZIP, Codec.SNAPPY, Codec.LZ4, Codec.ZSTD):
        assert not decompressor.add_simple(codes.SHAPE_ZSTD_FRAME, memoryview(b"junk"), 100)
        with pytest.raises(CorruptRecordError):
            decompressor.add(codec, memoryview(b"junk that no codec writes"), WHERE)
    assert bytes(decompressor.buffer) == b"before"
