"""A Spark source with ready rows: the limit that PySpark itself sets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql.types import StructType

SCHEMA: Final = "partition int, offset bigint, timestamp timestamp, key binary, value binary"
ROWS_PER_BATCH: Final = 65_536


class ReadySource(DataSource):
    """Options: ``rows`` in total, and ``tasks`` that share them."""

    @classmethod
    def name(cls) -> str:
        return "ready"

    def schema(self) -> str:
        return SCHEMA

    def reader(self, schema: StructType) -> DataSourceReader:
        return ReadyReader(int(self.options["rows"]), int(self.options["tasks"]))


class ReadyReader(DataSourceReader):
    """Yields one pre-built record batch again and again."""

    def __init__(self, rows: int, tasks: int) -> None:
        self._rows, self._tasks = rows, tasks

    def partitions(self) -> list[InputPartition]:
        share, rest = divmod(self._rows, self._tasks)
        return [InputPartition(share + (task < rest)) for task in range(self._tasks)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        ready = ready_rows()
        for _ in range(partition.value // ROWS_PER_BATCH):
            yield ready
        if rest := partition.value % ROWS_PER_BATCH:
            yield ready[:rest]


def ready_rows() -> pa.RecordBatch:
    """Rows of the benchmark's shape: null keys and values of 100 bytes."""
    count = ROWS_PER_BATCH
    offsets = pa.array(range(count), pa.int64())
    return pa.RecordBatch.from_arrays(
        [
            pa.array([0] * count, pa.int32()),
            offsets,
            offsets.cast(pa.timestamp("us", tz="UTC")),
            pa.nulls(count, pa.binary()),
            pa.array([b"x" * 100] * count, pa.binary()),
        ],
        names=["partition", "offset", "timestamp", "key", "value"],
    )
