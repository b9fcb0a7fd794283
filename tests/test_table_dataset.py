"""Columns and filters of a query reach the table; what is not needed is not read."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Any

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pytest
from pyarrow.acero import Declaration, ScanNodeOptions

import kafkalog_reader
from kafkalog_reader.errors import OptionError, UsageError
from kafkalog_reader.table_dataset import TableDataset, columns_of, narrowed

if TYPE_CHECKING:
    from collections.abc import Callable

    from kafkalog_reader.log import Log

CAPTURE = "fixtures/captures/s3_2/both-led"
OFFSET, TOPIC, PARTITION = map(pc.field, ("offset", "topic", "partition"))
BROKER = pc.field("brokerId")


@pytest.fixture(scope="module")
def log() -> Log:
    return kafkalog_reader.open(CAPTURE)


@pytest.mark.parametrize(
    ("condition", "partitions", "brokers", "start", "end"),
    [
        (TOPIC == "t", {("t", 0)}, {0, 1, 2}, None, None),
        ((TOPIC == "t") & (BROKER == 1), {("t", 0)}, {1}, None, None),
        (BROKER.isin([0, 100]) & (TOPIC != "t"), {("__cluster_metadata", 0)}, {0, 100}, None, None),
        ((TOPIC == "t") & (OFFSET >= 3), {("t", 0)}, {0, 1, 2}, 3, None),
        ((TOPIC == "t") & (OFFSET == 4), {("t", 0)}, {0, 1, 2}, 4, 5),
        ((TOPIC == "t") & ((OFFSET == 2) | (OFFSET > 7)), {("t", 0)}, {0, 1, 2}, 2, None),
        ((TOPIC == "t") & (OFFSET < 2), {("t", 0)}, {0, 1, 2}, None, 2),
        (pc.starts_with(TOPIC, "t"), {("t", 0)}, {0, 1, 2}, None, None),
    ],
)
def test_filters_select_directories_and_offsets(
    condition: pc.Expression,
    partitions: set[tuple[str, int]],
    brokers: set[int],
    start: int | None,
    end: int | None,
    log: Log,
) -> None:
    request = narrowed(log.table("records"), condition)
    assert request is not None
    assert set(request.assigned or ()) == partitions
    assert set(request.brokers or ()) == brokers
    assert (request.from_offset, request.to_offset) == (start, end)


def test_a_filter_that_nothing_fulfils_reads_nothing(log: Log) -> None:
    assert narrowed(log.table("records"), TOPIC == "nope") is None
    scanner = TableDataset(log.table("records")).scanner(["offset"], TOPIC == "nope")
    assert scanner.to_reader().read_all().num_rows == 0


def test_brokers_stay_where_copies_are_compared(log: Log) -> None:
    request = narrowed(log.table("replicas"), (TOPIC == "t") & (BROKER == 1))
    assert request is not None
    assert request.assigned == frozenset({("t", 0)})
    assert request.brokers is None
    best = narrowed(log.table("records", replica="best"), BROKER == 1)
    assert best is not None
    assert best.brokers is None


def test_options_of_the_scan_still_apply(log: Log) -> None:
    scan = log.table("records", topic="t", from_offset=2, to_offset=4)
    request = narrowed(scan, (OFFSET >= 1) & (OFFSET < 9))
    assert request is not None
    assert (request.from_offset, request.to_offset) == (2, 4)


@pytest.mark.parametrize(
    "condition",
    [
        "topic = 't' and \"offset\" >= 2", "\"offset\" in (1, 3)", "brokerId = 1 or partition = 9",
        "value is null", "key is not null and \"offset\" < 9", "timestamp > '2026-11-21 07:56:23'",
        "topic like '%t%' and brokerId between 1 and 2", "not (brokerId = 0)", "producerId <> -1",
        "\"offset\" + 1 = 3", "topic in ('t', 'u') and \"offset\" = 4",
    ],
)  # fmt: skip
def test_filtered_rows_are_those_of_the_whole_table(condition: str, log: Log) -> None:
    scan = log.table("records")
    pushed, whole = TableDataset(scan), scan.to_arrow()
    query = 'SELECT brokerId, topic, "offset", value FROM {} WHERE {} ORDER BY ALL'
    assert pushed.schema == whole.schema
    found = duckdb.sql(query.format("pushed", condition)).fetchall()
    assert found == duckdb.sql(query.format("whole", condition)).fetchall()


def test_columns_of_a_filter_are_found() -> None:
    schema = pa.schema([("a", pa.int32()), ("b", pa.string()), ("c", pa.int64())])
    a, b = pc.field("a"), pc.field("b")
    assert columns_of((a > 1) & b.isin(["x"]), schema) == ["a", "b"]
    assert columns_of(pc.field("c").is_null(), schema) == ["c"]


def test_polars_hands_down_columns_and_filters(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    scanner = TableDataset.scanner

    def noted(self: TableDataset, **options: Any) -> object:
        asked.append((options.get("columns"), str(options.get("filter"))))
        return scanner(self, **options)

    monkeypatch.setattr(TableDataset, "scanner", noted)
    lazy = pl.scan_pyarrow_dataset(TableDataset(log.table("records")))
    rows = lazy.filter((pl.col("topic") == "t") & (pl.col("offset") > 2)).select(
        "brokerId", "offset"
    )
    assert sorted(rows.collect().rows()) == [(0, 3), (0, 4), (1, 3), (2, 3)]
    ((columns, condition),) = asked
    assert columns is not None
    assert "value" not in columns
    assert 'topic == "t"' in condition
    assert "offset > 2" in condition


def test_methods_of_an_arrow_dataset_answer(log: Log) -> None:
    scan = log.table("records", topic="t")
    dataset, whole = TableDataset(scan), scan.to_arrow()
    low = OFFSET < 3
    assert dataset.count_rows() == whole.num_rows
    assert dataset.count_rows(filter=low) == whole.filter(low).num_rows > 0
    assert dataset.head(2, columns=["offset"]) == whole.select(["offset"]).slice(0, 2)
    assert dataset.take([3, 0]) == whole.take([3, 0])
    both = dataset.filter(low).filter(BROKER == 1)
    assert both.to_table() == whole.filter(low & (BROKER == 1))
    assert pickle.loads(pickle.dumps(both)).to_table() == both.to_table()


@pytest.mark.parametrize(
    "ask",
    [
        lambda dataset: dataset.sort_by("offset"),
        lambda dataset: dataset.replace_schema(dataset.schema).to_table(),
        lambda dataset: ds.dataset([dataset, dataset]).to_table(),
        lambda dataset: next(dataset.get_fragments()).to_table(),
        lambda dataset: Declaration("scan", ScanNodeOptions(dataset)).to_table(),
    ],
)
def test_what_arrow_does_below_python_is_an_error_and_no_crash(
    ask: Callable[[TableDataset], object], log: Log
) -> None:
    with pytest.raises(FileNotFoundError, match=r"no files for Arrow to read\. Use scan\.to_arrow"):
        ask(TableDataset(log.table("records", "offset", topic="t")))


@pytest.mark.parametrize("columns", ["offset", {"x": OFFSET}])
def test_columns_of_a_dataset_are_a_list_of_names(columns: object, log: Log) -> None:
    with pytest.raises(OptionError, match="takes a list of names"):
        TableDataset(log.table("records")).to_table(columns=columns)


def test_a_dataset_is_made_of_a_scan() -> None:
    with pytest.raises(UsageError, match="made of a TableScan, not of 5"):
        TableDataset(5)  # type: ignore[arg-type]
