"""Columns of tables, and the projection of a request."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import pyarrow as pa
import pytest

from kafkalog_reader.errors import UsageError
from kafkalog_reader.io.progress import no_progress
from kafkalog_reader.tables.request import ReadRequest
from kafkalog_reader.tables.table import Column, Table, Unit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kafkalog_reader.io.evidence import Evidence
    from kafkalog_reader.io.progress import Progress


class Numbers(Table[Unit]):
    """A table of one row."""

    name: ClassVar[str] = "numbers"
    doc: ClassVar[str] = "one row"
    columns: ClassVar[tuple[Column, ...]] = (
        Column("offset", pa.int64(), "a number", "offsets"),
        Column("text", pa.string(), "in words"),
    )

    def units(self, evidence: Evidence, request: ReadRequest) -> Iterator[Unit]:
        yield Unit(size_in_bytes=0)

    def read(
        self, unit: Unit, request: ReadRequest, progress: Progress = no_progress
    ) -> Iterator[pa.RecordBatch]:
        rows = pa.RecordBatch.from_pydict({"offset": [1], "text": ["one"]}, schema=self.schema)
        yield rows.select(self.projected(request).names)


def test_columns_are_nullable_and_without_metadata() -> None:
    assert Numbers().schema == pa.schema([("offset", pa.int64()), ("text", pa.string())])
    assert all(field.nullable and field.metadata is None for field in Numbers().schema)


@pytest.mark.parametrize(
    ("columns", "names"),
    [
        (None, ["offset", "text"]),
        (("text", "offset"), ["text", "offset"]),
        (("text",), ["text"]),
        ((), []),
    ],
)
def test_columns_come_in_the_order_asked(columns: tuple[str, ...] | None, names: list[str]) -> None:
    table = Numbers()
    schema = table.projected(ReadRequest(columns=columns))
    assert schema.names == names
    assert [field.type for field in schema] == [table.schema.field(name).type for name in names]
    (rows,) = table.read(Unit(size_in_bytes=0), ReadRequest(columns=columns))
    assert rows.schema == schema


def test_unknown_column_is_refused_with_the_nearest() -> None:
    with pytest.raises(UsageError) as caught:
        Numbers().projected(ReadRequest(columns=("offset", "txt")))
    assert str(caught.value) == "table numbers has no column 'txt'. Did you mean 'text'?"


def test_unit_opens_one_file_unless_it_says_otherwise() -> None:
    assert Unit(size_in_bytes=7).opened == 1
