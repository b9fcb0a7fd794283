"""Makes copies of a capture with single flipped bits."""

from __future__ import annotations

import shutil
from random import Random
from typing import TYPE_CHECKING, Final

from fixtures import captures

if TYPE_CHECKING:
    from pathlib import Path

HEALED: Final = captures.path("s3_2/healed")
SEGMENT: Final = "t-0/00000000000000000000.log"


def flipped(root: Path, *bits: tuple[int, int, int]) -> Path:
    """Copy the healed capture to ``root`` and flip bits of the log of ``t-0``.

    Args:
        root: must not exist yet.
        bits: broker, byte of its segment, and number of the bit (0: the lowest).
    """
    shutil.copytree(HEALED, root)
    for broker, byte, bit in bits:
        path = root / f"broker-{broker}" / SEGMENT
        content = bytearray(path.read_bytes())
        content[byte] ^= 1 << bit
        path.write_bytes(content)
    return root


def drawn_bits(seed: str, count: int) -> list[tuple[int, int]]:
    """Random bytes of the third batch's header, each with a random bit; the seed decides."""
    random = Random(f"{seed} single bits")
    return [(138 + random.randrange(61), random.randrange(8)) for _ in range(count)]
