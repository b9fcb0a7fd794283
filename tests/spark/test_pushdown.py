"""The part of a pushed filter that becomes the request keeps every value that the filter keeps."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import pyspark.sql.datasource
import pytest
from hypothesis import given
from hypothesis import strategies as st

if not hasattr(pyspark.sql.datasource, "Filter"):  # only in the matrix: make spark-matrix
    pytest.skip("Spark 4.0 hands no filters down", allow_module_level=True)

from pyspark.sql.datasource import (
    EqualNullSafe,
    EqualTo,
    Filter,
    GreaterThan,
    GreaterThanOrEqual,
    In,
    IsNotNull,
    IsNull,
    LessThan,
    LessThanOrEqual,
    Not,
    StringStartsWith,
)

from kafkalog_reader import registry
from kafkalog_reader.errors import KafkaLogError
from kafkalog_reader.tables.request import ReadRequest
from spark_datasource.options import parse_options
from spark_datasource.pushdown import ONE_REPLICA_TABLES, FilteringReader, is_exact, narrow
from tests.tables.logs import batch, write_segment

if TYPE_CHECKING:
    from pathlib import Path

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
COMPARISONS: dict[type[Filter], Any] = {
    EqualTo: lambda a, b: a == b,
    EqualNullSafe: lambda a, b: a == b,
    GreaterThan: lambda a, b: a > b,
    GreaterThanOrEqual: lambda a, b: a >= b,
    LessThan: lambda a, b: a < b,
    LessThanOrEqual: lambda a, b: a <= b,
    In: lambda a, b: a in b,
}


def passes(pushed: Filter, value: object) -> bool:
    return bool(COMPARISONS[type(pushed)](value, pushed.value))


def filters_on(column: str, values: st.SearchStrategy[Any]) -> st.SearchStrategy[Filter]:
    single = st.sampled_from([kind for kind in COMPARISONS if kind is not In])
    several = st.lists(values, min_size=1, max_size=3)
    return st.builds(lambda kind, value: kind((column,), value), single, values) | several.map(
        lambda chosen: In((column,), chosen)
    )


LONGS = st.integers(min_value=-(2**63), max_value=2**63 - 1) | st.integers(-3, 3)
INTS = st.integers(min_value=-(2**31), max_value=2**31 - 1) | st.integers(-3, 3)
MOMENTS = st.datetimes(timezones=st.just(UTC)) | st.integers(-2500, 2500).map(
    lambda us: EPOCH + timedelta(microseconds=us)
)


@given(pushed=filters_on("offset", LONGS), offset=st.integers(0, 2**63 - 2) | st.integers(0, 3))
def test_no_offset_that_passes_is_left_out(pushed: Filter, offset: int) -> None:
    narrowed = narrow("records", ReadRequest(), pushed)
    assert narrowed is not None
    low, high = narrowed.offsets_of("t", 0)
    assert (low <= offset and (high is None or offset < high)) or not passes(pushed, offset)


@given(pushed=filters_on("leaderEpoch", INTS), leader_epoch=INTS)
def test_no_leader_epoch_that_passes_is_left_out(pushed: Filter, leader_epoch: int) -> None:
    narrowed = narrow("records", ReadRequest(), pushed)
    assert narrowed is not None
    low, high = narrowed.min_leader_epoch, narrowed.max_leader_epoch
    is_read = (low is None or low <= leader_epoch) and (high is None or leader_epoch <= high)
    assert is_read or not passes(pushed, leader_epoch)


@given(
    pushed=filters_on("timestamp", MOMENTS),
    timestamp=st.integers(-62_135_596_800_000, 253_402_300_799_999) | st.integers(-3, 3),
)
def test_no_timestamp_that_passes_is_left_out(pushed: Filter, timestamp: int) -> None:
    narrowed = narrow("records", ReadRequest(), pushed)
    assert narrowed is not None
    low, high = narrowed.from_timestamp, narrowed.to_timestamp
    is_read = (low is None or low <= timestamp) and (high is None or timestamp < high)
    if is_read == passes(pushed, EPOCH + timedelta(milliseconds=timestamp)):
        return
    assert is_read  # rows that Spark filters later are allowed, lost rows are not
    assert isinstance(pushed, In) or pushed.value.microsecond % 1000 != 0


def test_microseconds_between_two_milliseconds_are_rounded_away_from_the_rows() -> None:
    between = EPOCH + timedelta(microseconds=1500)
    bounds = {
        kind: narrow("records", ReadRequest(), kind(("timestamp",), between))
        for kind in (GreaterThan, GreaterThanOrEqual, LessThan, LessThanOrEqual)
    }
    assert {kind: (r.from_timestamp, r.to_timestamp) for kind, r in bounds.items() if r} == {
        GreaterThan: (2, None),
        GreaterThanOrEqual: (2, None),
        LessThan: (None, 2),
        LessThanOrEqual: (None, 2),
    }


def test_a_time_in_another_zone_is_the_same_moment() -> None:
    elsewhere = datetime(1970, 1, 1, 2, tzinfo=timezone(timedelta(hours=2)))
    narrowed = narrow("records", ReadRequest(), GreaterThanOrEqual(("timestamp",), elsewhere))
    assert narrowed == ReadRequest(from_timestamp=0)


def test_filters_add_up() -> None:
    request = ReadRequest()
    for pushed in (
        In(("topic",), ["a", "b", None]),
        EqualTo(("topic",), "b"),
        In(("partition",), [1, 2]),
        EqualNullSafe(("brokerId",), 3),
        GreaterThan(("offset",), 10),
        LessThanOrEqual(("offset",), 20),
        GreaterThanOrEqual(("offset",), 5),
    ):
        request = narrow("records", request, pushed) or pytest.fail(str(pushed))
        assert is_exact("records", pushed) == (pushed.attribute[0] != "offset")
    assert request == ReadRequest(
        topics=frozenset({"b"}),
        partitions=frozenset({1, 2}),
        brokers=frozenset({3}),
        from_offset=11,
        to_offset=21,
    )


@pytest.mark.parametrize(
    ("pushed", "bounds"),
    [
        (In(("offset",), [7, 3, 5]), (3, 8)),
        (In(("offset",), [7, None]), (7, 8)),
        (EqualTo(("offset",), 0), (0, 1)),
        (EqualTo(("offset",), -1), (0, 0)),
        (GreaterThan(("offset",), 2**63 - 1), (2**63 - 1, None)),
        (GreaterThanOrEqual(("offset",), -(2**63)), (None, None)),
        (GreaterThanOrEqual(("offset",), 1 - 2**63), (0, None)),
        (LessThan(("offset",), 0), (None, 0)),
        (LessThan(("offset",), -(2**63)), (None, 0)),
        (LessThanOrEqual(("offset",), 2**63 - 1), (None, None)),
        (LessThanOrEqual(("offset",), 2**63 - 2), (None, 2**63 - 1)),
    ],
    ids=repr,
)
def test_offsets_that_pass_are_in_a_half_open_range(
    pushed: Filter, bounds: tuple[int | None, int | None]
) -> None:
    narrowed = narrow("records", ReadRequest(), pushed)
    assert narrowed is not None
    assert (narrowed.from_offset, narrowed.to_offset) == bounds


@pytest.mark.parametrize(
    ("pushed", "bounds"),
    [
        (GreaterThanOrEqual(("leaderEpoch",), -(2**31)), (None, None)),
        (GreaterThanOrEqual(("leaderEpoch",), 1 - 2**31), (1 - 2**31, None)),
        (GreaterThan(("leaderEpoch",), 2**31 - 1), (2**31 - 1, None)),
        (LessThanOrEqual(("leaderEpoch",), 2**31 - 1), (None, None)),
        (LessThanOrEqual(("leaderEpoch",), 2**31 - 2), (None, 2**31 - 2)),
        (LessThan(("leaderEpoch",), -(2**31)), (None, -(2**31))),
        (In(("leaderEpoch",), [7, 3]), (3, 7)),
    ],
    ids=repr,
)
def test_leader_epochs_that_pass_are_those_of_an_int(
    pushed: Filter, bounds: tuple[int | None, int | None]
) -> None:
    """A bound at the limit of Java's int excludes nothing."""
    narrowed = narrow("records", ReadRequest(), pushed)
    assert narrowed is not None
    assert (narrowed.min_leader_epoch, narrowed.max_leader_epoch) == bounds


