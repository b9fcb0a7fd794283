"""Expected values of timestamps are what Spark 4.3's ``to_json(timestamp_micros(...))`` printed."""

from __future__ import annotations

import base64
import json
import unicodedata

import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kafkalog_reader.cli.cells import RENDERINGS, binaries, json_values, plain, timestamps

MICROSECONDS = pa.timestamp("us", tz="UTC")
SPARK = {
    9223372036854775807: "+294247-01-10T04:00:54.775Z",
    -9223372036854775808: "-290308-12-21T19:59:05.224Z",
    -1000: "1969-12-31T23:59:59.999Z",
    -1: "1969-12-31T23:59:59.999Z",
    0: "1970-01-01T00:00:00.000Z",
    1500: "1970-01-01T00:00:00.001Z",
    253402300799999000: "9999-12-31T23:59:59.999Z",
    253402300800000000: "+10000-01-01T00:00:00.000Z",
    -62135596800000000: "0001-01-01T00:00:00.000Z",
    -62135596800001000: "0000-12-31T23:59:59.999Z",
    -62167219200001000: "-0001-12-31T23:59:59.999Z",
    -70000000000000000: "-0249-10-15T19:33:20.000Z",
}


def test_timestamps_are_printed_as_spark_prints_them() -> None:
    assert timestamps(pa.array([*SPARK], MICROSECONDS)).to_pylist() == [*SPARK.values()]


@pytest.mark.parametrize("microseconds", SPARK)
def test_a_timestamp_alone_is_printed_as_among_others(microseconds: int) -> None:
    column = pa.array([microseconds, None], MICROSECONDS)
    assert timestamps(column).to_pylist() == [SPARK[microseconds], None]


@pytest.mark.parametrize(
    ("rendering", "shown"),
    [("base64", "AP8="), ("hex", "00ff"), ("utf8", "\0\\xff")],
)
def test_binary_values_are_shown_as_asked(rendering: str, shown: str) -> None:
    column = pa.array([b"\x00\xff", None, b""])
    assert binaries(column, rendering).to_pylist() == [shown, None, ""]


def test_text_cells_hold_nothing_that_acts_on_a_terminal() -> None:
    hostile = ["\x1b[2J", "a\nb", "\u202eabc", "\x9b31m", "é 漢", "", None]
    shown = ["\\x1b[2J", "a\\nb", "\\u202eabc", "\\x9b31m", "é 漢", "", None]
    assert plain(pa.array(hostile), "utf8").to_pylist() == shown
    as_bytes = [None if text is None else text.encode() for text in hostile]
    assert plain(pa.array(as_bytes, pa.binary()), "utf8").to_pylist() == shown


HEADERS = pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))
TEXT = st.text(st.characters(exclude_categories=["Cs"]))
HEADER = st.fixed_dictionaries({"key": TEXT, "value": st.none() | st.binary()})


def _expected(value: object, rendering: str) -> object:
    if isinstance(value, bytes):
        if rendering == "hex":
            return value.hex()
        return base64.b64encode(value).decode()
    if isinstance(value, list):
        return [_expected(element, rendering) for element in value]
    if isinstance(value, dict):
        return {name: _expected(field, rendering) for name, field in value.items()}
    return value


def _acting(text: str) -> list[str]:
    """What acts on a terminal or cannot be seen.

    Unassigned characters (Cn) do neither, and which they are depends on the version of Unicode:
    Arrow's tables are newer than Python 3.11's.
    """
    acting = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp", "Zs"}
    return [c for c in text if unicodedata.category(c) in acting and c != " "]


@settings(deadline=None)  # a busy machine is not a defect
@given(
    lists=st.lists(st.none() | st.lists(HEADER)),
    rendering=st.sampled_from(["base64", "hex"]),
    start=st.integers(0, 3),
)
@example(lists=[[{"key": "\U00031350", "value": None}]], rendering="base64", start=0)
def test_any_headers_are_read_back_from_their_json(
    lists: list[object], rendering: str, start: int
) -> None:
    column = pa.array(lists, HEADERS).slice(start)
    shown = json_values(column, rendering).to_pylist()
    assert [json.loads(text) for text in shown] == _expected(lists[start:], rendering)
    assert not any(_acting(text) for text in shown)


@settings(deadline=None)
@given(values=st.lists(st.none() | TEXT))
def test_any_text_is_read_back_from_its_json(values: list[str | None]) -> None:
    shown = json_values(pa.array(values, pa.string()), "base64").to_pylist()
    assert [json.loads(text) for text in shown] == values
    assert not any(_acting(text) for text in shown)


@pytest.mark.parametrize("rendering", RENDERINGS)
def test_json_tells_null_from_empty(rendering: str) -> None:
    shown = json_values(pa.array([None, b""], pa.binary()), rendering).to_pylist()
    assert shown == ["null", '""']


def test_json_of_numbers_and_booleans_is_plain() -> None:
    assert json_values(pa.array([-1, None], pa.int64()), "hex").to_pylist() == ["-1", "null"]
    assert json_values(pa.array([True, False]), "hex").to_pylist() == ["true", "false"]


def test_json_of_dates_and_of_numbers_that_json_does_not_have_is_text() -> None:
    day = pa.array([20_000, None], pa.int32()).cast(pa.date32())
    assert json_values(day, "hex").to_pylist() == ['"2024-10-04"', "null"]
    numbers = pa.array([1.5, float("nan"), float("-inf"), None])
    assert json_values(numbers, "hex").to_pylist() == ["1.5", '"nan"', '"-inf"', "null"]
