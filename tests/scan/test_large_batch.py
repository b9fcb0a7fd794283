"""The budget for batches whose CRC needs many windows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkalog_reader.io.read_context import ReadContext
from kafkalog_reader.io.window import Windows
from kafkalog_reader.scan.large_batch import MAX, LargeBatches
from tests.tables.logs import batch, write_segment

if TYPE_CHECKING:
    from pathlib import Path


def test_each_batch_beyond_the_budget_is_counted_once_and_costs_nothing(tmp_path: Path) -> None:
    content = batch(0, 3)
    path = write_segment(tmp_path / "t-0", [content])
    large = LargeBatches()
    large.bytes_left = len(content)
    with Windows(str(path), context=ReadContext()) as windows:
        assert large.is_sound(windows, 0, len(content))
        assert (large.bytes_left, large.refused) == (0, 0)
        for refused in (1, 2):
            assert not large.is_sound(windows, 0, len(content))
            assert (large.bytes_left, large.refused) == (0, refused)
        assert not large.is_sound(windows, 0, MAX + 1)  # too large for any budget
        assert large.refused == 2
