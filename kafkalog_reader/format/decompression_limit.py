"""How much one payload may grow to: a batch of a few kilobytes can announce terabytes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kafkalog_reader.errors import UnsupportedFormatError

if TYPE_CHECKING:
    from kafkalog_reader.errors import LogPosition

MAX_DECOMPRESSED_SIZE: Final[int] = 512 * 1024 * 1024
"""Producers limit a batch to 1 MiB before compression unless told otherwise."""


def checked_size(size: int, limit: int, where: LogPosition) -> int:
    """Return ``size``, the bytes known so far, unless it is above ``limit``.

    Raises:
        UnsupportedFormatError: it is above; the batch may be sound, but it was not looked at.
    """
    if size > limit:
        raise UnsupportedFormatError(f"decompresses to more than {limit:,} bytes, the limit", where)
    return size
