"""Offsets that depend on a log of its own; most are tested by the options that ask for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import kafkalog_reader
from fixtures.builder import cluster, replica

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("log", "checkpointed", "options", "is_said"),
    [
        pytest.param("0-4/e0", None, {"until": "highWatermark"}, True, id="no_row"),
        pytest.param("0-4/e0", None, {"until": "lastStableOffset"}, True, id="last_stable_offset"),
        pytest.param("0-4/e0", 0, {"until": "highWatermark"}, False, id="nothing_committed_yet"),
        pytest.param("", None, {"until": "highWatermark"}, False, id="an_empty_log"),
        pytest.param("0-4/e0", None, {}, False, id="the_log_end"),
        pytest.param("0-4/e0", None, {"isolation": "read_committed"}, False, id="read_committed"),
    ],
)
def test_nothing_is_read_with_a_warning_where_no_high_watermark_is_known(
    log: str, checkpointed: int | None, options: dict[str, Any], is_said: bool, tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:  # fmt: skip
    cluster(tmp_path, {1: replica(log, high_watermark=checkpointed)})
    found = kafkalog_reader.open(tmp_path).records(["offset"], **options).to_arrow().num_rows
    assert found == (5 if log and "until" not in options else 0)
    said = [each for each in caplog.messages if "has no high watermark of t-0" in each]
    assert len(said) == is_said
