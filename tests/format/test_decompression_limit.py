"""How much a payload may decompress to."""

from __future__ import annotations

import pytest

from kafkalog_reader.errors import LimitReachedError, LogPosition
from kafkalog_reader.format.decompression_limit import Limits, checked_size, window_too_large

WHERE = LogPosition("segment.log", 1000, 7)


@pytest.mark.parametrize(
    ("compressed_size", "largest"),
    [
        pytest.param(0, 50, id="nothing"),
        pytest.param(4, 50, id="small_payloads_may_have_any_ratio"),
        pytest.param(5, 50, id="as_much_as_the_ratio_allows"),
        pytest.param(6, 60, id="ratio"),
        pytest.param(10, 100, id="both_limits"),
        pytest.param(11, 100, id="maximum_of_a_batch"),
    ],
)
def test_output_is_limited_by_the_ratio_and_the_batch(compressed_size: int, largest: int) -> None:
    limits = Limits(batch_bytes=100, ratio=10, ratio_from_bytes=50)
    assert limits.largest_output(compressed_size) == largest


def test_explicit_maximum_is_allowed_at_any_ratio() -> None:
    limits = Limits.allowing(1 << 30)
    assert limits.largest_output(1) == 1 << 30
    assert limits.largest_output(1 << 29) == 1 << 30
    assert limits.zstd_window == Limits().zstd_window == 128 << 20, "zstd-jni's limit"


def test_by_default_a_kilobyte_may_become_16_mebibytes() -> None:
    assert Limits().largest_output(1000) == 16 << 20
    assert Limits().largest_output(1 << 20) == 512 << 20


def test_size_of_exactly_the_limit_is_allowed() -> None:
    assert checked_size(1000, 1000, WHERE) == 1000
    with pytest.raises(LimitReachedError, match=r"more than 1,000 bytes") as caught:
        checked_size(1001, 1000, WHERE)
    assert caught.value.where == WHERE


def test_only_the_error_about_memory_is_a_limit() -> None:
    found = window_too_large(Exception("Frame requires too much memory for decoding"), 1024, WHERE)
    assert found is not None
    assert "larger than 1,024 bytes" in found.problem
    assert found.where == WHERE
    assert window_too_large(Exception("Data corruption detected"), 1024, WHERE) is None
