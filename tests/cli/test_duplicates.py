"""``kafkalog duplicates`` counts what is there again, and only that."""

from __future__ import annotations

import json
from collections import Counter
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from fixtures import captures, truth
from fixtures.builder import EPOCH_MILLIS, cluster, data_batch, marker_batch, message_batch, replica
from kafkalog_reader.format.batch_fields import LOG_APPEND_TIME_BIT, TRANSACTIONAL_BIT
from kafkalog_reader.format.control_record import ControlType
from kafkalog_reader.format.record import Record, RecordHeader

if TYPE_CHECKING:
    from pathlib import Path

    from fixtures.builder import Batch
    from tests.cli.conftest import Run


def batch(offset: int, *values: str, when: int = 0, **more: Any) -> Batch:
    """A batch with one record for each value, created at T + ``when`` and every ms after it."""
    records = [
        Record(offset_delta=number, timestamp_delta=number, key=b"k", value=value.encode())
        for number, value in enumerate(values)
    ]
    return data_batch(offset, records, base_timestamp=EPOCH_MILLIS + when, **more)


def idempotent(offset: int, value: str, sequence: int, producer: int = 7, **more: Any) -> Batch:
    return batch(
        offset, value, producer_id=producer, producer_epoch=0, base_sequence=sequence, **more
    )


def rows_of(
    run: Run, folder: Path, log: list[Any], *arguments: object, status: int | None = None
) -> list[dict[str, Any]]:
    """What the command prints of a log of topic t."""
    end = log[-1].next_offset
    cluster(folder / "b", {1: replica(log, topic="t", high_watermark=end)})
    answer = run("duplicates", folder / "b", *arguments, "--format", "json")
    found = [json.loads(line) for line in answer.out.splitlines()]
    assert answer.status == (bool(found) if status is None else status), answer.err
    return found


