"""Control records: the markers of transactions and of KRaft among the records of a partition.

Source: Kafka 4.0, common.record.ControlRecordType and EndTransactionMarker.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Final

from construct import ConstructError, Int16sb, Int32sb, Struct

from kafkalog_reader.errors import CorruptRecordError

if TYPE_CHECKING:
    from kafkalog_reader.errors import LogPosition

CONTROL_RECORD_KEY: Final = Struct(
    "version" / Int16sb,  # 0; greater ones are tolerated, as in Kafka
    "type" / Int16sb,
)
END_TRANSACTION_MARKER: Final = Struct(
    "version" / Int16sb,
    "coordinator_epoch" / Int32sb,
)
KEY_SIZE: Final[int] = CONTROL_RECORD_KEY.sizeof()


class ControlType(Enum):
    """What a control record marks; the value is the type in its key."""

    ABORT = 0
    COMMIT = 1
    LEADER_CHANGE = 2
    SNAPSHOT_HEADER = 3
    SNAPSHOT_FOOTER = 4
    KRAFT_VERSION = 5
    KRAFT_VOTERS = 6
    UNKNOWN = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlRecordKey:
    """The key of a control record; ``type_id`` is kept also for an unknown type."""

    version: int
    type_id: int

    @property
    def control_type(self) -> ControlType:
        """The type; UNKNOWN for every id that this version does not know."""
        known = ControlType.ABORT.value <= self.type_id <= ControlType.KRAFT_VOTERS.value
        return ControlType(self.type_id) if known else ControlType.UNKNOWN


@dataclass(frozen=True, slots=True, kw_only=True)
class EndTransactionMarker:
    """The value of an ABORT or COMMIT; the epoch is the transaction coordinator's."""

    version: int
    coordinator_epoch: int


def parse_control_record_key(key: bytes | None, where: LogPosition) -> ControlRecordKey:
    """Parse the key of a control record; bytes after the type belong to newer versions.

    Raises:
        CorruptRecordError: no key, cut short, or a negative version.
    """
    try:
        fields = CONTROL_RECORD_KEY.parse(b"" if key is None else key)
    except ConstructError as error:
        raise CorruptRecordError(f"not a control record key: {_shown(key)}", where) from error
    if fields.version < 0:
        raise CorruptRecordError(f"control record key version {fields.version}", where)
    return ControlRecordKey(version=fields.version, type_id=fields.type)


def parse_end_transaction_marker(value: bytes | None, where: LogPosition) -> EndTransactionMarker:
    """Parse the value of an ABORT or COMMIT marker.

    Raises:
        CorruptRecordError: no value, cut short, or a negative version.
    """
    try:
        fields = END_TRANSACTION_MARKER.parse(b"" if value is None else value)
    except ConstructError as error:
        problem = f"not an end-transaction marker: {_shown(value)}"
        raise CorruptRecordError(problem, where) from error
    if fields.version < 0:
        raise CorruptRecordError(f"end-transaction marker version {fields.version}", where)
    return EndTransactionMarker(version=fields.version, coordinator_epoch=fields.coordinator_epoch)


def _shown(content: bytes | None) -> str:
    return "null" if content is None else f"{len(content)} bytes, {content[:16].hex()}"
