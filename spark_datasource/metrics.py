"""What each task read: a line of JSON in a file of its own, and a log line."""

from __future__ import annotations

import json
import logging
import os
import time
import uuid
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pyspark import TaskContext

from kafkalog_reader.errors import KafkaLogError, OptionError

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

    from kafkalog_reader.io.progress import ReadMetrics

logger = logging.getLogger(__name__)

_COLLECTS_LOGS: Final = "PYSPARK_SPARK_SESSION_UUID"
"""Set in workers whose log lines Spark 4.1 and later collect, as python_worker_logs() shows them.
Python would leave out what is below a warning. Source: pyspark.logger.worker_io."""


def reported(
    found: Iterator[pa.RecordBatch], metrics: ReadMetrics, table: str, folder: str | None
) -> Iterator[pa.RecordBatch]:
    """Yield the same rows; at the end, or where reading stops, report what was read.

    Args:
        found: the rows of one task.
        metrics: what ``found`` counts in.
        table: its name.
        folder: where to write the file; None writes none.

    Raises:
        OptionError: the folder cannot be made.
    """
    if folder is not None:
        _make(folder)
    if _COLLECTS_LOGS in os.environ:
        logger.setLevel(logging.INFO)
    started, start_time = datetime.now(UTC), time.monotonic()
    rows, error, is_complete = 0, None, False
    try:
        for batch in found:
            rows += batch.num_rows
            yield batch
        is_complete = True
    except KafkaLogError as problem:
        error = str(problem)
        raise
    finally:  # also where Spark needs no more rows
        line = json.dumps(
            {
                **_task(),
                "table": table,
                "startedAt": started.isoformat(timespec="milliseconds"),
                "seconds": round(time.monotonic() - start_time, 3),
                "rows": rows,
                **_counted(metrics, table),
                "isComplete": is_complete,
                "error": error,
            }
        )
        logger.info("%s", line)
        if folder is not None:
            _write(Path(folder), f"{started:%Y%m%dT%H%M%S.%f}-{uuid.uuid4().hex}.json", line)


def _counted(metrics: ReadMetrics, table: str) -> dict[str, int | None]:
    """Only the table ``records`` counts more than bytes."""
    is_counted = table == "records"
    return {
        "bytesRead": metrics.bytes_read,
        "batchesPruned": metrics.batches_pruned if is_counted else None,
        "damagedRegions": metrics.damaged_regions if is_counted else None,
        "missingRanges": metrics.missing_ranges if is_counted else None,
        "doubtfulRanges": metrics.doubtful_ranges if is_counted else None,
    }


def _task() -> dict[str, Any]:
    task = TaskContext.get()
    return {
        "stage": None if task is None else task.stageId(),
        "task": None if task is None else task.partitionId(),
        "attempt": None if task is None else task.attemptNumber(),
    }


def _make(folder: str) -> None:
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OptionError("metricsPath", f"{folder}: {error.strerror}") from error


def _write(folder: Path, name: str, line: str) -> None:
    """Write the file whole or not at all: Spark ignores names that begin with a dot."""
    unfinished = folder / f".{name}"
    try:
        unfinished.write_text(line + "\n")
        unfinished.rename(folder / name)
    except OSError as error:
        logger.warning("metricsPath: %s: %s", folder, error.strerror)
