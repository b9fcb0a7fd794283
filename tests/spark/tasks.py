"""Tasks of a small log, planned and read without a Spark session."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fixtures.builder import cluster, replica
from spark_datasource.source import KafkaLogDataSource

if TYPE_CHECKING:
    from pathlib import Path

    from spark_datasource.reader import KafkaLogReader


def write_log(root: Path) -> Path:
    """Offsets 0 to 9 in segments of one batch: 0 to 3, 4 to 5, 6 to 9."""
    cluster(root, {1: replica("0-3/e0 4-5/e0 6-9/e0", segment_bytes=1, high_watermark=10)})
    return root


def planned(path: Path, **options: str) -> tuple[KafkaLogReader, list[Any]]:
    """The reader, and its tasks."""
    source = KafkaLogDataSource({"path": str(path), **options})
    reader = source.reader(source.schema())
    return reader, list(reader.partitions())


def offsets(reader: KafkaLogReader, tasks: list[Any]) -> list[int]:
    """Those that the tasks read."""
    return [
        row["offset"] for task in tasks for rows in reader.read(task) for row in rows.to_pylist()
    ]


def segment(path: Path, base_offset: int) -> Path:
    """The log file of a segment."""
    (found,) = path.glob(f"*/t-0/{base_offset:020d}.log")
    return found
