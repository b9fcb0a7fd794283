"""Rows from arrays, lists and single values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kafkalog_reader
from kafkalog_reader.decode.arrow_types import TIMESTAMP
from kafkalog_reader.tables.rows import build_rows, microseconds

if TYPE_CHECKING:
    from pathlib import Path

TABLES_OF_FILES = (
    "segments", "replicas", "offset_index", "time_index", "transaction_index", "leader_epochs",
    "producers", "checkpoints",
)  # fmt: skip


def test_values_become_columns_of_the_schema_in_its_order() -> None:
    schema = pa.schema([("t", TIMESTAMP), ("n", pa.int32()), ("s", pa.string()), ("l", pa.int64())])
    values: dict[str, Any] = {
        "s": "x", "n": np.array([1, 2], dtype=np.int32), "l": [3, None],
        "t": np.array([-1000, 5]), "unasked": object(),
    }  # fmt: skip
    rows = build_rows(schema, 2, values)
    assert rows.schema == schema
    assert rows["t"].cast(pa.int64()).to_pylist() == [-1000, 5]
    assert (rows["n"].to_pylist(), rows["s"].to_pylist()) == ([1, 2], ["x", "x"])
    assert rows["l"].to_pylist() == [3, None]


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1))
def test_milliseconds_become_microseconds_or_the_nearest_that_fit(timestamps: list[int]) -> None:
    scaled = microseconds(np.array(timestamps, dtype=np.int64))
    assert scaled.tolist() == [min(max(t * 1000, -(2**63)), 2**63 - 1) for t in timestamps]


@pytest.mark.parametrize("name", TABLES_OF_FILES)
def test_rows_have_exactly_the_schema_that_spark_was_given(
    small_partition: Path, name: str
) -> None:
    reader = kafkalog_reader.open(str(small_partition.parent)).table(name)
    assert reader.to_arrow().num_rows > 0
    for column in reader.schema:
        assert not pa.types.is_unsigned_integer(column.type)
        assert not pa.types.is_dictionary(column.type)


@pytest.mark.parametrize("name", TABLES_OF_FILES)
def test_rows_can_be_counted_without_a_column(small_partition: Path, name: str) -> None:
    log = kafkalog_reader.open(str(small_partition.parent))
    counted = log.table(name, columns=[]).to_arrow()
    assert counted.num_columns == 0
    assert counted.num_rows == log.table(name).to_arrow().num_rows


@pytest.mark.parametrize("name", TABLES_OF_FILES)
def test_every_column_can_be_had_alone(small_partition: Path, name: str) -> None:
    log = kafkalog_reader.open(str(small_partition.parent))
    whole = log.table(name).to_arrow()
    for column in whole.column_names:
        assert log.table(name, columns=[column]).to_arrow()[column] == whole[column]
