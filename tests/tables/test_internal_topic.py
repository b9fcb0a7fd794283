"""Requests for the logs of internal topics."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pytest

from kafkalog_reader.scan.damage import Mode
from kafkalog_reader.tables.internal_topic import (
    log_request,
    plain_rows,
    record_schema,
    selects_all,
    selects_any,
)
from kafkalog_reader.tables.request import ReadRequest


def test_selection_of_topics_is_not_that_of_the_log() -> None:
    asked = ReadRequest(
        topics=frozenset({"t"}), partitions=frozenset({3}), brokers=frozenset({1}), from_offset=5,
        mode=Mode.PERMISSIVE, fail_on_data_loss=False, max_partition_bytes=7, limit=1,
    )  # fmt: skip
    assert log_request(asked, "__consumer_offsets") == ReadRequest(
        topics=frozenset({"__consumer_offsets"}), brokers=frozenset({1}), replica="best",
        include_control_records=False, mode=Mode.PERMISSIVE, fail_on_data_loss=False,
        max_partition_bytes=7,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("request_", "everything", "u"),
    [
        pytest.param({}, True, True, id="nothing"),
        pytest.param({"brokers": frozenset({1}), "limit": 0}, True, True, id="no_topics"),
        pytest.param({"topics": frozenset({"u"})}, False, True, id="topic"),
        pytest.param({"topics": frozenset({"x"})}, False, False, id="other_topic"),
        pytest.param({"partitions": frozenset({7})}, False, True, id="partition"),
        pytest.param({"topic_pattern": "^u"}, False, True, id="pattern"),
        pytest.param({"topic_pattern": "^x"}, False, False, id="other_pattern"),
        pytest.param({"assigned": frozenset({("u", 7)})}, False, True, id="assigned"),
        pytest.param({"assigned": frozenset({("x", 0)})}, False, False, id="other_assigned"),
        pytest.param({"assigned": frozenset()}, False, False, id="none_assigned"),
        pytest.param({"excluded_topics": frozenset({"x"})}, False, True, id="other_excluded"),
        pytest.param({"excluded_topics": frozenset({"t", "u"})}, False, False, id="excluded"),
        pytest.param(
            {"assigned": frozenset({("u", 7)}), "excluded_topics": frozenset({"u"})},
            False, False, id="assigned_and_excluded",
        ),
    ],
)  # fmt: skip
def test_one_of_several_topics_is_selected(
    request_: dict[str, Any], everything: bool, u: bool
) -> None:
    request = ReadRequest(**request_)
    assert selects_all(request) is everything
    assert selects_any(request, ["t", "u"]) is u


def test_no_topics_are_selected_only_by_a_request_for_all() -> None:
    assert selects_any(ReadRequest(), [])
    assert not selects_any(ReadRequest(topics=frozenset({"t"})), [])


def test_columns_of_records_keep_their_order() -> None:
    schema = record_schema({"value", "offset", "no such column"})
    assert schema.names == ["value", "offset"], "as in Spark's Kafka source"
    assert schema.field("offset").type == pa.int64()


def test_timestamps_are_microseconds() -> None:
    moment = datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)
    rows = pa.RecordBatch.from_arrays(
        [pa.array([1]), pa.array([moment], pa.timestamp("us", "UTC"))], ["offset", "timestamp"]
    )
    assert plain_rows(rows) == [{"offset": 1, "timestamp": 1_700_000_000_000_000}]
    assert plain_rows(rows.select(["offset"])) == [{"offset": 1}]
