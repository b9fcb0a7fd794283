"""Option values that Python callers may give, and those refused before a file is opened."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import numpy as np
import pytest

from kafkalog_reader import registry
from kafkalog_reader.errors import OptionError
from kafkalog_reader.scan.damage import Mode
from kafkalog_reader.tables.as_of import AsOf
from kafkalog_reader.tables.option_values import parse_as_of

RECORDS = registry.table("records")


@pytest.mark.parametrize(
    ("option", "value", "field", "expected"),
    [
        ("topic", "orders", "topics", {"orders"}),
        ("topic", ["a", "b"], "topics", {"a", "b"}),
        ("partition", 3, "partitions", {3}),
        ("partition", range(2), "partitions", {0, 1}),
        ("broker", np.int64(7), "brokers", {7}),
        ("from_offset", np.int32(5), "from_offset", 5),
        ("from_time", "1970-01-01T00:00:01", "from_timestamp", 1000),
        ("from_time", "-1", "from_timestamp", -1),
        ("to_time", datetime(1970, 1, 1, 1, tzinfo=UTC), "to_timestamp", 3_600_000),
        (
            "to_time",
            datetime(1970, 1, 1, 1, tzinfo=timezone(timedelta(hours=1))),
            "to_timestamp",
            0,
        ),
        ("from_time", date(1970, 1, 2), "from_timestamp", 86_400_000),
        ("from_time", np.datetime64("1970-01-01T00:00:01.234567891"), "from_timestamp", 1234),
        ("to_time", np.datetime64("1970-01-02"), "to_timestamp", 86_400_000),
        ("mode", "permissive", "mode", Mode.PERMISSIVE),
        ("replica", "BROKER:3", "replica", "broker:3"),
    ],
)
def test_values_become_fields_of_the_request(
    option: str, value: Any, field: str, expected: object
) -> None:
    assert getattr(registry.request(RECORDS, **{option: value}), field) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("offset:40", AsOf(offset=40)),
        (" Offset: 40 ", AsOf(offset=40)),
        ("1000", AsOf(timestamp=1000)),
        (1000, AsOf(timestamp=1000)),
        ("1970-01-01T00:00:01Z", AsOf(timestamp=1000)),
        (datetime(1970, 1, 1, 1, tzinfo=UTC), AsOf(timestamp=3_600_000)),
    ],
)
def test_a_moment_is_an_offset_or_a_time(value: Any, expected: AsOf) -> None:
    assert registry.request(registry.table("brokers"), as_of=value).as_of == expected


@pytest.mark.parametrize("value", ["offset:", "offset:-1", "offset:x", "position:4", "", 1.5])
def test_a_moment_that_is_neither_is_refused(value: Any) -> None:
    with pytest.raises(OptionError, match="as_of"):
        registry.request(registry.table("brokers"), as_of=value)


def test_a_moment_that_is_none_names_both_kinds() -> None:
    with pytest.raises(OptionError, match=r"'foo' is not a time: .* milliseconds, or offset:1234"):
        parse_as_of("asOf", "foo")


@pytest.mark.parametrize(
    ("option", "value", "problem"),
    [
        ("topic", 3, "3 is not text"),
        ("partition", "0", "'0' is not a whole number"),
        ("partition", True, "True is not a whole number"),
        ("partition", [0, 1.0], "1.0 is not a whole number"),
        ("from_offset", "3", "'3' is not a whole number"),
        ("from_offset", -1, "-1 is negative"),
        ("from_offset", 2**63, "9223372036854775808 is not an offset"),
        ("to_offset", 10**20, "100000000000000000000 is not an offset"),
        ("limit", 1.5, "1.5 is not a whole number"),
        ("max_partition_bytes", 0, "0 is too few"),
        ("from_time", "yesterday", "'yesterday' is not a time"),
        ("from_time", np.datetime64("NaT"), "is not a time"),
        ("from_time", np.datetime64("20000-01-01"), "is not a time"),
        ("include_control_records", "false", "'false' is neither True nor False"),
        ("replica", "broker:", "'broker:' is not one of all, best, broker:N"),
        ("mode", 1, "1 is not text"),
    ],
)
def test_what_makes_no_sense_is_refused_by_the_name_of_the_option(
    option: str, value: Any, problem: str
) -> None:
    with pytest.raises(OptionError) as caught:
        registry.request(RECORDS, **{option: value})
    assert str(caught.value).startswith(f"option {option}: ")
    assert problem in str(caught.value)
    assert caught.value.spelled("--as-typed").startswith("--as-typed: ")


def test_one_column_may_be_named_without_a_list_and_none_twice() -> None:
    assert registry.request(RECORDS, "offset").columns == ("offset",)
    with pytest.raises(OptionError, match="option columns: key, key: a column is named twice"):
        registry.request(RECORDS, ["key", "key"])
