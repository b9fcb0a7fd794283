"""Entries of indexes and producer snapshots, field by field: format reference 14.8 and 14.9."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kafkalog_reader.format import entry_layout
from kafkalog_reader.format.entry_layout import entry_structure, snapshot_header_structure
from kafkalog_reader.format.index_entries import PRODUCER_ENTRY

if TYPE_CHECKING:
    from kafkalog_reader.format.layout import Structure

SNAPSHOT = bytes.fromhex(
    "000142fc9ce00000000100000000000003e8000300000004000000000000000900000002"
    "0000018bcfe56800000000050000000000000007"
)


def meanings(structure: Structure) -> dict[str, str]:
    return {field.name: field.meaning for field in structure.fields}


def test_offset_index_entry_is_counted_and_given_its_offset() -> None:
    entry = bytes.fromhex("00000005000000a6")
    structure = entry_structure(entry_layout.OFFSET_INDEX, entry, 16, 100)
    assert structure.title == "offset index entry 2"
    assert [field.position for field in structure.fields] == [16, 20]
    assert meanings(structure) == {"relativeOffset": "5   offset 105", "position": "166"}


def test_offset_is_unknown_without_the_base_offset() -> None:
    entry = bytes.fromhex("00000005000000a6")
    structure = entry_structure(entry_layout.OFFSET_INDEX, entry, 0, None)
    assert meanings(structure)["relativeOffset"] == "5"
    structure = entry_structure(entry_layout.OFFSET_INDEX, entry, 0, 0)
    assert meanings(structure)["relativeOffset"] == "5   offset 5"


def test_time_index_entry_has_a_time() -> None:
    entry = bytes.fromhex("0000018bcfe5680200000005")
    structure = entry_structure(entry_layout.TIME_INDEX, entry, 12, 100)
    assert structure.title == "time index entry 1"
    assert meanings(structure) == {
        "timestamp": "1700000000002 2023-11-14T22:13:20.002Z",
        "relativeOffset": "5   offset 105",
    }


def test_entry_of_zeros_is_remarked() -> None:
    remark = "   all zeros: preallocated, or damage"
    structure = entry_structure(entry_layout.TIME_INDEX, bytes(12), 0, 100)
    assert structure.title == f"time index entry 0{remark}"
    structure = entry_structure(entry_layout.TIME_INDEX, bytes(11) + b"\1", 0, 100)
    assert structure.title == "time index entry 0"


def test_transaction_index_entry_ends_with_the_marker() -> None:
    entry = bytes.fromhex("000000000000000003e8000000000000000000000000000000010000000000000002")
    structure = entry_structure(entry_layout.TRANSACTION_INDEX, entry, 34, 100)
    assert structure.title == "transaction index entry 1"
    assert meanings(structure) == {
        "version": "0", "producerId": "1000", "firstOffset": "0",
        "lastOffset": "1   of the abort marker", "lastStableOffset": "2",
    }  # fmt: skip


def test_producer_of_the_reference_is_explained() -> None:
    structure = entry_structure(entry_layout.PRODUCER_SNAPSHOT, SNAPSHOT[10:], 10, None)
    assert structure.title == "producer snapshot entry 0", "after the header of 10 bytes"
    assert meanings(structure) == {
        "producerId": "1000", "producerEpoch": "3",
        "lastSequence": "4   first sequence 2", "lastOffset": "9", "offsetDelta": "2",
        "timestamp": "1700000000000 2023-11-14T22:13:20.000Z", "coordinatorEpoch": "5",
        "currentTransactionFirstOffset": "7   a transaction is open",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("name", "value", "shown_as", "meaning"),
    [
        ("last_sequence", -1, "lastSequence", "-1 none under this epoch"),
        ("last_sequence", 1, "lastSequence", "1   first sequence 2147483647"),
        ("last_sequence", 0, "lastSequence", "0   first sequence 2147483646"),
        ("last_offset", -1, "lastOffset", "-1 only markers were seen"),
        ("last_offset", 0, "lastOffset", "0"),
        ("coordinator_epoch", -1, "coordinatorEpoch", "-1 none"),
        ("current_transaction_first_offset", -1, "currentTransactionFirstOffset",
         "-1 no transaction is open"),
        ("current_transaction_first_offset", 0, "currentTransactionFirstOffset",
         "0   a transaction is open"),
    ],
)  # fmt: skip
def test_absent_values_of_a_producer_are_named(
    name: str, value: int, shown_as: str, meaning: str
) -> None:
    stored = dict(
        zip(PRODUCER_ENTRY.names, PRODUCER_ENTRY.struct.unpack(SNAPSHOT[10:]), strict=True)
    )
    entry = PRODUCER_ENTRY.struct.pack(*(stored | {name: value}).values())
    structure = entry_structure(entry_layout.PRODUCER_SNAPSHOT, entry, 10, None)
    assert meanings(structure)[shown_as] == meaning


def test_crc_of_a_snapshot_is_checked() -> None:
    structure = snapshot_header_structure(SNAPSHOT)
    assert [(field.position, field.name, field.meaning) for field in structure.fields] == [
        (0, "version", "1"), (2, "crc", "0x42fc9ce0   valid"), (6, "count", "1"),
    ]  # fmt: skip
    damaged = SNAPSHOT[:2] + bytes(4) + SNAPSHOT[6:]
    wrong = "0x00000000   WRONG, computed 0x42fc9ce0"
    assert meanings(snapshot_header_structure(damaged))["crc"] == wrong
