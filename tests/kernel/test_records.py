"""Decoded records agree with the vectors of the format reference and the declared format."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fixtures.builder.stored_batches import build_record_batch
from kafkalog_reader.errors import KafkaLogError
from kafkalog_reader.format.record import Record, RecordHeader
from kafkalog_reader.format.record_batch import parse_record_batch
from kafkalog_reader.kernel import codes
from tests.chosen.examples import examples
from tests.format.vectors import (
    ABORT,
    CLEANER_RESULT,
    COMMIT,
    EMPTY,
    PLAIN,
    TRANSACTIONAL,
    WHERE,
    T,
)
from tests.kernel.decoding import HEADER_SIZE, batch_columns, decode, decode_log, scan

if TYPE_CHECKING:
    from types import SimpleNamespace

INT64 = st.integers(-(2**63), 2**63 - 1)
BYTES = st.none() | st.binary(max_size=70)
HEADERS = st.lists(
    st.builds(RecordHeader, key=st.text(max_size=8), value=st.none() | st.binary(max_size=40)),
    max_size=3,
).map(tuple)
RECORDS = st.lists(
    st.builds(
        Record,
        offset_delta=st.integers(0, 2**31 - 1),
        timestamp_delta=INT64,
        key=BYTES,
        value=BYTES,
        headers=HEADERS,
    ),
    min_size=1,
    max_size=12,
)
MICROSECONDS_MAX = 2**63 - 1


def microseconds(milliseconds: int) -> int:
    return max(-(2**63), min(MICROSECONDS_MAX, milliseconds * 1000))


def expected_rows(batch: bytes) -> list[tuple[Any, ...]]:
    """The rows by the declared format; the control type has its own tests."""
    parsed = parse_record_batch(batch, WHERE)
    return [
        (
            parsed.header.offset_of(record),
            microseconds(parsed.header.timestamp_of(record)),
            parsed.header.sequence_of(record),
            record.key,
            record.value,
            [(header.key.encode(), header.value) for header in record.headers],
        )
        for record in parsed.records
    ]


def without_control_type(rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """As ``expected_rows``; header keys that are not UTF-8 are read as by Kafka's clients."""
    return [
        (*row[:3], *row[4:6], [(key.decode("utf-8", "replace").encode(), v) for key, v in row[6]])
        for row in rows
    ]


def test_plain_vector_decodes_to_the_values_of_the_reference(kernel: SimpleNamespace) -> None:
    us = T * 1000
    assert decode_log(kernel, PLAIN).rows == [
        (100, us, -1, -1, b"k1", b"v1", []),
        (101, us + 5000, -1, -1, None, b"x", []),
        (102, us + 3000, -1, -1, b"k2", None, [(b"h", b"1"), (b"n", None)]),
    ]


def test_delete_horizon_vector_keeps_timestamps_and_sequences_of_the_survivors(
    kernel: SimpleNamespace,
) -> None:
    assert decode_log(kernel, CLEANER_RESULT).rows == [
        (101, (T + 5) * 1000, 10, -1, b"k2", b"x", []),
        (102, (T + 3) * 1000, 11, -1, b"k3", None, []),
    ]


@pytest.mark.parametrize(("marker", "control_type"), [(ABORT, 0), (COMMIT, 1)])
def test_markers_carry_their_type_and_no_sequence(
    kernel: SimpleNamespace, marker: bytes, control_type: int
) -> None:
    ((offset, _, sequence, found, *_),) = decode_log(kernel, marker).rows
    assert (offset, sequence, found) == (1, -1, control_type)


def test_an_empty_batch_has_no_rows_and_its_neighbours_all_of_theirs(
    kernel: SimpleNamespace,
) -> None:
    decoded = decode_log(kernel, PLAIN + EMPTY + TRANSACTIONAL)
    assert decoded.row_ends == [3, 3, 4]
    assert decoded.problems == [codes.SOUND] * 3


def test_log_append_time_hides_the_producers_timestamps(kernel: SimpleNamespace) -> None:
    batch = build_record_batch(
        [Record(offset_delta=0, timestamp_delta=77)],
        base_timestamp=5,
        flags=0x08,
        max_timestamp=T,
    )
    assert decode_log(kernel, batch).rows[0][1] == T * 1000


