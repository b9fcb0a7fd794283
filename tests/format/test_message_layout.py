"""Messages of magic 0 and 1, field by field: format reference 14.6."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kafkalog_reader.errors import CorruptRecordError, LogPosition, UnsupportedFormatError
from kafkalog_reader.format.message_layout import message_structures
from tests.format.vectors import LEGACY_V0, LEGACY_V1, WRAPPERS, T

if TYPE_CHECKING:
    from kafkalog_reader.format.layout import Structure

WHERE = LogPosition("segment.log", 1000)
TIME = f"{T} 2023-11-14T22:13:20.000Z"


def meanings(structure: Structure) -> dict[str, str]:
    return {field.name: field.meaning for field in structure.fields}


def with_bytes(content: bytes, position: int, other: str) -> bytes:
    new = bytes.fromhex(other)
    return content[:position] + new + content[position + len(new) :]


def test_message_of_magic_0_has_no_time() -> None:
    (structure,) = message_structures(LEGACY_V0, WHERE)
    assert structure.title == "message, offset 42"
    assert [(field.position, field.name, field.meaning) for field in structure.fields] == [
        (1000, "offset", "42"),
        (1008, "size", "16   28 bytes in all"),
        (1012, "crc", "0x1fecd70a   valid"),
        (1016, "magic", "0"),
        (1017, "attributes", "no compression"),
        (1018, "keyLength", "1"),
        (1022, "key", "'k'"),
        (1023, "valueLength", "1"),
        (1027, "value", "'v'"),
    ]


def test_message_of_magic_1_has_one() -> None:
    (structure,) = message_structures(LEGACY_V1, WHERE)
    assert meanings(structure)["attributes"] == "no compression, CreateTime"
    assert meanings(structure)["timestamp"] == TIME
    assert structure.fields[-1].position == 1000 + len(LEGACY_V1) - 1


@pytest.mark.parametrize(
    ("content", "attributes"),
    [
        (with_bytes(LEGACY_V1, 17, "08"), "no compression, LogAppendTime"),
        (with_bytes(LEGACY_V1, 17, "10"), "no compression, CreateTime, reserved bits 0x10 set"),
        (with_bytes(LEGACY_V0, 17, "08"), "no compression, reserved bits 0x08 set"),
        (with_bytes(LEGACY_V0, 17, "80"), "no compression, reserved bits 0x80 set"),
    ],
)
def test_attributes_differ_by_magic(content: bytes, attributes: str) -> None:
    structure = next(message_structures(content, WHERE))
    assert meanings(structure)["attributes"] == attributes
    assert "   WRONG, computed 0x" in meanings(structure)["crc"], "shown, not raised"


@pytest.mark.parametrize("codec", [4, 7])
def test_codec_that_messages_lack_is_named_before_the_error(codec: int) -> None:
    found = message_structures(with_bytes(LEGACY_V1, 17, f"{codec:02x}"), WHERE)
    said = meanings(next(found))
    assert said["attributes"] == f"codec {codec}, which messages lack, CreateTime"
    assert said["value"] == f"codec {codec}, which messages lack data"
    with pytest.raises((CorruptRecordError, UnsupportedFormatError)):
        next(found)


def test_null_and_empty_differ() -> None:
    content = bytes.fromhex("000000000000002a 0000000e 00000000 00 00 ffffffff 00000000")
    (structure,) = message_structures(content, WHERE)
    assert meanings(structure)["keyLength"] == "-1 null"
    assert meanings(structure)["valueLength"] == "0 empty, not null"
    assert "key" not in meanings(structure)
    assert meanings(structure)["value"] == "''"


@pytest.mark.parametrize("codec", ["gzip", "snappy", "lz4"])
def test_offsets_in_a_wrapper_of_magic_1_are_relative(codec: str) -> None:
    wrapper, *inner = message_structures(WRAPPERS[1, codec], WHERE)
    assert meanings(wrapper)["value"] == f"{codec} data"
    assert meanings(wrapper)["keyLength"] == "-1 null"
    assert [structure.title.partition("   ")[0] for structure in inner] == [
        "inner message 0, offset 42", "inner message 1, offset 43",
    ]  # fmt: skip
    assert [meanings(structure)["offset"] for structure in inner] == [
        "0   relative, offset 42", "1   relative, offset 43",
    ]  # fmt: skip
    assert [structure.fields[0].position for structure in inner] == [0, len(LEGACY_V1)]
    size = len(LEGACY_V1) * 2 - 1  # the second has no key
    assert all(f"positions in the {size} bytes decompressed" in each.title for each in inner)
    assert "valid" in meanings(inner[1])["crc"]


def test_offsets_in_a_wrapper_of_magic_0_are_absolute() -> None:
    _, *inner = message_structures(WRAPPERS[0, "gzip"], WHERE)
    assert [meanings(structure)["offset"] for structure in inner] == ["42", "43"]


def test_message_that_is_cut_short_is_shown_as_far_as_it_goes() -> None:
    found = message_structures(LEGACY_V0[:-1], WHERE)
    structure = next(found)
    assert structure.title == "message, offset 42, damaged"
    assert structure.fields[-1].name == "valueLength"
    assert meanings(structure)["crc"] == "0x1fecd70a   not checked: the message is not whole"
    with pytest.raises(CorruptRecordError) as caught:
        next(found)
    assert caught.value.where == LogPosition("segment.log", 1000, 42)
