"""How often records are there."""

from __future__ import annotations

import pyarrow as pa

import kafkalog_reader
from fixtures import captures
from kafkalog_reader.report import figures
from tests.report.figures.drawn import texts


def test_the_histogram_counts_what_a_producer_sent_four_times() -> None:
    replica = captures.path("s3_2_b/both-led") / "broker-0"
    batches = kafkalog_reader.open(replica).table("batches", ["crc", "size"], topic="t").to_arrow()
    counted = batches.group_by(["crc", "size"]).aggregate([([], "count_all")])
    contents = pa.table({"copies": counted["count_all"]})
    (axes,) = figures.duplicates_figure(contents).axes
    assert {"2 stored once", "3 stored 4 times"} <= set(texts(axes))