@pytest.mark.parametrize("times", [2, 4, 11])
def test_every_batch_several_times_suggests_the_producers_retries(
    times: int, tmp_path: Path, run: Run
) -> None:
    """Q01: with 4 copies, "each of 3 messages is there 4 times: retries = 3"."""
    log = [batch(n, f"v{n // times}", when=n // times) for n in range(3 * times)]
    (row,) = rows_of(run, tmp_path, log)
    assert row["histogram"] == [{"times": times, "records": 3}]
    assert (row["records"], row["duplicates"]) == (3 * times, 3 * (times - 1))
    assert row["retry"] == row["duplicates"]
    assert row["suggestedRetries"] == times - 1
    assert (row["firstOffset"], row["nextOffset"]) == (0, 3 * times)
    assert row["duplicateBytes"] == 3 * (times - 1) * len("kv0")
    text = run("duplicates", tmp_path / "b").out
    often = "twice" if times == 2 else f"{times} times"
    assert f"each of 3 records is there {often}; looks like retries = {times - 1}" in text


def test_a_retry_with_other_batch_borders_is_found(tmp_path: Path, run: Run) -> None:
    log = [batch(0, "a", "b"), batch(2, "a"), batch(3, "b", "c", when=1)]
    (row,) = rows_of(run, tmp_path, log)
    assert (row["duplicates"], row["suggestedRetries"]) == (2, None)  # two records may be anything


def test_equal_records_in_one_batch_were_sent_like_that(tmp_path: Path, run: Run) -> None:
    assert rows_of(run, tmp_path / "once", [batch(0, "a", "a", "a")]) == []
    log = [batch(0, "a", "a", "a"), batch(3, "a", "a", "a")]
    (row,) = rows_of(run, tmp_path / "again", log)
    assert row["histogram"] == [{"times": 2, "records": 3}]


def test_other_times_keys_values_or_headers_are_other_records(tmp_path: Path, run: Run) -> None:
    """Q03, and what else a fingerprint must not lose: the border of key and value, null, empty."""
    one, other = RecordHeader(key="h", value=b""), RecordHeader(key="i", value=b"")
    null = RecordHeader(key="h", value=None)
    headers = ((), (one,), (null,), (one, other), (other, one), (one, one))
    contents: list[tuple[bytes | None, bytes | None, tuple[RecordHeader, ...]]] = [
        (None, b"ab", ()), (b"a", b"b", ()), (b"ab", None, ()), (b"ab", b"", ()), (b"", b"ab", ()),
        *((b"k", b"v", each) for each in headers),
    ]  # fmt: skip
    log = [
        data_batch(n, [Record(offset_delta=0, key=key, value=value, headers=of)])
        for n, (key, value, of) in enumerate(contents)
    ]
    log += [batch(len(log) + n, "same", when=n) for n in range(5)]
    assert rows_of(run, tmp_path, log) == []


def test_the_cause_is_what_the_headers_say(tmp_path: Path, run: Run) -> None:
    log = [
        idempotent(0, "taken twice", 5), idempotent(1, "taken twice", 5),
        idempotent(2, "by hand", 6, when=1), idempotent(3, "by hand", 7, when=1),
        idempotent(4, "restarted", 8, when=2), idempotent(5, "restarted", 0, producer=8, when=2),
        batch(6, "failed over", when=3), batch(7, "failed over", leader_epoch=1, when=3),
        batch(8, "retried", leader_epoch=1, when=4), batch(9, "retried", leader_epoch=1, when=4),
    ]  # fmt: skip
    (row,) = rows_of(run, tmp_path, log)
    assert row["histogram"] == [{"times": 2, "records": 5}]
    causes = ("sameSequence", "sentAgain", "retryToNextLeader", "retry")
    assert [row[name] for name in causes] == [1, 2, 1, 1]
    answer = run("duplicates", tmp_path / "b", "--by", "record", "--format", "json")
    listed = [json.loads(line) for line in answer.out.splitlines()]
    assert [(each["offset"], each["previousOffset"], each["cause"]) for each in listed] == [
        (1, 0, "same-sequence"), (3, 2, "sent-again"), (5, 4, "sent-again"),
        (7, 6, "retry-to-next-leader"), (9, 8, "retry"),
    ]  # fmt: skip
    assert {each["copy"] for each in listed} == {2}


def test_records_of_an_aborted_transaction_must_be_sent_again(tmp_path: Path, run: Run) -> None:
    def in_transaction(offset: int, sequence: int) -> Batch:
        return idempotent(offset, "a", sequence, flags=TRANSACTIONAL_BIT)

    def ended(offset: int, how: ControlType) -> Batch:
        return marker_batch(offset, control_type=how, producer_id=7, producer_epoch=0)

    log = [
        in_transaction(0, 0), ended(1, ControlType.ABORT),
        in_transaction(2, 1), ended(3, ControlType.COMMIT),
    ]  # fmt: skip
    assert rows_of(run, tmp_path / "aborted", log) == []
    log[1] = ended(1, ControlType.COMMIT)
    (row,) = rows_of(run, tmp_path / "committed", log)
    assert (row["duplicates"], row["sentAgain"]) == (1, 1)


@pytest.mark.parametrize(("created", "found"), [((0, 0), [1]), ((0, 1), [])])
def test_where_the_broker_set_the_times_those_of_batches_are_left(
    created: tuple[int, int], found: list[int], tmp_path: Path, run: Run
) -> None:
    """Q02: the base timestamp stays as the client sent it."""
    log = [
        batch(n, value, when=when, flags=LOG_APPEND_TIME_BIT, max_timestamp=EPOCH_MILLIS + 9 + n)
        for n, (value, when) in enumerate([*(("a", each) for each in created), ("b", 5)])
    ]
    rows = rows_of(run, tmp_path, log, "--equal-records")
    assert [row["duplicates"] for row in rows] == found
    assert {row["brokerTimes"] for row in rows} <= {3}


def test_messages_without_timestamps_are_not_compared(tmp_path: Path, run: Run) -> None:
    log = [message_batch(n, [Record(offset_delta=0, value=b"a")], magic=0) for n in range(3)]
    assert rows_of(run, tmp_path, log) == []
    assert "0 records" in run("duplicates", tmp_path / "b").out


@pytest.mark.parametrize(("within", "found"), [(4, 0), (5, 1)])
def test_a_copy_further_away_is_another_record(
    within: int, found: int, tmp_path: Path, run: Run
) -> None:
    between = [batch(n, f"{n}", when=n) for n in range(1, 5)]
    log = [batch(0, "a"), *between, batch(5, "a")]
    assert len(rows_of(run, tmp_path, log, "--within", within)) == found


def test_each_partition_is_searched_by_itself(tmp_path: Path, run: Run) -> None:
    for number in (0, 1):
        cluster(
            tmp_path / str(number), {number: replica([batch(0, "a")], topic="t", partition=number)}
        )
    answer = run("duplicates", tmp_path)
    assert (answer.status, answer.out) == (
        0, "Nothing was sent twice: 2 records of 2 partitions compared.\n",
    )  # fmt: skip


def test_records_in_several_partitions_of_a_topic(tmp_path: Path, run: Run) -> None:
    """After a failure the application sent again, to another partition."""
    logs = [
        replica([batch(0, "a"), batch(1, "b")], topic="t", partition=0),
        replica([batch(0, "b", when=5), batch(1, "a"), batch(2, "b")], topic="t", partition=1),
        replica([batch(0, "a")], topic="u", partition=0),
    ]
    cluster(tmp_path / "b", {1: logs})
    assert run("duplicates", tmp_path / "b").status == 0
    answer = run("duplicates", tmp_path / "b", "--across-partitions", "--format", "json")
    assert answer.status == 1
    (row,) = map(json.loads, answer.out.splitlines())
    assert (row["topic"], row["partition"]) == ("t", 1)
    assert (row["duplicates"], row["inOtherPartitions"]) == (0, 2)
    text = run("duplicates", tmp_path / "b", "--across-partitions").out
    assert "2 also in a partition before this one" in text
    assert "0 duplicates" in text
    assert "2 records in several partitions" in text


def test_counts_are_those_of_what_a_consumer_got(run: Run) -> None:
    """Several clients wrote the same records to these topics, one after another."""
    capture = truth.load(captures.path("everything")).captures["stopped"]
    topics = ("headers", "null-and-empty", "large-record", "codec-none", "one-record-batches")
    expected = {}
    for topic in topics:
        times = Counter(
            (each.timestamp, each.key, each.value, each.headers) for each in capture.records(topic)
        )
        if surplus := sum(times.values()) - len(times):
            expected[topic] = surplus
    assert len(expected) > 1
    asked = [f"--topic={topic}" for topic in topics]
    state = captures.path("everything/stopped")
    answer = run("duplicates", state, *asked, "--equal-records", "--format", "json")
    rows = [json.loads(line) for line in answer.out.splitlines()]
    assert {row["topic"]: row["duplicates"] + row["equalRecords"] for row in rows} == expected


def test_internal_topics_are_searched_by_name_only(run: Run) -> None:
    state = captures.path("everything/stopped")
    assert "__" not in run("duplicates", state).out
    named = run("duplicates", state, "--topic", "__consumer_offsets")
    assert named.status in (0, 1)
    assert " 0 records" not in named.out


def test_records_below_the_log_start_are_not_counted(tmp_path: Path, run: Run) -> None:
    """They are deleted: no consumer gets them."""
    log = [batch(0, "a"), batch(1, "a"), *(batch(n, "b", when=1) for n in (2, 3))]
    cluster(tmp_path, {1: replica(log, topic="t", high_watermark=4, log_start=1)})
    answer = run("duplicates", tmp_path, "--format", "json")
    (row,) = map(json.loads, answer.out.splitlines())
    assert (row["records"], row["duplicates"], row["firstOffset"]) == (3, 1, 2)


@pytest.mark.parametrize(
    ("values", "records", "idempotent_producer"),
    [(1, 1, False), (1, 4, True), (2, 3, False), (3, 1, True), (3, 1, False), (10, 1, False)],
)
def test_equal_values_of_a_sound_log_have_no_cause(
    values: int, records: int, idempotent_producer: bool, tmp_path: Path, run: Run
) -> None:
    """Up to three batches in a millisecond, as applications with few different values send."""
    chance = Random(values * 100 + records)
    log: list[Batch] = []
    time = 0
    for number in range(120):
        texts = [str(chance.randrange(values)) for _ in range(records)]
        own = {"producer_id": 7, "producer_epoch": 0, "base_sequence": number * records}
        log.append(
            batch(number * records, *texts, when=time, **(own if idempotent_producer else {}))
        )
        time += chance.choice((0, 0, 1))
    assert rows_of(run, tmp_path, log) == []
    (row,) = rows_of(run, tmp_path, log, "--equal-records")
    assert row["equalRecords"] > 0
    listed = run(
        "duplicates", tmp_path / "b", "--equal-records", "--by", "record", "--format", "json"
    )
    assert {json.loads(line)["cause"] for line in listed.out.splitlines()} == {None}


@pytest.mark.parametrize("parts", [1, 2])
@pytest.mark.parametrize("values", [10, 10**9])
def test_a_planted_retry_of_a_whole_batch_is_found(
    values: int, parts: int, tmp_path: Path, run: Run
) -> None:
    """Also where it is stored in two batches, if values are distinct."""
    chance = Random(values)
    contents = [([str(chance.randrange(values)) for _ in range(20)], 7 * n) for n in range(140)]
    again, when = contents[100]
    if parts == 2 and values < 100:
        parts = 1
    size = len(again) // parts
    sent = [(again[n : n + size], when + n) for n in range(0, 20, size)]
    log: list[Batch] = []
    for texts, time in [*contents[:120], *sent, *contents[120:]]:
        log.append(batch(log[-1].next_offset if log else 0, *texts, when=time))
    (row,) = rows_of(run, tmp_path, log)
    assert (row["duplicates"], row["retry"], row["firstOffset"]) == (20, 20, 2000)
