"""The read rate of a process applies to the windows of all its threads."""

from __future__ import annotations

import pickle
import threading
import time
from typing import TYPE_CHECKING

from kafkalog_reader.io.read_context import ReadContext
from kafkalog_reader.io.read_rate import ReadRate
from kafkalog_reader.io.window import Windows

if TYPE_CHECKING:
    from pathlib import Path


def test_a_file_takes_as_long_as_the_rate_says(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(bytes(1_000_000))
    context = ReadContext(rate=ReadRate(2_000_000))
    started = time.monotonic()
    with Windows(str(path), context=context) as windows:
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


def test_a_context_takes_no_rate_to_another_process() -> None:
    limited = ReadContext(follow_links=True, rate=ReadRate(1))
    there = pickle.loads(pickle.dumps(limited))
    assert (there.follow_links, there.rate) == (True, None)
