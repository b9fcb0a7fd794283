"""The header chain, against the vectors of the format reference and the declared format."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafkalog_reader.format.crc import compute_crc32c
from kafkalog_reader.format.record import Record
from kafkalog_reader.format.record_batch import build_record_batch
from kafkalog_reader.format.record_batch_header import parse_record_batch_header
from kafkalog_reader.kernel import codes
from tests.format.vectors import ABORT, CLEANER_RESULT, COMMIT, EMPTY, PLAIN, TRANSACTIONAL, WHERE
from tests.kernel.decoding import COLUMNS, scan

VECTORS = (PLAIN, TRANSACTIONAL, ABORT, COMMIT, EMPTY, CLEANER_RESULT)
LOG = b"".join(VECTORS)


def test_headers_are_what_the_declared_format_reads(kernel) -> None:
    columns, at, reason = scan(kernel, LOG)
    assert (at, reason) == (len(LOG), codes.SCAN_FULL)
    position = 0
    for row, vector in enumerate(VECTORS):
        header = parse_record_batch_header(vector, WHERE)
        found = {name: getattr(columns, name)[row].item() for name in COLUMNS}
        expected = {name: getattr(header, name) for name in COLUMNS if hasattr(header, name)}
        assert found == {**expected, "position": position, "crc_computed": header.crc}
        position += len(vector)


@pytest.mark.parametrize("by_tables", [False, True])
def test_crc_of_the_check_string_is_that_of_every_catalogue(kernel, by_tables: bool) -> None:
    assert kernel.record_batches.checksum(b"123456789", by_tables=by_tables) == 0xE3069283


# around the borders of the three-stream loops: 3 * 256 and 3 * 4096 bytes
@pytest.mark.parametrize("size", [0, 1, 7, 8, 9, 767, 768, 769, 1535, 12287, 12288, 12289, 13057])
def test_crc_of_any_length_agrees_with_the_bitwise_definition(kernel, size: int) -> None:
    content = np.random.default_rng(size).bytes(size)
    for by_tables in (False, True):
        assert kernel.record_batches.checksum(content, by_tables=by_tables) == compute_crc32c(
            content
        )


def test_every_flipped_bit_behind_the_crc_field_is_noticed(kernel) -> None:
    for position in range(21, len(PLAIN)):
        damaged = bytearray(PLAIN)
        damaged[position] ^= 1 << position % 8
        columns, _, _ = scan(kernel, bytes(damaged))
        assert columns.crc[0] != columns.crc_computed[0]
        assert kernel.record_batches.count_valid_batches(damaged, 0, len(damaged)) == (0, 0, 0)


@pytest.mark.parametrize("cut", [1, 16, 17, 60, 61, len(PLAIN) - 1])
def test_a_torn_batch_ends_the_scan_where_it_begins(kernel, cut: int) -> None:
    log = TRANSACTIONAL + PLAIN[:cut]
    columns, at, reason = scan(kernel, log)
    assert (len(columns.position), at, reason) == (1, len(TRANSACTIONAL), codes.SCAN_SHORT)
    assert kernel.record_batches.count_valid_batches(log, 0, len(log)) == (1, 1, len(TRANSACTIONAL))


@pytest.mark.parametrize(
    ("position", "content", "reason"),
    [
        pytest.param(8, b"\x00\x00\x00\x00", codes.SCAN_BAD_LENGTH, id="length_zero"),
        pytest.param(8, b"\x00\x00\x00\x30", codes.SCAN_BAD_LENGTH, id="length_48"),
        pytest.param(8, b"\xff\xff\xff\xff", codes.SCAN_BAD_LENGTH, id="length_negative"),
        pytest.param(8, b"\x7f\xff\xff\xff", codes.SCAN_BAD_LENGTH, id="length_beyond_any_file"),
        pytest.param(8, b"\x7f\xff\xff\xf3", codes.SCAN_SHORT, id="length_beyond_this_file"),
        pytest.param(16, b"\x03", codes.SCAN_UNKNOWN_MAGIC, id="magic_3"),
        pytest.param(16, b"\xff", codes.SCAN_UNKNOWN_MAGIC, id="magic_negative"),
    ],
)
def test_a_scan_says_why_it_stopped(kernel, position: int, content: bytes, reason: int) -> None:
    damaged = PLAIN[:position] + content + PLAIN[position + len(content) :]
    columns, at, found = scan(kernel, TRANSACTIONAL + damaged + PLAIN)
    assert (len(columns.position), at, found) == (1, len(TRANSACTIONAL), reason)


@settings(deadline=None)
@given(
    base_offset=st.integers(-(2**63), 2**63 - 1),
    last_offset_delta=st.integers(-(2**31), 2**31 - 1),
    records_count=st.integers(-(2**31), 2**31 - 1),
)
def test_lying_offsets_and_counts_overflow_nothing(
    kernel, base_offset: int, last_offset_delta: int, records_count: int
) -> None:
    log = build_record_batch(
        [Record(offset_delta=0)],
        base_offset=base_offset,
        last_offset_delta=last_offset_delta,
        records_count=records_count,
    )
    columns, _, _ = scan(kernel, log)
    last_offset = base_offset + last_offset_delta
    is_sound = base_offset >= 0 and last_offset_delta >= 0 and last_offset < 2**63
    assert columns.last_offset[0] == (last_offset if is_sound else base_offset)
    assert columns.records_count[0] == records_count


@settings(deadline=None)
@given(log=st.binary(max_size=300), start=st.integers(0, 300))
def test_any_bytes_scan_without_leaving_the_buffer(kernel, log: bytes, start: int) -> None:
    columns, at, _ = scan(kernel, log[start:])
    assert 0 <= at <= len(log[start:])
    assert at == columns.size_in_bytes.sum()


def test_a_range_outside_of_the_buffer_is_refused(kernel) -> None:
    for start, stop in ((-1, 5), (0, len(PLAIN) + 1), (5, 4)):
        with pytest.raises(ValueError, match="buffer"):
            kernel.record_batches.count_valid_batches(PLAIN, start, stop)


def test_the_chain_goes_on_where_full_columns_stopped_it(kernel) -> None:
    _, at, reason = scan(kernel, LOG, capacity=2)
    assert (at, reason) == (len(PLAIN) + len(TRANSACTIONAL), codes.SCAN_FULL)
