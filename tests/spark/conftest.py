"""Two brokers' log directories, built byte by byte and small enough to list every row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from fixtures.builder import EPOCH_MILLIS, cluster, data_batch, marker_batch, replica
from kafkalog_reader.format.batch_fields import TRANSACTIONAL_BIT
from kafkalog_reader.format.control_record import ControlType
from kafkalog_reader.format.record import Record, RecordHeader

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

PUSHDOWN = "spark.sql.python.filterPushdown.enabled"


@pytest.fixture(scope="session")
def evidence(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with ``broker-0`` and ``broker-1``.

    forked-0      a b c on broker 0 in epoch 0; a b f g on broker 1, f and g in epoch 2
    lagging-0     offsets 0 to 9 on broker 0, in three segments, log start 2; 0 to 5 on broker 1
    lagging-1     on broker 1 only: offsets 0 to 4
    transactions-0  one aborted and one committed record with their markers, on both
    headers-0     a null key, an empty value, headers; on both
    __cluster_metadata-0  on both
    """
    root = tmp_path_factory.mktemp("evidence")
    shared = [
        replica(_transactions(), topic="transactions", high_watermark=4),
        replica(_headers(), topic="headers", high_watermark=2),
        replica("x@0/e1 y@1/e1", topic="__cluster_metadata", high_watermark=2),
    ]
    cluster(
        root,
        {
            0: [
                replica("a@0/e0 b@1/e0 c@2/e0", topic="forked", epochs="0:0", high_watermark=2),
                replica("0-3/e0 4-5/e0 6-9/e0", topic="lagging", segment_bytes=1, log_start=2),
                *shared,
            ],
            1: [
                replica("a@0/e0 b@1/e0 f,g@2/e2", topic="forked", epochs="0:0 2:2"),
                replica("0-3/e0 4-5/e0", topic="lagging", high_watermark=6),
                replica("0-4/e0", topic="lagging", partition=1, high_watermark=5),
                *shared,
            ],
        },
    )
    return root


@pytest.fixture
def read(spark: SparkSession, evidence: Path) -> Callable[..., DataFrame]:
    """``spark.read.format("kafkalog")`` with options, of the evidence or of other paths."""

    def load(path: Any = None, *, schema: Any = None, **options: Any) -> DataFrame:
        reader = spark.read.format("kafkalog").options(**options)
        if schema is not None:
            reader = reader.schema(schema)
        return reader.load(str(evidence) if path is None else path)

    return load


@pytest.fixture(params=["pushdown_off", "pushdown_on"])
def pushdown(request: pytest.FixtureRequest, spark: SparkSession) -> Iterator[bool]:
    """Both settings of Spark's filter pushdown, one after another."""
    before = spark.conf.get(PUSHDOWN, None)
    spark.conf.set(PUSHDOWN, str(request.param == "pushdown_on").lower())
    yield request.param == "pushdown_on"
    if before is None:
        spark.conf.unset(PUSHDOWN)
    else:
        spark.conf.set(PUSHDOWN, before)


def _transactions() -> list[Any]:
    producer = {"producer_id": 7, "producer_epoch": 0}
    return [
        data_batch(
            0,
            [Record(offset_delta=0, value=b"no")],
            base_sequence=0,
            flags=TRANSACTIONAL_BIT,
            **producer,
        ),
        marker_batch(1, control_type=ControlType.ABORT, **producer),
        data_batch(
            2,
            [Record(offset_delta=0, value=b"yes")],
            base_sequence=1,
            flags=TRANSACTIONAL_BIT,
            **producer,
        ),
        marker_batch(3, control_type=ControlType.COMMIT, **producer),
    ]


def _headers() -> list[Any]:
    headers = tuple(
        RecordHeader(key=key, value=value) for key, value in (("h", b"1"), ("h", None), ("", b""))
    )
    records = [
        Record(offset_delta=0, timestamp_delta=0, key=None, value=b"", headers=headers),
        Record(offset_delta=1, timestamp_delta=1, key=b"k", value=None),
    ]
    return [data_batch(0, records, base_timestamp=EPOCH_MILLIS)]