@pytest.mark.parametrize(
    ("base_sequence", "delta", "sequence"),
    [(2**31 - 1, 1, 0), (2**31 - 1, 0, 2**31 - 1), (2**31 - 3, 7, 4), (-1, 3, -1), (0, 0, 0)],
)
def test_sequences_wrap_after_the_greatest_int(
    kernel: SimpleNamespace, base_sequence: int, delta: int, sequence: int
) -> None:
    batch = build_record_batch([Record(offset_delta=delta)], base_sequence=base_sequence)
    assert decode_log(kernel, batch).rows[0][2] == sequence


@pytest.mark.parametrize(
    ("timestamp", "shown"),
    [
        (-1, -1000),
        (2**63 - 1, 2**63 - 1),
        (-(2**63), -(2**63)),
        (9223372036854775, 9223372036854775000),
        (9223372036854776, 2**63 - 1),
        (-9223372036854776, -(2**63)),
    ],
)
def test_timestamps_saturate_at_what_microseconds_can_say(
    kernel: SimpleNamespace, timestamp: int, shown: int
) -> None:
    batch = build_record_batch([Record(offset_delta=0)], base_timestamp=timestamp)
    assert decode_log(kernel, batch).rows[0][1] == shown


def test_descending_and_repeated_deltas_decode_as_they_stand(kernel: SimpleNamespace) -> None:
    records = [Record(offset_delta=delta) for delta in (5, 2, 2, 0)]
    batch = build_record_batch(records, base_offset=10, last_offset_delta=5)
    assert [row[0] for row in decode_log(kernel, batch).rows] == [15, 12, 12, 10]


@settings(max_examples=examples(150), deadline=None)
@given(
    records=RECORDS,
    base_offset=st.integers(0, 2**62),
    base_timestamp=INT64,
    base_sequence=st.integers(-1, 2**31 - 1),
    flags=st.sampled_from([0, 0x08, 0x10, 0x20, 0x40]),
)
def test_kernel_returns_what_the_format_layer_built(
    kernel: SimpleNamespace,
    records: list[Record],
    base_offset: int,
    base_timestamp: int,
    base_sequence: int,
    flags: Any,
) -> None:
    batch = build_record_batch(
        records,
        base_offset=base_offset,
        base_timestamp=base_timestamp,
        base_sequence=base_sequence,
        flags=flags,
        max_timestamp=T,
        last_offset_delta=max(record.offset_delta for record in records),
    )
    decoded = decode_log(kernel, PLAIN + batch + PLAIN)
    assert decoded.problems == [codes.SOUND] * 3
    plain = expected_rows(PLAIN)
    assert without_control_type(decoded.rows) == plain + expected_rows(batch) + plain


@settings(max_examples=examples(300), deadline=None)
@given(records=RECORDS, seed=st.integers(0, 2**32 - 1))
def test_mutated_records_decode_as_the_format_says_or_are_refused_by_both(
    kernel: SimpleNamespace, records: list[Record], seed: int
) -> None:
    last_delta = max(record.offset_delta for record in records)
    sound = build_record_batch(records, last_offset_delta=last_delta, max_timestamp=0)
    payload = bytearray(sound[HEADER_SIZE:])
    chance = random.Random(seed)
    for _ in range(chance.randint(1, 3)):
        payload[chance.randrange(len(payload))] = chance.choice((0, 1, 2, 0x7F, 0x80, 0xFF))
    batch = build_record_batch(
        [], payload=bytes(payload), last_offset_delta=last_delta, records_count=len(records),
        base_timestamp=0, max_timestamp=0,
    )  # fmt: skip
    decoded = decode_log(kernel, PLAIN + batch + PLAIN)
    try:
        rows = expected_rows(batch)
    except KafkaLogError:
        rows = None
    plain = expected_rows(PLAIN)
    is_inside = rows is not None and all(0 <= row[0] <= last_delta for row in rows)
    if decoded.problems[1] == codes.SOUND:
        if rows is not None:
            assert without_control_type(decoded.rows) == plain + rows + plain
    else:
        assert not is_inside, codes.PROBLEMS[decoded.problems[1]]
        assert without_control_type(decoded.rows) == plain + plain


