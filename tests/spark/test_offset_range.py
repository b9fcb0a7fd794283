"""Start and end of reads: the meaning of the options of Spark's Kafka source for files."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from fixtures.builder import EPOCH_MILLIS, cluster, data_batch, marker_batch, replica
from kafkalog_reader.errors import KafkaLogError, OptionError
from kafkalog_reader.format.batch_fields import TRANSACTIONAL_BIT
from kafkalog_reader.format.control_record import ControlType
from kafkalog_reader.format.record import Record
from spark_datasource.offset_range import check_named, parse_offset_range
from spark_datasource.source import KafkaLogDataSource

if TYPE_CHECKING:
    from pathlib import Path

TIMES = [0, 10, 5, 20, 15, 30, 25, 40, 35, 50]
"""Timestamps of offsets 0 to 9 in milliseconds after EPOCH_MILLIS; they do not only rise."""


def batch(first: int, count: int, **options: Any) -> Any:
    return data_batch(
        first,
        [
            Record(offset_delta=n, timestamp_delta=TIMES[first + n] - TIMES[first], value=b"v")
            for n in range(count)
        ],
        base_timestamp=EPOCH_MILLIS + TIMES[first],
        **options,
    )


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Partition 0: offsets 0 to 9 in segments of two batches, log start 2, high watermark 8.

    Partition 1: offset 0, from long before.
    """
    cluster(
        tmp_path,
        {
            1: [
                replica(
                    [batch(first, 2) for first in range(0, 10, 2)],
                    segment_bytes=160,
                    log_start=2,
                    high_watermark=8,
                ),
                replica([batch(0, 1)], partition=1, high_watermark=1),
            ]
        },
    )
    return tmp_path


def read(path: Path, **options: str) -> dict[int, list[int]]:
    """The offsets that a read shows, by partition."""
    source = KafkaLogDataSource({"path": str(path), **options})
    reader = source.reader(source.schema())
    found: dict[int, list[int]] = {0: [], 1: []}
    for task in reader.partitions():
        for rows in reader.read(task):
            for row in rows.to_pylist():
                found[row["partition"]].append(row["offset"])
    return found


def of(first: object, second: object) -> str:
    return json.dumps({"t": {"0": first, "1": second}})


def at(milliseconds: int) -> str:
    return str(EPOCH_MILLIS + milliseconds)


def refused(path: Path, **options: str) -> str:
    with pytest.raises(KafkaLogError) as caught:
        read(path, **options)
    return str(caught.value)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        pytest.param({}, [*range(2, 10)], id="all"),
        pytest.param({"startingOffsets": of(4, -2)}, [*range(4, 10)], id="offsets"),
        pytest.param({"endingOffsets": of(4, -1)}, [2, 3], id="ending_offsets"),
        pytest.param({"startingTimestamp": at(0)}, [*range(2, 10)], id="below_the_log_start"),
        # the first record at or after that time is offset 3; later ones may be older
        pytest.param({"startingTimestamp": at(16)}, [*range(3, 10)], id="time"),
        pytest.param({"startingTimestamp": at(20)}, [*range(3, 10)], id="that_time"),
        pytest.param({"startingTimestamp": at(31)}, [*range(7, 10)], id="later"),
        pytest.param({"endingTimestamp": at(31)}, [*range(2, 7)], id="ending_time"),
        pytest.param({"endingTimestamp": at(51)}, [*range(2, 10)], id="ends_after_all"),
        pytest.param(
            {"startingTimestamp": at(31), "startingOffsets": of(2, 0)},
            [*range(7, 10)],
            id="a_time_counts_before_offsets",
        ),
        pytest.param({"until": "highWatermark"}, [*range(2, 8)], id="high_watermark"),
        pytest.param({"until": "lastStableOffset"}, [*range(2, 8)], id="last_stable_offset"),
        pytest.param({"endingOffsets": "HighWatermark"}, [*range(2, 8)], id="ending_with_it"),
        pytest.param({"logRange": "all"}, [*range(10)], id="below_the_log_start_too"),
    ],
)
def test_both_ends_of_a_read(log: Path, options: dict[str, str], expected: list[int]) -> None:
    if "startingTimestamp" in options:  # partition 1 has no record from then on
        options = {"startingOffsetsByTimestampStrategy": "latest", **options}
    assert read(log, **options)[0] == expected


def test_all_of_the_log_begins_with_its_first_segment(log: Path) -> None:
    everything = {"logRange": "all"}
    assert read(log, **everything, startingOffsets=of(1, 0))[0] == [*range(1, 10)]
    assert read(log, **everything, endingOffsets=of(1, 1))[0] == [0]
    assert read(log, **everything, startingTimestamp="-2")[0] == [*range(10)]
    first, _ = sorted(log.glob("*/t-0/*.log"))[:2]
    first.unlink()
    problem = refused(log, **everything, startingOffsets=of(1, 0))
    assert "option startingOffsets: t-0: 1 is below the first segment, 4" in problem


