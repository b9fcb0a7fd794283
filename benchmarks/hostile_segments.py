"""Segments that an adversary would write for a reader that continues after damage."""

from __future__ import annotations

import struct
from random import Random
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

HEADER: Final = struct.Struct(">qiibIhiqqqhii")
"""Of magic 2: 61 bytes."""
MESSAGE: Final = struct.Struct(">qiIBBii")
"""The smallest of magic 0 with a null key: 26 bytes."""
TOPIC: Final = "hostile-0"


def write_hostile(shape: str, folder: Path, size: int) -> Path:
    """Write one segment of about ``size`` bytes; returns the partition directory."""
    base_offset, content = SHAPES[shape](size)
    directory = folder / TOPIC
    directory.mkdir(parents=True)
    (directory / f"{base_offset:020}.log").write_bytes(content)
    return directory


def _header(offset: int, length: int) -> bytes:
    return HEADER.pack(offset, length, 0, 2, 0x12345678, 0, 0, 0, 0, -1, -1, -1, 0)


def _random(size: int) -> tuple[int, bytes]:
    return 0, np.random.default_rng(4).integers(0, 256, size, dtype=np.uint8).tobytes()


def _zeros(size: int) -> tuple[int, bytes]:
    return 0, bytes(size - 1) + b"x"


def _ones(size: int) -> tuple[int, bytes]:
    """Each byte begins a message whose length is that of its key."""
    return 0x0101_0101_0101_0101, b"\x01" * size


def _twos(size: int) -> tuple[int, bytes]:
    return 0x0202_0202_0202_0202, b"\x02" * size


def _plausible(size: int) -> tuple[int, bytes]:
    """Consecutive headers, each with a plausible length of up to a mebibyte."""
    random = Random(4)
    block = b"".join(_header(5 + n, random.randrange(49, 1 << 20)) for n in range(100_000))
    return 0, (block * (size // len(block) + 1))[:size]


def _claims(size: int) -> tuple[int, bytes]:
    """Every header claims all bytes up to the end of the file."""
    count = size // HEADER.size
    rows = np.frombuffer(_header(5, 0) * count, np.uint8).reshape(count, HEADER.size).copy()
    lengths = HEADER.size * np.arange(count, 0, -1) - 12
    rows[:, 8:12] = lengths.astype(">i4").view(np.uint8).reshape(count, 4)
    return 0, rows.tobytes()


def _nested(size: int) -> tuple[int, bytes]:
    """Messages within messages within messages, a mebibyte deep."""
    count = (1 << 20) // MESSAGE.size
    block = b"".join(
        MESSAGE.pack(5, MESSAGE.size * n - 12, 1, 0, 0, -1, MESSAGE.size * (n - 1))
        for n in range(count, 0, -1)
    )
    return 0, b"?" + block * (size // len(block))


def _wrong(size: int) -> tuple[int, bytes]:
    """The shortest possible batches, one after the other, every CRC wrong."""
    return 0, _header(5, 49) * (size // HEADER.size)


def _short_claims(size: int) -> tuple[int, bytes]:
    """Headers that claim no more than a few of those after them."""
    random = Random(5)
    block = b"".join(_header(5 + n, random.randrange(49, 400)) for n in range(100_000))
    return 0, (block * (size // len(block) + 1))[:size]


def _message_claims(size: int) -> tuple[int, bytes]:
    """Messages of 16 MiB with keys of 8 MiB: where their values begin is far away."""
    count = (1 << 20) // MESSAGE.size
    block = b"".join(MESSAGE.pack(5, (1 << 24) + n, 1, 0, 0, 1 << 23, 0) for n in range(count))
    return 0, (block * (size // len(block) + 1))[:size]


def _repeated(pattern: bytes) -> Callable[[int], tuple[int, bytes]]:
    """A pattern that is offset, length and magic of a message wherever it begins."""
    base_offset = int.from_bytes((pattern * 8)[:8]) >> 32 << 32
    return lambda size: (base_offset, (pattern * (size // len(pattern) + 1))[:size])


SHAPES: Final[dict[str, Callable[[int], tuple[int, bytes]]]] = {
    "random": _random,
    "zeros": _zeros,
    "ones": _ones,
    "twos": _twos,
    "plausible": _plausible,
    "claims": _claims,
    "nested": _nested,
    "wrong": _wrong,
    "short-claims": _short_claims,
    "message-claims": _message_claims,
    "period-4": _repeated(bytes([0, 3, 0, 0])),
    "period-8": _repeated(bytes([1, 0, 0, 9, 1, 7, 3, 2])),
}
