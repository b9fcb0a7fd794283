from __future__ import annotations

import csv
import io
import json

import pyarrow as pa
import pytest
from pyarrow import parquet

from kafkalog_reader.cli import parts, rows
from kafkalog_reader.cli.output import FORMATS, row_writer

SCHEMA = pa.schema(
    [("offset", pa.int64()), ("key", pa.binary()), ("topic", pa.string()), ("sound", pa.bool_())]
)
ROWS = pa.RecordBatch.from_pydict(
    {
        "offset": [0, -7, None],
        "key": [b"k", b"", None],
        "topic": ["t", "", None],
        "sound": [True, False, None],
    },
    schema=SCHEMA,
)


def written(output_format: str, *batches: pa.RecordBatch, rendering: str | None = None) -> bytes:
    sink = io.BytesIO()
    writer = row_writer(output_format, sink, batches[0].schema, rendering)
    for batch in batches:
        if batch.num_rows:
            writer.write(batch)
    writer.close()
    return sink.getvalue()


def test_json_is_one_object_a_line_with_nulls_kept() -> None:
    lines = written("json", ROWS, ROWS.slice(1)).decode().splitlines()
    assert lines[0] == '{"offset":0,"key":"aw==","topic":"t","sound":true}'
    assert lines[2] == '{"offset":null,"key":null,"topic":null,"sound":null}'
    assert [json.loads(line)["offset"] for line in lines] == [0, -7, None, -7, None]


def test_json_without_columns_still_counts_the_rows() -> None:
    empty = pa.RecordBatch.from_struct_array(pa.array([{}] * 3, pa.struct([])))
    assert written("json", empty) == b"{}\n" * 3


def test_rows_are_cut_into_parts_of_bounded_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "WRITTEN_AT_ONCE", 1000)
    values = [b"x" * 100, b"", b"y" * 30, None] * 50
    batch = pa.RecordBatch.from_pydict({"value": pa.array(values)})
    cut = list(parts.parts(batch))
    assert pa.Table.from_batches(cut).equals(pa.Table.from_batches([batch]))
    assert all(part.nbytes <= 2000 for part in cut)
    lines = written("json", *cut, rendering="hex").decode().splitlines()
    shown = [None if value is None else value.hex() for value in values]
    assert [json.loads(line)["value"] for line in lines] == shown


def test_a_row_larger_than_a_part_is_a_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "WRITTEN_AT_ONCE", 10)
    batch = pa.RecordBatch.from_pydict({"value": [b"x" * 100] * 3})
    assert [part.num_rows for part in parts.parts(batch)] == [1, 1, 1]
    assert list(parts.parts(batch.slice(0, 0))) == []


def test_csv_is_read_back_by_another_reader() -> None:
    text = written("csv", ROWS).decode()
    read = list(csv.reader(io.StringIO(text)))
    assert read == [
        ["offset", "key", "topic", "sound"],
        ["0", "aw==", "t", "true"],
        ["-7", "", "", "false"],
        ["", "", "", ""],
    ]
    assert text.split("\r\n")[2:] == ['-7,"","",false', ",,,", ""]


@pytest.mark.parametrize("formula", ["=1+1", "+1", "-1", "@SUM(A1)"])
def test_csv_carries_formulas_as_text(formula: str) -> None:
    batch = pa.RecordBatch.from_pydict(
        {"text": [formula], "key": [formula.encode()], "number": pa.array([-1])}
    )
    line = list(csv.reader(io.StringIO(written("csv", batch, rendering="utf8").decode())))[1]
    assert line == [f"'{formula}", f"'{formula}", "-1"]


def test_csv_carries_quotes_commas_and_line_breaks() -> None:
    value = 'a "quoted", text\r\nover\ntwo lines\x1b'
    batch = pa.RecordBatch.from_pydict({"text": [value], "value": [value.encode()]})
    text = written("csv", batch, rendering="utf8").decode()
    assert list(csv.reader(io.StringIO(text, newline="")))[1] == [value, value]