def test_a_time_is_looked_up_below_the_log_start_if_that_is_read(log: Path) -> None:
    options = {"startingOffsetsByTimestamp": json.dumps({"t": {"0": int(at(0)), "1": 0}})}
    assert read(log, **options)[0] == [*range(2, 10)]
    assert read(log, **options, logRange="all")[0] == [*range(10)]


def test_two_times_are_either_end_of_the_log(log: Path) -> None:
    assert read(log, startingTimestamp="-2") == {0: [*range(2, 10)], 1: [0]}
    assert read(log, startingTimestamp="-1") == {0: [], 1: []}
    assert read(log, endingTimestamp="-1") == {0: [*range(2, 10)], 1: [0]}
    assert read(log, endingTimestamp="-2") == {0: [], 1: []}


def test_every_partition_has_its_own_time(log: Path) -> None:
    times = json.dumps({"t": {"0": int(at(31)), "1": 0}})
    assert read(log, startingOffsetsByTimestamp=times) == {0: [7, 8, 9], 1: [0]}
    assert read(log, endingOffsetsByTimestamp=times) == {0: [2, 3, 4, 5, 6], 1: []}


def test_a_time_after_all_records_is_refused_or_the_end(log: Path) -> None:
    problem = refused(log, startingTimestamp=at(60))
    assert f"option startingTimestamp: t-0 has no record at or after {at(60)} (millisec" in problem
    nothing = read(log, startingTimestamp=at(60), startingOffsetsByTimestampStrategy="LATEST")
    assert nothing == {0: [], 1: []}


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        pytest.param(
            {"startingOffsets": json.dumps({"t": {"0": 2}})},
            "option startingOffsets: nothing for t-1. Name every topic partition: -2 is",
            id="not_all_named",
        ),
        pytest.param(
            {"endingOffsetsByTimestamp": json.dumps({"t": {"1": 2}})},
            "option endingOffsetsByTimestamp: nothing for t-0. Name every topic partition",
            id="not_all_times",
        ),
        pytest.param(
            {"startingOffsets": of(1, 0)},
            "option startingOffsets: t-0: 1 is below the log start, 2. failOnDataLoss=false reads",
            id="below_the_log_start",
        ),
        pytest.param(
            {"startingOffsets": of(11, 0)},
            "option startingOffsets: t-0: 11 is beyond the end of the log, 10",
            id="beyond_the_end",
        ),
        pytest.param(
            {"startingOffsets": of(9, 0), "until": "highWatermark"},
            "option startingOffsets: t-0: 9 is beyond the end of the log, 8",
            id="beyond_the_high_watermark",
        ),
        pytest.param(
            {"endingOffsets": of(11, 1)},
            "option endingOffsets: t-0: 11 is beyond the end of the log, 10. failOnDataLoss=false",
            id="ends_beyond_the_end",
        ),
        pytest.param(
            {"startingOffsets": of(5, 0), "endingOffsets": of(4, 0)},
            "option startingOffsets: t-0 would start at 5, above its ending offset 4",
            id="start_above_end",
        ),
        pytest.param(
            {"endingOffsets": of(1, 0)},
            "option endingOffsets: t-0 would start at 2, above its ending offset 1",
            id="ends_below_the_log_start",
        ),
        pytest.param(
            {"startingTimestamp": "-3"},
            "option startingTimestamp: '-3' is not a time",
            id="a_time_reserved_by_brokers",
        ),
        pytest.param(
            {"startingTimestamp": str(2**63)},
            f"option startingTimestamp: '{2**63}' is not a time",
            id="too_large_a_time",
        ),
        pytest.param(
            {"startingTimestamp": at(31), "endingOffsets": of(4, 1)},
            "option startingTimestamp: t-0 would start at 7, above its ending offset 4",
            id="time_after_the_ending_offset",
        ),
        pytest.param(
            {"startingTimestamp": "noon"},
            "option startingTimestamp: 'noon' is not a time: a time is in milliseconds, or -2",
            id="not_a_time",
        ),
        pytest.param(
            {"startingOffsetsByTimestamp": '{"t": {"0": 1.5}}'},
            'option startingOffsetsByTimestamp: {"t": {"0": 1.5}}: a time is in milliseconds',
            id="half_a_millisecond",
        ),
        pytest.param(
            {"startingOffsetsByTimestampStrategy": "ignore"},
            "option startingOffsetsByTimestampStrategy: 'ignore' is neither error nor latest",
            id="strategy",
        ),
        pytest.param(
            {"until": "end"},
            "option until: 'end' is not one of logEnd, highWatermark, lastStableOffset",
            id="until",
        ),
        pytest.param(
            {"until": "logEnd", "endingOffsets": "highWatermark"},
            "option until: endingOffsets says where logs end: give one of them",
            id="two_ends",
        ),
        pytest.param(
            {"logRange": "some"},
            "option logRange: 'some' is neither consumer nor all",
            id="log_range",
        ),
        pytest.param(
            {"maxRecordsPerPartition": "0"},
            "option maxRecordsPerPartition: '0' is not a number from 1 to",
            id="no_records",
        ),
    ],
)
def test_what_the_kafka_source_refuses_is_refused(
    log: Path, options: dict[str, str], problem: str
) -> None:
    assert problem in refused(log, **options)


