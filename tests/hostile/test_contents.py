"""Wrong lengths, bombs, endless members and lines (6.6, Y06–Y11), within memory and time."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import zstandard

from kafkalog_reader.errors import CorruptCheckpointError, CorruptRecordError, LimitReachedError
from kafkalog_reader.format.compression import Codec
from kafkalog_reader.format.crc import compute_crc32c
from kafkalog_reader.io.checkpoints import read_leader_epochs
from kafkalog_reader.io.read_context import ReadContext
from tests.tables.logs import batch, offsets

if TYPE_CHECKING:
    from tests.hostile.conftest import Inputs

ROOT = Path(__file__).parents[2]
HEADER_SIZE = 61


def with_payload(codec: Codec, payload: bytes) -> bytes:
    """A batch of one record with the given payload, a correct length and a correct CRC."""
    content = bytearray(batch(0, 1)[:HEADER_SIZE] + payload)
    content[8:12] = (len(content) - 12).to_bytes(4, "big")
    content[21:23] = codec.to_bytes(2, "big")
    content[17:21] = compute_crc32c(bytes(content[21:])).to_bytes(4, "big")
    return bytes(content)


def varint(value: int) -> bytes:
    """A zigzag varint of any size."""
    rest, out = (value << 1) ^ (value >> 63), bytearray()
    while rest > 0x7F:
        out.append(rest & 0x7F | 0x80)
        rest >>= 7
    return bytes([*out, rest])


LYING_RECORDS = [
    pytest.param(b"\xff" * 10, id="varint_of_ten_bytes"),
    pytest.param(varint(-5) + b"\0" * 20, id="negative_length"),
    pytest.param(varint(2**63 - 1) + b"\0" * 20, id="length_of_exabytes"),
    pytest.param(varint(6) + b"\0\0\0" + varint(-2) + b"\0\0", id="null_key_of_length_minus_2"),
    pytest.param(varint(7) + b"\0\0\0\1\1" + varint(2**31 - 1), id="two_billion_headers"),
]


@pytest.mark.parametrize("payload", LYING_RECORDS)
def test_y07_lengths_that_lie_cost_the_batch_and_nothing_else(
    inputs: Inputs, payload: bytes
) -> None:
    inputs.log.write_bytes(with_payload(Codec.NONE, payload) + batch(1))
    path = inputs.sealed()
    with pytest.raises(CorruptRecordError, match=r"position 0 \(offset 0\)"):
        offsets(path)
    assert offsets(path, mode="PERMISSIVE") == [1, 2, 3]


ZSTD_OF_2_GIB = b"\x28\xb5\x2f\xfd\x00\xa8\x01\x00\x00"
BOMBS = [
    pytest.param(Codec.SNAPPY, b"\xff\xff\xff\xff\x0f" + b"x" * 30, id="snappy_of_4_gib"),
    pytest.param(
        Codec.SNAPPY,
        b"\x82SNAPPY\x00\0\0\0\1\0\0\0\1\0\0\0\x20" + b"\xff\xff\xff\xff\x0f" + b"x" * 27,
        id="snappy_of_4_gib_in_a_stream",
    ),
    pytest.param(Codec.ZSTD, ZSTD_OF_2_GIB, id="zstd_window_of_2_gib"),
    pytest.param(
        Codec.ZSTD, zstandard.ZstdCompressor().compress(bytes(64 << 20)), id="zstd_20000_to_1"
    ),
]


@pytest.mark.parametrize(("codec", "payload"), BOMBS)
def test_y09_a_bomb_is_not_inspected_and_costs_the_batch_only(
    inputs: Inputs, codec: Codec, payload: bytes
) -> None:
    inputs.log.write_bytes(with_payload(codec, payload) + batch(1))
    path = inputs.sealed()
    with pytest.raises(LimitReachedError, match="limit"):
        offsets(path)
    assert offsets(path, mode="PERMISSIVE") == [1, 2, 3]


def test_y09_an_lz4_content_size_that_lies_is_not_believed(inputs: Inputs) -> None:
    frame = b"\x04\x22\x4d\x18\x68\x40" + (2**63).to_bytes(8, "little") + b"\0"
    inputs.log.write_bytes(with_payload(Codec.LZ4, frame + b"\0" * 4) + batch(1))
    assert offsets(inputs.sealed(), mode="PERMISSIVE") == [1, 2, 3]


def test_y10_gzip_members_without_end_take_time_in_proportion(inputs: Inputs) -> None:
    inputs.log.write_bytes(with_payload(Codec.GZIP, gzip.compress(b"") * 200_000) + batch(1))
    assert offsets(inputs.sealed(), mode="PERMISSIVE") == [1, 2, 3]


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"0\n1\n" + b"7" * (100 << 20), id="line_of_100_mib"),
        pytest.param(b"0\n2147483647\n0 0\n", id="count_of_two_billion"),
    ],
)
def test_y11_a_checkpoint_that_lies_is_refused(inputs: Inputs, content: bytes) -> None:
    (inputs.partition / "leader-epoch-checkpoint").write_bytes(content)
    inputs.sealed()
    with pytest.raises(CorruptCheckpointError):
        read_leader_epochs(str(inputs.partition), context=ReadContext())


def test_a_bomb_does_not_grow_the_process(inputs: Inputs) -> None:
    bomb = zstandard.ZstdCompressor().compress(bytes(1 << 30))
    inputs.log.write_bytes(with_payload(Codec.ZSTD, bomb) + batch(1))
    program = (
        "import re, sys, kafkalog_reader as k\n"
        "t = k.open(sys.argv[1]).table('records', ['offset'], mode='DROPMALFORMED').to_arrow()\n"
        "assert t['offset'].to_pylist() == [1, 2, 3]\n"
        "print(re.search('VmHWM:\\\\s*([0-9]+)', open('/proc/self/status').read())[1])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, inputs.sealed()],
        env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert int(done.stdout) < 384 << 10  # KiB: the interpreter with its imports, and 256 MiB
