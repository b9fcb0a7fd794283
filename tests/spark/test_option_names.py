"""Names of the options of ``format("kafkalog")``, as Spark gives them."""

from __future__ import annotations

import pytest

from kafkalog_reader import registry
from kafkalog_reader.errors import UsageError
from spark_datasource.option_names import (
    KNOWN,
    OF_STREAMS,
    READING,
    applies,
    canonical,
    check_applicable,
    unused,
    warn_of_unused,
)


def test_names_lose_the_case_they_were_given_in() -> None:
    given = {"PATH": "/a", "startingoffsets": "latest", "FailOnDataLoss": "false"}
    assert canonical(given) == {
        "path": "/a",
        "startingOffsets": "latest",
        "failOnDataLoss": "false",
    }


def test_no_two_names_differ_only_in_case() -> None:
    assert len({name.lower() for name in KNOWN}) == len(KNOWN)


def test_options_without_a_meaning_for_files_are_left_out_and_named() -> None:
    given = {
        "path": "/a", "kafka.bootstrap.servers": "b:9092", "GROUPIDPREFIX": "g",
        "maxOffsetsPerTrigger": "1", "kafka.isolation.level": "read_committed",
    }  # fmt: skip
    kept = {"path": "/a", "kafka.isolation.level": "read_committed"}
    assert canonical(given) == kept
    assert unused(given) == ("GROUPIDPREFIX", "kafka.bootstrap.servers", "maxOffsetsPerTrigger")
    assert unused({"PATH": "/a"}) == ()


def test_more_names_are_known_to_a_stream() -> None:
    given = {"MAXOFFSETSPERTRIGGER": "1"}
    assert canonical(given, *OF_STREAMS) == {"maxOffsetsPerTrigger": "1"}
    assert unused(given, *OF_STREAMS) == ()
    assert canonical(given) == {}


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("tabel", "no option named 'tabel'. Did you mean 'table'?"),
        (
            "kafka.Key.Deserializer",
            "option kafka.Key.Deserializer is refused, as by Spark's Kafka ",
        ),
        (
            "kafka.interceptor.classes",
            "option kafka.interceptor.classes is refused, as by Spark's ",
        ),
        ("%%%", "no option named '%%%'. There are: path, paths, "),
        ("topic", "no option named 'topic': here it is 'subscribe'"),
        ("topics", "no option named 'topics': here it is 'subscribe'"),
        ("partitions", "no option named 'partitions': here it is 'assign'"),
        ("offset", "no option named 'offset': use 'startingOffsets' and 'endingOffsets'"),
        ("brokerId", "no option named 'brokerId': use 'replica', such as broker:2"),
        ("cluster", "no option named 'cluster': here it is 'clusterId'"),
        ("From_Time", "no option named 'From_Time': here it is 'fromTime'"),
        ("limit", "no option named 'limit': use limit() of the DataFrame"),
        ("groupIdPrefixes", "no option named 'groupIdPrefixes'. "),
    ],
)
def test_other_names_are_refused(name: str, problem: str) -> None:
    with pytest.raises(UsageError) as caught:
        canonical({"path": "/a", name: "x"})
    assert str(caught.value).startswith(problem)


def test_all_refused_names_are_in_one_message() -> None:
    with pytest.raises(UsageError) as caught:
        canonical({"tabel": "x", "kafka.enable.auto.commit": "true", "path": "/a"})
    assert str(caught.value).count("; ") == 1


def test_the_options_that_there_are_are_listed_once() -> None:
    with pytest.raises(UsageError) as caught:
        canonical({"%%%": "x", "tabel": "x", "&&&": "x", "path": "/a"})
    names, listed = str(caught.value).split(". There are: ")
    assert names == (
        "no option named '%%%'; no option named 'tabel'. Did you mean 'table'?; "
        "no option named '&&&'"
    )
    assert listed.split(", ")[:2] == ["path", "paths"]


@pytest.mark.parametrize(
    ("name", "has", "lacks"),
    [
        ("startingOffsets", "batches", "segments"),
        ("endingOffsets", "records", "findings"),
        ("includeHeaders", "records", "batches"),
        ("maxOffsetsPerTrigger", "records", "batches"),
        ("kafka.isolation.level", "records", "batches"),
        ("replica", "gaps", "segments"),
    ],
)
def test_options_belong_to_some_tables(name: str, has: str, lacks: str) -> None:
    assert applies(name, registry.table(has))
    assert not applies(name, registry.table(lacks))
    check_applicable({name: "x"}, registry.table(has))


@pytest.mark.parametrize("name", ["path", "table", "subscribe", "minPartitions", "mode"])
def test_some_options_are_of_every_table(name: str) -> None:
    assert all(applies(name, table) for table in map(registry.table, registry.TABLES))


def test_options_of_other_tables_are_refused_together() -> None:
    table = registry.table("segments")
    with pytest.raises(UsageError) as caught:
        check_applicable({"path": "/a", "includeHeaders": "true"}, table)
    assert str(caught.value) == "option includeHeaders does not apply to table segments"
    with pytest.raises(UsageError) as caught:
        check_applicable({"replica": "best", "path": "/a", "logRange": "x"}, table)
    assert str(caught.value) == "options replica, logRange do not apply to table segments"


def test_options_of_reading_are_known_by_their_names_in_spark() -> None:
    assert READING["fromTime"] == "from_time"
    assert READING["kafka.isolation.level"] == "isolation"
    assert set(READING) <= set(KNOWN)


def test_unused_options_are_named_with_the_reason(caplog: pytest.LogCaptureFixture) -> None:
    """Spark passes names in lower case."""
    warn_of_unused(("groupidprefix", "maxoffsetspertrigger"))
    assert caplog.messages == [
        "ignored, because kafkalog reads files and contacts no broker: groupIdPrefix",
        "ignored, because only streams have triggers: maxOffsetsPerTrigger",
    ]
    caplog.clear()
    warn_of_unused(())
    assert caplog.messages == []
