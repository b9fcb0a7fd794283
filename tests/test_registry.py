"""The list of tables: each can be made, asked and limited."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from kafkalog_reader import registry
from kafkalog_reader.errors import CorruptRecordError, LogPosition, OptionError, UsageError
from kafkalog_reader.report.hidden_text import hidden_lines
from kafkalog_reader.scan.hidden_records import HiddenRecords
from kafkalog_reader.tables.internal_topic_table import InternalTopicTable
from kafkalog_reader.tables.options import OPTIONS

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.mark.parametrize("name", registry.TABLES)
def test_a_table_has_the_name_under_which_it_is_listed(name: str) -> None:
    table = registry.table(name)
    assert table.name == name
    names = [column.name for column in table.columns]
    assert len(set(names)) == len(names) > 0


def hidden_in(topic: str) -> str:
    """What is said of an answer that lacks records of this topic."""
    hidden = HiddenRecords()
    where = LogPosition(f"b/{topic}-0/{0:020}.log", 0, 3)
    hidden.add(CorruptRecordError("bad", where), 5)
    (line,) = hidden_lines(hidden)
    return line


def test_a_table_of_newest_states_has_as_of_and_says_what_damage_hides() -> None:
    tables = [registry.table(name) for name in registry.TABLES]
    states = [each for each in tables if isinstance(each, InternalTopicTable)]
    assert {each.name for each in states} >= {"group_offsets", "share_groups", "transactions"}
    for each in states:
        assert OPTIONS["as_of"].applies_to(each.name), f"add {each.name} to _STATES"
        effect = hidden_in(each.log_topic).partition(": ")[2]
        assert effect != hidden_in("t").partition(": ")[2], f"add {each.log_topic} to _EFFECTS"


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("record", "no table named 'record'. Did you mean 'records'?"),
        ("Batches", "no table named 'Batches'. Did you mean 'batches'?"),
        ("zzzzzzzz", "no table named 'zzzzzzzz'."),
    ],
)
def test_an_unknown_table_is_refused_with_the_nearest_one(name: str, problem: str) -> None:
    with pytest.raises(UsageError) as caught:
        registry.table(name)
    assert str(caught.value) == f"{problem} `kafkalog tables` lists all."


def test_columns_are_checked_before_a_file_is_opened() -> None:
    table = registry.table("records")
    assert registry.request(table).columns is None
    assert registry.request(table, ["offset", "topic"]).columns == ("offset", "topic")
    assert registry.request(table, "offset").columns == ("offset",)
    with pytest.raises(OptionError, match="offset, topic, offset: a column is named twice"):
        registry.request(table, ["offset", "topic", "offset"])
    with pytest.raises(UsageError, match=r"'offsets'.*'offset'"):
        registry.request(table, ["offsets"])
    with pytest.raises(UsageError, match=r"no option named .from_offsets."):
        registry.request(table, from_offsets=3)  # type: ignore[call-arg]  # that is the point


def test_one_reader_takes_a_segment_as_a_whole() -> None:
    """Segments are at most 2 GiB: segment.bytes is a signed 32-bit number."""
    table = registry.table("records")
    assert registry.request(table).max_partition_bytes > 2**31 - 1


def rows(*counts: int) -> Iterator[pa.RecordBatch]:
    """Batches with these numbers of rows, numbered on; reading past them is an error."""
    start = 0
    for count in counts:
        yield pa.RecordBatch.from_pydict({"row": [*range(start, start + count)]})
        start += count
    raise AssertionError("read too far")


@pytest.mark.parametrize(
    ("counts", "limit"), [((3, 2, 4), 1), ((3, 2, 4), 3), ((3, 2, 4), 4), ((3, 0, 4), 7)]
)
def test_a_limit_ends_the_reading_with_its_last_row(counts: tuple[int, ...], limit: int) -> None:
    found = [row for part in registry.limited(rows(*counts), limit) for row in part["row"]]
    assert [row.as_py() for row in found] == [*range(limit)]


@pytest.mark.parametrize("limit", [None, 10, 100])
def test_a_limit_that_is_not_reached_changes_nothing(limit: int | None) -> None:
    parts = registry.limited(rows(3, 2, 4), limit)
    assert [next(parts).num_rows for _ in range(3)] == [3, 2, 4]
    with pytest.raises(AssertionError, match="read too far"):
        next(parts)
