"""Producer snapshots: format reference 14.9."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalog_reader.errors import CorruptCheckpointError, LogPosition, UnsupportedFormatError
from kafkalog_reader.format.producer_snapshot import (
    ProducerSnapshotEntry,
    build_producer_snapshot,
    check_producer_snapshot,
    parse_producer_snapshot,
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


def test_snapshot_is_counted_without_its_entries() -> None:
    assert check_producer_snapshot(EMPTY_SNAPSHOT, WHERE) == 0
    assert check_producer_snapshot(build_producer_snapshot([PRODUCER] * 3), WHERE) == 3


def test_crc_may_be_wrong_on_purpose() -> None:
    content = build_producer_snapshot([PRODUCER], crc=1)
    assert content[:2] == SNAPSHOT[:2]
    assert content[2:6] == b"\0\0\0\1"
    assert content[6:] == SNAPSHOT[6:]
    with pytest.raises(CorruptCheckpointError, match="stored 0x00000001, computed 0x42fc9ce0"):
        check_producer_snapshot(content, WHERE)


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
