"""How far the batches at the beginning of a segment are sound."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kafkalog_reader.audits.recovery.segment import LoadingSegment
from kafkalog_reader.audits.recovery.sound_prefix import SoundPrefix, sound_prefix
from kafkalog_reader.io.progress import no_progress
from kafkalog_reader.io.read_context import ReadContext
from kafkalog_reader.io.segment_files import SegmentFiles
from tests.tables.logs import batch, write_segment

if TYPE_CHECKING:
    from pathlib import Path


def prefix(folder: Path, *batches: bytes, base_offset: int = 0) -> SoundPrefix:
    path = write_segment(folder, [*batches], base_offset=base_offset)
    size = path.stat().st_size
    files = SegmentFiles(
        base_offset=base_offset, suffix=None, directory=str(folder), log_size=size,
        offset_index_size=None, time_index_size=None, transaction_index_size=None, modified_at=0,
    )  # fmt: skip
    segment = LoadingSegment(
        files=files, base_offset=base_offset, start=0, stop=size, context=ReadContext()
    )
    return sound_prefix(segment, no_progress)


def wrong(content: bytes) -> bytes:
    """With another value in its last record."""
    return content[:-2] + bytes([content[-2] ^ 1]) + content[-1:]


def test_without_a_segment_nothing_is_damaged() -> None:
    assert sound_prefix(None, no_progress) == SoundPrefix(0, -1, is_whole=True)


@pytest.mark.parametrize(
    ("batches", "expected"),
    [
        pytest.param([], (40, 39, True), id="empty"),
        pytest.param([batch(40), batch(43)], (46, 45, True), id="sound"),
        pytest.param([wrong(batch(40)), batch(43)], (40, 39, False), id="the_first_is_wrong"),
        pytest.param([batch(40), wrong(batch(43)), batch(46)], (43, 42, False), id="one_between"),
        pytest.param([batch(40), wrong(batch(43))], (43, 42, False), id="the_last"),
        pytest.param([batch(40), batch(43)[:-1]], (43, 42, False), id="the_last_is_torn"),
        pytest.param([batch(40), bytes(8)], (43, 42, False), id="zeros_after"),
        pytest.param([batch(50), batch(43)], (46, 52, True), id="offsets_fall"),
        pytest.param([batch(50), batch(43), wrong(batch(60))], (46, 52, False), id="then_damage"),
        pytest.param([batch(30)], (33, 39, True), id="below_the_segment"),
    ],
)
def test_the_end_of_what_is_sound(
    tmp_path: Path, batches: list[bytes], expected: tuple[int, int, bool]
) -> None:
    """One past the last sound batch, the greatest sound offset, and whether that is all."""
    assert tuple(prefix(tmp_path / "t-0", *batches, base_offset=40)) == expected


def test_damage_after_the_first_window_is_found(tmp_path: Path) -> None:
    rest = batch(0, 1)[8:]  # no checksum covers the base offset
    many = [n.to_bytes(8, "big") + rest for n in range(50_000)]
    many[40_000] = wrong(many[40_000])
    assert prefix(tmp_path / "t-0", *many) == SoundPrefix(40_000, 39_999, is_whole=False)
