"""The rate of a process: what its windows read, over all threads."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

import pytest

from kafkalog_reader.io.read_rate import ReadRate, limit_rate, rate_limit
from kafkalog_reader.io.window import Windows

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(autouse=True)
def no_limit_afterwards() -> Iterator[None]:
    yield
    limit_rate(None)


def test_a_file_takes_as_long_as_the_rate_says(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(bytes(1_000_000))
    limit_rate(2_000_000)
    started = time.monotonic()
    with Windows(str(path)) as windows:
        assert bytes(windows.read(0)) == bytes(1_000_000)
    assert 0.3 < time.monotonic() - started < 5


def test_threads_share_one_rate() -> None:
    rate = ReadRate(1_000_000)
    started = time.monotonic()
    threads = [threading.Thread(target=rate.take, args=(100_000,)) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert time.monotonic() - started > 0.35


def test_a_pause_earns_no_flood() -> None:
    rate = ReadRate(1_000_000)
    time.sleep(0.5)
    started = time.monotonic()
    for _ in range(5):
        rate.take(100_000)
    assert time.monotonic() - started > 0.25


def test_there_is_no_limit_unless_asked_for() -> None:
    assert rate_limit() is None
    limit_rate(1)
    assert rate_limit() is not None
