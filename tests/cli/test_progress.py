"""The progress bar: when it appears, and what it counts."""

from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING

import pytest

from kafkalog_reader.cli import progress
from kafkalog_reader.cli.progress import ReadProgress, bar_is_welcome

if TYPE_CHECKING:
    from collections.abc import Callable


class Output:
    """A stream that is a terminal or is not."""

    def __init__(self, *, is_terminal: bool) -> None:
        self._is_terminal = is_terminal

    def isatty(self) -> bool:
        return self._is_terminal


class Bar:
    """Notes what a bar would show."""

    def __init__(self) -> None:
        self.shown: list[int] = []
        self.stopped = False

    def update(self, _task: int, *, completed: int) -> None:
        self.shown.append(completed)

    def stop(self) -> None:
        self.stopped = True


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Sets the time."""
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    return lambda moment: now.__setitem__(0, moment)


@pytest.fixture
def bars(monkeypatch: pytest.MonkeyPatch) -> list[Bar]:
    """The bars that were started."""
    started: list[Bar] = []

    def start(_total: int | None) -> tuple[Bar, int]:
        started.append(Bar())
        return started[-1], 0

    monkeypatch.setattr(progress, "_started", start)
    return started


@pytest.mark.parametrize(
    ("total", "read", "text"),
    [
        (None, 512, "512 B read"),
        (0, 512, "512 B read"),
        (2048, 512, "512 B of 2.0 KiB read (25 %)"),
        (2048, 2047, "2.0 KiB of 2.0 KiB read (99 %)"),
        (2048, 4096, "4.0 KiB of 2.0 KiB read (100 %)"),
    ],
)
def test_text_has_the_share_if_the_total_is_known(total: int | None, read: int, text: str) -> None:
    counted = ReadProgress(total, shown=False)
    counted(read)
    assert str(counted) == text


def test_bar_appears_after_half_a_second(clock: Callable[[float], None], bars: list[Bar]) -> None:
    counted = ReadProgress(100, shown=True)
    clock(0.49)
    counted(1)
    assert bars == []
    clock(0.5)
    counted(2)
    assert [bar.shown for bar in bars] == [[3]]


def test_bar_is_updated_ten_times_a_second(clock: Callable[[float], None], bars: list[Bar]) -> None:
    with ReadProgress(100, shown=True) as counted:
        for moment in (1.0, 1.05, 1.09, 1.2, 1.25):
            clock(moment)
            counted(10)
        assert [bar.shown for bar in bars] == [[10, 40]]
        assert not bars[0].stopped
        assert counted.bytes_read == 50
    assert bars[0].stopped


def test_no_bar_appears_where_it_is_not_welcome(
    clock: Callable[[float], None], bars: list[Bar]
) -> None:
    with ReadProgress(100, shown=False) as counted:
        clock(9.0)
        counted(1)
    assert bars == []


@pytest.mark.parametrize(
    ("err", "out", "rows_on_stdout", "welcome"),
    [
        (True, False, True, True),
        (True, True, True, False),
        (True, True, False, True),
        (False, False, True, False),
        (False, True, False, False),
    ],
)
def test_bar_needs_a_terminal_without_rows(
    monkeypatch: pytest.MonkeyPatch, err: bool, out: bool, rows_on_stdout: bool, welcome: bool
) -> None:
    monkeypatch.setattr(sys, "stderr", Output(is_terminal=err))
    monkeypatch.setattr(sys, "stdout", Output(is_terminal=out))
    assert bar_is_welcome(rows_on_stdout=rows_on_stdout) is welcome


def test_bytes_of_several_threads_are_all_counted() -> None:
    counted = ReadProgress(shown=False)
    threads = [threading.Thread(target=lambda: [counted(1) for _ in range(2000)]) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert counted.bytes_read == 8000
