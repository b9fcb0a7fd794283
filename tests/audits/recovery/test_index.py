"""Index checks of a start: 4.4 reads both bytes of an aborted transaction's version, 4.3 one.

Seen on brokers: 4.3.1 starts; 4.4.0 ends with "Unexpected aborted transaction version 1 in
transaction index ..., supported version range is 0 to 0".
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import pytest

from kafkalog_reader.audits.recovery.index import (
    check_transaction_index,
    index_contradiction,
    last_entry_lookup,
)
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.io.partition_directory import segments
from kafkalog_reader.io.read_context import ReadContext
from kafkalog_reader.tables.request import ReadRequest

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def index(tmp_path: Path) -> Path:
    directory = tmp_path / "t-0"
    directory.mkdir()
    (directory / f"{0:020}.log").write_bytes(b"")
    return directory / f"{0:020}.txnindex"


def checked(index: Path, version: int, last_offset: int, *, whole: bool) -> tuple[bool, int | None]:
    index.write_bytes(struct.pack(">hqqqq", version, 7, 0, last_offset, 10))
    (directory,) = discover([str(index.parent)]).partition_directories(ReadRequest())
    (files,) = segments(directory)
    return check_transaction_index(files, context=ReadContext(), reads_whole_version=whole)


@pytest.mark.parametrize(
    ("version", "whole", "unknown"),
    [(0, True, None), (1, True, 1), (1, False, None), (256, True, 256), (256, False, 256)],
)
def test_version_is_known(index: Path, version: int, whole: bool, unknown: int | None) -> None:
    assert checked(index, version, 9, whole=whole) == (True, unknown)


def test_entry_below_the_segment_is_seen(index: Path) -> None:
    """TransactionIndex#sanityCheck: its last offset is below the base offset."""
    assert checked(index, 0, -1, whole=True) == (False, None)
    assert checked(index, 0, 0, whole=True) == (True, None)


@pytest.mark.parametrize("wrong", [0, 4095, 4096, 4999])
def test_every_entry_of_a_transaction_index_is_checked(index: Path, wrong: int) -> None:
    entries = [struct.pack(">hqqqq", 0, 7, 0, 9, 10)] * 5000
    entries[wrong] = struct.pack(">hqqqq", 0, 7, 0, -1, 10)
    index.write_bytes(b"".join(entries))
    (directory,) = discover([str(index.parent)]).partition_directories(ReadRequest())
    (files,) = segments(directory)
    assert check_transaction_index(files, context=ReadContext()) == (False, None)


@pytest.mark.parametrize("rest", [1, 33])
def test_bytes_after_the_last_whole_transaction_are_ignored(index: Path, rest: int) -> None:
    """kafka-on-disk-format.md, section 4.3: trailing bytes < 34 are ignored by readers."""
    content = struct.pack(">hqqqq", 0, 7, 0, 9, 10)
    index.write_bytes(content + b"\xff" * rest)
    (directory,) = discover([str(index.parent)]).partition_directories(ReadRequest())
    (files,) = segments(directory)
    assert check_transaction_index(files, context=ReadContext()) == (True, None)


@pytest.mark.parametrize(
    ("entries", "problem"),
    [
        pytest.param([(1000, 0), (2000, 7)], "", id="rises"),
        pytest.param([(1000, 0), (1000, 0)], "", id="equal_and_at_the_base"),
        pytest.param([(1000, 0), (999, 7)], "below its first", id="timestamp_falls"),
        pytest.param([(1000, 0), (2000, -1)], "below its first or the base", id="below_the_base"),
        pytest.param([], "", id="empty"),
    ],
)
def test_releases_before_2_3_check_the_last_entry_of_a_time_index(
    index: Path, entries: list[tuple[int, int]], problem: str
) -> None:
    """TimeIndex#sanityCheck of Kafka 0.11: not below the first timestamp, nor the base offset."""
    content = b"".join(struct.pack(">qi", *entry) for entry in entries)
    index.with_suffix(".timeindex").write_bytes(content)
    (directory,) = discover([str(index.parent)]).partition_directories(ReadRequest())
    (files,) = segments(directory)
    found = index_contradiction(files, context=ReadContext())
    assert problem in found
    assert bool(problem) is bool(found)


