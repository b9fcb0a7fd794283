"""The commands leave the page cache of a broker's host as it was."""

from __future__ import annotations

import mmap
import os
from typing import TYPE_CHECKING

import pytest

from fixtures.builder import cluster, data_batch, replica
from kafkalog_reader.format.record import Record
from kafkalog_reader.io.page_cache import CHECKED_SIZE
from tests.io.test_page_cache import pages_in_memory

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Run

BATCHES = 64
MIB = 1 << 20
WARM = MIB // mmap.PAGESIZE


@pytest.fixture
def cold(tmp_path: Path) -> Path:
    """A segment of about 4 MiB without pages in memory."""
    value = os.urandom(64 << 10)
    batches = [data_batch(n, [Record(offset_delta=0, value=value)]) for n in range(BATCHES)]
    root = cluster(tmp_path / "logs", {1: replica(batches, high_watermark=BATCHES)})[1]
    (log,) = (root / "t-0").glob("*.log")
    descriptor = os.open(log, os.O_RDWR)
    os.fsync(descriptor)  # dirty pages are not evicted
    os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(descriptor)
    assert pages_in_memory(log) == 0, "a file system that lives in memory cannot show it"
    return log


def arguments(command: str, log: Path, tmp_path: Path) -> list[str]:
    """A command that reads all of a log."""
    return {
        "verify": ["verify", str(log.parent.parent)],
        "verify-threads": ["verify", str(log.parent.parent), "--threads", "2"],
        "verify-deep": ["verify", "--deep", str(log.parent.parent)],
        "salvage": ["salvage", str(log.parent.parent), "--output", str(tmp_path / "out")],
        "dump": ["dump", str(log)],
        "dump-records": ["dump", "--print-data-log", str(log)],
        "table": [
            "table",
            "records",
            str(log.parent.parent),
            "--output",
            str(tmp_path / "r.parquet"),
        ],
    }[command]


COMMANDS = ["verify", "verify-threads", "verify-deep", "salvage", "dump", "dump-records", "table"]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_cold_log_is_cold_again(command: str, cold: Path, tmp_path: Path, run: Run) -> None:
    answer = run(*arguments(command, cold, tmp_path))
    assert answer.status in (0, 1), answer.err
    assert pages_in_memory(cold) == 0


@pytest.mark.parametrize("command", COMMANDS)
def test_pages_that_consumers_are_served_from_stay(
    command: str, cold: Path, tmp_path: Path, run: Run
) -> None:
    with cold.open("rb", buffering=0) as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_RANDOM)  # no read-ahead
        os.pread(file.fileno(), MIB, 2 * MIB)
    assert pages_in_memory(cold) == WARM
    run(*arguments(command, cold, tmp_path))
    mixed = 2 * CHECKED_SIZE // mmap.PAGESIZE  # the ranges at both ends are partly warm, and stay
    assert WARM <= pages_in_memory(cold) <= WARM + mixed
