"""The same fields of many values, as columns: each is what ``struct`` reads of one value."""

from __future__ import annotations

import struct

import numpy as np
import pyarrow as pa
import pytest

from kafkalog_reader.decode.field_columns import FieldColumns


def columns(*values: bytes | None) -> FieldColumns:
    return FieldColumns(pa.array(values, pa.binary()))


@pytest.mark.parametrize(("size", "kind"), [(1, ">b"), (2, ">h"), (4, ">i"), (8, ">q")])
def test_numbers_are_signed_and_big_endian(size: int, kind: str) -> None:
    limit = 1 << 8 * size - 1
    numbers = [0, 1, -1, limit - 1, -limit]
    fields = columns(*(struct.pack(kind, number) for number in numbers))
    assert fields.number(size).tolist() == numbers
    assert fields.ends().tolist() == [True] * 5


def test_three_bytes_are_a_number_too() -> None:
    assert columns(b"\0\1\2", b"\xff\xff\xfe").number(3).tolist() == [258, -2]


def test_fields_follow_each_other() -> None:
    fields = columns(struct.pack(">hxi", 5, 7), struct.pack(">hxi", -5, -7))
    assert fields.number(2).tolist() == [5, -5]
    fields.skip(1)
    assert fields.ends().tolist() == [False, False]
    assert fields.number(4).tolist() == [7, -7]
    assert fields.ends().tolist() == [True, True]


def test_value_without_room_for_a_field_does_not_fit() -> None:
    fields = columns(b"\0\0\0\1", b"\0\0\1", b"", None, b"\0\0\0\2\0")
    assert fields.number(4)[[0, 4]].tolist() == [1, 2]
    assert fields.fits.tolist() == [True, False, False, False, True]
    assert fields.ends().tolist() == [True, False, False, False, False]
    fields.number(1)
    assert fields.fits.tolist() == [False, False, False, False, True]


def test_value_that_did_not_fit_once_never_fits_again() -> None:
    fields = columns(b"\1", b"\1\2")
    fields.number(2)
    fields.number(1)
    assert fields.fits.tolist() == [False, False]
    assert fields.ends().tolist() == [False, False]


def test_texts_have_their_length_before_them() -> None:
    fields = columns(b"\0\3abc\0\0", b"\xff\xff\0\1x", b"\0\0\0\2yz")
    assert fields.text().to_pylist() == [b"abc", None, b""]
    assert fields.text().to_pylist() == [b"", b"x", b"yz"]
    assert fields.ends().tolist() == [True, True, True]


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(b"\xff\xfe", id="length_-2"),
        pytest.param(b"\0\4abc", id="length_beyond_the_value"),
        pytest.param(b"\x7f\xff", id="greatest_length"),
        pytest.param(b"\0", id="no_length"),
    ],
)
def test_text_with_an_impossible_length_does_not_fit(value: bytes) -> None:
    fields = columns(value, b"\0\1x")
    assert fields.text().to_pylist()[1] == b"x"
    assert fields.fits.tolist() == [False, True]


def test_texts_of_given_lengths() -> None:
    fields = columns(b"abc", b"de", b"f", b"")
    texts = fields.text(np.array([3, 2, -1, 0], np.int64))
    assert texts.to_pylist() == [b"abc", b"de", None, b""]
    assert fields.ends().tolist() == [True, True, False, True]


def test_empty_texts_are_not_null() -> None:
    assert columns(b"\0\0", b"\0\0").text().to_pylist() == [b"", b""]
    assert columns(b"\xff\xff", b"\0\0").text().to_pylist() == [None, b""]


def test_part_of_an_array_is_read_from_its_beginning() -> None:
    values = pa.array([b"\0\1", b"\0\2", b"\0\3"], pa.binary())
    assert FieldColumns(values[1:]).number(2).tolist() == [2, 3]
    assert FieldColumns(values[1:2]).number(2).tolist() == [2]


def test_no_values_are_no_rows() -> None:
    fields = columns()
    assert fields.number(4).tolist() == []
    assert fields.text().to_pylist() == []
    assert fields.ends().tolist() == []
