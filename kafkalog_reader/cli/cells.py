"""Converts whole Arrow columns to text: timestamps, binary values, nested JSON."""

from __future__ import annotations

import json
from binascii import b2a_base64
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kafkalog_reader.io.names import shown

if TYPE_CHECKING:
    from collections.abc import Callable

RENDERINGS: Final = ("base64", "utf8", "hex")
"""How binary values may be shown. ``utf8`` writes bytes that are not UTF-8 as ``\\xNN``."""

NEEDS_ESCAPE: Final = r"[^\p{L}\p{M}\p{N}\p{P}\p{S} ]"
"""Controls, invisible and unassigned characters: ``str.isprintable`` in Arrow's, newer Unicode."""
NEEDS_JSON_ESCAPE: Final = NEEDS_ESCAPE + r'|["\\]'
YEAR_1_MS: Final = -62_135_596_800_000
YEAR_10000_MS: Final = 253_402_300_800_000
MICROSECONDS_PER_MILLISECOND: Final = 1000
YEAR_DIGITS: Final = 4


def timestamps(column: pa.Array) -> pa.StringArray:
    """ISO 8601 in UTC with milliseconds, as Spark's ``to_json`` prints timestamps."""
    # Kafka counts milliseconds; floor division, because −1 ms is the last one of 1969.
    microseconds = column.cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False)
    milliseconds = microseconds // MICROSECONDS_PER_MILLISECOND
    usual = len(column) == 0 or (
        milliseconds.min() >= YEAR_1_MS and milliseconds.max() < YEAR_10000_MS
    )
    if usual:
        local = pa.array(milliseconds, pa.timestamp("ms")).cast(pa.string())
        text = joined(pc.replace_substring(local, " ", "T"), "Z")
    else:
        shown = np.datetime_as_string(milliseconds.astype("datetime64[ms]"))
        text = pa.array([f"{_year_as_java(moment)}Z" for moment in shown.tolist()], pa.string())
    return _nulls_of(column, text)


def _year_as_java(moment: str) -> str:
    """At least four digits, with a sign if more, as java.time's ``uuuu``; numpy cannot do this."""
    sign, digits = ("-", moment[1:]) if moment.startswith("-") else ("", moment)
    year, rest = digits.split("-", 1)
    year = year.zfill(YEAR_DIGITS)
    return f"{sign or ('+' if len(year) > YEAR_DIGITS else '')}{year}-{rest}"


def binaries(column: pa.Array, rendering: str) -> pa.StringArray:
    """Binary values as base64, hexadecimal digits, or text."""
    if rendering == "utf8":
        try:
            return column.cast(pa.string())
        except pa.ArrowInvalid:  # some value is not UTF-8
            pass
    show = _RENDER[rendering]
    return pa.array(
        [None if value is None else show(value) for value in column.to_pylist()], pa.string()
    )


_RENDER: Final[dict[str, Callable[[bytes], str]]] = {
    "base64": lambda value: b2a_base64(value, newline=False).decode(),
    "hex": bytes.hex,
    "utf8": lambda value: value.decode("utf-8", "backslashreplace"),
}


def plain(column: pa.Array, rendering: str, *, escaped: bool = True) -> pa.StringArray:
    """Cells for text and CSV: lists and structs as JSON, nulls kept.

    Args:
        column: of any type.
        rendering: how binary values are shown.
        escaped: whether control characters in text are escaped; nothing else is done to it.
    """
    kind = column.type
    if pa.types.is_nested(kind):
        return _nulls_of(column, json_values(column, rendering))
    if pa.types.is_timestamp(kind):
        return timestamps(column)
    if pa.types.is_binary(kind):
        column = binaries(column, rendering)
    elif not pa.types.is_string(kind):
        return column.cast(pa.string())
    return _escaped(column) if escaped else column


