"""The report of each task: what it read, how it ended, and where the report goes."""

from __future__ import annotations

import json
import logging
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from kafkalog_reader.errors import KafkaLogError, OptionError, UsageError
from kafkalog_reader.io.progress import ReadMetrics
from spark_datasource import metrics as metrics_module
from spark_datasource.metrics import reported
from tests.spark.tasks import offsets, planned, segment, write_log

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return write_log(tmp_path / "logs")


def reports(folder: Path) -> list[dict[str, Any]]:
    assert not list(folder.glob(".*"))
    return [json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))]


def test_a_task_reports_what_it_read(
    log: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="spark_datasource.metrics")
    folder = tmp_path / "new" / "metrics"
    assert offsets(*planned(log, metricsPath=str(folder))) == [*range(10)]
    (report,) = reports(folder)
    size = sum(path.stat().st_size for path in log.glob("*/t-0/*.log"))
    assert report.pop("startedAt").endswith("+00:00")
    assert 0 <= report.pop("seconds") < 60
    assert report == {
        "stage": None, "task": None, "attempt": None, "table": "records", "rows": 10,
        "bytesRead": size, "batchesPruned": 0, "damagedRegions": 0, "missingRanges": 0,
        "doubtfulRanges": 0, "isComplete": True, "error": None,
    }  # fmt: skip
    (line,) = [json.loads(each) for each in caplog.messages if each.startswith("{")]
    assert line["bytesRead"] == size


def test_the_line_is_logged_where_spark_collects_logs_of_workers(
    log: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, logger="spark_datasource.metrics")
    caplog.handler.setLevel(logging.NOTSET)
    assert offsets(*planned(log)) == [*range(10)]
    assert [each for each in caplog.messages if each.startswith("{")] == []
    monkeypatch.setenv("PYSPARK_SPARK_SESSION_UUID", "1234")
    assert offsets(*planned(log)) == [*range(10)]
    (line,) = [json.loads(each) for each in caplog.messages if each.startswith("{")]
    assert line["rows"] == 10


