"""``kafkalog keys`` names the partitioner of keys, and finds the keys that do not fit."""

from __future__ import annotations

import json
import zlib
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from fixtures import captures, truth
from fixtures.builder import EPOCH_MILLIS, cluster, data_batch, replica
from kafkalog_reader.format.java_hash import java_hash
from kafkalog_reader.format.record import Record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from tests.cli.conftest import Run

PARTITIONS = 6
KEYS = [f"key-{number}" for number in range(200)]


def fnv1a(key: str) -> int:
    """As the draft describes it, in plain Python; Sarama takes the absolute value of an int32."""
    found = 0x811C9DC5
    for byte in key.encode():
        found = (found ^ byte) * 0x01000193 % 2**32
    return abs(found - 2**32 if found >> 31 else found)


PARTITIONERS: dict[str, Callable[[str], int]] = {
    "crc32": lambda key: zlib.crc32(key.encode()),
    "fnv1a": fnv1a,
    "java-hash": lambda key: abs(java_hash(key)),
    "java-hash-masked": lambda key: java_hash(key) & 0x7FFF_FFFF,
}


def write(root: Path, keys: Iterable[tuple[str | None, int]], *, step_ms: int = 0) -> Path:
    """Topic t, a record for each key and its partition, each so much later than the one before."""
    held: dict[int, list[tuple[str | None, int]]] = {number: [] for number in range(PARTITIONS)}
    for number, (key, partition) in enumerate(keys):
        held[partition].append((key, EPOCH_MILLIS + number * step_ms))
    logs = []
    for number, of_partition in held.items():
        batches = [
            data_batch(
                offset,
                [Record(offset_delta=0, key=None if key is None else key.encode(), value=b"v")],
                base_timestamp=when,
            )
            for offset, (key, when) in enumerate(of_partition)
        ]
        logs.append(replica(batches, topic="t", partition=number, high_watermark=len(batches)))
    cluster(root, {0: logs})
    return root


def row_of(run: Run, path: Path, status: int) -> dict[str, Any]:
    answer = run("keys", path, "--topic", "t", "--format", "json")
    assert answer.status == status, answer.err
    (row,) = map(json.loads, answer.out.splitlines())
    return dict(row)


@pytest.mark.parametrize("name", PARTITIONERS)
def test_a_partitioner_is_named_and_foreign_keys_are_found(
    name: str, tmp_path: Path, run: Run
) -> None:
    """Q18: one of 200 keys is elsewhere."""
    places = {key: PARTITIONERS[name](key) % PARTITIONS for key in KEYS}
    row = row_of(run, write(tmp_path / "sound", places.items()), 0)
    assert (row["partitioner"], row["keys"], row["keysOutside"]) == (name, 200, 0)
    expected = places["key-7"]
    places["key-7"] = (expected + 1) % PARTITIONS
    row = row_of(run, write(tmp_path / "foreign", places.items()), 1)
    assert (row["partitioner"], row["keysOutside"]) == (name, 1)
    assert row["expectedPartition"] == expected
    text = run("keys", tmp_path / "foreign").out
    assert f"key key-7 is in partition {places['key-7']} instead of {expected}" in text


@pytest.mark.parametrize("earlier", [1, 4, 5])
@pytest.mark.parametrize("name", PARTITIONERS)
def test_a_topic_that_got_more_partitions(
    name: str, earlier: int, tmp_path: Path, run: Run
) -> None:
    """Q19: each key is where the partitioner put it among 1, 4 or 5 partitions, later among 6."""
    old = [(key, PARTITIONERS[name](key) % earlier) for key in KEYS]
    new = [(key, PARTITIONERS[name](key) % PARTITIONS) for key in KEYS]
    moved = sum(before != after for before, after in zip(old, new, strict=True))
    row = row_of(run, write(tmp_path, [*old, *new], step_ms=1000), 1)
    assert (row["partitioner"], row["earlierPartitions"]) == (name, earlier)
    assert (row["keysOutside"], row["keysOfEarlier"]) == (moved, moved)
    first = 200 + next(number for number, (_, place) in enumerate(new) if place >= earlier)
    raised = datetime.fromtimestamp(EPOCH_MILLIS // 1000 + first, UTC)
    assert row["raisedAt"].startswith(f"{raised:%Y-%m-%dT%H:%M:%S}")
    plural = "1 partition" if earlier == 1 else f"{earlier} partitions"
    assert f"{moved} keys outside fit {plural}" in " ".join(run("keys", tmp_path).out.split())


def test_keys_sent_elsewhere_on_purpose_do_not_show_fewer_partitions(
    tmp_path: Path, run: Run
) -> None:
    """Every third key goes to partition 0, from the first record to the last."""
    places = [
        (key, 0 if number % 3 == 0 else zlib.crc32(key.encode()) % PARTITIONS)
        for number, key in enumerate(KEYS)
    ]
    row = row_of(run, write(tmp_path, places, step_ms=1000), 0)
    assert (row["partitioner"], row["earlierPartitions"]) == (None, None)


def test_a_long_run_without_keys_is_mentioned(tmp_path: Path, run: Run) -> None:
    root = write(tmp_path, [("a", 0), *[(None, 0)] * 1000, ("b", 1)])
    text = " ".join(run("keys", root).out.split())
    assert "up to 1,000 records without a key in a row" in text


def test_keys_without_a_system_have_no_partitioner(tmp_path: Path, run: Run) -> None:
    """Q20: a partitioner that does not look at the key scatters it."""
    places = [(key, number % PARTITIONS) for number, key in enumerate(KEYS + KEYS[:100])]
    row = row_of(run, write(tmp_path, places), 0)
    assert (row["partitioner"], row["keysOutside"]) == (None, 0)
    assert row["keysInSeveral"] == 100  # 200 is no multiple of 6


def test_a_key_in_three_partitions_counts_once(tmp_path: Path, run: Run) -> None:
    root = write(tmp_path, [("a", 0), ("a", 1), ("a", 2), ("b", 3)])
    assert row_of(run, root, 0)["keysInSeveral"] == 1
    assert "1 key in more than one partition" in " ".join(run("keys", root).out.split())


def test_few_keys_prove_nothing(tmp_path: Path, run: Run) -> None:
    places = {key: zlib.crc32(key.encode()) % PARTITIONS for key in KEYS[:19]}
    assert row_of(run, write(tmp_path, places.items()), 0)["partitioner"] is None


def test_runs_of_records_without_a_key_and_skew(tmp_path: Path, run: Run) -> None:
    in_zero = [("a", 0), *[(None, 0)] * 5, ("b", 0), *[(None, 0)] * 2]
    row = row_of(run, write(tmp_path, [*in_zero, (None, 3)]), 0)
    assert (row["nullKeys"], row["longestNullRun"]) == (8, 5)
    assert (row["largestPartition"], row["largestShare"]) == (0, 0.9)
    assert "partition 0 holds 90 % of the records" in run("keys", tmp_path).out


def test_counts_are_those_of_what_a_consumer_got(run: Run) -> None:
    capture = truth.load(captures.path("everything")).captures["stopped"]
    served = list(capture.records("partitioned"))
    answer = run(
        "keys", captures.path("everything/stopped"), "--topic", "partitioned", "--format", "json"
    )
    (row,) = map(json.loads, answer.out.splitlines())
    assert row["records"] == len(served)
    assert row["keys"] == len({each.key for each in served if each.key is not None})
    assert row["nullKeys"] == sum(each.key is None for each in served)
