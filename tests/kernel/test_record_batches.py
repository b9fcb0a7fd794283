"""The header chain agrees with the vectors of the format reference and the declared format."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fixtures.builder.stored_batches import build_record_batch
from kafkalog_reader.format.crc import compute_crc32c
from kafkalog_reader.format.record import Record
from kafkalog_reader.format.record_batch_header import parse_record_batch_header
from kafkalog_reader.kernel import codes
from kafkalog_reader.scan.run_summary import RunSummary
from tests.format.vectors import ABORT, CLEANER_RESULT, COMMIT, EMPTY, PLAIN, TRANSACTIONAL, WHERE
from tests.kernel.decoding import COLUMNS, scan

if TYPE_CHECKING:
    from pathlib import Path

VECTORS = (PLAIN, TRANSACTIONAL, ABORT, COMMIT, EMPTY, CLEANER_RESULT)
LOG = b"".join(VECTORS)


def test_headers_are_what_the_declared_format_reads(kernel: SimpleNamespace) -> None:
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
def test_crc_of_the_check_string_is_that_of_every_catalogue(
    kernel: SimpleNamespace, by_tables: bool
) -> None:
    assert kernel.checksums.checksum(b"123456789", by_tables=by_tables) == 0xE3069283


# around the borders of the three-stream loops: 3 * 256 and 3 * 4096 bytes
@pytest.mark.parametrize("size", [0, 1, 7, 8, 9, 767, 768, 769, 1535, 12287, 12288, 12289, 13057])
def test_crc_of_any_length_agrees_with_the_bitwise_definition(
    kernel: SimpleNamespace, size: int
) -> None:
    content = np.random.default_rng(size).bytes(size)
    for by_tables in (False, True):
        assert kernel.checksums.checksum(content, by_tables=by_tables) == compute_crc32c(content)


def test_every_flipped_bit_after_the_crc_field_is_noticed(kernel: SimpleNamespace) -> None:
    for position in range(21, len(PLAIN)):
        damaged = bytearray(PLAIN)
        damaged[position] ^= 1 << position % 8
        columns, _, _ = scan(kernel, bytes(damaged))
        assert columns.crc[0] != columns.crc_computed[0]


@pytest.mark.parametrize("cut", [1, 16, 17, 60, 61, len(PLAIN) - 1])
def test_a_torn_batch_ends_the_scan_where_it_begins(kernel: SimpleNamespace, cut: int) -> None:
    log = TRANSACTIONAL + PLAIN[:cut]
    columns, at, reason = scan(kernel, log)
    assert (len(columns.position), at, reason) == (1, len(TRANSACTIONAL), codes.SCAN_SHORT)


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
def test_a_scan_says_why_it_stopped(
    kernel: SimpleNamespace, position: int, content: bytes, reason: int
) -> None:
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
    kernel: SimpleNamespace, base_offset: int, last_offset_delta: int, records_count: int
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
def test_any_bytes_scan_without_leaving_the_buffer(
    kernel: SimpleNamespace, log: bytes, start: int
) -> None:
    columns, at, _ = scan(kernel, log[start:])
    assert 0 <= at <= len(log[start:])
    assert at == columns.size_in_bytes.sum()


def test_the_chain_goes_on_where_full_columns_stopped_it(kernel: SimpleNamespace) -> None:
    _, at, reason = scan(kernel, LOG, capacity=2)
    assert (at, reason) == (len(PLAIN) + len(TRANSACTIONAL), codes.SCAN_FULL)


def columns_with_room(capacity: int) -> SimpleNamespace:
    return SimpleNamespace(**{name: np.zeros(capacity, kind) for name, kind in COLUMNS.items()})


@pytest.mark.parametrize("room", [len(max(VECTORS[:2], key=len)), 200, 1 << 16])
def test_a_file_gives_the_columns_that_its_bytes_give(
    kernel: SimpleNamespace, tmp_path: Path, room: int
) -> None:
    log = b"".join([PLAIN, TRANSACTIONAL, EMPTY] * 5)
    path = tmp_path / "log"
    path.write_bytes(log + ABORT + PLAIN)
    columns = columns_with_room(64)
    with path.open("rb") as file:
        count, position = kernel.record_batches.scan_file(
            file.fileno(), 0, path.stat().st_size, bytearray(room), columns, 64
        )
    expected, at, _ = scan(kernel, log)
    assert (count, position) == (15, at) == (len(expected.position), len(log))
    for name in COLUMNS:
        assert getattr(columns, name)[:count].tolist() == getattr(expected, name).tolist()


@pytest.mark.parametrize("last", [ABORT, PLAIN[:-1], PLAIN[:-1] + bytes([PLAIN[-1] ^ 1]), b""])
def test_a_file_is_read_up_to_what_must_be_looked_at(
    kernel: SimpleNamespace, tmp_path: Path, last: bytes
) -> None:
    path = tmp_path / "log"
    path.write_bytes(PLAIN + last)
    columns = columns_with_room(8)
    with path.open("rb") as file:  # it claims to be longer than it is
        found = kernel.record_batches.scan_file(
            file.fileno(), 0, 10_000, bytearray(1000), columns, 8
        )
    assert found == (1, len(PLAIN))


def test_columns_are_filled_no_further_than_requested(
    kernel: SimpleNamespace, tmp_path: Path
) -> None:
    path = tmp_path / "log"
    path.write_bytes(PLAIN * 9)
    columns = columns_with_room(4)
    with path.open("rb") as file:
        found = kernel.record_batches.scan_file(
            file.fileno(), 0, 9 * len(PLAIN), bytearray(1000), columns, 4
        )
    assert found == (4, 4 * len(PLAIN))
    with pytest.raises(ValueError, match="of a file"):
        kernel.record_batches.scan_file(0, 5, 4, bytearray(8), columns, 4)


def extreme(kind: type) -> st.SearchStrategy[int]:
    least, greatest = np.iinfo(kind).min, np.iinfo(kind).max
    return st.sampled_from([least, -1, 0, 1, 2, 3, greatest]) | st.integers(least, greatest)


@given(st.data())
def test_a_summary_says_what_numpy_says(kernel: SimpleNamespace, data: st.DataObject) -> None:
    count = data.draw(st.integers(1, 6))
    columns = SimpleNamespace(
        **{
            name: np.array(data.draw(st.lists(extreme(kind), min_size=count, max_size=count)), kind)
            for name, kind in COLUMNS.items()
        }
    )
    base, last = columns.base_offset.astype(object), columns.last_offset.astype(object)
    delta = columns.last_offset_delta.astype(object)
    expected = {
        "valid": (columns.crc == columns.crc_computed).sum(),
        "size_in_bytes": columns.size_in_bytes.sum(dtype=np.int64),
        "leads_on": all(b > 0 and b == e + 1 for b, e in zip(base[1:], last[:-1], strict=True)),
        "is_full": all(columns.records_count > 0) and all(columns.records_count == delta + 1),
        "is_one_epoch": len(set(columns.leader_epoch.tolist())) == 1,
        "offsets_rise": (last[1:] > last[:-1]).all(),
        "timestamps_rise": (columns.max_timestamp[1:] >= columns.max_timestamp[:-1]).all(),
        "attributes": np.bitwise_or.reduce(columns.attributes),
        "least_base_offset": base.min(),
        "least_magic": columns.magic.min(),
        "greatest_magic": columns.magic.max(),
        "least_timestamp": columns.max_timestamp.min(),
        "greatest_timestamp": columns.max_timestamp.max(),
        "least_producer_id": columns.producer_id.min(),
        "greatest_producer_epoch": columns.producer_epoch.max(),
    }
    found = RunSummary._make(kernel.record_batches.summarize_batches(columns, count))
    assert found._asdict() == {name: int(value) for name, value in expected.items()}


def test_a_summary_of_more_than_there_is_is_refused(kernel: SimpleNamespace) -> None:
    for count in (0, 5):
        with pytest.raises(ValueError, match="of 4 batches"):
            kernel.record_batches.summarize_batches(columns_with_room(4), count)


def test_checksums_of_many_parts_are_those_of_each(kernel: SimpleNamespace) -> None:
    bounds = np.array([[0, 0], [0, len(LOG)], [7, 9], [21, 400]], np.int64)
    found = np.zeros(len(bounds), np.int64)
    starts, stops = bounds.T.copy()
    kernel.checksums.checksums(LOG, starts, stops, found)
    assert found.tolist() == [compute_crc32c(LOG[start:stop]) for start, stop in bounds]
    for wrong in ([0, len(LOG) + 1], [-1, 4], [5, 4]):
        start, stop = np.array(wrong, np.int64).reshape(2, 1)
        with pytest.raises(ValueError, match="of a buffer of"):
            kernel.checksums.checksums(LOG, start, stop, found[:1])
    with pytest.raises(ValueError, match="differ in length"):
        kernel.checksums.checksums(LOG, starts, stops, found[:1])
