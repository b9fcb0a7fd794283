"""One entry of a transaction index: 34 bytes, big-endian. Source: Kafka 4.0, AbortedTxn."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Final

from construct import ConstructError, Int16sb, Int64sb, Struct

from kafkalog_reader.errors import CorruptIndexError, LogPosition, UnsupportedFormatError

TRANSACTION_INDEX_VERSION: Final[int] = 0
ABORTED_TRANSACTION: Final = Struct(
    "version" / Int16sb,
    "producer_id" / Int64sb,
    "first_offset" / Int64sb,
    "last_offset" / Int64sb,
    "last_stable_offset" / Int64sb,
)
ENTRY_SIZE: Final[int] = ABORTED_TRANSACTION.sizeof()


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
    try:
        fields = ABORTED_TRANSACTION.parse(entry)
    except ConstructError as error:
        raise CorruptIndexError(
            f"aborted transaction cut short: {len(entry)} of {ENTRY_SIZE} bytes", where
        ) from error
    if fields.version > TRANSACTION_INDEX_VERSION:
        raise UnsupportedFormatError(
            f"transaction index version {fields.version}: only version 0 is known", where
        )
    if fields.version < TRANSACTION_INDEX_VERSION:
        raise CorruptIndexError(f"transaction index version {fields.version} is negative", where)
    return AbortedTransaction(**{name: fields[name] for name in AbortedTransaction.__slots__})


def build_aborted_transaction(entry: AbortedTransaction, *, version: int = 0) -> bytes:
    """Build one entry of a transaction index; ``version`` may be wrong on purpose."""
    return bytes(ABORTED_TRANSACTION.build({"version": version, **asdict(entry)}))
