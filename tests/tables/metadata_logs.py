"""Metadata logs written record by record."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import kafkalog_reader
from fixtures.builder import cluster, data_batch, replica
from fixtures.builder.batch import EPOCH_MILLIS
from fixtures.builder.metadata_log import METADATA_TOPIC_ID
from kafkalog_reader.format.record import Record

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def write_metadata(root: Path, values: Sequence[bytes], *, first_offset: int = 0) -> Path:
    """Write a log with one record per batch, a second apart; return the partition directory."""
    log = [
        data_batch(
            offset,
            [Record(offset_delta=0, key=None, value=value)],
            base_timestamp=EPOCH_MILLIS + 1000 * offset,
        )
        for offset, value in enumerate(values, first_offset)
    ]
    metadata = replica(log, topic="__cluster_metadata", topic_id=METADATA_TOPIC_ID)
    cluster(root, {0: [metadata]})
    return root / "broker-0" / "__cluster_metadata-0"


def rows_of(path: Path, table: str, **options: Any) -> list[dict[str, Any]]:
    """The rows of a table over a path."""
    rows: list[dict[str, Any]] = (
        kafkalog_reader.open(str(path)).table(table, **options).to_arrow().to_pylist()
    )
    return rows
