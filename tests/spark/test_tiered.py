"""Spark reads local logs and compressed chunks in remote storage as one log."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fixtures import captures, truth
from fixtures.aiven_tier import write_aiven_tier

if TYPE_CHECKING:
    from pathlib import Path

    from tests.spark.rows import Read

pytestmark = pytest.mark.spark

CAPTURE = truth.load(captures.path("tiered")).captures["copied"]


def test_workers_read_what_a_consumer_was_given(read: Read, tmp_path: Path) -> None:
    (source,) = CAPTURE.files.glob("tier/*/*")
    write_aiven_tier(source, tmp_path, log_end=46, is_compressed=True, chunk_size=100)
    paths = [str(CAPTURE.files / "broker-0"), str(tmp_path)]
    frame = read(paths, subscribe="tiered", minPartitions="4", columns="offset,value")
    assert frame.rdd.getNumPartitions() > 1
    found = sorted((row.offset, bytes(row.value)) for row in frame.collect())
    assert found == [(each.offset, each.value) for each in CAPTURE.records("tiered")]