def test_null_in_a_list_of_times_leaves_the_other_times() -> None:
    moments = [None, EPOCH, None, EPOCH + timedelta(milliseconds=4)]
    narrowed = narrow("records", ReadRequest(), In(("timestamp",), moments))
    assert narrowed == ReadRequest(from_timestamp=0, to_timestamp=5)


def test_the_first_millisecond_after_a_bound_is_not_read() -> None:
    """Ten million seconds: a divisor that is off by one reads hours more."""
    at = EPOCH + timedelta(seconds=10_000_000)
    narrowed = narrow("records", ReadRequest(), LessThanOrEqual(("timestamp",), at))
    assert narrowed == ReadRequest(to_timestamp=10_000_000_001)
    narrowed = narrow("records", ReadRequest(), GreaterThanOrEqual(("timestamp",), at))
    assert narrowed == ReadRequest(from_timestamp=10_000_000_000)


@pytest.mark.parametrize("column", ["offset", "leaderEpoch", "timestamp"])
def test_null_is_in_no_list_so_that_nothing_passes(column: str) -> None:
    narrowed = narrow("records", ReadRequest(), In((column,), [None]))
    assert narrowed is not None
    low, high = {
        "offset": (narrowed.from_offset, narrowed.to_offset),
        "leaderEpoch": (narrowed.min_leader_epoch, narrowed.max_leader_epoch),
        "timestamp": (narrowed.from_timestamp, narrowed.to_timestamp),
    }[column]
    assert low is not None
    assert high is not None
    assert low > high


