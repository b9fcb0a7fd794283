"""The lines of ``kafkalog ls``, one for a replica."""

from __future__ import annotations

from typing import Any

import pytest

from kafkalog_reader.cli.replica_list import (
    descending,
    lines_of,
    sorted_replicas,
    total_line,
    with_lag,
)

REPLICA: dict[str, Any] = {
    "clusterId": "c", "brokerId": 1, "brokerLabel": None, "logDirectory": "/b1", "topic": "orders",
    "partition": 3, "state": None, "logStartOffset": 0, "logEndOffset": 1048203,
    "highWatermarkLow": 2, "lastStableOffset": 4, "lastStableOffsetLow": 4,
    "lastLeaderEpoch": None, "segments": 1, "sizeInBytes": 345, "cleanShutdown": True,
    "tornBytes": 0, "checkpointedHighWatermark": 2, "filesSizeInBytes": 20_971_865,
}  # fmt: skip


def test_numbers_are_grouped_and_unknown_is_a_question_mark() -> None:
    headings, line = lines_of([REPLICA])
    assert line.split() == [
        "1", "orders-3", "0", "1,048,203", "≥2", "4", "-", "1", "345", "B", "20.0", "MiB",
    ]  # fmt: skip
    assert len(headings) >= len(line)


def test_columns_are_aligned() -> None:
    lines = list(lines_of([REPLICA, {**REPLICA, "partition": 12, "logEndOffset": 7}]))
    ends = {line.index(" ≥2") for line in lines[1:]}
    assert len(ends) == 1
    assert lines[0].index("LOG END") + len("LOG END") <= next(iter(ends))


def test_clusters_and_disks_are_shown_only_where_they_differ() -> None:
    other_disk = {**REPLICA, "logDirectory": "/b1/disk2"}
    assert "LOG DIRECTORY" in next(lines_of([REPLICA, other_disk]))
    assert "CLUSTER" in next(lines_of([REPLICA, {**REPLICA, "clusterId": "d"}]))
    plain = next(lines_of([REPLICA, {**REPLICA, "brokerId": 2, "logDirectory": "/b2"}]))
    assert "LOG DIRECTORY" not in plain
    assert "CLUSTER" not in plain


def test_replicas_are_sorted_by_partition_number_then_broker() -> None:
    rows = [
        {**REPLICA, "partition": partition, "brokerId": broker, "logDirectory": f"/b{broker}"}
        for partition in (10, 9) for broker in (12, 2, None)
    ]  # fmt: skip
    shown = [line.split()[:2] for line in list(lines_of(rows))[1:]]
    assert [cells[1] for cells in shown] == ["orders-9"] * 3 + ["orders-10"] * 3
    assert [cells[0] for cells in shown] == ["2", "12", "?"] * 2


@pytest.mark.parametrize(
    ("changes", "state"),
    [
        ({"cleanShutdown": False}, "not shut down cleanly"),
        ({"cleanShutdown": False, "topic": "__cluster_metadata"}, "20.0 MiB"),
        ({"state": "delete"}, "marked for deletion"),
        (
            {"state": "stray", "tornBytes": 36},
            "stray: the broker set it aside, 36 B after the last whole batch",
        ),
        ({"cleanShutdown": None}, "20.0 MiB"),
    ],
)
def test_state_is_reported_in_words(changes: dict[str, object], state: str) -> None:
    line = list(lines_of([{**REPLICA, **changes}]))[1]
    assert line.endswith(state)


def test_hostile_names_cannot_act_on_the_terminal() -> None:
    row = {**REPLICA, "brokerLabel": "\x1b[2J", "clusterId": "a\nb"}
    text = "".join(lines_of([row, REPLICA]))
    assert text.isprintable()


@pytest.mark.parametrize("columns", [80, 60])
def test_list_fits_the_terminal(columns: int) -> None:
    row = {
        **REPLICA, "topic": "orders-of-the-north", "cleanShutdown": False, "tornBytes": 36,
        "logStartOffset": 81_240_117, "logEndOffset": 99_240_117, "lastLeaderEpoch": 17,
        "highWatermarkLow": 90_000_000,
    }  # fmt: skip
    lines = list(lines_of([row, {**row, "brokerId": 2, "logDirectory": "/b2"}], screen=columns))
    assert max(map(len, lines)) <= columns or columns == 60
    assert lines[2] == "    not shut down cleanly, 36 B after the last whole batch"
    assert lines[-1].startswith(f"Left out at {columns} columns: ")
    assert "81,240,117" in lines[1]
    assert "99,240,117" in lines[1]


def test_lag_is_behind_the_longest_copy_of_the_partition() -> None:
    rows = [
        REPLICA | {"brokerId": number, "logEndOffset": end, "state": state}
        for number, end, state in (
            (1, 7, None), (2, 10, None), (3, None, None), (4, 99, "future"), (5, 2, "stray"),
        )
    ]  # fmt: skip
    assert [row["lag"] for row in with_lag(rows)] == [3, 0, None, 0, 8]
    other = REPLICA | {"topic": "alone", "logEndOffset": None}
    assert [row["lag"] for row in with_lag([*rows, other])][-1] is None
    cluster = REPLICA | {"clusterId": "d", "logEndOffset": 1}
    assert with_lag([*rows, cluster])[-1]["lag"] == 0, "of another cluster"


