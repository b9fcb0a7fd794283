"""Offsets that a consumer does not get."""

from __future__ import annotations

from typing import Any

from kafkalog_reader.report import figures
from tests.report.figures.drawn import opened, row_names, texts


def test_gaps_show_the_last_stable_offset_and_the_reasons() -> None:
    log = opened("everything/running")
    only: Any = {"topic": "open-transaction"}
    gaps = log.table("gaps", **only)
    figure = figures.gaps_figure(gaps, log.table("replicas", **only))
    (axes,) = figure.axes
    assert row_names(axes) == ["open-transaction-0", "open-transaction-1"]
    assert {"LSO 3", "LSO 0", "end 11", "end 5"} <= set(texts(axes))
    assert len(axes.patches) == 2 + gaps.count()
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == [
        "transaction marker",
        "aborted (read_committed)",
        "at or above the last stable offset (read_committed)",
    ]