@settings(max_examples=examples(300), deadline=None)
@given(
    payload=st.binary(max_size=80),
    count=st.integers(-(2**31), 2**31 - 1) | st.integers(0, 6),
    position=st.integers(-5, 90),
    size=st.integers(-(2**63), 2**63 - 1) | st.integers(-2, 90),
)
def test_any_bytes_decode_or_are_refused(
    kernel: SimpleNamespace, payload: bytes, count: int, position: int, size: int
) -> None:
    headers, _, _ = scan(kernel, build_record_batch([Record(offset_delta=0)], records_count=count))
    decoded = decode(kernel, payload, batch_columns(headers, [(position, size)]))
    assert decoded.stopped_at == 1
    assert decoded.row_ends == [len(decoded.rows)]
    if decoded.problems[0] != codes.SOUND:
        assert decoded.problems[0] in codes.PROBLEMS
        assert decoded.rows == []


RECORD = bytes.fromhex("14000000046b3104763100")


@pytest.mark.parametrize(
    ("payload", "problem"),
    [
        pytest.param("ffffffffff00" + "00" * 8, codes.BAD_VARINT, id="length_of_six_bytes"),
        pytest.param("7e000000046b3104763100", codes.BAD_RECORD_LENGTH, id="longer_than_batch"),
        pytest.param("01000000046b3104763100", codes.BAD_RECORD_LENGTH, id="negative_length"),
        pytest.param("14000001046b3104763100", codes.BAD_OFFSET_DELTA, id="delta_minus_1"),
        pytest.param("14000004046b3104763100", codes.BAD_OFFSET_DELTA, id="delta_beyond_last"),
        pytest.param("14000000036b3104763100", codes.BAD_KEY_LENGTH, id="key_length_minus_2"),
        pytest.param("14000000706b3104763100", codes.BAD_KEY_LENGTH, id="key_longer_than_record"),
        pytest.param("14000000046b3103763100", codes.BAD_VALUE_LENGTH, id="value_length_minus_2"),
        pytest.param("14000000046b3170763100", codes.BAD_VALUE_LENGTH, id="value_too_long"),
        pytest.param("14000000046b3104763101", codes.BAD_HEADERS_COUNT, id="headers_minus_1"),
        pytest.param(
            "14000000046b310476317e", codes.BAD_HEADERS_COUNT, id="more_headers_than_bytes"
        ),
        pytest.param("16000000046b310476310000", codes.BAD_RECORD_END, id="record_too_long"),
        pytest.param("14000000046b310476310000", codes.BAD_BATCH_END, id="byte_after_last_record"),
        pytest.param(
            "18000000046b31047631020101", codes.BAD_HEADER_KEY_LENGTH, id="null_header_key"
        ),
        pytest.param(
            "1a000000046b3104763102003102", codes.BAD_HEADER_VALUE_LENGTH, id="header_value"
        ),
    ],
)
def test_a_batch_that_contradicts_itself_is_named_and_leaves_no_row(
    kernel: SimpleNamespace, payload: str, problem: int
) -> None:
    batch = build_record_batch(
        [], payload=bytes.fromhex(payload), records_count=1, last_offset_delta=1,
        base_timestamp=0, max_timestamp=0,
    )  # fmt: skip
    decoded = decode_log(kernel, TRANSACTIONAL + batch + TRANSACTIONAL)
    assert decoded.problems == [codes.SOUND, problem, codes.SOUND]
    assert decoded.row_ends == [1, 1, 2]


@pytest.mark.parametrize("count", [-1, 2, 2**31 - 1, -(2**31)])
def test_a_lying_record_count_is_refused_before_anything_is_read(
    kernel: SimpleNamespace, count: int
) -> None:
    batch = build_record_batch(
        [], payload=RECORD, records_count=count, last_offset_delta=5, base_timestamp=0,
        max_timestamp=0,
    )  # fmt: skip
    assert decode_log(kernel, batch).problems == [codes.BAD_COUNT]


@pytest.mark.parametrize("room", [{"rows": 4}, {"size": 37}, {"headers": 3}])
def test_full_columns_stop_before_the_batch_that_does_not_fit(
    kernel: SimpleNamespace, room: dict[str, Any]
) -> None:
    decoded = decode_log(kernel, PLAIN + PLAIN, **room)
    assert decoded.stopped_at == 1
    assert without_control_type(decoded.rows) == expected_rows(PLAIN)


def test_columns_shorter_than_promised_are_refused(kernel: SimpleNamespace) -> None:
    headers, _, _ = scan(kernel, PLAIN)
    batches = batch_columns(headers, [(HEADER_SIZE, len(PLAIN) - HEADER_SIZE)])
    batches.problem = batches.problem[:0]
    with pytest.raises(ValueError, match="problem"):
        kernel.uncompressed_batches.UncompressedBatches(PLAIN, batches)