def test_a_time_index_is_checked_beside_an_empty_offset_index(index: Path) -> None:
    index.with_suffix(".index").write_bytes(b"")
    index.with_suffix(".timeindex").write_bytes(struct.pack(">qi", 1000, -1))
    (directory,) = discover([str(index.parent)]).partition_directories(ReadRequest())
    (files,) = segments(directory)
    assert index_contradiction(files, context=ReadContext())


def test_the_last_entry_of_an_offset_index_is_above_the_base(index: Path) -> None:
    """OffsetIndex#sanityCheck of Kafka 0.11."""
    (directory,) = discover([str(index.parent)]).partition_directories(ReadRequest())
    for relative_offset, is_sound in ((1, True), (0, False), (-1, False)):
        index.with_suffix(".index").write_bytes(struct.pack(">ii", relative_offset, 0))
        (files,) = segments(directory)
        assert bool(index_contradiction(files, context=ReadContext())) is not is_sound


ENTRIES = 1100
WARM = ENTRIES - 1 - 1024
"""AbstractIndex#indexSlotRangeFor looks at the last 8 KiB of entries first, from this one on."""
HUGE = 10**6


@pytest.mark.parametrize(
    ("changed", "position"),
    [
        pytest.param({}, 10 * ENTRIES, id="rises"),
        pytest.param({WARM + 1: HUGE}, 10 * ENTRIES, id="a_wrong_entry_after_the_first_warm_one"),
        pytest.param({WARM - 1: HUGE}, 10 * ENTRIES, id="a_wrong_entry_before_it"),
        pytest.param({WARM: HUGE}, 10 * WARM, id="the_first_warm_entry_sends_it_to_the_cold_ones"),
        pytest.param({WARM: ENTRIES}, 10 * (WARM + 1), id="it_has_the_offset_itself"),
        pytest.param({WARM: HUGE, 0: HUGE}, 0, id="the_first_entry_is_above_it"),
        pytest.param({WARM: HUGE, 0: ENTRIES}, 10 * WARM, id="the_first_entry_has_it"),
        pytest.param({ENTRIES - 1: 0}, 0, id="the_last_entry_is_zero"),
        pytest.param({ENTRIES - 1: 1}, 10, id="the_last_entry_is_that_of_the_first"),
    ],
)
def test_a_lookup_of_the_last_entry_searches_as_a_broker_does(
    index: Path, changed: dict[int, int], position: int
) -> None:
    """Entry n has offset n + 1 and position 10 * (n + 1), except where an offset is wrong."""
    offsets = [changed.get(n, n + 1) for n in range(ENTRIES)]
    index.with_suffix(".index").write_bytes(
        b"".join(struct.pack(">ii", offset, 10 * (n + 1)) for n, offset in enumerate(offsets))
    )
    (directory,) = discover([str(index.parent)]).partition_directories(ReadRequest())
    (files,) = segments(directory)
    found = last_entry_lookup(files, context=ReadContext())
    assert found == (offsets[-1], position)


@pytest.mark.parametrize("count", [0, 1, 2, 1024, 1025, 1026])
def test_indexes_of_any_size_end_with_their_last_entry(index: Path, count: int) -> None:
    content = b"".join(struct.pack(">ii", n + 5, 7 * n) for n in range(count))
    index.with_suffix(".index").write_bytes(content)
    (directory,) = discover([str(index.parent)]).partition_directories(ReadRequest())
    (files,) = segments(directory)
    found = last_entry_lookup(files, context=ReadContext())
    assert found == ((count + 4, 7 * (count - 1)) if count else (0, 0))


@pytest.mark.parametrize(("kind", "size"), [("index", 8), ("timeindex", 12)])
def test_releases_before_2_3_refuse_an_index_with_a_part_of_an_entry(
    index: Path, kind: str, size: int
) -> None:
    (directory,) = discover([str(index.parent)]).partition_directories(ReadRequest())
    for length, is_sound in ((2 * size, True), (2 * size + 1, False), (size - 1, False)):
        index.with_suffix(f".{kind}").write_bytes(b"\1" * length)
        (files,) = segments(directory)
        found = index_contradiction(files, context=ReadContext())
        assert found.endswith("" if is_sound else f"its size is not a multiple of {size}")
        assert bool(found) is not is_sound
