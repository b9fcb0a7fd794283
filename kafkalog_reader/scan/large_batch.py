"""Batches larger than a few windows: read into memory only if their CRC is correct."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Final

from kafkalog_reader.format.batch_fields import (
    CRC_COVERS_FROM,
    MAGIC,
    MAGIC_AT,
    MESSAGE_CRC_COVERS_FROM,
)
from kafkalog_reader.format.crc import compute_crc32c
from kafkalog_reader.kernel import checksums

if TYPE_CHECKING:
    from kafkalog_reader.io.window import Windows

LARGE: Final = 64 << 20
"""Bytes: smaller batches are read whole. Producers send 1 MiB by default."""
MAX: Final = 512 << 20
"""Bytes: larger batches are not read at all. One of 133 MB was seen in the wild."""
_MAX_WORK: Final = 4 << 30


def extended_crc32c(window: memoryview, before: int) -> int:
    """The CRC-32C of bytes that end with ``window``, whose first four bytes are overwritten.

    A CRC starts from all ones, as if the first four bytes were inverted. So one that starts from
    another value is that of bytes whose first four differ.

    Args:
        window: the next bytes.
        before: the CRC-32C of the bytes before them, 0 if there are none.
    """
    if len(window) < 4:
        return compute_crc32c(window, before)
    first = int.from_bytes(window[:4], "little") ^ before
    window[:4] = first.to_bytes(4, "little")
    return checksums.checksum(window)


def is_crc_valid(windows: Windows, position: int, size: int) -> bool:
    """Whether the CRC of the batch or message of ``size`` bytes at ``position`` is correct.

    It is computed a window at a time. The last window read becomes invalid.

    Raises:
        UnreadableFileError: the file cannot be read.
    """
    header = bytes(windows.read(position, at_most=CRC_COVERS_FROM))
    is_message = int.from_bytes(header[MAGIC_AT : MAGIC_AT + 1], signed=True) < MAGIC
    covered_from = MESSAGE_CRC_COVERS_FROM if is_message else CRC_COVERS_FROM
    at, stop = position + covered_from, position + size
    extend = zlib.crc32 if is_message else extended_crc32c
    computed = 0
    while at < stop:
        window = windows.read(at, at_most=stop - at)
        computed = extend(window, computed)
        at += len(window)
    return computed == int.from_bytes(header[covered_from - 4 : covered_from], "big")


class LargeBatches:
    """Checks large lengths, which a few damaged bytes or a hostile sparse file can claim.

    Their CRCs are computed a window at a time. A thousand headers that claim a gigabyte each would
    read the file a thousand times, so a budget limits the work.

    Attributes:
        bytes_left: how much of the budget is left.
        refused: how many were not checked because the budget was used up.
    """

    def __init__(self) -> None:
        self.bytes_left = _MAX_WORK
        self.refused = 0

    def is_sound(self, windows: Windows, position: int, size: int) -> bool:
        """Whether the batch or message of ``size`` bytes at ``position`` may be read.

        The file must hold that many bytes. The last window read becomes invalid.

        Raises:
            UnreadableFileError: the file cannot be read.
        """
        if size > MAX:
            return False
        if size > self.bytes_left:
            self.refused += 1
            return False
        self.bytes_left -= size
        return is_crc_valid(windows, position, size)
