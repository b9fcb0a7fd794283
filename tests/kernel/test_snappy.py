"""The kernel's snappy decoder and the library give the same bytes, or both refuse."""

from __future__ import annotations

import ctypes
import random
from typing import TYPE_CHECKING, Any

import cramjam
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fixtures.builder.compression import compress
from kafkalog_reader.errors import KafkaLogError
from kafkalog_reader.format.compression import Codec, decompress
from kafkalog_reader.kernel import sound_batches
from tests.chosen.examples import examples
from tests.format.vectors import WHERE

if TYPE_CHECKING:
    from types import SimpleNamespace

GUARD = b"\xa5" * 80
STREAM_HEADER = compress(Codec.SNAPPY, b"")[:16]
WORDS = [b"commit", b"offset ", b"leader ", b"epoch=", b"\0", b"partition ", b"7", b"acks=all "]
FUNCTION = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_int, ctypes.c_int
)


def ours(payload: bytes, room: int = 1 << 17) -> bytes | None:
    """Decompress with the compiled kernel, which must not write beyond the room."""
    target: Any = ctypes.create_string_buffer(room + len(GUARD))
    target[room:] = GUARD
    call = FUNCTION(sound_batches.snappy_address())
    count = call(payload, ctypes.addressof(target), len(payload), room)
    assert target[room:] == GUARD
    assert count <= room
    return None if count < 0 else bytes(target[:count])


def library(block: bytes) -> bytes | None:
    """Decompress one raw block with cramjam."""
    try:
        return bytes(cramjam.snappy.decompress_raw(block))
    except cramjam.DecompressionError:
        return None


def declared(payload: bytes) -> bytes | None:
    """Decompress a stream or a block with the declared format."""
    try:
        return decompress(Codec.SNAPPY, payload, WHERE)
    except KafkaLogError:
        return None


def uvarint(value: int) -> bytes:
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*encoded, value])


def literal(content: bytes, extra: int = 0) -> bytes:
    """A literal; ``extra`` bytes hold the length, or the tag does if it is 0."""
    if not extra:
        return bytes([(len(content) - 1) << 2]) + content
    return bytes([(59 + extra) << 2]) + (len(content) - 1).to_bytes(extra, "little") + content


def copy(offset: int, length: int, kind: int) -> bytes:
    if kind == 1:
        return bytes([(offset >> 8) << 5 | (length - 4) << 2 | 1, offset & 0xFF])
    return bytes([(length - 1) << 2 | kind]) + offset.to_bytes({2: 2, 3: 4}[kind], "little")


def random_block(chance: random.Random, elements: int, *, sound: bool = True) -> bytes:
    """Elements of every kind; sometimes offsets and lengths are out of range."""
    body, size = b"", 0
    for _ in range(elements):
        kind = chance.choice([0, 0, 1, 1, 2, 2, 3]) if size else 0
        if kind == 0:  # the library needs four bytes after a tag that does not hold the length
            length = chance.choice([1, 5, 16, 59, 60, 61, 64, 65, 257, chance.randint(1, 60)])
            fewest = 0 if length <= 60 else 1 if length <= 256 else 2
            extra = chance.choice([fewest, fewest, chance.randint(max(fewest, 1), 4)])
            extra = extra if extra + length >= 4 else fewest
            content = chance.randbytes(length)
            body += literal(content, extra)
        else:
            length = chance.randint(4, 11) if kind == 1 else chance.choice([1, 64, 33, 7])
            furthest = min(size, 2047 if kind == 1 else 65_535)
            offset = chance.choice([chance.randint(1, min(16, furthest)), furthest, length])
            offset = min(offset, furthest)
            if not sound and chance.random() < 0.03:
                offset = chance.choice([0, min(size + 1, 2047)])
            body += copy(offset, length, kind)
        size += length
    if not sound and chance.random() < 0.2:
        size += chance.choice([-1, 1, 70, -70 if size > 70 else 0])
    return uvarint(size) + body


def test_interpreted_there_is_no_function_to_call(kernel: SimpleNamespace) -> None:
    address = kernel.sound_batches.snappy_address()
    assert (address != 0) == kernel.record_batches.is_compiled()


@pytest.mark.parametrize("seed", range(300))
def test_elements_of_every_kind_decompress_as_by_the_library(seed: int) -> None:
    chance = random.Random(seed)
    block = random_block(chance, chance.choice([1, 3, 30, 400]))
    expected = library(block)
    assert ours(block) == expected
    assert expected is not None
    assert ours(block, len(expected)) == expected
    assert ours(block, len(expected) - 1) is None


@pytest.mark.parametrize("kind", [1, 2, 3])
@pytest.mark.parametrize("offset", range(1, 18))
@pytest.mark.parametrize("behind", [0, 1, 7, 8, 63, 64, 200])
def test_copies_of_what_they_write_repeat_it(kind: int, offset: int, behind: int) -> None:
    for length in range(4, 12 if kind == 1 else 65):
        tail = literal(b"z" * behind, behind > 60) if behind else b""
        start = random.Random(offset).randbytes(max(offset, 3))
        body = literal(start) + copy(offset, length, kind) + tail
        block = uvarint(len(start) + length + behind) + body
        repeated = (start[-offset:] * length)[:length]
        assert ours(block) == start + repeated + b"z" * behind == library(block)


