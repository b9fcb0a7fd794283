"""A producer snapshot: the state of every producer before the offset in the file name.

Source: Kafka 4.0, storage ProducerStateManager, ProducerSnapshot.json (version 1 since 0.11).
"""

from __future__ import annotations

import struct
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING, Final

from kafkalog_reader.errors import CorruptCheckpointError, LogPosition, UnsupportedFormatError
from kafkalog_reader.format.crc import compute_crc32c
from kafkalog_reader.format.index_entries import PRODUCER_ENTRY

if TYPE_CHECKING:
    from collections.abc import Iterable

SNAPSHOT_VERSION: Final[int] = 1
_HEADER: Final = struct.Struct(">hIi")
"""Version, CRC, count."""
HEADER_SIZE: Final[int] = _HEADER.size
CRC_COVERS_FROM: Final[int] = 6
"""The CRC covers everything after itself, to the end of the file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProducerSnapshotEntry:
    """One producer's state; −1 means none, as stored.

    Attributes:
        producer_id: 0 or greater.
        producer_epoch: the current one.
        last_sequence: of the last data batch; −1: none under this epoch.
        last_offset: of the last data batch; −1: only markers were seen.
        offset_delta: last minus first offset of that batch.
        timestamp: of the last batch or marker, milliseconds since 1970 UTC.
        coordinator_epoch: of the last marker; −1: none.
        current_transaction_first_offset: of the open transaction; −1: none is open.
    """

    producer_id: int
    producer_epoch: int
    last_sequence: int
    last_offset: int
    offset_delta: int
    timestamp: int
    coordinator_epoch: int
    current_transaction_first_offset: int


def parse_producer_snapshot(
    content: bytes, where: LogPosition
) -> tuple[ProducerSnapshotEntry, ...]:
    """Parse a whole ``.snapshot`` file, entries in file order (that of a hash map).

    Raises:
        CorruptCheckpointError: cut short, a wrong CRC, or a wrong count of entries.
        UnsupportedFormatError: the version is newer than 1.
    """
    check_producer_snapshot(content, where)
    return tuple(
        ProducerSnapshotEntry(**dict(zip(PRODUCER_ENTRY.names, values, strict=True)))
        for values in PRODUCER_ENTRY.struct.iter_unpack(content[HEADER_SIZE:])
    )


def check_producer_snapshot(content: bytes, where: LogPosition) -> int:
    """Check version, CRC and size of a ``.snapshot`` file; return its number of entries.

    Raises:
        CorruptCheckpointError: cut short, a wrong CRC, or a wrong count of entries.
        UnsupportedFormatError: the version is newer than 1.
    """
    if len(content) < HEADER_SIZE:
        raise CorruptCheckpointError(
            f"producer snapshot cut short: {len(content)} of {HEADER_SIZE} header bytes", where
        )
    version, crc, count = _HEADER.unpack_from(content)
    _check_header(version, crc, count, content, where)
    return int(count)


def build_producer_snapshot(
    entries: Iterable[ProducerSnapshotEntry],
    *,
    version: int = SNAPSHOT_VERSION,
    crc: int | None = None,
    count: int | None = None,
) -> bytes:
    """Build a ``.snapshot`` file; ``version``, ``crc`` and ``count`` may be wrong on purpose."""
    built = [PRODUCER_ENTRY.struct.pack(*astuple(entry)) for entry in entries]
    announced = len(built) if count is None else count
    body = announced.to_bytes(4, "big", signed=True) + b"".join(built)
    checked = compute_crc32c(body) if crc is None else crc
    return _HEADER.pack(version, checked, announced)[:CRC_COVERS_FROM] + body


def _check_header(version: int, crc: int, count: int, content: bytes, where: LogPosition) -> None:
    if version > SNAPSHOT_VERSION:
        raise UnsupportedFormatError(
            f"producer snapshot version {version}: only version 1 is known", where
        )
    if version < SNAPSHOT_VERSION:
        raise CorruptCheckpointError(f"producer snapshot version {version}, expected 1", where)
    computed = compute_crc32c(content[CRC_COVERS_FROM:])
    if crc != computed:
        raise CorruptCheckpointError(
            f"producer snapshot CRC-32C stored 0x{crc:08x}, computed 0x{computed:08x}", where
        )
    size = len(content) - HEADER_SIZE
    if count < 0 or size != count * PRODUCER_ENTRY.size:  # compared, never allocated
        raise CorruptCheckpointError(
            f"producer snapshot announces {count} entries of {PRODUCER_ENTRY.size} bytes, "
            f"has {size} bytes",
            where,
        )
