from __future__ import annotations

from typing import Any

import pytest

from kafkalog_reader.errors import UsageError
from spark_datasource.topic_partitions import (
    is_time,
    parse_assign,
    parse_ending_offsets,
    parse_offsets,
    parse_starting_offsets,
)


def test_assign_names_topic_partitions_as_the_kafka_source_does() -> None:
    assert parse_assign('{"topicA":[0,1],"topicB":[2,4]}') == {
        ("topicA", 0), ("topicA", 1), ("topicB", 2), ("topicB", 4),
    }  # fmt: skip


def test_of_a_name_that_is_there_twice_the_last_value_counts() -> None:
    """As in the Kafka source: tests/oracle/test_both_sources.py, case "starts: 30"."""
    assert parse_assign('{"t": [0], "t": [1]}') == {("t", 1)}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        pytest.param("{}", "names no topic partition", id="nothing"),
        pytest.param('{"a": []}', "names no topic partition", id="no_partition"),
        pytest.param("orders", 'write JSON like {"orders": [0, 1]}', id="no_json"),
        pytest.param("[1]", 'write JSON like {"orders": [0, 1]}', id="no_object"),
        pytest.param("[" * 100_000, "write JSON", id="endless_nesting"),
        pytest.param('{"a": 1}', '{"a": 1}: write topics and their partitions', id="no_list"),
        pytest.param('{"a": [-1]}', '{"a": [-1]}: write topics', id="negative"),
        pytest.param('{"a": [true]}', '{"a": [true]}: write topics', id="boolean"),
        pytest.param('{"a": [2147483648]}', "write topics", id="beyond_int32"),
    ],
)
def test_assign_of_another_shape_is_refused(text: str, problem: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_assign(text)
    assert str(caught.value).startswith("option assign: ")
    assert problem in str(caught.value)


def test_minus_two_and_the_word_mean_no_bound_below() -> None:
    assert parse_starting_offsets("earliest") is None
    assert parse_starting_offsets('{"a":{"0":23,"1":-2},"b":{"0":0}}') == {
        ("a", 0): 23,
        ("a", 1): -2,
        ("b", 0): 0,
    }


def test_minus_one_and_the_word_mean_no_bound_above() -> None:
    assert parse_ending_offsets(" Latest ") is None
    assert parse_ending_offsets('{"a":{"0":50,"1":-1}}') == {("a", 0): 50, ("a", 1): -1}


@pytest.mark.parametrize("parse", [parse_starting_offsets, parse_ending_offsets])
@pytest.mark.parametrize("offset", ["-7", "1.5", '"3"', "null", "true", "9223372036854775808"])
def test_a_number_that_is_not_an_offset_is_refused_with_its_place(parse: Any, offset: str) -> None:
    text = '{"orders": {"2": 5, "3": %s}}' % offset  # noqa: UP031  braces all around
    with pytest.raises(UsageError) as caught:
        parse(text)
    option = "startingOffsets" if parse is parse_starting_offsets else "endingOffsets"
    assert str(caught.value) == (
        f'option {option}: {{"orders": {{"3": {offset}}}}}: '
        "an offset is 0 or greater, -2 (earliest) or -1 (latest)"
    )


@pytest.mark.parametrize("text", ["latest", '{"a": {"0": -1}}'], ids=["word", "number"])
def test_a_batch_cannot_start_at_the_latest_offset(text: str) -> None:
    with pytest.raises(UsageError, match="a batch read ends there; write "):
        parse_starting_offsets(text)


@pytest.mark.parametrize("text", ["earliest", '{"a": {"0": -2}}'], ids=["word", "number"])
def test_nothing_can_end_at_the_earliest_offset(text: str) -> None:
    with pytest.raises(UsageError, match="begins there; write "):
        parse_ending_offsets(text)


@pytest.mark.parametrize("number", ["x", "-1", "2147483648", "٣", ""])
def test_a_key_that_is_not_a_partition_is_refused(number: str) -> None:
    with pytest.raises(UsageError, match="is not a partition number"):
        parse_starting_offsets('{"a": {"%s": 1}}' % number)  # noqa: UP031  braces all around


def test_a_partition_number_may_have_zeros_before_it_and_is_still_bounded() -> None:
    """As Java's Integer.parseInt takes it."""
    greatest = 2**31 - 1
    for text, number in (("0", 0), ("007", 7), (str(greatest), greatest), ("0" * 20 + "5", 5)):
        assert parse_offsets("startingOffsets", f'{{"t": {{"{text}": 3}}}}') == {("t", number): 3}
    for text in (str(greatest + 1), "0" * 20 + str(greatest + 1), "9" * 5000, "0" * 5000, ""):
        with pytest.raises(UsageError, match="is not a partition number"):
            parse_offsets("startingOffsets", f'{{"t": {{"{text}": 3}}}}')


@pytest.mark.parametrize(
    ("time", "is_one"),
    [(-3, False), (-2, True), (-1, True), (0, True), (2**63 - 1, True), (2**63, False)],
)
def test_a_time_is_a_long_of_java_or_an_end_of_the_log(time: int, is_one: bool) -> None:
    assert is_time(time) == is_one


def test_a_word_that_is_not_an_offset_is_answered_with_what_is() -> None:
    with pytest.raises(UsageError) as caught:
        parse_starting_offsets("erliest")
    assert str(caught.value) == (
        "option startingOffsets: erliest: "
        'write earliest or JSON like {"orders": {"0": 23, "1": -2}}'
    )
    with pytest.raises(UsageError) as caught:
        parse_ending_offsets("-1")
    assert str(caught.value) == (
        "option endingOffsets: -1: write latest, highWatermark, lastStableOffset or JSON like "
        '{"orders": {"0": 23, "1": -1}}'
    )


def test_an_offset_is_a_long_of_java() -> None:
    greatest = 2**63 - 1
    assert parse_ending_offsets(f'{{"a": {{"0": {greatest}}}}}') == {("a", 0): greatest}
    with pytest.raises(UsageError, match="an offset is 0 or greater"):
        parse_ending_offsets(f'{{"a": {{"0": {greatest + 1}}}}}')