@pytest.mark.parametrize("seed", range(400))
def test_what_the_library_refuses_is_refused(seed: int) -> None:
    chance = random.Random(seed)
    block = random_block(chance, chance.choice([2, 20, 150]), sound=False)
    assert ours(block) == library(block)


@pytest.mark.parametrize("seed", range(60))
def test_flipped_bits_cut_ends_and_strange_bytes_agree_with_the_library(seed: int) -> None:
    chance = random.Random(seed)
    content = b"".join(chance.choices(WORDS, k=chance.choice([3, 40, 900])))
    block = bytes(cramjam.snappy.compress_raw(content))
    for _ in range(100):
        damaged = bytearray(block)
        for _ in range(chance.randint(1, 3)):
            damaged[chance.randrange(3, len(damaged))] ^= 1 << chance.randrange(8)
        cut = chance.choice([len(damaged)] * 3 + [chance.randrange(1, len(damaged))])
        changed = bytes(damaged[:cut]) + chance.choice([b"", b"", b"\0", chance.randbytes(9)])
        assert ours(changed) == library(changed)


@settings(max_examples=examples(500), deadline=None)
@given(body=st.binary(min_size=1, max_size=300), size=st.integers(0, 600))
def test_any_bytes_agree_with_the_library(body: bytes, size: int) -> None:
    block = uvarint(size) + body
    assert ours(block) == library(block)


BLOCK = bytes(cramjam.snappy.compress_raw(b"hi"))
FRAMED = len(BLOCK).to_bytes(4, "big") + BLOCK


@pytest.mark.parametrize(
    ("payload", "content"),
    [
        pytest.param(BLOCK, b"hi", id="raw_block"),
        pytest.param(literal(b"a" * 40).join([b"\x28", b""]), b"a" * 40, id="long_raw_block"),
        pytest.param(STREAM_HEADER, b"", id="header_only"),
        pytest.param(STREAM_HEADER + FRAMED * 3, b"hi" * 3, id="blocks"),
        pytest.param((STREAM_HEADER + FRAMED) * 2, b"hi" * 2, id="streams"),
        pytest.param(STREAM_HEADER * 2 + FRAMED, b"hi", id="empty_stream_before"),
        pytest.param(STREAM_HEADER + FRAMED + b"abc", b"hi", id="stray_bytes"),
        pytest.param(STREAM_HEADER + FRAMED + STREAM_HEADER[:8], b"hi", id="half_a_header"),
        pytest.param(STREAM_HEADER[:8] + b"\xff" * 8 + FRAMED, b"hi", id="other_versions"),
        pytest.param(b"", None, id="nothing"),
        pytest.param(STREAM_HEADER[:15], None, id="header_cut_short"),
        pytest.param(STREAM_HEADER + FRAMED[:-1], None, id="block_cut_short"),
        pytest.param(STREAM_HEADER + bytes(4) + FRAMED, None, id="block_of_no_bytes"),
        pytest.param(STREAM_HEADER + FRAMED + b"\xff" * 4, None, id="block_of_4_gib"),
        pytest.param(STREAM_HEADER + FRAMED + b"\x7f" * 5, None, id="block_of_2_gib"),
    ],
)
def test_streams_are_what_the_declared_format_makes_of_them(payload: bytes, content: Any) -> None:
    assert ours(payload) == content == declared(payload)


@pytest.mark.parametrize("seed", range(60))
def test_damaged_streams_agree_with_the_declared_format(seed: int) -> None:
    chance = random.Random(seed)
    content = b"".join(chance.choices(WORDS, k=chance.choice([30, 9000])))
    payload = compress(Codec.SNAPPY, content)
    assert ours(payload) == content
    for _ in range(20):
        damaged = bytearray(payload)
        border = chance.choice([24, len(damaged)])  # often in the sizes of blocks
        damaged[chance.randrange(border)] = chance.randrange(256)
        found = ours(bytes(damaged))
        assert found is None or found == declared(bytes(damaged))
        if damaged[16:] == payload[16:]:
            assert found == declared(bytes(damaged))


def test_a_length_apart_from_its_tag_wants_four_bytes_as_the_library_does() -> None:
    for content, extra in [(b"a", 1), (b"ab", 1), (b"a", 2), (b"abc", 1), (b"ab", 2), (b"a", 3)]:
        block = uvarint(len(content)) + literal(content, extra)
        assert ours(block) == library(block) == (content if len(content) + extra > 3 else None)


def test_sizes_that_need_more_bytes_than_any_writer_uses_are_left_to_the_library() -> None:
    assert library(b"\x82\x80\x80\x80\x00" + BLOCK[1:]) == b"hi"
    assert ours(b"\x82\x80\x80\x80\x00" + BLOCK[1:]) == b"hi"
    assert library(b"\x82\x80\x80\x80\x80\x00" + BLOCK[1:]) == b"hi"
    assert ours(b"\x82\x80\x80\x80\x80\x00" + BLOCK[1:]) is None
