"""Finds the header field outside the checksum, length or magic, that explains damage.

No checksum covers these fields, so a batch is proven sound if another value of one of them makes
its checksum valid (reference, 4.1). Nothing is written.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Final

from kafkalog_reader.errors import UnreadableFileError
from kafkalog_reader.format.batch_fields import (
    HEADER_SIZE,
    LENGTH_AT,
    LENGTH_END,
    MAGIC,
    MAGIC_AT,
    MIN_SIZE_0,
)
from kafkalog_reader.io.window import Windows
from kafkalog_reader.kernel import record_batches
from kafkalog_reader.scan.batch_run import BatchRun

if TYPE_CHECKING:
    from kafkalog_reader.io.read_context import ReadContext

MAX_TRIED: Final = 64 << 20
"""Maximum bytes between two sound batches that are tried; usually they are one batch."""
_ROOM: Final = 8


class Repair(Enum):
    """The only field that is wrong."""

    LENGTH = "batchLength"
    MAGIC = "magic"


def repair_of(path: str, start: int, stop: int, *, context: ReadContext) -> Repair | None:
    """Find the field whose correction makes a byte range of a segment one sound batch.

    Args:
        path: the segment file.
        start: where the batch begins.
        stop: where the next sound batch begins.
        context: how files are read.

    Returns:
        the field; None if no single field explains the damage, or the file was deleted.
    """
    found = repaired_batch(path, start, stop, context=context)
    return None if found is None else found[0]


def repaired_batch(
    path: str, start: int, stop: int, *, context: ReadContext
) -> tuple[Repair, bytearray] | None:
    """The field, and the batch with that field corrected; for the arguments see ``repair_of``."""
    if not MIN_SIZE_0 <= stop - start <= MAX_TRIED:
        return None
    try:
        with Windows(path, start, stop, size=stop - start, context=context) as windows:
            content = bytearray(windows.read(start))
    except UnreadableFileError:  # has its own finding
        return None
    if len(content) < stop - start:
        return None
    whole = (len(content) - LENGTH_END).to_bytes(4, "big")
    if content[LENGTH_AT:LENGTH_END] != whole:
        content[LENGTH_AT:LENGTH_END] = whole
        return (Repair.LENGTH, content) if _is_sound(content) else None
    if content[MAGIC_AT] != MAGIC:  # the checksum of messages covers the magic
        content[MAGIC_AT] = MAGIC
        return (Repair.MAGIC, content) if _is_sound(content) else None
    return None


def _is_sound(content: bytearray) -> bool:
    if content[MAGIC_AT] == MAGIC and len(content) < HEADER_SIZE:
        return False
    window = memoryview(content)
    run = BatchRun.with_room(window, 0, _ROOM)
    count, _, end, _ = record_batches.scan_batches(window, 0, len(window), 0, True, run, _ROOM, 0)
    return bool(count == 1 and end == len(window) and run.crc[0] == run.crc_computed[0])
