"""The clean-shutdown marker."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixtures.builder.small_files import (
    build_clean_shutdown,
)
from kafkalog_reader.format.clean_shutdown import CleanShutdown, parse_clean_shutdown


@given(content=st.binary(max_size=100))
def test_any_bytes_are_a_marker(content: bytes) -> None:
    assert isinstance(parse_clean_shutdown(content), CleanShutdown)


@pytest.mark.parametrize(
    ("content", "version", "broker_epoch"),
    [
        (b"", None, None),
        (b'{"version":0,"brokerEpoch":17}', 0, 17),
        (b'{"version":0}', 0, None),
        (b'{"version":0,"brokerEpoch":true}', 0, None),
        (b"garbage", None, None),
        (b"[1]", None, None),
        (b"\xff", None, None),
        (b"[" * 4000, None, None),
        (b"1" * 100_000, None, None),
    ],
)
def test_clean_shutdown_marker_is_read_or_its_epoch_unknown(
    content: bytes, version: int | None, broker_epoch: int | None
) -> None:
    marker = CleanShutdown(version=version, broker_epoch=broker_epoch)
    assert parse_clean_shutdown(content) == marker


def test_clean_shutdown_marker_is_written_as_kafka_writes_it() -> None:
    assert build_clean_shutdown(17) == b'{"version":0,"brokerEpoch":17}'
    assert build_clean_shutdown(None) == b""