COMPARING = {
    "partitions", "findings", "recoveries", "divergence", "elections", "group_elections",
    "open_transactions",
}  # fmt: skip
"""Tables of what several replicas say together."""
BY_RECORDS = {
    "group_offsets", "group_commits", "groups", "group_members", "group_generations",
    "share_groups", "transactions", "cluster_metadata", "partition_states", "brokers",
    "topic_configs",
}  # fmt: skip
"""Tables of what the best copy of an internal topic says."""


def test_every_table_is_known_to_narrow_by_broker_or_not_to() -> None:
    decided = ONE_REPLICA_TABLES | COMPARING | BY_RECORDS
    assert set(registry.TABLES) == decided, "decide in ONE_REPLICA_TABLES, or here"
    assert len(decided) == len(ONE_REPLICA_TABLES) + len(COMPARING) + len(BY_RECORDS)


def test_a_narrower_filter_wins_whichever_comes_first() -> None:
    def of(*filters: Filter) -> ReadRequest:
        request = ReadRequest()
        for pushed in filters:
            request = narrow("records", request, pushed) or pytest.fail(str(pushed))
        return request

    epochs = [GreaterThan(("leaderEpoch",), 2), GreaterThanOrEqual(("leaderEpoch",), 5)]
    epochs += [LessThan(("leaderEpoch",), 9), LessThanOrEqual(("leaderEpoch",), 7)]
    expected = ReadRequest(min_leader_epoch=5, max_leader_epoch=7)
    assert of(*epochs) == of(*reversed(epochs)) == expected
    times = [
        kind(("timestamp",), EPOCH + timedelta(milliseconds=at))
        for kind, at in (
            (GreaterThan, 2), (GreaterThanOrEqual, 5), (LessThan, 9), (LessThanOrEqual, 7),
        )
    ]  # fmt: skip
    assert of(*times) == of(*reversed(times)) == ReadRequest(from_timestamp=5, to_timestamp=8)


