"""What the source, its errors and its readers do without a session of Spark."""

from __future__ import annotations

import os
import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.sql import datasource
from pyspark.sql.datasource import DataSourceReader
from pyspark.sql.types import IntegerType, LongType, StringType, StructField, StructType

from fixtures.builder import cluster, replica
from kafkalog_reader.errors import (
    DataLossError,
    KafkaLogError,
    LogLayoutError,
    OptionError,
    UsageError,
)
from kafkalog_reader.tables.request import ReadRequest
from spark_datasource.errors import for_spark, is_worker
from spark_datasource.options import parse_options
from spark_datasource.refused_stream import RefusedStreamReader
from spark_datasource.source import KafkaLogDataSource

if TYPE_CHECKING:
    from pathlib import Path

HIDE = "SPARK_HIDE_TRACEBACK"
PUSHDOWN_WORKER = "pyspark.sql.worker.data_source_pushdown_filters"
OFFSET = StructField("offset", LongType())
TOPIC = StructField("topic", StringType())


def main_is(name: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """As if Python had been started with ``-m name``."""
    spec = None if name is None else SimpleNamespace(name=name)
    monkeypatch.setitem(sys.modules, "__main__", SimpleNamespace(__spec__=spec))


@pytest.mark.parametrize(
    ("error", "condition"),
    [
        (UsageError("x"), "INVALID_REQUEST"),
        (OptionError("mode", "x"), "INVALID_REQUEST"),
        (LogLayoutError("x"), "INVALID_PATH"),
        (DataLossError("x"), "MISSING_RECORDS"),
        (KafkaLogError("x"), "FAILED"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_each_error_has_a_condition_and_is_wrapped_once(
    error: KafkaLogError, condition: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(HIDE, raising=False)
    found = for_spark(error)
    assert str(found) == f"[KAFKALOG.{condition}] {error}"
    assert for_spark(found) is found
    assert HIDE not in os.environ


@pytest.mark.parametrize(
    ("name", "is_one"),
    [("pyspark.daemon", True), ("pyspark_tools.main", False), ("pytest", False), (None, False)],
)
def test_only_a_worker_of_spark_hides_the_traceback(
    name: str | None, is_one: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(HIDE, "0")
    main_is(name, monkeypatch)
    assert is_worker() == is_one
    for_spark(UsageError("x"))
    assert os.environ[HIDE] == ("1" if is_one else "0")


@pytest.mark.skipif(not hasattr(datasource, "Filter"), reason="Spark 4.0 hands no filters down")
@pytest.mark.parametrize("has_own_plans", [True, False])
@pytest.mark.parametrize(
    ("main", "loaded", "pushes"),
    [
        (PUSHDOWN_WORKER, False, True),
        ("pytest", True, True),
        ("pytest", False, False),
        (None, False, False),
    ],
)
def test_filters_go_to_the_worker_that_pushes_them(
    main: str | None,
    loaded: bool,
    pushes: bool,
    has_own_plans: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """And only where the scans of one ``load()`` share no plan: SPARK-58551."""
    main_is(main, monkeypatch)
    monkeypatch.delitem(sys.modules, PUSHDOWN_WORKER, raising=False)
    if loaded:
        monkeypatch.setitem(sys.modules, PUSHDOWN_WORKER, sys)
    monkeypatch.delattr(DataSourceReader, "pushLimit", raising=False)
    if has_own_plans:
        monkeypatch.setattr(DataSourceReader, "pushLimit", lambda *_: False, raising=False)
    source = KafkaLogDataSource({"path": str(tmp_path)})
    takes_filters = type(source.reader(source.schema())).__name__ == "FilteringReader"
    assert takes_filters == (pushes and has_own_plans)


@pytest.mark.parametrize(
    ("options", "fields", "agrees"),
    [
        ({"columns": "offset"}, [OFFSET], True),
        ({"columns": "offset"}, [TOPIC], False),
        ({"columns": "offset,topic"}, [TOPIC, OFFSET], False),
        ({"columns": "all"}, [OFFSET], False),
        ({}, [OFFSET], True),
    ],
    ids=str,
)
def test_columns_and_a_schema_must_agree(
    options: dict[str, str], fields: list[StructField], agrees: bool, tmp_path: Path
) -> None:
    source = KafkaLogDataSource({"path": str(tmp_path), **options})
    for reader in (source.reader, source.streamReader):
        if agrees:
            assert reader(StructType(fields)).columns == ("offset",)
        else:
            with pytest.raises(KafkaLogError, match="name different columns: give one of them"):
                reader(StructType(fields))
    everything = KafkaLogDataSource({"path": str(tmp_path), "columns": "all"})
    schema = everything.schema()
    assert everything.reader(schema).columns == tuple(schema.names)


def test_a_stream_that_is_refused_in_a_worker_fails_in_its_first_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = KafkaLogDataSource({"path": str(tmp_path)})
    wrong = StructType([StructField("offset", IntegerType())])
    with pytest.raises(KafkaLogError, match="column 'offset' is bigint, not int"):
        source.streamReader(wrong)
    monkeypatch.setenv(HIDE, "0")
    main_is("pyspark.sql.streaming.python_streaming_source_runner", monkeypatch)
    stream = source.streamReader(wrong)
    assert isinstance(stream, RefusedStreamReader)
    for call in (stream.initialOffset, stream.latestOffset):
        with pytest.raises(KafkaLogError, match="column 'offset' is bigint, not int"):
            call()


def test_options_of_streams_have_the_schema_of_a_stream(tmp_path: Path) -> None:
    """Spark asks for it before it says whether the read is a batch."""
    stream = {"path": str(tmp_path), "startingOffsets": "latest"}
    assert KafkaLogDataSource(stream).schema() == KafkaLogDataSource({"path": "/x"}).schema()
    neither: dict[str, Any] = {**stream, "endingOffsets": "earliest"}
    with pytest.raises(KafkaLogError, match="option startingOffsets: latest: a batch read ends"):
        KafkaLogDataSource(neither).schema()


@pytest.mark.parametrize("write", ["writer", "streamWriter"])
def test_nothing_is_written(write: str, tmp_path: Path) -> None:
    source = KafkaLogDataSource({"path": str(tmp_path)})
    with pytest.raises(KafkaLogError, match=r"\[KAFKALOG.INVALID_REQUEST\] kafkalog only reads"):
        getattr(source, write)(source.schema(), overwrite=True)


@pytest.mark.parametrize("columns", [(), ("offset", "topic")])
def test_a_batch_without_columns_has_as_many_rows(columns: tuple[str, ...], tmp_path: Path) -> None:
    cluster(tmp_path, {1: replica("0-3/e0 4-5/e0", high_watermark=6)})
    source = KafkaLogDataSource({"path": str(tmp_path)})
    schema = StructType([{"offset": OFFSET, "topic": TOPIC}[name] for name in columns])
    reader = source.reader(schema)
    found = [rows for task in reader.partitions() for rows in reader.read(task)]
    assert sum(rows.num_rows for rows in found) == 6
    assert {tuple(rows.schema.names) for rows in found} == {columns}
    stream = KafkaLogDataSource({"path": str(tmp_path)}).streamReader(schema)
    tasks = stream.partitions({"t": {"0": 1}}, {"t": {"0": 6}})
    found = [rows for task in tasks for rows in stream.read(task)]
    assert sum(rows.num_rows for rows in found) == 5
    assert {tuple(rows.schema.names) for rows in found} == {columns}


def test_the_defaults_of_a_read_are_those_of_the_request(tmp_path: Path) -> None:
    options = parse_options({"path": str(tmp_path), "table": "segments"})
    assert options.request == ReadRequest()
    assert not options.follow_links
