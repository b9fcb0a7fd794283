"""Library functions called for single blocks, and the fallback for a hidden function."""

from __future__ import annotations

import gc
import random

import cramjam
import lz4.block
import pytest
import zstandard

from fixtures.builder.compression import compress
from kafkalog_reader.decode import codec_libraries
from kafkalog_reader.decode.decompression import Decompressor
from kafkalog_reader.decode.native_blocks import NativeBlocks, address_of
from kafkalog_reader.errors import CorruptRecordError, LimitReachedError
from kafkalog_reader.format.compression import Codec
from kafkalog_reader.format.decompression_limit import Limits
from kafkalog_reader.kernel import sound_batches
from tests.format.vectors import WHERE

CONTENT = random.Random(1).randbytes(300) * 20
GUARD = bytes(64)
BLOCKS = {  # with libraries that the package does not use
    "lz4": lz4.block.compress(CONTENT, store_size=False),
    "snappy": bytes(cramjam.snappy.compress_raw(CONTENT)),
    "zstd": zstandard.compress(CONTENT),
}


def call(name: str, block: bytes, room: int) -> tuple[int, bytes]:
    """The result of a function and the bytes it wrote, which must not exceed the room."""
    blocks = NativeBlocks(Limits())
    function = getattr(blocks, name)
    del blocks
    gc.collect()  # the function must keep references to what it needs
    target = memoryview(bytearray(room + len(GUARD)))
    source = memoryview(block)
    count = function(address_of(source), len(source), address_of(target), room)
    assert target[room:] == GUARD
    return count, bytes(target[: max(count, 0)])


@pytest.mark.parametrize("name", BLOCKS)
def test_a_block_of_another_library_comes_out(name: str) -> None:
    for _ in range(3):
        assert call(name, BLOCKS[name], len(CONTENT)) == (len(CONTENT), CONTENT)


@pytest.mark.parametrize("name", BLOCKS)
def test_a_block_that_needs_more_room_or_is_damaged_is_refused(name: str) -> None:
    assert call(name, BLOCKS[name], len(CONTENT) - 1)[0] < 0
    assert call(name, BLOCKS[name][:-3], len(CONTENT))[0] < 0
    assert call(name, b"", 100)[0] < 0


def test_a_frame_that_needs_too_large_a_window_or_a_dictionary_is_refused() -> None:
    frame = bytearray(zstandard.ZstdCompressor(write_content_size=False).compress(CONTENT))
    assert not frame[4] & 0x20  # so the next byte is the window
    assert call("zstd", bytes(frame), 9000)[0] == len(CONTENT)
    large = bytes([*frame[:5], 18 << 3, *frame[6:]])  # 256 MiB
    assert call("zstd", large, 9000)[0] < 0
    with pytest.raises(LimitReachedError, match="zstd window"):
        Decompressor(Limits()).add(Codec.ZSTD, memoryview(large), WHERE)
    with_dictionary = zstandard.ZstdCompressor(
        dict_data=zstandard.ZstdCompressionDict(CONTENT)
    ).compress(CONTENT)
    assert call("zstd", with_dictionary, 9000)[0] < 0


def test_addresses_of_views_differ_by_their_distance() -> None:
    for content in (bytearray(100), bytes(100)):
        view = memoryview(content)
        assert address_of(view[30:]) - address_of(view) == 30


@pytest.mark.parametrize("codec", [codec for codec in Codec if codec])
@pytest.mark.parametrize("size", [0, 1, 70_000, 5_000_000])
def test_hidden_functions_change_no_answer(
    codec: Codec, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(codec_libraries, "_address", lambda _module, _name: 0)
    monkeypatch.setattr(sound_batches, "snappy_address", lambda: 0)
    content = (CONTENT * (size // len(CONTENT) + 1))[:size]
    decompressor = Decompressor(Limits())
    payload = compress(codec, content)
    assert decompressor.add(codec, memoryview(payload), WHERE) == size
    assert decompressor.buffer == content
    with pytest.raises(CorruptRecordError):
        decompressor.add(codec, memoryview(payload[:-1]), WHERE)
    assert decompressor.buffer == content
