"""Segments with damage as it occurs on disks: most of the log is sound, but much is not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from fixtures.builder.stored_batches import build_record_batch
from kafkalog_reader.format.record import Record

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

TOPIC: Final = "damaged-0"
_RECORDS: Final = 148
_EVERY: Final = 8 << 20
"""Bytes from one small damage to the next."""
_SECTOR: Final = 512
_BLOCK: Final = 4096


def write_damaged(kind: str, folder: Path, size: int) -> Path:
    """Write one segment of about ``size`` bytes; returns the partition directory."""
    log = _sound_log(size)
    DAMAGES[kind](log)
    directory = folder / TOPIC
    directory.mkdir(parents=True)
    log.tofile(directory / f"{0:020}.log")
    return directory


def _sound_log(size: int) -> NDArray[np.uint8]:
    """Batches of 16 KB with rising offsets, which the checksum does not cover."""
    random = np.random.default_rng(7)
    values = [random.bytes(50).hex().encode() for _ in range(_RECORDS)]
    batch = build_record_batch(
        [Record(offset_delta=n, timestamp_delta=n, value=value) for n, value in enumerate(values)],
        base_offset=0,
    )
    rows = np.tile(np.frombuffer(batch, np.uint8), (size // len(batch), 1))
    offsets = _RECORDS * np.arange(len(rows), dtype=np.int64)
    rows[:, :8] = offsets.astype(">i8").view(np.uint8).reshape(len(rows), 8)
    return rows.ravel()


def _zeros(log: NDArray[np.uint8]) -> None:
    """Leave a quarter unwritten, as zeros."""
    log[len(log) // 4 : len(log) // 2] = 0


def _random(log: NDArray[np.uint8]) -> None:
    """Fill a quarter with foreign bytes."""
    quarter = len(log) // 4
    log[quarter : 2 * quarter] = np.random.default_rng(4).integers(0, 256, quarter, np.uint8)


def _torn_sectors(log: NDArray[np.uint8]) -> None:
    for at in range(_EVERY // 2, len(log), _EVERY):
        sector = at // _SECTOR * _SECTOR
        log[sector : sector + _SECTOR] = 0


def _flipped_bits(log: NDArray[np.uint8]) -> None:
    log[_EVERY // 2 :: _EVERY] ^= 0x10


def _overwritten_blocks(log: NDArray[np.uint8]) -> None:
    """Put blocks of the same log into wrong places."""
    for at in range(_EVERY // 2, len(log), _EVERY):
        block = at // _BLOCK * _BLOCK
        log[block : block + _BLOCK] = log[: len(log[block : block + _BLOCK])]


DAMAGES: Final[dict[str, Callable[[NDArray[np.uint8]], None]]] = {
    "zeros": _zeros,
    "random": _random,
    "torn-sectors": _torn_sectors,
    "flipped-bits": _flipped_bits,
    "overwritten-blocks": _overwritten_blocks,
}
