"""The numbers of the formats are those of the declarations, in Python and in C."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkalog_reader.format import batch_fields as fields
from kafkalog_reader.format.compression import Codec
from kafkalog_reader.format.message import MESSAGE_HEADER_1, MESSAGE_HEADERS, MESSAGES
from kafkalog_reader.format.record_batch_header import LOG_ENTRY, RECORD_BATCH_HEADER
from tests.format.fields_for_c import FILE, declaration

if TYPE_CHECKING:
    from construct import Struct


def positions(declared: Struct) -> dict[str, int]:
    """The position of each field of a structure, and under ``end`` the size of the structure."""
    found, at = {}, 0
    for field in declared.subcons:
        found[field.name] = at
        at += field.sizeof()
    return found | {"end": at}


def test_positions_in_a_batch_are_those_of_its_declaration() -> None:
    declared = positions(RECORD_BATCH_HEADER)
    for name in (
        "leader_epoch", "crc", "attributes", "last_offset_delta", "base_timestamp",
        "max_timestamp", "producer_id", "producer_epoch", "base_sequence", "records_count",
    ):  # fmt: skip
        assert getattr(fields, f"{name.upper()}_AT") == declared[name], name
    assert declared["crc"] + 4 == fields.CRC_COVERS_FROM
    assert declared["end"] == fields.HEADER_SIZE
    assert declared["end"] - fields.LENGTH_END == fields.MIN_LENGTH_2


def test_python_reads_the_fields_of_a_header_where_they_are_declared() -> None:
    content = bytes(range(1, 62))
    declared = [
        value for name, value in RECORD_BATCH_HEADER.parse(content).items() if name != "_io"
    ]
    for header in (
        fields.OFFSET_AND_LENGTH, fields.UP_TO_MAGIC, fields.UP_TO_LAST_OFFSET_DELTA, fields.HEADER
    ):  # fmt: skip
        read = header.unpack_from(content)
        assert list(read) == declared[: len(read)]
    assert len(declared) == len(fields.HEADER.unpack(content))


def test_every_entry_begins_alike() -> None:
    for declared in (LOG_ENTRY, RECORD_BATCH_HEADER, *MESSAGE_HEADERS.values()):
        found = positions(declared)
        assert (found["length"], found["magic"]) == (fields.LENGTH_AT, fields.MAGIC_AT)
    assert positions(LOG_ENTRY)["end"] == fields.LOG_ENTRY_SIZE
    assert fields.LENGTH_AT + 4 == fields.LENGTH_END


def test_positions_in_a_message_are_those_of_its_declaration() -> None:
    declared = positions(MESSAGE_HEADER_1)
    assert declared["crc"] == fields.MESSAGE_CRC_AT
    assert declared["crc"] + 4 == fields.MESSAGE_CRC_COVERS_FROM
    assert declared["attributes"] == fields.MESSAGE_ATTRIBUTES_AT
    assert declared["timestamp"] == fields.MESSAGE_TIMESTAMP_AT
    assert declared["end"] - declared["timestamp"] == fields.MESSAGE_TIMESTAMP_SIZE
    assert positions(MESSAGE_HEADERS[0])["end"] == fields.MESSAGE_TIMESTAMP_AT


def test_the_shortest_messages_have_neither_key_nor_value() -> None:
    shortest = {"offset": 0, "length": 0, "crc": 0, "attributes": 0, "timestamp": 0}
    sizes = [
        len(MESSAGES[magic].build(
            {**shortest, "magic": magic, "key": None, "value": None}
        ))
        for magic in (0, 1)
    ]  # fmt: skip
    assert sizes == [fields.MIN_SIZE_0, fields.MIN_SIZE_1]
    lengths = [size - fields.LENGTH_END for size in sizes]
    assert lengths == [fields.MIN_LENGTH_0, fields.MIN_LENGTH_1]


def test_the_last_codec_is_that_of_the_declaration() -> None:
    assert max(Codec) == fields.LAST_CODEC
    assert Codec.ZSTD == fields.LAST_MESSAGE_CODEC + 1, "messages support all but zstd"


def test_c_has_the_same_numbers() -> None:
    assert FILE.read_text(encoding="utf-8") == declaration(), "python -m tests.format.fields_for_c"
