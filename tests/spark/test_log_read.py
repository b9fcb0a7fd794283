"""``spark_datasource.read``: columns and filters as options."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import spark_datasource
from kafkalog_reader.errors import KafkaLogError, UsageError
from kafkalog_reader.tables.request import Until
from spark_datasource.options import parse_options

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession


def test_columns_and_filters_become_options(evidence: Path) -> None:
    chosen = (
        spark_datasource.read(None, [str(evidence)])  # type: ignore[arg-type]
        .where(topic=["a", "b"])
        .where(topic="lagging", partition=[0, 1], from_time=5)
        .select("value", "offset")
    )
    options = parse_options(chosen.options)
    assert options.paths == (str(evidence),)
    assert options.columns == ("value", "offset")
    assert options.request.assigned == frozenset({("lagging", 0), ("lagging", 1)})
    assert options.request.topics is None
    assert options.request.from_timestamp == 5
    assert parse_options(chosen.where(topic="b").options).request.topics == frozenset({"b"})


def test_offsets_belong_to_the_partitions_that_are_named_with_them(evidence: Path) -> None:
    begun = spark_datasource.read(None, str(evidence), endingOffsets="latest")  # type: ignore[arg-type]
    chosen = begun.where(topic="t", partition=[0, 1], from_offset=5, to_offset=7)
    request = parse_options(chosen.options).request
    assert request.starting_offsets == {("t", 0): 5, ("t", 1): 5}
    assert request.ending_offsets == {("t", 0): 7, ("t", 1): 7}
    again = parse_options(chosen.where(topic="u").options)
    assert (again.named, again.request.starting_offsets) == ({}, {})
    with pytest.raises(UsageError, match="each partition has its own offsets"):
        begun.where(topic="t", from_offset=5)


def test_filters_follow_each_other(evidence: Path) -> None:
    begun = spark_datasource.read(None, str(evidence), Subscribe="t,u")  # type: ignore[arg-type]
    one = begun.where(partition=1).where(from_offset=5).where(to_time=9)
    request = parse_options(one.options).request
    assert request.assigned == frozenset({("t", 1), ("u", 1)})
    assert request.starting_offsets == {("t", 1): 5, ("u", 1): 5}
    assert request.to_timestamp == 9
    other = parse_options(one.where(topic="v").where(partition=[2]).options).request
    assert (other.assigned, other.starting_offsets) == (frozenset({("v", 2)}), {})


def test_a_word_for_offsets_is_kept_for_another_topic(evidence: Path) -> None:
    """JSON of offsets names the topics chosen before; JSON of times was given for all."""
    begun = spark_datasource.read(
        None,  # type: ignore[arg-type]
        str(evidence),
        endingOffsets="highWatermark",
        startingOffsetsByTimestamp='{"t": {"0": 5}}',
        includeHeaders=True,
    )
    options = begun.where(topic="t").options
    assert options["includeHeaders"] == "true"
    assert options["startingOffsetsByTimestamp"] == '{"t": {"0": 5}}'
    assert parse_options(options).request.until is Until.HIGH_WATERMARK


def test_a_mistake_is_named_before_spark_starts_anything(evidence: Path) -> None:
    begun = spark_datasource.read(None, str(evidence))  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="needs a topic"):
        begun.where(partition=0)
    with pytest.raises(UsageError, match="each partition has its own offsets"):
        begun.where(topic="t").where(from_offset=5)
    with pytest.raises(KafkaLogError, match=r"has no column 'ofset'\. Did you mean 'offset'"):
        begun.select("ofset").to_df()
    with pytest.raises(KafkaLogError, match="no option named 'tabel'"):
        begun.option("tabel", "gaps").to_df()


@pytest.mark.spark
def test_only_the_chosen_rows_and_columns_are_read(spark: SparkSession, evidence: Path) -> None:
    frame = (
        spark_datasource.read(spark, str(evidence), replica="all")
        .where(topic="lagging", partition=1, from_offset=1, to_offset=4)
        .select("offset", "brokerId")
        .to_df()
    )
    assert frame.columns == ["offset", "brokerId"]
    assert sorted(map(tuple, frame.collect())) == [(offset, 1) for offset in range(1, 4)]
