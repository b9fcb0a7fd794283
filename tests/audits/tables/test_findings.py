"""The options of the table ``findings`` in Python and in Spark."""

from __future__ import annotations

import pytest

import kafkalog_reader
from fixtures import captures
from kafkalog_reader.errors import UsageError
from spark_datasource.options import parse_options

STOPPED = captures.path("everything/stopped")


def implausible(**options: object) -> int:
    """The segments of a topic that are reported for timestamps of the year 9999."""
    rows = kafkalog_reader.open(str(STOPPED)).table("findings", topic="timestamps", **options)
    return rows.to_arrow()["code"].to_pylist().count("KL-113")


def test_a_range_of_time_limits_the_work_of_the_table() -> None:
    assert implausible() == implausible(deep=True) == 3
    assert implausible(to_time="1960-01-01") == 1  # the last segment is always read


def test_deep_is_an_option_of_findings_in_spark() -> None:
    options = parse_options({"path": str(STOPPED), "table": "findings", "deep": "true"})
    assert options.request.deep
    with pytest.raises(UsageError, match="deep"):
        parse_options({"path": str(STOPPED), "table": "records", "deep": "true"})
