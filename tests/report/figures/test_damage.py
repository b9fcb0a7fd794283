"""Where damage lies in a segment."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import kafkalog_reader
from kafkalog_reader.report import figures
from tests.report.figures.drawn import bars, damaged_copy, opened, row_names, texts

if TYPE_CHECKING:
    from pathlib import Path


def test_damage_lies_where_it_was_done(tmp_path: Path) -> None:
    log = kafkalog_reader.open(damaged_copy(tmp_path))
    mode: Any = {"mode": "DROPMALFORMED"}
    (axes,) = figures.damage_figure(
        log.table("batches", **mode), log.table("segments", **mode)
    ).axes
    sound = opened("everything/stopped").table("batches", topic="codec-none").to_arrow().to_pylist()
    (flipped,) = (each for each in sound if each["baseOffset"] == 12)
    (zeroed,) = (each for each in sound if each["baseOffset"] == 36)
    (torn,) = (each for each in sound if each["baseOffset"] == 66)
    assert [(patch.get_x(), patch.get_width()) for patch in bars(axes)] == [
        (flipped["position"], flipped["size"]),
        (zeroed["position"], zeroed["size"]),
        (torn["position"], torn["size"] - 30),
    ]
    assert "offsets 12–17, position 2,692" in texts(axes)
    assert row_names(axes)[1] == "codec-none-0\n00000000000000000024.log"


def test_a_segment_of_many_batches_is_one_bar() -> None:
    log = opened("everything/stopped")
    batches = log.table("batches", topic="one-record-batches").to_arrow()
    assert batches.num_rows > 120
    segments = log.table("segments", topic="one-record-batches")
    (axes,) = figures.damage_figure(batches, segments).axes
    assert len(axes.patches) == 0
    assert sum(len(each.get_paths()) for each in axes.collections) == segments.count()
