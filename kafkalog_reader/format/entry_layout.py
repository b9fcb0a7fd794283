"""Shows entries of indexes and producer snapshots field by field."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from construct import FormatField, Int16sb, Int32sb, Int32ub, Struct

from kafkalog_reader.format import producer_snapshot
from kafkalog_reader.format.crc import compute_crc32c
from kafkalog_reader.format.index_entries import (
    OFFSET_INDEX_ENTRY,
    PRODUCER_ENTRY,
    TIME_INDEX_ENTRY,
    TRANSACTION_INDEX_ENTRY,
    WIDE_OFFSET_INDEX_ENTRY,
    FixedEntry,
)
from kafkalog_reader.format.layout import (
    Structure,
    none_if_minus_one,
    struct_fields,
    timestamp_text,
)
from kafkalog_reader.format.record_batch_header import decrement_sequence

if TYPE_CHECKING:
    from collections.abc import Callable

    from construct import Construct

    from kafkalog_reader.format.layout import Meaning

_SNAPSHOT_HEADER: Final = Struct(
    "version" / Int16sb,
    "crc" / Int32ub,
    "count" / Int32sb,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryKind:
    """A file of entries of one size, after a header of ``header_size`` bytes."""

    noun: str
    entry: FixedEntry
    meanings: Callable[[bytes, int | None], dict[str, Meaning]]
    header_size: int = 0

    @property
    def entry_size(self) -> int:
        return self.entry.size

    @property
    def declaration(self) -> Construct:
        """Its fields as ``struct_fields`` takes them."""
        fields = zip(self.entry.names, self.entry.struct.format.removeprefix(">"), strict=True)
        return Struct(*(name / FormatField(">", kind) for name, kind in fields))


def entry_structure(
    kind: EntryKind, entry: bytes, position: int, base_offset: int | None
) -> Structure:
    """Show one entry, whatever its values.

    Args:
        kind: the kind of file.
        entry: all its bytes.
        position: in the file.
        base_offset: of the segment, from the file's name; None if the name does not have it.
    """
    number = (position - kind.header_size) // kind.entry_size
    fields = struct_fields(
        kind.declaration, entry, position, meanings=kind.meanings(entry, base_offset)
    )
    zeros = "   all zeros: preallocated, or damage" if not any(entry) else ""
    return Structure(title=f"{kind.noun} entry {number}{zeros}", fields=tuple(fields))


def snapshot_header_structure(content: bytes) -> Structure:
    """Show the header of a whole producer snapshot, with its CRC checked."""
    computed = compute_crc32c(content[producer_snapshot.CRC_COVERS_FROM :])

    def crc_text(crc: int) -> str:
        return f"0x{crc:08x}   " + (
            "valid" if crc == computed else f"WRONG, computed 0x{computed:08x}"
        )

    fields = struct_fields(_SNAPSHOT_HEADER, content, 0, meanings={"crc": crc_text})
    return Structure(title="producer snapshot", fields=tuple(fields))


def _relative_offset(base_offset: int | None) -> Meaning:
    def text(relative_offset: int) -> str:
        if base_offset is None:
            return str(relative_offset)
        return f"{relative_offset}   offset {base_offset + relative_offset}"

    return text


def _offset_index(_entry: bytes, base_offset: int | None) -> dict[str, Meaning]:
    return {"relative_offset": _relative_offset(base_offset)}


def _time_index(_entry: bytes, base_offset: int | None) -> dict[str, Meaning]:
    return {"timestamp": timestamp_text, "relative_offset": _relative_offset(base_offset)}


def _transaction_index(_entry: bytes, _base_offset: int | None) -> dict[str, Meaning]:
    return {"last_offset": lambda value: f"{value}   of the abort marker"}


def _producer_snapshot(entry: bytes, _base_offset: int | None) -> dict[str, Meaning]:
    fields = producer_snapshot.ProducerSnapshotEntry(
        **dict(zip(PRODUCER_ENTRY.names, PRODUCER_ENTRY.struct.unpack(entry), strict=True))
    )

    def sequence_text(last: int) -> str:
        if last < 0:
            return "-1 none under this epoch"
        return f"{last}   first sequence {decrement_sequence(last, fields.offset_delta)}"

    return {
        "last_sequence": sequence_text,
        "last_offset": lambda value: "-1 only markers were seen" if value == -1 else str(value),
        "timestamp": timestamp_text,
        "coordinator_epoch": none_if_minus_one,
        "current_transaction_first_offset": lambda value: (
            "-1 no transaction is open" if value == -1 else f"{value}   a transaction is open"
        ),
    }


OFFSET_INDEX: Final = EntryKind(
    noun="offset index", entry=OFFSET_INDEX_ENTRY, meanings=_offset_index
)
WIDE_OFFSET_INDEX: Final = EntryKind(
    noun="12-byte (KIP-1333) offset index", entry=WIDE_OFFSET_INDEX_ENTRY, meanings=_offset_index
)
TIME_INDEX: Final = EntryKind(noun="time index", entry=TIME_INDEX_ENTRY, meanings=_time_index)
TRANSACTION_INDEX: Final = EntryKind(
    noun="transaction index", entry=TRANSACTION_INDEX_ENTRY, meanings=_transaction_index
)
PRODUCER_SNAPSHOT: Final = EntryKind(
    noun="producer snapshot",
    entry=PRODUCER_ENTRY,
    header_size=producer_snapshot.HEADER_SIZE,
    meanings=_producer_snapshot,
)
