"""Records that the log cleaner explains, and those that it does not.

Source: replica-divergence.md, section 4.5; Kafka 4.0, Cleaner#shouldRetainRecord.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from fixtures.builder import Batch, cluster, data_batch, replica
from kafkalog_reader.audits.comparison import cleaned_records
from kafkalog_reader.audits.comparison.comparison import compare
from kafkalog_reader.audits.comparison.difference import DifferenceKind
from kafkalog_reader.audits.comparison.key_check import check_keys
from kafkalog_reader.audits.comparison.replica_history import history_of
from kafkalog_reader.audits.log.batch_stream import BatchStream
from kafkalog_reader.audits.log.replica import Replica
from kafkalog_reader.format.batch_fields import TRANSACTIONAL_BIT
from kafkalog_reader.format.record import Record
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.tables.request import ReadRequest

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from kafkalog_reader.audits.comparison.difference import KeyCheck

PRODUCED: Final = {
    0: ("k", "a"),
    1: ("l", "b"),
    2: ("k", "c"),
    3: (None, "d"),
    4: ("m", "e"),
    5: ("m", None),
    6: ("l", "f"),
    7: ("p", "g"),
    8: ("q", "h"),
    9: ("k", "i"),
}
"""Key and value by offset; 5 is a tombstone."""
ALL: Final = frozenset(PRODUCED)
KEYED: Final = len(PRODUCED) - 1


def batch(kept: Collection[int], first: int = 0, flags: int = 0) -> Batch:
    """What the cleaner left of the records above, produced at ``first``."""
    records = [
        Record(
            offset_delta=offset,
            key=None if key is None else key.encode(),
            value=None if value is None else value.encode(),
        )
        for offset, (key, value) in PRODUCED.items()
        if offset in kept
    ]
    return data_batch(first, records, last_offset_delta=9, flags=flags)


def pair(first: int, key: str, value: str) -> Batch:
    return data_batch(
        first, [Record(offset_delta=n, key=key.encode(), value=value.encode()) for n in (0, 1)]
    )


def checked(root: Path, *logs: list[Batch], starts: tuple[int, ...] = ()) -> KeyCheck:
    cluster(root, {n: replica(log, base_offset=0) for n, log in enumerate(logs)})
    ((_, directories),) = discover([str(root)]).topic_partitions(ReadRequest())
    streams = [BatchStream(each) for each in directories]
    replicas = [
        Replica(directory=each, log_start_offset=start, size_in_bytes=0)
        for each, start in zip(directories, starts or (0,) * len(logs), strict=True)
    ]
    comparison = compare(replicas, streams)
    histories = {
        each: history_of(each, stream) for each, stream in zip(replicas, streams, strict=True)
    }
    return check_keys(histories, comparison)


def missing(check: KeyCheck) -> list[tuple[int, int, list[int | None], list[int | None]]]:
    """First and next offset, the brokers that hold it, and those that lack it."""
    assert {each.kind for each in check.missing} <= {DifferenceKind.MISSING}
    assert all(each.records == each.next_offset - each.first_offset for each in check.missing)
    return [
        (
            each.first_offset,
            each.next_offset,
            [holder.broker_id for side in each.contents for holder in side],
            [lacks.broker_id for lacks in each.absent],
        )
        for each in check.missing
    ]


@pytest.mark.parametrize(
    ("kept", "ranges"),
    [
        pytest.param(ALL - {0}, [], id="a_later_record_of_the_key_twice"),
        pytest.param(ALL - {0, 1, 2}, [], id="later_records_of_the_keys"),
        pytest.param(ALL - {3}, [], id="a_record_without_key"),
        pytest.param(ALL - {5}, [], id="a_tombstone"),
        pytest.param(ALL - {4}, [], id="a_later_tombstone_here"),
        pytest.param(ALL - {4, 5}, [], id="a_later_tombstone_on_the_other"),
        pytest.param({6, 7, 8, 9}, [], id="all_that_the_cleaner_may_remove"),
        pytest.param(ALL - {9}, [(9, 10)], id="only_an_earlier_record_of_the_key"),
        pytest.param(ALL - {6}, [(6, 7)], id="the_last_of_its_key"),
        pytest.param({6, 9}, [(7, 9)], id="neighbours_are_one_range"),
        pytest.param(ALL - {6, 8}, [(6, 7), (8, 9)], id="others_are_two"),
        pytest.param(ALL - {2, 9}, [(2, 3), (9, 10)], id="no_later_record_is_left"),
    ],
)
def test_a_record_that_a_replica_lacks_must_be_explained(
    kept: Collection[int], ranges: list[tuple[int, int]], tmp_path: Path
) -> None:
    check = checked(tmp_path / "one", [batch(ALL)], [batch(kept)])
    assert missing(check) == [(*each, [0], [1]) for each in ranges]
    assert check.is_complete
    other_way = checked(tmp_path / "other", [batch(kept)], [batch(ALL)])
    assert missing(other_way) == [(*each, [1], [0]) for each in ranges]


def test_two_replicas_may_lack_different_records(tmp_path: Path) -> None:
    check = checked(tmp_path, [batch(ALL - {7})], [batch(ALL - {8})])
    assert sorted(missing(check)) == [(7, 8, [1], [0]), (8, 9, [0], [1])]


def test_only_replicas_that_hold_all_of_a_range_are_named(tmp_path: Path) -> None:
    check = checked(tmp_path, [batch(ALL)], [batch(ALL - {6, 7, 8})], [batch(ALL - {7})])
    assert missing(check) == [(6, 9, [0], [1]), (7, 8, [0], [2])]


def test_a_tombstone_on_any_replica_explains(tmp_path: Path) -> None:
    """The third replica alone still has the tombstone at 5."""
    logs = [[batch(ALL - {5})], [batch(ALL - {4, 5})], [batch(ALL - {4})]]
    assert missing(checked(tmp_path, *logs)) == []


def test_a_record_of_a_transaction_may_have_been_aborted(tmp_path: Path) -> None:
    whole, cleaned = (batch(kept, flags=TRANSACTIONAL_BIT) for kept in (ALL, ALL - {7}))
    assert missing(checked(tmp_path, [whole], [cleaned])) == []


def test_below_its_log_start_a_replica_lacks_nothing(tmp_path: Path) -> None:
    check = checked(tmp_path, [batch(ALL)], [batch(ALL - {7, 8})], starts=(0, 8))
    assert missing(check) == [(8, 9, [0], [1])]


def test_every_cleaned_range_is_looked_at(tmp_path: Path) -> None:
    between = pair(10, "x", "same")
    check = checked(
        tmp_path,
        [batch(ALL), between, batch(ALL, 12)],
        [batch(ALL - {7}), between, batch(ALL - {6}, 12)],
    )
    assert missing(check) == [(18, 19, [0], [1])], "the p at 19 explains the one at 7"
    last = checked(
        tmp_path / "last", [batch(ALL), between, pair(12, "y", "z")], [batch(ALL - {7}), between]
    )
    assert missing(last) == [(7, 8, [0], [1])]


def test_without_a_cleaned_range_nothing_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cleaned_records, "MAX_RECORDS", -1)
    assert checked(tmp_path, [batch(ALL)], [batch(ALL)]).is_complete


@pytest.mark.parametrize(
    ("name", "limit", "is_complete"),
    [
        ("MAX_RECORDS", KEYED + 8, True),
        ("MAX_RECORDS", KEYED + 7, False),
        ("MAX_BYTES", 0, False),
    ],
)
def test_too_many_keys_are_not_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, limit: int, is_complete: bool
) -> None:
    monkeypatch.setattr(cleaned_records, name, limit)
    check = checked(tmp_path, [batch(ALL)], [batch(ALL - {7})])
    assert check.is_complete is is_complete
    assert bool(check.missing) is is_complete


@pytest.mark.parametrize(
    ("more", "more_there", "latest"),
    [
        pytest.param([], [], (11,), id="the_last_value_differs"),
        pytest.param([pair(12, "x", "c")], [pair(12, "x", "c")], (), id="a_later_one_is_equal"),
        pytest.param([pair(12, "x", "c")], [], (11,), id="a_later_one_has_only_the_longer_log"),
        pytest.param([pair(12, "y", "c")], [pair(12, "y", "c")], (11,), id="of_another_key"),
    ],
)
def test_the_last_value_of_a_key_must_be_the_same_everywhere(
    more: list[Batch], more_there: list[Batch], latest: tuple[int, ...], tmp_path: Path
) -> None:
    """KL-511 counts what consumers see below the smallest log end."""
    check = checked(
        tmp_path,
        [batch(ALL), pair(10, "x", "a"), *more],
        [batch({6, 7, 8, 9}), pair(10, "x", "b"), *more_there],
    )
    assert check.latest == latest
    assert missing(check) == []


def test_a_last_value_that_is_equal_in_unlike_batches_is_no_mismatch(tmp_path: Path) -> None:
    """Consumers see one value of y, and of x two."""
    of_y = Record(offset_delta=1, key=b"y", value=b"same")
    unlike = [
        data_batch(10, [Record(offset_delta=0, key=b"x", value=value), of_y])
        for value in (b"a", b"b")
    ]
    check = checked(tmp_path, [batch(ALL), unlike[0]], [batch({6, 7, 8, 9}), unlike[1]])
    assert check.latest == (10,)
