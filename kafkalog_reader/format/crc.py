"""CRC-32C (Castagnoli), as Kafka stores it over record batches and producer snapshots.

crcmod is portable, and an independent check of the kernel's fast implementation. Messages of
formats 0 and 1 have the CRC-32 of Ethernet and zip files instead.
"""

from __future__ import annotations

import zlib
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


@cache
def _crc32c() -> Callable[..., int]:
    import crcmod.predefined  # slow to import, and most commands do not need it

    compute: Callable[..., int] = crcmod.predefined.mkPredefinedCrcFun("crc-32c")
    return compute


def compute_crc32c(content: bytes | memoryview, before: int = 0) -> int:
    """Compute the unsigned CRC-32C of ``content``; of ``b"123456789"`` it is 0xE3069283.

    Args:
        content: bytes, or the next bytes of something longer.
        before: the CRC-32C of the bytes before ``content``.
    """
    return _crc32c()(content, before)


def compute_crc32(content: bytes) -> int:
    """Compute the unsigned CRC-32 of ``content``; of ``b"123456789"`` it is 0xCBF43926."""
    return zlib.crc32(content)
