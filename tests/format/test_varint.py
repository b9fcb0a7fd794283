"""Varints against the vectors of the format reference 14.1 and the rules of 0.1."""

from __future__ import annotations

import pytest
from construct import ConstructError
from hypothesis import given
from hypothesis import strategies as st

from kafkalog_reader.format.varint import UVARINT, VARINT, VARLONG, VariableInteger

VECTORS = [
    *(
        pytest.param(VARINT, value, encoded, id=f"varint_{value}")
        for value, encoded in [
            (0, "00"),
            (-1, "01"),
            (1, "02"),
            (-2, "03"),
            (63, "7e"),
            (-64, "7f"),
            (64, "8001"),
            (-65, "8101"),
            (127, "fe01"),
            (128, "8002"),
            (8191, "fe7f"),
            (-8192, "ff7f"),
            (8192, "808001"),
            (2**31 - 1, "feffffff0f"),
            (-(2**31), "ffffffff0f"),
        ]
    ),
    *(
        pytest.param(UVARINT, value, encoded, id=f"uvarint_{value}")
        for value, encoded in [
            (0, "00"),
            (1, "01"),
            (127, "7f"),
            (128, "8001"),
            (300, "ac02"),
            (16383, "ff7f"),
            (16384, "808001"),
            (2**32 - 1, "ffffffff0f"),
        ]
    ),
    *(
        pytest.param(VARLONG, value, encoded, id=f"varlong_{value}")
        for value, encoded in [
            (0, "00"),
            (-1, "01"),
            (1700000000000, "80a0abfef962"),
            (2**63 - 1, "feffffffffffffffff01"),
            (-(2**63), "ffffffffffffffffff01"),
        ]
    ),
]


@pytest.mark.parametrize(("integer", "value", "encoded"), VECTORS)
def test_reference_vector_is_read_and_written(
    integer: VariableInteger, value: int, encoded: str
) -> None:
    assert integer.parse(bytes.fromhex(encoded)) == value
    assert integer.build(value).hex() == encoded


@pytest.mark.parametrize(
    ("integer", "encoded", "value"),
    [
        pytest.param(VARINT, "8000", 0, id="two_bytes_for_zero"),
        pytest.param(VARINT, "8280808000", 1, id="five_bytes_for_one"),
        pytest.param(UVARINT, "ffffffff7f", 2**32 - 1, id="bits_beyond_32_are_dropped"),
        pytest.param(VARLONG, "81808080808080808000", -1, id="ten_bytes_for_minus_one"),
    ],
)
def test_overlong_encoding_is_read_as_kafka_reads_it(
    integer: VariableInteger, encoded: str, value: int
) -> None:
    assert integer.parse(bytes.fromhex(encoded)) == value


@pytest.mark.parametrize(
    ("integer", "encoded"),
    [
        pytest.param(VARINT, "8080808080", id="fifth_byte_of_a_varint_goes_on"),
        pytest.param(UVARINT, "ffffffffff00", id="sixth_byte_of_a_uvarint"),
        pytest.param(VARLONG, "ff" * 10 + "00", id="tenth_byte_of_a_varlong_goes_on"),
        pytest.param(VARINT, "80", id="cut_short"),
        pytest.param(VARINT, "", id="nothing"),
    ],
)
def test_endless_or_torn_varint_is_an_error(integer: VariableInteger, encoded: str) -> None:
    with pytest.raises(ConstructError):
        integer.parse(bytes.fromhex(encoded))


@pytest.mark.parametrize(
    ("integer", "value"), [(VARINT, 2**31), (VARINT, -(2**31) - 1), (UVARINT, -1), (VARLONG, 2**63)]
)
def test_value_beyond_the_width_is_not_written(integer: VariableInteger, value: int) -> None:
    with pytest.raises(ConstructError):
        integer.build(value)


@given(value=st.integers(-(2**31), 2**31 - 1), width=st.integers(1, 5))
def test_varint_of_any_width_comes_back(value: int, width: int) -> None:
    encoded = VARINT.encode(value, width=width)
    assert len(encoded) >= width
    assert VARINT.parse(encoded) == value


@given(value=st.integers(-(2**63), 2**63 - 1), width=st.integers(1, 10))
def test_varlong_of_any_width_comes_back(value: int, width: int) -> None:
    assert VARLONG.parse(VARLONG.encode(value, width=width)) == value
