"""The read rate of a process applies to the windows of all its threads."""

from __future__ import annotations

import multiprocessing
import pickle
import threading
import time
from typing import TYPE_CHECKING

import pytest

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


def test_what_is_pickled_shares_the_rate_of_its_process() -> None:
    limited = ReadContext(follow_links=True, rate=ReadRate(1_000_000))
    pickled = pickle.dumps(limited)
    there = pickle.loads(pickled)
    assert there.follow_links
    assert there.rate is pickle.loads(pickled).rate is limited.rate


@pytest.mark.parametrize("method", ["spawn", "fork"])
def test_another_process_reads_all_tasks_at_the_rate(method: str) -> None:
    """Tasks that are read one after the other: each alone would be within the burst."""
    rate = ReadRate(1_000_000)
    with multiprocessing.get_context(method).Pool(1) as pool:
        pool.apply(int)  # it has started
        started = time.monotonic()
        for _ in range(6):
            pool.apply(ReadRate.take, (rate, 100_000))
    assert 0.35 < time.monotonic() - started < 5


def test_a_forked_process_does_not_wait_for_a_lock_of_a_thread_that_it_lacks() -> None:
    rate = ReadRate(1_000_000)
    pickled = pickle.dumps(rate)
    with rate._lock, multiprocessing.get_context("fork").Pool(1) as pool:
        pool.apply_async(_take, (pickled,)).get(timeout=20)


def _take(pickled: bytes) -> None:
    pickle.loads(pickled).take(1)