@pytest.mark.parametrize(
    ("missing", "named"),
    [
        (1, "t-0. Name"),
        (5, "t-0, t-1, t-2, t-3, t-4. Name"),
        (6, "t-0, t-1, t-2, t-3, t-4 and 1 more. Name"),
        (12, "t-0, t-1, t-2, t-3, t-4 and 7 more. Name"),
    ],
)
def test_five_partitions_that_were_left_out_are_named(missing: int, named: str) -> None:
    everything = [("t", number) for number in range(missing)]
    given = {"startingOffsets": frozenset({("t", missing)})}
    with pytest.raises(OptionError) as caught:
        check_named(given, [*everything, ("t", missing)])
    assert str(caught.value) == (
        f"option startingOffsets: nothing for {named} every topic partition: "
        "-2 is the earliest offset"
    )
    with pytest.raises(OptionError, match=r"every topic partition: -1 is the latest offset$"):
        check_named({"endingOffsets": frozenset()}, everything)
    check_named({"startingOffsets": frozenset(everything)}, everything)
    with pytest.raises(OptionError, match=r"Name every topic partition$"):
        check_named({"startingOffsetsByTimestamp": frozenset()}, everything)


def test_without_fail_on_data_loss_the_read_shows_what_is_there(
    log: Path, caplog: pytest.LogCaptureFixture
) -> None:
    found = read(
        log, startingOffsets=of(1, 0), endingOffsets=of(12, 1), failOnDataLoss="false"
    )  # fmt: skip
    assert found == {0: [*range(2, 10)], 1: [0]}
    assert "option startingOffsets: t-0: 1 is below the log start, 2" in caplog.messages
    assert "option endingOffsets: t-0: 12 is beyond the end of the log, 10" in caplog.messages
    assert "beyond the end" in refused(log, startingOffsets=of(12, 0), failOnDataLoss="false")
    beyond = read(log, startingOffsets=of(12, 0), endingOffsets=of(14, 1), failOnDataLoss="false")
    assert beyond == {0: [], 1: [0]}


def test_records_that_are_gone_are_a_warning_then(
    log: Path, caplog: pytest.LogCaptureFixture
) -> None:
    sorted(log.glob("*/t-0/*.log"))[1].unlink()
    assert "offsets 4 to 7 are missing" in refused(log)
    assert read(log, failOnDataLoss="false")[0] == [2, 3, 8, 9]
    assert any("offsets 4 to 7 are missing" in message for message in caplog.messages)


@pytest.mark.parametrize("count", [1, 2, 3, 100])
def test_a_task_reads_no_more_records_than_asked(log: Path, count: int) -> None:
    source = KafkaLogDataSource({"path": str(log), "maxRecordsPerPartition": str(count)})
    reader = source.reader(source.schema())
    sizes = [
        sum(rows.num_rows for rows in reader.read(task)) for task in reader.partitions()
    ]  # fmt: skip
    assert sum(sizes) == 9
    assert max(sizes) <= count
    assert len(sizes) == len([*range(2, 10, count)]) + 1


def test_read_committed_ends_at_the_last_stable_offset_of_what_is_committed(
    tmp_path: Path,
) -> None:
    producer = {"producer_id": 7, "producer_epoch": 0, "flags": TRANSACTIONAL_BIT}
    open_one = [
        batch(0, 2),
        batch(2, 2, **producer),
        marker_batch(4, control_type=ControlType.COMMIT, producer_id=7, producer_epoch=0),
        batch(5, 2, **producer),
        batch(7, 2),
    ]
    cluster(tmp_path, {1: replica(open_one, high_watermark=9)})
    committed = {"kafka.isolation.level": "read_committed"}
    assert read(tmp_path, **committed)[0] == [0, 1, 2, 3]
    assert read(tmp_path, **committed, until="highWatermark")[0] == [0, 1, 2, 3]
    assert read(tmp_path, until="lastStableOffset")[0] == [0, 1, 2, 3]
    assert read(tmp_path, until="highWatermark")[0] == [0, 1, 2, 3, 5, 6, 7, 8]


@pytest.mark.parametrize(
    "option",
    ["startingTimestamp", "endingTimestamp", "startingOffsetsByTimestamp",
     "endingOffsetsByTimestamp"],
)  # fmt: skip
def test_a_time_in_seconds_is_a_warning(option: str, caplog: pytest.LogCaptureFixture) -> None:
    """Read as milliseconds, it is in January 1970: before every record."""
    value = '{"t": {"0": 1700000000}}' if option.endswith("ByTimestamp") else "1700000000"
    parse_offset_range({option: value})
    assert caplog.messages == [
        "1700000000 is a time of 1970-01-20 in milliseconds; if these are seconds, write "
        "1700000000000"
    ]
    caplog.clear()
    parse_offset_range({option: value.replace("1700000000", "-1")})
    assert caplog.messages == []