def as_text(column: pa.Array, rendering: str) -> pa.Array:
    """The column with binary values as text, also those in lists and structs."""
    kind = column.type
    if pa.types.is_binary(kind):
        return binaries(column, rendering)
    if pa.types.is_list(kind):
        lengths = column.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
        offsets = np.concatenate([np.zeros(1, np.int32), np.cumsum(lengths, dtype=np.int32)])
        values = as_text(column.flatten(), rendering)
        return pa.ListArray.from_arrays(pa.array(offsets), values, mask=column.is_null())
    if pa.types.is_struct(kind):
        fields = [as_text(field, rendering) for field in column.flatten()]
        names = [field.name for field in kind]
        return pa.StructArray.from_arrays(fields, names, mask=column.is_null())
    return column


def json_values(column: pa.Array, rendering: str) -> pa.StringArray:
    """One JSON value per row; null becomes ``null``, so that the result has no nulls."""
    kind = column.type
    if pa.types.is_struct(kind):
        text = json_objects(
            [field.name for field in kind], [json_values(c, rendering) for c in column.flatten()]
        )
        text = text if text is not None else pa.nulls(len(column), pa.string()).fill_null("{}")
    elif pa.types.is_list(kind):
        text = _json_arrays(column, rendering)
    elif pa.types.is_timestamp(kind):
        text = joined('"', timestamps(column), '"')
    elif pa.types.is_binary(kind) and rendering != "utf8":
        text = joined('"', binaries(column, rendering), '"')
    elif pa.types.is_binary(kind) or pa.types.is_string(kind):
        text = _json_strings(binaries(column, rendering) if pa.types.is_binary(kind) else column)
    else:
        text = column.cast(pa.string())  # numbers and booleans: Arrow writes them as JSON does
        if pa.types.is_date(kind):
            text = joined('"', text, '"')
        elif pa.types.is_floating(kind):  # JSON has no NaN and no infinity
            text = pc.if_else(pc.is_finite(column), text, joined('"', text, '"'))
    return _nulls_of(column, text).fill_null("null")


def json_objects(names: list[str], values: list[pa.StringArray]) -> pa.StringArray | None:
    """One object per row from columns of JSON values; None without columns."""
    if not names:
        return None
    parts: list[pa.StringArray | str] = []
    for number, (name, column) in enumerate(zip(names, values, strict=True)):
        parts += [f"{',' if number else '{'}{json.dumps(name)}:", column]
    return joined(*parts, "}")


def _json_arrays(column: pa.ListArray, rendering: str) -> pa.StringArray:
    lengths = column.value_lengths().fill_null(0)
    ends = np.cumsum(lengths.to_numpy(zero_copy_only=False), dtype=np.int32)
    offsets = pa.array(np.concatenate([np.zeros(1, np.int32), ends]), pa.int32())
    elements = pa.ListArray.from_arrays(offsets, json_values(column.flatten(), rendering))
    return joined("[", pc.binary_join(elements, ","), "]")


def _json_strings(column: pa.StringArray) -> pa.StringArray:
    if pc.any(pc.match_substring_regex(column, NEEDS_JSON_ESCAPE)).as_py():
        return pa.array(
            [None if value is None else json_string(value) for value in column.to_pylist()],
            pa.string(),
        )
    return joined('"', column, '"')


def json_string(text: str) -> str:
    """A JSON string that is also safe on a terminal: C1 controls and the like are escaped."""
    quoted = json.dumps(text, ensure_ascii=False)
    if quoted.isprintable():
        return quoted
    return "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in quoted)


def joined(*parts: pa.StringArray | str) -> pa.StringArray:
    """The parts of each row in one string; null where a part is null."""
    return pc.binary_join_element_wise(*parts, "")


def _escaped(column: pa.StringArray) -> pa.StringArray:
    if not pc.any(pc.match_substring_regex(column, NEEDS_ESCAPE)).as_py():
        return column
    return pa.array(
        [None if value is None else shown(value) for value in column.to_pylist()], pa.string()
    )


def _nulls_of(column: pa.Array, text: pa.StringArray) -> pa.StringArray:
    if column.null_count == 0:
        return text
    return pc.if_else(column.is_valid(), text, pa.scalar(None, pa.string()))