def test_base64_in_csv_is_never_changed() -> None:
    batch = pa.RecordBatch.from_pydict({"value": [b"\xfb\xef\xbe"]})  # ++++ in base64
    assert written("csv", batch) == b'"value"\r\n"++++"\r\n'


@pytest.mark.parametrize("character", ["\n", "\r", "\x1b"])
def test_csv_cannot_act_on_a_terminal(character: str) -> None:
    class Terminal(io.BytesIO):
        def isatty(self) -> bool:
            return True

    sink = Terminal()
    batch = pa.RecordBatch.from_pydict({"text": [f"{character}1"]})
    writer = row_writer("csv", sink, batch.schema)
    writer.write(batch)
    row = sink.getvalue().split(b"\r\n")[1]
    assert character.encode() not in row


@pytest.mark.parametrize("output_format", ["arrow", "parquet"])
def test_rendered_binaries_are_text_also_in_lists(output_format: str) -> None:
    headers = pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))
    batch = pa.RecordBatch.from_arrays(
        [
            pa.array([b"k", None, b"\xff"]),
            pa.array(
                [[{"key": "a", "value": b"1"}, {"key": "b", "value": None}], None, []], headers
            ),
        ],
        ["key", "headers"],
    )
    content = io.BytesIO(written(output_format, batch, batch.slice(1), rendering="hex"))
    read = pa.ipc.open_stream(content).read_all() if output_format == "arrow" else None
    table = parquet.read_table(content) if read is None else read
    assert table.to_pylist() == [
        {"key": "6b", "headers": [{"key": "a", "value": "31"}, {"key": "b", "value": None}]},
        {"key": None, "headers": None},
        {"key": "ff", "headers": []},
        {"key": None, "headers": None},
        {"key": "ff", "headers": []},
    ]


def test_arrow_stream_is_read_back_exactly() -> None:
    content = written("arrow", ROWS, ROWS.slice(0, 1))
    read = pa.ipc.open_stream(content).read_all()
    assert read.equals(pa.Table.from_batches([ROWS, ROWS.slice(0, 1)]))


def test_parquet_is_read_back_exactly_and_grouped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "ROW_GROUP", 2 * ROWS.nbytes)
    file = parquet.ParquetFile(io.BytesIO(written("parquet", *[ROWS] * 5)))
    assert file.read().equals(pa.Table.from_batches([ROWS] * 5))
    assert file.num_row_groups == 3


@pytest.mark.parametrize("output_format", FORMATS)
def test_no_row_at_all_is_a_sound_answer(output_format: str) -> None:
    content = written(output_format, ROWS.slice(0, 0))
    if output_format == "parquet":
        assert parquet.read_table(io.BytesIO(content)).schema == SCHEMA
    elif output_format == "arrow":
        assert pa.ipc.open_stream(content).read_all().schema == SCHEMA
    elif output_format == "json":
        assert content == b""
    else:
        assert b"offset" in content
        assert content.count(b"\n") == 1


def test_text_is_aligned_with_numbers_to_the_right() -> None:
    assert written("text", ROWS).decode().splitlines() == [
        "offset  key   topic  sound",
        "     0  k     t      true",
        '    -7  ""    ""     false',
        "  null  null  null   null",
    ]


def test_text_cuts_long_cells_and_says_so() -> None:
    batch = pa.RecordBatch.from_pydict({"value": [b"x" * 1000], "last": ["end"]})
    line = written("text", batch).decode().splitlines()[1]
    assert line == "x" * 63 + "…" + "  end"


def test_text_goes_on_when_later_cells_are_wider() -> None:
    cells = ("x", "y" * 9)
    batches = [pa.RecordBatch.from_pydict({"a": [cell], "b": ["-"]}) for cell in cells]
    lines = written("text", *batches).decode().splitlines()
    assert lines == ["a  b", "x  -", "yyyyyyyyy  -"]


def test_text_is_ascii_where_standard_output_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "C")
    batch = pa.RecordBatch.from_pydict({"value": ["é" * 100]})
    line = written("text", batch).decode("ascii").splitlines()[1]
    assert line == "\\u00e9" * 61 + "..."
