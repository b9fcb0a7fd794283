"""One entry of a transaction index: 34 bytes, big-endian. Source: Kafka 4.0, AbortedTxn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from kafkalog_reader.errors import CorruptIndexError, LogPosition, UnsupportedFormatError
from kafkalog_reader.format.index_entries import TRANSACTION_INDEX_ENTRY

TRANSACTION_INDEX_VERSION: Final[int] = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class AbortedTransaction:
    """An aborted transaction, whose records a read_committed consumer never gets.

    Attributes:
        producer_id: whose transaction it was.
        first_offset: of its first data batch in this partition, which may be in an older segment.
        last_offset: of the abort marker.
        last_stable_offset: the one right after this abort.
    """

    producer_id: int
    first_offset: int
    last_offset: int
    last_stable_offset: int


def parse_aborted_transaction(entry: bytes, where: LogPosition) -> AbortedTransaction:
    """Parse one entry.

    Raises:
        CorruptIndexError: the entry is cut short, or its version is negative.
        UnsupportedFormatError: its version is newer than 0.
    """
    size = TRANSACTION_INDEX_ENTRY.size
    if len(entry) < size:
        raise CorruptIndexError(
            f"aborted transaction cut short: {len(entry)} of {size} bytes", where
        )
    version, *values = TRANSACTION_INDEX_ENTRY.struct.unpack_from(entry)
    if version > TRANSACTION_INDEX_VERSION:
        raise UnsupportedFormatError(
            f"transaction index version {version}: only version 0 is known", where
        )
    if version < TRANSACTION_INDEX_VERSION:
        raise CorruptIndexError(f"transaction index version {version} is negative", where)
    return AbortedTransaction(**dict(zip(AbortedTransaction.__slots__, values, strict=True)))
