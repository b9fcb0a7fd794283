"""Rows as aligned columns."""

from __future__ import annotations

import io
from typing import Any

import pyarrow as pa
import pytest

from kafkalog_reader.cli.text_table import WIDEST, TextTable


@pytest.fixture(autouse=True)
def _unicode(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LC_ALL", raising=False)
    monkeypatch.delenv("COLUMNS", raising=False)


def written(*batches: dict[str, pa.Array], columns: int | None = None) -> list[str]:
    rows = [pa.RecordBatch.from_pydict(batch) for batch in batches]
    sink = io.BytesIO()
    table = TextTable(sink, rows[0].schema, "utf8")
    if columns is not None:
        table._screen = columns
    for each in rows:
        table.write(each)
    table.close()
    return sink.getvalue().decode().splitlines()


def binary(*values: bytes | None) -> pa.Array:
    return pa.array(values, pa.binary())


def test_numbers_are_right_aligned_and_the_rest_left() -> None:
    rows: dict[str, Any] = {"offset": pa.array([5, 1000]), "key": binary(b"a", b"bcd"), "n": [1, 2]}
    assert written(rows) == [
        "offset  key  n",
        "     5  a    1",
        "  1000  bcd  2",
    ]


def test_null_and_empty_differ() -> None:
    assert written({"key": binary(None, b""), "n": pa.array([1, None])}) == [
        "key      n",
        "null     1",
        '""    null',
    ]


def test_lines_have_no_trailing_blanks() -> None:
    assert written({"key": binary(b"abc", b"a")})[2] == "a"


def test_first_rows_determine_the_widths() -> None:
    first, second = {"key": binary(b"ab"), "n": [1]}, {"key": binary(b"abcdef"), "n": [2]}
    assert written(first, second) == ["key  n", "ab   1", "abcdef  2"]


def test_names_are_shown_without_rows() -> None:
    assert written({"offset": pa.array([], pa.int64()), "key": binary()}) == ["offset  key"]


def test_long_cells_are_cut_at_64_columns() -> None:
    _, fits, cut = written({"key": binary(b"x" * WIDEST, b"x" * (WIDEST + 1))})
    assert fits == "x" * 64
    assert cut == "x" * 63 + "…"


def test_widest_text_is_cut_until_a_row_fits_the_screen() -> None:
    rows = {"offset": pa.array([1]), "key": binary(b"k" * 20), "value": binary(b"v" * 30)}
    assert written(rows, columns=60)[1] == f"     1  {'k' * 20}  {'v' * 30}", "exactly 60"
    assert written(rows, columns=59)[1] == f"     1  {'k' * 20}  {'v' * 28}…"
    narrow = written(rows, columns=34)
    assert narrow[1] == f"     1  {'k' * 11}…  {'v' * 11}…"
    assert len(narrow[1]) == 34


def test_no_text_is_cut_below_8_columns_and_no_number_at_all() -> None:
    rows = {"offset": pa.array([10**12]), "key": binary(b"k" * 20)}
    assert written(rows, columns=5)[1] == f"1000000000000  {'k' * 7}…"


def test_ascii_is_written_where_standard_output_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "C")
    cut = written({"key": binary(b"x" * 65, "ö".encode())})[1]
    assert cut == "x" * 61 + "..."