@pytest.mark.parametrize(
    "pushed",
    [
        Not(EqualTo(("topic",), "a")),
        IsNull(("topic",)),
        IsNotNull(("topic",)),
        EqualNullSafe(("topic",), None),
        EqualNullSafe(("timestamp",), None),
        IsNotNull(("leaderEpoch",)),
        IsNull(("offset",)),
        StringStartsWith(("topic",), "a"),
        EqualTo(("headers", "key"), "a"),
        EqualTo(("key",), b"a"),
        EqualTo(("partition",), True),
        GreaterThan(("partition",), 1),
        GreaterThan(("timestamp",), datetime(2026, 1, 1)),  # noqa: DTZ001  Spark's timestamp_ntz
    ],
    ids=repr,
)
def test_a_filter_that_is_not_understood_stays_with_spark(pushed: Filter) -> None:
    assert narrow("records", ReadRequest(), pushed) is None


def test_the_best_copy_is_chosen_among_all_brokers() -> None:
    assert narrow("records", ReadRequest(replica="best"), EqualTo(("brokerId",), 1)) is None


@pytest.mark.parametrize("table", ["partitions", "findings", "a_table_of_tomorrow"])
def test_tables_that_compare_replicas_see_all_of_them(table: str) -> None:
    assert narrow(table, ReadRequest(), EqualTo(("brokerId",), 1)) is None


def test_offset_and_timestamp_mean_something_else_in_other_tables() -> None:
    assert narrow("offset_index", ReadRequest(), EqualTo(("offset",), 1)) is None
    assert narrow("time_index", ReadRequest(), GreaterThan(("timestamp",), EPOCH)) is None


def test_only_records_vouch_for_what_they_left_out() -> None:
    pushed = EqualTo(("topic",), "a")
    assert narrow("checkpoints", ReadRequest(), pushed) == ReadRequest(topics=frozenset({"a"}))
    assert not is_exact("checkpoints", pushed)


@pytest.mark.parametrize("column", ["offset", "timestamp"])
def test_columns_that_are_never_null_need_no_test(column: str) -> None:
    pushed = IsNotNull((column,))
    assert narrow("records", ReadRequest(), pushed) == ReadRequest()
    assert is_exact("records", pushed)
    assert not is_exact("batches", pushed)


def test_spark_applies_what_a_reader_does_not(tmp_path: Path) -> None:
    write_segment(tmp_path / "t-0", [batch(0, 3)])
    write_segment(tmp_path / "u-0", [batch(0, 3)])
    reader = FilteringReader(parse_options({"path": str(tmp_path)}), ("topic", "offset"))
    topic, offset = EqualTo(("topic",), "t"), GreaterThan(("offset",), 0)
    unknown, null = Not(EqualTo(("key",), b"a")), IsNotNull(("offset",))
    assert list(reader.pushFilters([unknown, topic, offset, null])) == [unknown, offset]
    (task,) = reader.partitions()
    rows = [each for found in reader.read(task) for each in found.to_pylist()]
    assert [(row["topic"], row["offset"]) for row in rows] == [("t", 1), ("t", 2)]


def test_a_pushed_limit_ends_each_task(tmp_path: Path) -> None:
    write_segment(tmp_path / "t-0", [batch(0)])
    damaged = write_segment(tmp_path / "t-0", [batch(3)], base_offset=3)
    damaged.write_bytes(damaged.read_bytes()[:-1] + b"\xff")  # reading on fails there

    def offsets(limit: int) -> list[int]:
        reader = FilteringReader(parse_options({"path": str(tmp_path)}), ("offset",))
        assert reader.pushLimit(limit)
        (task,) = reader.partitions()
        return [each for rows in reader.read(task) for each in rows["offset"].to_pylist()]

    assert offsets(2) == [0, 1]
    with pytest.raises(KafkaLogError, match="offset 3"):
        offsets(4)
