"""Fields for display: positions, bytes, names and meanings."""

from __future__ import annotations

import pytest
from construct import Bytes, ConstructError, Int8ub, Int16ub, Int32sb, Struct

from kafkalog_reader.format.layout import (
    ShownField,
    Walk,
    bytes_text,
    camel_case,
    none_if_minus_one,
    struct_fields,
    timestamp_text,
    unreadable_structure,
    utc_text,
)
from kafkalog_reader.format.varint import VARINT


def test_walk_keeps_each_field_with_its_place_in_the_file() -> None:
    walk = Walk(b"??\x05ab", position=1000, start=2)
    assert walk.take("length", Int8ub) == 5
    assert walk.tell() == 3
    assert walk.take("text", Bytes(2), bytes_text) == b"ab"
    assert walk.tell() == 5
    assert walk.fields() == (
        ShownField(position=1002, content=b"\x05", name="length", meaning="5"),
        ShownField(position=1003, content=b"ab", name="text", meaning="'ab'"),
    )
    assert walk.fields() == (), "they are cleared"


def test_walk_keeps_nothing_of_a_field_that_is_cut_short() -> None:
    walk = Walk(b"\0\1\0", position=0)
    walk.take("first", Int16ub)
    with pytest.raises(ConstructError):
        walk.take("second", Int16ub)
    assert [field.name for field in walk.fields()] == ["first"]


@pytest.mark.parametrize(
    ("content", "meaning"),
    [
        (b"\x01", "-1   (varint of 1 byte)"),
        (b"\x80\x01", "64   (varint of 2 bytes)"),
        (b"\x82\x00", "1   (varint of 2 bytes, 1 would do)"),
    ],
)
def test_width_of_a_varint_is_shown(content: bytes, meaning: str) -> None:
    walk = Walk(content, position=0)
    walk.take("length", VARINT)
    assert walk.fields()[0].meaning == meaning


def test_structure_has_kafkas_names_and_meanings() -> None:
    declared = Struct("base_offset" / Int16ub, "length" / Int8ub, "leader_epoch" / Int32sb)
    fields = struct_fields(
        declared, bytes.fromhex("0102 03 ffffffff 99"), 10,
        names={"length": "batchLength"}, meanings={"leader_epoch": none_if_minus_one},
    )  # fmt: skip
    assert [(field.position, field.name, field.meaning) for field in fields] == [
        (10, "baseOffset", "258"), (12, "batchLength", "3"), (13, "leaderEpoch", "-1 none"),
    ]  # fmt: skip


def test_bytes_without_a_meaning_are_one_field() -> None:
    structure = unreadable_structure("record batch", b"abc", 7)
    assert structure.title == "no record batch, bytes from 7 on"
    (field,) = structure.fields
    assert (field.position, field.content, field.meaning) == (
        7, b"abc", "3 bytes that are no record batch",
    )  # fmt: skip


def test_names_and_absent_values() -> None:
    assert camel_case("base_offset") == "baseOffset"
    assert camel_case("last_stable_offset") == "lastStableOffset"
    assert camel_case("crc") == "crc"
    assert [none_if_minus_one(value) for value in (-2, -1, 0)] == ["-2", "-1 none", "0"]


@pytest.mark.parametrize(
    ("timestamp", "text"),
    [
        pytest.param(0, "1970-01-01T00:00:00.000Z", id="epoch"),
        pytest.param(-1, "1969-12-31T23:59:59.999Z", id="before"),
        pytest.param(1700000000005, "2023-11-14T22:13:20.005Z", id="milliseconds"),
        pytest.param(253402300799999, "9999-12-31T23:59:59.999Z", id="last"),
        pytest.param(253402300800000, "outside of the years 1 to 9999", id="too_late"),
        pytest.param(-(2**63), "outside of the years 1 to 9999", id="smallest_long"),
        pytest.param(2**63 - 1, "outside of the years 1 to 9999", id="greatest_long"),
    ],
)
def test_timestamps_are_shown_in_utc(timestamp: int, text: str) -> None:
    assert utc_text(timestamp) == text
    assert timestamp_text(timestamp) == ("-1 none" if timestamp == -1 else f"{timestamp} {text}")


@pytest.mark.parametrize(
    ("content", "text"),
    [
        pytest.param(b"", "''", id="empty"),
        pytest.param("größe".encode(), "'größe'", id="utf8"),
        pytest.param(b"\n\x1b", r"'\n\x1b'", id="control_characters"),
        pytest.param(b"\xff", "1 bytes, not UTF-8", id="other_bytes"),
        pytest.param(b"x" * 60, f"'{'x' * 60}'", id="60_bytes"),
        pytest.param(b"x" * 61, f"'{'x' * 60}'... 61 bytes", id="61_bytes"),
        pytest.param(
            b"x" * 59 + "ö".encode(), f"'{'x' * 59}'... 61 bytes", id="cut_within_a_character"
        ),
    ],
)
def test_text_is_quoted_and_shortened(content: bytes, text: str) -> None:
    assert bytes_text(content) == text
