"""One task: run again, run on files that changed after planning, and its errors."""

from __future__ import annotations

import json
import logging
import pickle
from typing import TYPE_CHECKING, Any

import pytest

from fixtures.builder import cluster, replica
from kafkalog_reader.errors import KafkaLogError
from spark_datasource.source import KafkaLogDataSource

if TYPE_CHECKING:
    from pathlib import Path

    from spark_datasource.reader import KafkaLogReader


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Offsets 0 to 9 in segments of one batch: 0 to 3, 4 to 5, 6 to 9."""
    root = tmp_path / "logs"
    cluster(root, {1: replica("0-3/e0 4-5/e0 6-9/e0", segment_bytes=1, high_watermark=10)})
    return root


def planned(path: Path, **options: str) -> tuple[KafkaLogReader, list[Any]]:
    source = KafkaLogDataSource({"path": str(path), **options})
    reader = source.reader(source.schema())
    return reader, list(reader.partitions())


def offsets(reader: KafkaLogReader, tasks: list[Any]) -> list[int]:
    return [
        row["offset"] for task in tasks for rows in reader.read(task) for row in rows.to_pylist()
    ]


def segment(path: Path, base_offset: int) -> Path:
    (found,) = path.glob(f"*/t-0/{base_offset:020d}.log")
    return found


def reports(folder: Path) -> list[dict[str, Any]]:
    assert not list(folder.glob(".*"))
    return [json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))]


def test_a_task_that_runs_again_gives_the_same_rows(log: Path) -> None:
    reader, tasks = planned(log)
    assert offsets(reader, tasks) == [*range(10)]
    last = segment(log, 6)
    content = last.read_bytes()
    with last.open("ab") as grown:  # the broker has written the same batch at offset 10
        grown.write((10).to_bytes(8, "big") + content[8:])
    copies = pickle.loads(pickle.dumps((reader, tasks)))
    assert offsets(*copies) == [*range(10)]
    assert offsets(*planned(log)) == [*range(14)]


def test_a_file_that_vanished_after_planning_is_named(
    log: Path, caplog: pytest.LogCaptureFixture
) -> None:
    strict, lenient = planned(log), planned(log, failOnDataLoss="false")
    gone = segment(log, 4)
    gone.rename(f"{gone}.deleted")
    with pytest.raises(KafkaLogError) as caught:
        offsets(*strict)
    problem = f"{gone}: the file has vanished since the read was planned"
    assert str(caught.value).startswith(f"[KAFKALOG.UNREADABLE_FILE] {problem}")
    assert offsets(*lenient) == [0, 1, 2, 3, 6, 7, 8, 9]
    assert [each for each in caplog.messages if "vanished" in each] == [problem]


def test_a_file_that_shrank_after_planning_is_named(
    log: Path, caplog: pytest.LogCaptureFixture
) -> None:
    strict, lenient = planned(log), planned(log, failOnDataLoss="false")
    cut = segment(log, 4)
    cut.write_bytes(b"")
    with pytest.raises(KafkaLogError, match=rf"{cut.name} at position 0.* is 0 bytes long"):
        offsets(*strict)
    assert offsets(*lenient) == [0, 1, 2, 3, 6, 7, 8, 9]
    assert any(str(cut) in each for each in caplog.messages)


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
        "isComplete": True, "error": None,
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