def test_lag_is_shown_only_if_it_sorts() -> None:
    rows = [REPLICA, REPLICA | {"brokerId": 2, "logEndOffset": 1_048_200}]
    assert "LAG" not in next(lines_of(rows))
    heading, first, second = lines_of(rows, sort="lag")
    assert "LAG" in heading
    assert (first.split()[0], second.split()[0]) == ("2", "1")
    assert first.split()[4] == "3"


def test_greatest_is_first_and_unknown_last() -> None:
    numbers: list[Any] = [0, None, 5, 7, None]
    assert sorted(numbers, key=descending(lambda row: row)) == [7, 5, 0, None, None]
    rows = with_lag(
        REPLICA | {"brokerId": broker, "sizeInBytes": size}
        for broker, size in ((3, 1), (1, 2), (2, 2))
    )
    assert [row["brokerId"] for row in sorted_replicas(rows, "size")] == [1, 2, 3]
    assert [row["brokerId"] for row in sorted_replicas(rows, "name")] == [1, 2, 3]
    rows = with_lag([REPLICA | {"topic": None, "partition": None}, REPLICA | {"partition": 0}])
    assert [row["topic"] for row in sorted_replicas(rows, "name")] == [None, "orders"]


@pytest.mark.parametrize(
    ("changes", "watermark"),
    [
        ({}, "≥2"),
        ({"highWatermarkLow": 1048203}, "1,048,203"),
        ({"highWatermarkLow": None}, "?"),
        ({"highWatermarkLow": None, "logEndOffset": None}, "?"),
        ({"checkpointedHighWatermark": 1048203}, "≥2"),
        ({"checkpointedHighWatermark": 1048204}, "1,048,204!"),
        ({"checkpointedHighWatermark": None}, "≥2"),
        ({"checkpointedHighWatermark": 1048204, "logEndOffset": None}, "≥2"),
    ],
)
def test_high_watermark_is_what_the_files_prove_or_above_the_log_end(
    changes: dict[str, Any], watermark: str
) -> None:
    line = list(lines_of([REPLICA | changes]))[1]
    assert line.split()[4] == watermark
    assert ("HIGH WATERMARK ABOVE THE LOG END BY 1" in line) == watermark.endswith("!")


@pytest.mark.parametrize(
    ("low", "high", "said"), [(2, 1048203, "≥2"), (2, 29, "2–29"), (29, 29, "29"), (None, 7, "7")]
)
def test_last_stable_offset_ends_at_a_transaction_or_is_open(
    low: int | None, high: int, said: str
) -> None:
    row = REPLICA | {"lastStableOffsetLow": low, "lastStableOffset": high}
    assert list(lines_of([row]))[1].split()[5] == said


def test_a_copy_without_leader_epochs_is_not_unknown() -> None:
    rows = [REPLICA, REPLICA | {"logEndOffset": None}, REPLICA | {"lastLeaderEpoch": 0}]
    assert [line.split()[6] for line in list(lines_of(rows))[1:]] == ["-", "?", "0"]


def test_total_counts_replicas_partitions_and_nodes() -> None:
    assert total_line([REPLICA]) == (
        "1 replica of 1 partition on 1 broker: logs 345 B, all files 20.0 MiB"
    )
    other = REPLICA | {"brokerId": 2, "sizeInBytes": None, "filesSizeInBytes": None}
    metadata = REPLICA | {"topic": "__cluster_metadata", "brokerId": 3}
    assert total_line([REPLICA, other, metadata]) == (
        "3 replicas of 2 partitions on 2 brokers and 1 node with only the metadata log: "
        "logs 690 B, all files 40.0 MiB; 1 replica could not be read"
    )
    assert total_line([metadata]).startswith("1 replica of 1 partition on 1 node: ")
    empty = REPLICA | {"topic": None, "partition": None}
    assert total_line([empty]).startswith("1 replica of 0 partitions on 1 broker: ")


def test_remote_storage_is_no_replica_and_does_not_lag() -> None:
    remote = REPLICA | {"state": "remote", "brokerId": None, "logEndOffset": 9}
    assert total_line([REPLICA, remote]) == (
        "1 replica of 1 partition on 1 broker: logs 345 B, all files 20.0 MiB; "
        "remote storage of 1 partition: logs 345 B"
    )
    assert total_line([remote]) == "remote storage of 1 partition: logs 345 B"
    assert [row["lag"] for row in with_lag([REPLICA, remote])] == [0, None]


def test_copies_of_one_broker_are_sorted_by_label_directory_and_state() -> None:
    rows = [
        REPLICA | {"brokerLabel": label, "logDirectory": disk, "state": state}
        for label, disk, state in (
            ("b", "/1", None), ("a", "/2", None), ("a", "/1", "stray"), ("a", "/1", "delete"),
            ("a", "/1", None), (None, "/9", None),
        )
    ]  # fmt: skip
    assert sorted_replicas(rows, "name") == rows[::-1]
