"""What a broker makes of ``.swap`` and ``.cleaned`` files: Kafka 4.0, LogLoader#load."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fixtures.builder.stored_batches import build_record_batch
from kafkalog_reader.format.record import Record
from kafkalog_reader.io.interrupted_swap import read_next_offset, settle_swaps
from kafkalog_reader.io.read_context import ReadContext
from kafkalog_reader.io.segment_files import SegmentFiles
from tests.format.vectors import LEGACY_V1

if TYPE_CHECKING:
    from pathlib import Path


SHORTEST = bytes.fromhex("000000000000002b 0000000e 00000000 00 00 ffffffff ffffffff")
"""Offset 43 in magic 0, without key and value: 26 bytes."""


def segment(base_offset: int, suffix: str | None = None, *, size: int | None = 100) -> SegmentFiles:
    return SegmentFiles(
        base_offset=base_offset, suffix=suffix, directory="t-0", log_size=size,
        offset_index_size=None, time_index_size=None, transaction_index_size=None, modified_at=0,
    )  # fmt: skip


def settled(
    *found: SegmentFiles, ends: dict[int, int] | None = None
) -> list[tuple[int, str | None]]:
    """The base offset and the suffix of what is left; ``ends`` of the swaps."""
    left = settle_swaps(found, lambda swap: (ends or {})[swap.base_offset])
    return [(each.base_offset, each.suffix) for each in left]


def test_without_a_swap_the_live_segments_stay() -> None:
    found = settled(segment(0), segment(0, "cleaned"), segment(5, "deleted"), segment(10))
    assert found == [(0, None), (10, None)]


def test_swap_replaces_what_it_covers() -> None:
    found = settled(
        segment(0), segment(0, "swap"), segment(10), segment(19), segment(20), ends={0: 20}
    )
    assert found == [(0, "swap"), (20, None)]


def test_swap_ends_before_the_next_segment() -> None:
    found = settled(segment(0), segment(10), segment(10, "swap"), segment(15), ends={10: 15})
    assert found == [(0, None), (10, "swap"), (15, None)]


def test_swap_without_records_replaces_its_namesake() -> None:
    assert settled(segment(10), segment(10, "swap"), ends={10: 10}) == [(10, "swap")]


def test_several_swaps_replace_all_between_the_first_and_the_last() -> None:
    found = settled(
        segment(0), segment(0, "swap"), segment(4), segment(8, "swap"), segment(11), segment(12),
        ends={0: 3, 8: 12},
    )  # fmt: skip
    assert found == [(0, "swap"), (8, "swap"), (12, None)]


def test_swap_is_complete_only_below_every_cleaned_file() -> None:
    found = settled(segment(0), segment(5, "cleaned"), segment(5, "swap"), segment(9, "swap"))
    assert found == [(0, None)]
    found = settled(
        segment(0), segment(0, "swap"), segment(5, "cleaned"), segment(5, "swap"), segment(7),
        ends={0: 5},
    )  # fmt: skip
    assert found == [(0, "swap"), (7, None)]


def test_swap_without_a_log_replaces_nothing() -> None:
    assert settled(segment(0), segment(0, "swap", size=None)) == [(0, None)]


def records(base_offset: int, count: int, *, key: bytes = b"") -> bytes:
    return build_record_batch(
        [Record(offset_delta=number, key=key) for number in range(count)], base_offset=base_offset
    )


@pytest.mark.parametrize(
    ("content", "next_offset"),
    [
        pytest.param(b"", 7, id="empty"),
        pytest.param(records(7, 3), 10, id="one_batch"),
        pytest.param(records(7, 3) + records(20, 2), 22, id="gap"),
        pytest.param(LEGACY_V1, 43, id="message"),
        pytest.param(LEGACY_V1 + SHORTEST, 44, id="shortest_message_at_the_end"),
        pytest.param(SHORTEST + SHORTEST[:-1], 44, id="shortest_message_cut_short"),
        pytest.param(SHORTEST[:16] + b"\2" + SHORTEST[17:], 7, id="batch_without_a_header"),
        pytest.param(records(7, 3) + records(10, 1)[:-1], 10, id="torn"),
        pytest.param(records(7, 3) + bytes(100), 10, id="zeros"),
        pytest.param(records(7, 3) + b"\xff" * 100, 10, id="negative_length"),
        pytest.param(
            records(7, 1, key=b"k" * (1 << 20)) + records(8, 1), 9, id="larger_than_a_window"
        ),
        pytest.param(
            b"".join(records(number, 1, key=b"k" * 5000) for number in range(300)), 300,
            id="several_windows",
        ),
    ],
)  # fmt: skip
def test_next_offset_is_read_from_the_headers(
    tmp_path: Path, content: bytes, next_offset: int
) -> None:
    (tmp_path / "00000000000000000007.log.swap").write_bytes(content)
    swap = SegmentFiles(
        base_offset=7, suffix="swap", directory=str(tmp_path), log_size=len(content),
        offset_index_size=None, time_index_size=None, transaction_index_size=None, modified_at=0,
    )  # fmt: skip
    assert read_next_offset(swap, ReadContext()) == next_offset
