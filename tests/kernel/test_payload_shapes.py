"""The shapes of payloads that the kernel finds before a codec library reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from fixtures.builder.compression import compress
from kafkalog_reader.format.compression import Codec
from kafkalog_reader.kernel import codes

if TYPE_CHECKING:
    from types import SimpleNamespace

CONTENT = bytes(range(256)) * 20
ONE_CALL = {
    Codec.NONE: codes.SHAPE_STORED,
    Codec.GZIP: codes.SHAPE_GZIP,
    Codec.SNAPPY: codes.SHAPE_SNAPPY_BLOCK,
    Codec.LZ4: codes.SHAPE_LZ4_BLOCK,
    Codec.ZSTD: codes.SHAPE_ZSTD_FRAME,
}


def find_shape(
    kernel: SimpleNamespace, codec: int, buffer: bytes, start: int = 0, stop: int | None = None
) -> Any:
    """The shape, the block within the buffer, and the bound."""
    starts = np.array([start], np.int64)
    stops = np.array([len(buffer) if stop is None else stop], np.int64)
    shapes, bounds = np.zeros(1, np.int32), np.zeros(1, np.int64)
    kernel.payload_shapes.find_shapes(
        buffer, np.array([codec], np.int16), starts, stops, shapes, bounds
    )
    return int(shapes[0]), buffer[max(starts[0], 0) : max(stops[0], 0)], int(bounds[0])


@pytest.mark.parametrize("codec", Codec)
def test_what_kafkas_writers_make_takes_one_call(kernel: SimpleNamespace, codec: Codec) -> None:
    payload = compress(codec, CONTENT)
    shape, _, bound = find_shape(
        kernel, codec, b"before" + payload + b"behind", 6, 6 + len(payload)
    )
    assert shape == ONE_CALL[codec]
    assert codec is Codec.GZIP or bound >= len(CONTENT)


@pytest.mark.parametrize("codec", [Codec.SNAPPY, Codec.ZSTD])  # not LZ4: Kafka reads one frame
def test_two_streams_take_more_than_one_call(kernel: SimpleNamespace, codec: Codec) -> None:
    payload = compress(codec, CONTENT) * 2
    assert find_shape(kernel, codec, payload)[0] == codes.SHAPE_OTHER


@pytest.mark.parametrize("codec", [Codec.SNAPPY, Codec.LZ4, Codec.ZSTD])
def test_a_payload_cut_anywhere_takes_more_than_one_call(
    kernel: SimpleNamespace, codec: Codec
) -> None:
    payload = compress(codec, CONTENT)
    for cut in range(len(payload)):
        assert find_shape(kernel, codec, payload[:cut])[0] == codes.SHAPE_OTHER


@pytest.mark.parametrize("content_size", [True, False])
@pytest.mark.parametrize("checksum", [True, False])
@pytest.mark.parametrize("size", [1, 255, 256, 70_000, 300_000])
def test_a_zstd_frame_is_bounded_by_its_blocks(
    kernel: SimpleNamespace, content_size: bool, checksum: bool, size: int
) -> None:
    content = np.random.default_rng(size).bytes(size)
    frame = zstandard.ZstdCompressor(
        write_content_size=content_size, write_checksum=checksum
    ).compress(content)
    frames, bound = kernel.payload_shapes.measure_zstd(frame)
    assert frames == 1
    assert bound == size if content_size else size <= bound
    skippable = b"\x50\x2a\x4d\x18\x03\x00\x00\x00abc"
    assert kernel.payload_shapes.measure_zstd(frame + skippable + frame) == (3, 2 * bound)
    assert kernel.payload_shapes.measure_zstd(frame + b"?")[0] == 0


def test_a_content_size_that_no_block_stands_for_is_not_believed(kernel: SimpleNamespace) -> None:
    frame = zstandard.ZstdCompressor().compress(bytes(100))
    announced = frame[:4] + b"\xe0" + (1 << 44).to_bytes(8, "little") + frame[6:]
    assert kernel.payload_shapes.measure_zstd(announced)[0] == 0


@settings(deadline=None)
@given(
    codec=st.integers(-1, 8),
    payload=st.binary(max_size=60)
    | st.binary(max_size=40).map(lambda rest: bytes.fromhex("04224d18604082") + rest)
    | st.binary(max_size=40).map(lambda rest: b"\x82SNAPPY\x00" + bytes(8) + rest)
    | st.binary(max_size=40).map(lambda rest: b"\x28\xb5\x2f\xfd" + rest),
    start=st.integers(-(2**63), 2**63 - 1) | st.integers(-2, 60),
    stop=st.integers(-(2**63), 2**63 - 1) | st.integers(-2, 60),
)
def test_any_bytes_have_a_shape_within_the_buffer(
    kernel: SimpleNamespace, codec: Codec, payload: bytes, start: int, stop: int
) -> None:
    shape, _, bound = find_shape(kernel, codec, payload, start, stop)
    if shape != codes.SHAPE_OTHER:
        assert 0 <= start <= stop <= len(payload)
        assert bound >= 0
    kernel.payload_shapes.measure_zstd(payload)
