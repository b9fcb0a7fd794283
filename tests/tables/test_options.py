"""The one table of options: which tables have them, and how values become a request."""

from __future__ import annotations

from dataclasses import fields as fields_of
from typing import Any

import pytest

from kafkalog_reader import registry
from kafkalog_reader.errors import OptionError, UsageError
from kafkalog_reader.scan.damage import Mode
from kafkalog_reader.tables.options import CONSUMER_VIEW, OPTIONS, fields
from kafkalog_reader.tables.request import ReadRequest


def test_values_become_fields_of_the_request() -> None:
    found = fields(
        "records",
        {"topic": "t", "partition": 0, "from_offset": 5, "to_time": 1000, "mode": "permissive",
         "max_batch_bytes": "1k", "limit": None},
    )  # fmt: skip
    assert found == {
        "topics": frozenset({"t"}), "partitions": frozenset({0}), "from_offset": 5,
        "to_timestamp": 1000, "mode": Mode.PERMISSIVE, "max_batch_bytes": 1024,
    }  # fmt: skip
    assert ReadRequest(**found).selects("t", 0)


def test_none_is_not_given_but_zero_and_false_are() -> None:
    assert fields("records", {"last": None, "isolation": None}) == {}
    given: dict[str, Any] = {"last": 0, "include_control_records": False, "to_offset": 0}
    assert fields("records", given) == given


def test_unknown_option_is_refused_with_the_nearest() -> None:
    with pytest.raises(UsageError) as caught:
        fields("records", {"form_offset": 5})
    assert str(caught.value) == "no option named 'form_offset'. Did you mean 'from_offset'?"


@pytest.mark.parametrize(
    ("option", "value", "has", "lacks"),
    [
        ("from_offset", 5, "batches", "gaps"),
        ("from_time", 5, "findings", "batches"),
        ("last", 5, "records", "batches"),
        ("replica", "best", "gaps", "segments"),
        ("deep", True, "findings", "records"),
        ("rule", "current", "elections", "recoveries"),
        ("started_at", 5, "recoveries", "records"),
        ("as_of", 5, "transactions", "cluster_metadata"),
        ("max_batch_bytes", 5, "gaps", "segments"),
    ],
)
def test_option_belongs_to_some_tables(option: str, value: object, has: str, lacks: str) -> None:
    assert len(fields(has, {option: value})) == 1
    with pytest.raises(OptionError) as caught:
        fields(lacks, {option: value})
    assert (caught.value.option, caught.value.problem) == (
        option, f"does not apply to table {lacks}",
    )  # fmt: skip
    assert OPTIONS[option].applies_to(has)
    assert not OPTIONS[option].applies_to(lacks)


@pytest.mark.parametrize("option", ["topic", "partition", "broker", "limit", "mode"])
def test_some_options_are_of_every_table(option: str) -> None:
    assert all(OPTIONS[option].applies_to(name) for name in registry.TABLES)


def test_each_option_is_a_field_and_names_tables_that_exist() -> None:
    known = {field.name for field in fields_of(ReadRequest)}
    for name, option in OPTIONS.items():
        assert option.field in known, name
        assert (option.tables or set()) <= set(registry.TABLES), name


def test_meanings_lack_their_full_stop_and_names_in_spark_are_unique() -> None:
    for name, option in OPTIONS.items():
        assert option.meaning, name
        assert not option.meaning.endswith("."), name
    spark = [option.spark for option in OPTIONS.values() if option.spark is not None]
    assert len(spark) == len(set(spark))


def test_consumer_sees_each_record_once_from_the_log_start() -> None:
    request = ReadRequest(**fields("records", CONSUMER_VIEW))
    assert request == ReadRequest(
        replica="best", log_range_only=True, include_control_records=False
    )
