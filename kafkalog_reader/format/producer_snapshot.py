"""A producer snapshot: the state of every producer before the offset in the file's name.

Source: Kafka 4.0, storage ProducerStateManager, ProducerSnapshot.json (version 1 since 0.11).
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Final

from construct import ConstructError, Int16sb, Int32sb, Int32ub, Int64sb, Struct

from kafkalog_reader.errors import CorruptCheckpointError, LogPosition, UnsupportedFormatError
from kafkalog_reader.format.crc import compute_crc32c

if TYPE_CHECKING:
    from collections.abc import Iterable

SNAPSHOT_VERSION: Final[int] = 1
SNAPSHOT_HEADER: Final = Struct(
    "version" / Int16sb,
    "crc" / Int32ub,
    "count" / Int32sb,
)
SNAPSHOT_ENTRY: Final = Struct(
    "producer_id" / Int64sb,
    "producer_epoch" / Int16sb,
    "last_sequence" / Int32sb,
    "last_offset" / Int64sb,
    "offset_delta" / Int32sb,
    "timestamp" / Int64sb,
    "coordinator_epoch" / Int32sb,
    "current_transaction_first_offset" / Int64sb,
)
HEADER_SIZE: Final[int] = SNAPSHOT_HEADER.sizeof()
ENTRY_SIZE: Final[int] = SNAPSHOT_ENTRY.sizeof()
CRC_COVERS_FROM: Final[int] = 6
"""The CRC covers everything behind itself, to the end of the file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProducerSnapshotEntry:
    """One producer's state; −1 stands for none, as it is stored.

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
    """Read a whole ``.snapshot`` file, entries in file order (a hash map's: it means nothing).

    Raises:
        CorruptCheckpointError: cut short, a wrong CRC, or a count that is not the entries'.
        UnsupportedFormatError: the version is newer than 1.
    """
    check_producer_snapshot(content, where)
    return tuple(
        _parse_entry(content[start : start + ENTRY_SIZE], where, start)
        for start in range(HEADER_SIZE, len(content), ENTRY_SIZE)
    )


def check_producer_snapshot(content: bytes, where: LogPosition) -> int:
    """Check version, CRC and size of a ``.snapshot`` file; returns the number of its entries.

    Raises:
        CorruptCheckpointError: cut short, a wrong CRC, or a count that is not the entries'.
        UnsupportedFormatError: the version is newer than 1.
    """
    try:
        header = SNAPSHOT_HEADER.parse(content)
    except ConstructError as error:
        raise CorruptCheckpointError(
            f"producer snapshot cut short: {len(content)} of {HEADER_SIZE} header bytes", where
        ) from error
    _check_header(header.version, header.crc, header.count, content, where)
    return int(header.count)


def build_producer_snapshot(
    entries: Iterable[ProducerSnapshotEntry],
    *,
    version: int = SNAPSHOT_VERSION,
    crc: int | None = None,
    count: int | None = None,
) -> bytes:
    """Write a ``.snapshot`` file; ``version``, ``crc`` and ``count`` may lie."""
    built = [SNAPSHOT_ENTRY.build(asdict(entry)) for entry in entries]
    announced = len(built) if count is None else count
    body = Int32sb.build(announced) + b"".join(built)
    checked = compute_crc32c(body) if crc is None else crc
    return bytes(Int16sb.build(version) + Int32ub.build(checked) + body)


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
    if count < 0 or size != count * ENTRY_SIZE:  # compared, never allocated
        raise CorruptCheckpointError(
            f"producer snapshot announces {count} entries of {ENTRY_SIZE} bytes, has {size} bytes",
            where,
        )


def _parse_entry(entry: bytes, where: LogPosition, start: int) -> ProducerSnapshotEntry:
    try:
        fields = SNAPSHOT_ENTRY.parse(entry)
    except ConstructError as error:
        position = replace(where, position=(where.position or 0) + start)
        raise CorruptCheckpointError("producer entry cut short", position) from error
    return ProducerSnapshotEntry(**{name: fields[name] for name in ProducerSnapshotEntry.__slots__})
