"""The end of a log, from its last segment."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalog_reader.io.discovery import discover
from kafkalog_reader.io.partition_directory import segments
from kafkalog_reader.io.read_context import ReadContext
from kafkalog_reader.io.small_file import SMALL_LOG
from kafkalog_reader.scan.log_tail import (
    LogTail,
    _last_confirmed_position,
    _scanned_tail,
    _short_tail,
    batch_starts_at,
    end_after_damage,
    scan_tail,
)
from kafkalog_reader.scan.scan_end import ScanEnd
from kafkalog_reader.tables.request import ReadRequest
from tests.io.counted_rate import CountedRate
from tests.tables.logs import batch, write_segment

if TYPE_CHECKING:
    from pathlib import Path

BATCHES = [batch(3 * n, 3, leader_epoch=n // 10) for n in range(30)]


@pytest.fixture
def partition(tmp_path: Path) -> Path:
    return tmp_path / "orders-3"


def tail_of(partition: Path) -> Any:
    (directory,) = discover([str(partition)]).partition_directories(ReadRequest())
    return scan_tail(directory)


def test_the_tail_of_a_log_is_its_end_and_its_last_leader_epoch(partition: Path) -> None:
    write_segment(partition, BATCHES, index=[5, 15, 25])
    tail = tail_of(partition)
    assert (tail.next_offset, tail.last_leader_epoch, tail.end) == (90, 2, ScanEnd.COMPLETE)
    assert tail.last_position == sum(map(len, BATCHES[:-1]))


def test_zeros_of_a_preallocated_index_are_not_entries(partition: Path) -> None:
    path = write_segment(partition, BATCHES, index=[5, 15, 25]).with_suffix(".index")
    path.write_bytes(path.read_bytes() + bytes(8000))
    assert tail_of(partition).next_offset == 90


@pytest.mark.parametrize("index", [b"\xff" * 80, bytes(80), b"\x00\x00\x00\x05\x00\x00\x00\x07"])
def test_a_wrong_index_costs_time_and_nothing_else(partition: Path, index: bytes) -> None:
    path = write_segment(partition, BATCHES)
    path.with_suffix(".index").write_bytes(index)
    assert tail_of(partition).next_offset == 90


def test_a_segment_just_rolled_has_the_epoch_of_the_one_before(partition: Path) -> None:
    write_segment(partition, BATCHES)
    write_segment(partition, [], base_offset=90)
    tail = tail_of(partition)
    assert (tail.next_offset, tail.last_leader_epoch, tail.last_position) == (90, 2, None)


def test_the_log_ends_before_the_first_wrong_crc_of_its_tail(partition: Path) -> None:
    damaged = BATCHES[27][:-1] + b"?"
    write_segment(partition, [*BATCHES[:27], damaged, *BATCHES[28:]])
    tail = tail_of(partition)
    assert (tail.next_offset, tail.end) == (81, ScanEnd.WRONG_CRC)
    assert tail.end_position == sum(map(len, BATCHES[:27]))


def test_an_empty_partition_ends_where_its_segment_begins(partition: Path) -> None:
    write_segment(partition, [], base_offset=4000)
    tail = tail_of(partition)
    assert (tail.next_offset, tail.last_leader_epoch) == (4000, None)


def test_a_partition_without_a_segment_ends_at_its_first_byte(partition: Path) -> None:
    partition.mkdir()
    (partition / "leader-epoch-checkpoint").write_text("0\n0\n")
    tail = tail_of(partition)
    assert (tail.next_offset, tail.end_position) == (0, 0)
    assert (tail.last_leader_epoch, tail.last_position) == (None, None)


FIRST, SECOND = len(BATCHES[0]), len(BATCHES[0]) + len(BATCHES[1])


@pytest.mark.parametrize(
    ("position", "up_to_offset", "starts"),
    [
        pytest.param(0, None, True, id="first"),
        pytest.param(FIRST, None, True, id="second"),
        pytest.param(FIRST + 1, None, False, id="inside_a_batch"),
        pytest.param(-1, None, False, id="before_the_file"),
        pytest.param(SECOND, None, False, id="end_of_the_file"),
        pytest.param(FIRST, 3, True, id="starts_with_that_offset"),
        pytest.param(FIRST, 2, False, id="starts_after_that_offset"),
    ],
)
def test_a_position_of_an_index_is_confirmed_in_the_log(
    partition: Path, position: int, up_to_offset: int | None, starts: bool
) -> None:
    write_segment(partition, BATCHES[:2])
    (directory,) = discover([str(partition)]).partition_directories(ReadRequest())
    (segment,) = segments(directory)
    assert starts is batch_starts_at(
        segment, position, context=ReadContext(), up_to_offset=up_to_offset
    )


def test_a_batch_below_its_segment_confirms_nothing(partition: Path) -> None:
    write_segment(partition, BATCHES[:2], base_offset=1)
    (directory,) = discover([str(partition)]).partition_directories(ReadRequest())
    (segment,) = segments(directory)
    found = [batch_starts_at(segment, at, context=ReadContext()) for at in (0, FIRST)]
    assert found == [False, True]


def test_a_batch_with_a_wrong_crc_confirms_nothing(partition: Path) -> None:
    write_segment(partition, [BATCHES[0][:-1] + b"?", BATCHES[1]])
    (directory,) = discover([str(partition)]).partition_directories(ReadRequest())
    (segment,) = segments(directory)
    found = [batch_starts_at(segment, at, context=ReadContext()) for at in (0, FIRST)]
    assert found == [False, True]


@pytest.mark.parametrize(
    ("wrong", "begins"), [(0, 25), (1, 20), (2, 15), (3, 10), (4, 0), (5, 0), (6, 0)]
)
def test_the_last_four_index_entries_may_say_where_to_begin(
    partition: Path, wrong: int, begins: int
) -> None:
    """What lies before is not read; ``wrong`` entries at the end name no batch."""
    batches = [batch(90 * n, 90) for n in range(30)]
    path = write_segment(partition, batches, index=[1, 5, 10, 15, 20, 25])
    index = bytearray(path.with_suffix(".index").read_bytes())
    for number in range(6 - wrong, 6):
        index[8 * number + 7] ^= 1
    path.with_suffix(".index").write_bytes(index)
    rate = CountedRate()
    (directory,) = discover([str(partition)], ReadContext(rate=rate)).partition_directories(
        ReadRequest()
    )
    assert scan_tail(directory).next_offset == 2700
    size, start = path.stat().st_size, sum(map(len, batches[:begins]))
    assert size > SMALL_LOG
    assert max(rate.taken) == size - start


def test_a_small_log_is_read_without_its_index(partition: Path) -> None:
    path = write_segment(partition, BATCHES, index=[5, 15, 25])
    rate = CountedRate()
    (directory,) = discover([str(partition)], ReadContext(rate=rate)).partition_directories(
        ReadRequest()
    )
    assert scan_tail(directory).next_offset == 90
    assert rate.taken == [path.stat().st_size]


@pytest.mark.parametrize("empty", [1, 2])
def test_the_newest_batch_of_all_segments_has_the_epoch(partition: Path, empty: int) -> None:
    write_segment(partition, [batch(0, 3, leader_epoch=7)])
    write_segment(partition, [batch(3, 3, leader_epoch=8)], base_offset=3)
    for number in range(empty):
        write_segment(partition, [], base_offset=6 + number)
    assert tail_of(partition).last_leader_epoch == 8


def ends(partition: Path) -> tuple[LogTail, LogTail]:
    """The end for readers, and the end for audits."""
    (directory,) = discover([str(partition)]).partition_directories(ReadRequest())
    tail = scan_tail(directory)
    return tail, end_after_damage(directory, tail)


@pytest.mark.parametrize(
    "damage",
    [BATCHES[27][:-1] + b"?", b"?" * 500, BATCHES[27][:16] + b"\x07" + BATCHES[27][17:]],
    ids=["wrong_crc", "garbage", "unknown_magic"],
)
def test_for_audits_a_log_ends_after_its_damage(partition: Path, damage: bytes) -> None:
    path = write_segment(partition, [*BATCHES[:27], damage, *BATCHES[28:]])
    tail, behind = ends(partition)
    assert (tail.next_offset, tail.end_position) == (81, sum(map(len, BATCHES[:27])))
    assert (behind.next_offset, behind.last_leader_epoch, behind.end) == (90, 2, tail.end)
    assert behind.end_position == path.stat().st_size
    assert behind.last_position == path.stat().st_size - len(BATCHES[29])


def test_offsets_that_fall_after_damage_do_not_shorten_the_log(partition: Path) -> None:
    path = write_segment(partition, [batch(30, 3), batch(9, 3)[:-1] + b"?"])
    tail, behind = ends(partition)
    assert (tail.next_offset, behind.next_offset) == (33, 33)
    assert behind.last_position == path.stat().st_size - len(batch(9, 3))


@pytest.mark.parametrize("rest", [b"", bytes(600)], ids=["complete", "zeros"])
def test_an_end_that_is_no_damage_is_the_end(partition: Path, rest: bytes) -> None:
    write_segment(partition, [*BATCHES[:3], rest])
    tail, behind = ends(partition)
    assert behind == tail
    assert tail.next_offset == 9


@given(
    cut=st.integers(min_value=0, max_value=2000),
    flipped=st.none() | st.integers(min_value=0, max_value=1999),
    index=st.sampled_from([None, [5, 15, 25]]),
)
def test_a_short_tail_is_what_a_scan_of_it_finds(
    tmp_path_factory: pytest.TempPathFactory, cut: int, flipped: int | None, index: list[int] | None
) -> None:
    partition = tmp_path_factory.mktemp("tail") / "orders-3"
    path = write_segment(partition, BATCHES, index=index)
    log = bytearray(path.read_bytes())
    if flipped is not None:
        log[flipped] ^= 0x10
    path.write_bytes(log[:cut])
    (directory,) = discover([str(partition)]).partition_directories(ReadRequest())
    (segment,) = segments(directory)
    for start in (0, len(BATCHES[0])):
        scanned = _scanned_tail(segment, start, context=ReadContext())
        assert _short_tail(segment, start, context=ReadContext()) in (None, scanned)
        if cut > start and scanned.end is ScanEnd.COMPLETE:
            assert _short_tail(segment, start, context=ReadContext()) == scanned
    confirmed = _last_confirmed_position(segment, context=ReadContext())
    assert scan_tail(directory) == _scanned_tail(segment, confirmed, context=ReadContext())
