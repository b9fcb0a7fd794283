"""Index entries and producer snapshots: format reference 14.8 and 14.9."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalog_reader.errors import (
    CorruptCheckpointError,
    CorruptIndexError,
    LogPosition,
    UnsupportedFormatError,
)
from kafkalog_reader.format.offset_index import (
    OffsetIndexEntry,
    build_offset_index_entry,
    parse_offset_index_entry,
)
from kafkalog_reader.format.preallocation import used_entries
from kafkalog_reader.format.producer_snapshot import (
    ProducerSnapshotEntry,
    build_producer_snapshot,
    parse_producer_snapshot,
)
from kafkalog_reader.format.time_index import (
    TimeIndexEntry,
    build_time_index_entry,
    parse_time_index_entry,
)
from kafkalog_reader.format.transaction_index import (
    AbortedTransaction,
    build_aborted_transaction,
    parse_aborted_transaction,
)
from tests.format.vectors import T

WHERE = LogPosition("file", 34)
EMPTY_SNAPSHOT = bytes.fromhex("000148674bc700000000")
SNAPSHOT = bytes.fromhex(
    "000142fc9ce00000000100000000000003e8000300000004000000000000000900000002"
    "0000018bcfe56800000000050000000000000007"
)
PRODUCER = ProducerSnapshotEntry(
    producer_id=1000,
    producer_epoch=3,
    last_sequence=4,
    last_offset=9,
    offset_delta=2,
    timestamp=T,
    coordinator_epoch=5,
    current_transaction_first_offset=7,
)


def test_offset_index_entry_of_the_reference_is_read_and_written() -> None:
    entry = OffsetIndexEntry(relative_offset=5, position=166)
    assert parse_offset_index_entry(bytes.fromhex("00000005000000a6"), WHERE) == entry
    assert build_offset_index_entry(entry).hex() == "00000005000000a6"


def test_time_index_entry_of_the_reference_is_read_and_written() -> None:
    entry = TimeIndexEntry(timestamp=T + 2, relative_offset=5)
    assert parse_time_index_entry(bytes.fromhex("0000018bcfe5680200000005"), WHERE) == entry
    assert build_time_index_entry(entry).hex() == "0000018bcfe5680200000005"


def test_aborted_transaction_of_the_reference_is_read_and_written() -> None:
    content = bytes.fromhex("000000000000000003e8000000000000000000000000000000010000000000000002")
    entry = AbortedTransaction(
        producer_id=1000, first_offset=0, last_offset=1, last_stable_offset=2
    )
    assert parse_aborted_transaction(content, WHERE) == entry
    assert build_aborted_transaction(entry) == content


@pytest.mark.parametrize(
    ("content", "error"),
    [
        pytest.param(bytes(33), CorruptIndexError, id="cut_short"),
        pytest.param(b"\xff\xff" + bytes(32), CorruptIndexError, id="version_negative"),
        pytest.param(b"\0\1" + bytes(32), UnsupportedFormatError, id="version_1"),
    ],
)
def test_aborted_transaction_is_refused_with_its_place(
    content: bytes, error: type[CorruptIndexError | UnsupportedFormatError]
) -> None:
    with pytest.raises(error) as caught:
        parse_aborted_transaction(content, WHERE)
    assert caught.value.where == WHERE


def test_index_entry_cut_short_is_corrupt() -> None:
    with pytest.raises(CorruptIndexError, match="7 of 8"):
        parse_offset_index_entry(bytes(7), WHERE)
    with pytest.raises(CorruptIndexError, match="11 of 12"):
        parse_time_index_entry(bytes(11), WHERE)


@pytest.mark.parametrize(
    ("content", "entry_size", "count"),
    [
        pytest.param(b"", 8, 0, id="empty"),
        pytest.param(bytes(80), 8, 0, id="only_zeros"),
        pytest.param(bytes(7) + b"\1" + bytes(72), 8, 1, id="one_entry_then_zeros"),
        pytest.param(b"\1" + bytes(11), 12, 1, id="entry_that_ends_in_zeros"),
        pytest.param(bytes(15) + b"\1", 8, 2, id="zero_entry_before_a_real_one"),
        pytest.param(b"\1" * 20, 8, 2, id="partial_last_entry"),
    ],
)
def test_trailing_zero_entries_are_not_used(content: bytes, entry_size: int, count: int) -> None:
    assert used_entries(content, entry_size) == count


def test_producer_snapshots_of_the_reference_are_read_and_written() -> None:
    assert parse_producer_snapshot(EMPTY_SNAPSHOT, WHERE) == ()
    assert build_producer_snapshot([]) == EMPTY_SNAPSHOT
    assert parse_producer_snapshot(SNAPSHOT, WHERE) == (PRODUCER,)
    assert build_producer_snapshot([PRODUCER]) == SNAPSHOT


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        pytest.param(b"", "cut short: 0 of 10", id="empty"),
        pytest.param(SNAPSHOT[:9], "cut short: 9 of 10", id="cut_in_the_header"),
        pytest.param(SNAPSHOT[:-1], "CRC-32C stored 0x42fc9ce0", id="cut_in_an_entry"),
        pytest.param(SNAPSHOT + b"\0", "CRC-32C", id="trailing_byte"),
        pytest.param(b"\0\0" + SNAPSHOT[2:], "version 0", id="version_0"),
        pytest.param(
            build_producer_snapshot([PRODUCER], count=2), "announces 2 entries", id="count_too_high"
        ),
        pytest.param(
            build_producer_snapshot([PRODUCER], count=2**31 - 1), "announces", id="count_2_billion"
        ),
        pytest.param(
            build_producer_snapshot([PRODUCER], count=-1), "announces -1", id="count_negative"
        ),
    ],
)
def test_damaged_snapshot_is_corrupt(content: bytes, problem: str) -> None:
    with pytest.raises(CorruptCheckpointError, match=problem):
        parse_producer_snapshot(content, WHERE)


def test_newer_snapshot_is_unsupported() -> None:
    with pytest.raises(UnsupportedFormatError, match="version 9"):
        parse_producer_snapshot(build_producer_snapshot([], version=9), WHERE)


INT64 = st.integers(-(2**63), 2**63 - 1)
INT32 = st.integers(-(2**31), 2**31 - 1)


@given(
    entries=st.lists(
        st.builds(
            ProducerSnapshotEntry,
            producer_id=INT64,
            producer_epoch=st.integers(-(2**15), 2**15 - 1),
            last_sequence=INT32,
            last_offset=INT64,
            offset_delta=INT32,
            timestamp=INT64,
            coordinator_epoch=INT32,
            current_transaction_first_offset=INT64,
        )
    ).map(tuple)
)
def test_any_producers_come_back(entries: tuple[ProducerSnapshotEntry, ...]) -> None:
    assert parse_producer_snapshot(build_producer_snapshot(entries), WHERE) == entries


@given(content=st.binary(max_size=120))
def test_any_bytes_are_a_snapshot_or_refused(content: bytes) -> None:
    with contextlib.suppress(CorruptCheckpointError, UnsupportedFormatError):
        parse_producer_snapshot(content, WHERE)
