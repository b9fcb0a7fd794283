"""The number of records that a payload really holds (reference 4.3: length, then the record)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from fixtures.builder.stored_messages import build_message
from kafkalog_reader.audits.integrity import payload_count
from kafkalog_reader.audits.integrity.payload_count import count_whole_records
from kafkalog_reader.format.compression import Codec
from kafkalog_reader.io.read_context import ReadContext
from kafkalog_reader.scan.scan import CHAIN, Scan
from tests.tables.logs import batch, write_segment

if TYPE_CHECKING:
    from pathlib import Path

HEADER = 61
"""Bytes before the records of a batch (reference 4.1)."""


def counted(folder: Path, *batches: bytes, row: int = 0) -> int | None:
    """Of one batch of a segment of these batches."""
    path = write_segment(folder / "t-0", list(batches))
    counts = []
    for run in Scan(str(path), CHAIN, context=ReadContext()).runs():
        counts += [count_whole_records(run, index) for index in range(run.count)]
    return counts[row]


@pytest.mark.parametrize("codec", [Codec.NONE, Codec.GZIP, Codec.ZSTD])
@pytest.mark.parametrize("records", [1, 3, 70])
def test_a_sound_batch_has_as_many_as_were_written(
    tmp_path: Path, codec: Codec, records: int
) -> None:
    assert counted(tmp_path, batch(0, records, codec=codec)) == records


def test_a_later_batch_of_a_window_is_found_at_its_own_position(tmp_path: Path) -> None:
    assert counted(tmp_path, batch(0, 3), batch(3, 5), row=1) == 5


def test_the_count_of_the_header_does_not_matter(tmp_path: Path) -> None:
    wrong = bytearray(batch(0, 3))
    wrong[HEADER - 4 : HEADER] = (2).to_bytes(4, "big")
    assert counted(tmp_path, bytes(wrong)) == 3


@pytest.mark.parametrize(
    ("at", "value"),
    [
        pytest.param(HEADER, 0x80 | 0x7F, id="a_length_beyond_the_end"),
        pytest.param(HEADER, 0, id="a_length_of_nothing"),
        pytest.param(HEADER, 1, id="a_negative_length"),
        pytest.param(-1, 0x7F, id="more_headers_than_bytes"),
    ],
)
def test_records_that_do_not_fill_the_payload_are_not_counted(
    tmp_path: Path, at: int, value: int
) -> None:
    damaged = bytearray(batch(0, 3))
    damaged[at] = value
    assert counted(tmp_path, bytes(damaged)) is None


def test_messages_have_no_payload_of_records(tmp_path: Path) -> None:
    message = build_message(b"k", b"v", offset=0, magic=1, timestamp=0)
    assert counted(tmp_path, message) is None


@pytest.mark.parametrize(("size", "count"), [(-1, None), (0, 3)])
def test_a_batch_above_the_limit_is_not_walked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int, count: int | None
) -> None:
    """A limit of exactly the batch's size still allows it."""
    content = batch(0, 3)
    monkeypatch.setattr(payload_count, "_MAX", len(content) + size)
    assert counted(tmp_path, content) == count


def test_what_is_decompressed_is_limited_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    records = batch(0, 400)
    compressed = batch(0, 400, codec=Codec.ZSTD)
    assert len(compressed) < len(records) - HEADER
    monkeypatch.setattr(payload_count, "_MAX", len(records) - HEADER)
    assert counted(tmp_path, compressed) == 400
    monkeypatch.setattr(payload_count, "_MAX", len(records) - HEADER - 1)
    assert counted(tmp_path, compressed) is None


def walked(*lengths: bytes) -> int | None:
    return payload_count._lengths(b"".join(lengths))


def test_lengths_are_signed_varints() -> None:
    """Zigzag: 2 is written as 4; 70 as 140, which takes two bytes (reference 4.2)."""
    assert walked(b"\x04ab") == 1
    assert walked(b"\x04ab", b"\x02c") == 2
    assert walked(b"\x8c\x01", bytes(70)) == 1
    assert walked(b"\x8c\x01", bytes(69)) is None
    assert walked(b"\x84\x80\x80\x80\x00ab") == 1  # five bytes, as many as 32 bits may take
    assert walked(b"\x84\x80\x80\x80\x80\x00ab") is None
    assert walked(b"\x04ab", b"\x84") is None  # cut inside a length
    assert walked() == 0


def test_a_run_of_one_window_does_not_need_to_begin_at_zero(tmp_path: Path) -> None:
    first, second = batch(0, 3), batch(3, 4)
    path = write_segment(tmp_path / "t-0", [first, second])
    scan = Scan(str(path), CHAIN, len(first), context=ReadContext())
    (run,) = scan.runs()
    assert np.array_equal(run.position, [len(first)])
    assert count_whole_records(run, 0) == 4