def test_seconds_are_given_to_the_millisecond(
    log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ticks = [101.23456, 100.0]
    monkeypatch.setattr(metrics_module, "time", SimpleNamespace(monotonic=ticks.pop))
    assert offsets(*planned(log, metricsPath=str(tmp_path / "m"))) == [*range(10)]
    (report,) = reports(tmp_path / "m")
    assert report["seconds"] == 1.235


def test_it_reports_what_it_pruned_and_left_out(log: Path, tmp_path: Path) -> None:
    damaged = segment(log, 4)
    content = bytearray(damaged.read_bytes())
    content[-1] ^= 0x10
    damaged.write_bytes(content)
    folder = tmp_path / "metrics"
    shown = {"metricsPath": str(folder), "mode": "DROPMALFORMED"}
    assert offsets(*planned(log, **shown)) == [0, 1, 2, 3, 6, 7, 8, 9]
    assert offsets(*planned(log, **shown, fromTime="2100-01-01")) == []
    assert [
        (each["rows"], each["batchesPruned"], each["damagedRegions"]) for each in reports(folder)
    ] == [(8, 0, 1), (0, 2, 1)]


def test_it_reports_where_it_failed_or_was_stopped(log: Path, tmp_path: Path) -> None:
    folder = tmp_path / "metrics"
    reader, (task,) = planned(log, metricsPath=str(folder))
    rows = reader.read(task)
    next(rows)
    rows.close()  # type: ignore[attr-defined]  # it is a generator; Spark closes it at a limit
    segment(log, 0).unlink()
    with pytest.raises(KafkaLogError):
        offsets(reader, [task])
    stopped, failed = reports(folder)
    assert (stopped["isComplete"], stopped["error"], stopped["rows"]) == (False, None, 10)
    assert (failed["isComplete"], failed["missingRanges"]) == (False, 1)
    assert "has vanished" in failed["error"]


def test_other_tables_count_bytes_only(log: Path, tmp_path: Path) -> None:
    folder = tmp_path / "metrics"
    reader, tasks = planned(log, table="batches", metricsPath=str(folder))
    assert sum(rows.num_rows for task in tasks for rows in reader.read(task)) == 3
    (report,) = reports(folder)
    assert report["rows"] == 3
    assert report["damagedRegions"] is None


def test_a_folder_that_cannot_be_made_is_an_error(log: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    reader, tasks = planned(log, metricsPath=str(tmp_path / "file" / "metrics"))
    with pytest.raises(KafkaLogError, match=r"option metricsPath: .*Not a directory"):
        offsets(reader, tasks)


def rows(*counts: int, problem: Exception | None = None) -> Iterator[pa.RecordBatch]:
    """Record batches with these numbers of rows, then an error."""
    for count in counts:
        yield pa.RecordBatch.from_pydict({"offset": [*range(count)]})
    if problem is not None:
        raise problem


def test_rows_are_passed_on_and_counted(tmp_path: Path) -> None:
    passed = reported(rows(3, 0, 4), ReadMetrics(bytes_read=70), "records", str(tmp_path))
    assert [each.num_rows for each in passed] == [3, 0, 4]
    (report,) = reports(tmp_path)
    assert (report["rows"], report["bytesRead"], report["isComplete"]) == (7, 70, True)


@pytest.mark.parametrize(
    ("problem", "said"), [(UsageError("a problem"), "a problem"), (ValueError("a bug"), None)]
)
def test_an_error_is_reported_and_raised(
    tmp_path: Path, problem: Exception, said: str | None
) -> None:
    """Only errors raised on purpose are for people; Spark shows the others with their traceback."""
    passed = reported(rows(3, problem=problem), ReadMetrics(), "records", str(tmp_path))
    with pytest.raises(type(problem), match=str(problem)):
        list(passed)
    (report,) = reports(tmp_path)
    assert (report["rows"], report["isComplete"], report["error"]) == (3, False, said)


@pytest.mark.parametrize(
    ("table", "counted"), [("records", (1, 2, 3, 4)), ("batches", (None,) * 4)]
)
def test_only_records_count_what_was_left_out(
    tmp_path: Path, table: str, counted: tuple[int | None, ...]
) -> None:
    metrics = ReadMetrics(
        bytes_read=70, batches_pruned=1, damaged_regions=2, missing_ranges=3, doubtful_ranges=4
    )
    list(reported(rows(1), metrics, table, str(tmp_path)))
    (report,) = reports(tmp_path)
    assert report["table"] == table
    names = ("batchesPruned", "damagedRegions", "missingRanges", "doubtfulRanges")
    assert tuple(report[name] for name in names) == counted
    assert report["bytesRead"] == 70


def test_without_a_folder_there_is_only_a_log_line(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="spark_datasource.metrics")
    list(reported(rows(2), ReadMetrics(), "records", None))
    (line,) = caplog.messages
    assert json.loads(line)["rows"] == 2


def test_the_folder_may_exist_and_its_files_have_different_names(tmp_path: Path) -> None:
    for count in (1, 2):
        list(reported(rows(count), ReadMetrics(), "records", str(tmp_path)))
    assert sorted(each["rows"] for each in reports(tmp_path)) == [1, 2]


def test_a_folder_that_cannot_be_made_stops_before_the_first_row(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    passed = reported(rows(3), ReadMetrics(), "records", str(tmp_path / "file" / "metrics"))
    with pytest.raises(OptionError, match="Not a directory"):
        next(passed)


def test_a_report_that_cannot_be_written_costs_no_rows(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "metrics"
    passed = reported(rows(1, 2), ReadMetrics(), "records", str(folder))
    next(passed)
    folder.rmdir()
    assert [each.num_rows for each in passed] == [2]
    assert f"metricsPath: {folder}: No such file or directory" in caplog.messages
