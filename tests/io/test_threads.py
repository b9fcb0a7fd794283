"""Threads that share units of work: idle threads, and the end when nobody waits any more."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from kafkalog_reader.io.threads import Threads

if TYPE_CHECKING:
    from collections.abc import Iterator


def test_results_come_in_order_whoever_is_first() -> None:
    with Threads(3) as shared:
        found = list(shared.map(lambda delay: (time.sleep(delay), delay)[1], [0.1, 0.0, 0.05]))
    assert found == [0.1, 0.0, 0.05]


def test_threads_are_idle_only_when_no_unit_waits_for_them() -> None:
    begun = threading.Semaphore(0)
    go_on = [threading.Event() for _ in range(4)]

    def unit(number: int) -> None:
        begun.release()
        assert go_on[number].wait(timeout=30)

    with Threads(3) as shared, ThreadPoolExecutor(1) as other:
        assert shared.idle == 3
        found = shared.map(unit, range(4))
        first = other.submit(next, found)
        for _ in range(3):
            assert begun.acquire(timeout=30)
        assert shared.idle == 0  # the fourth waits
        go_on[0].set()
        first.result(timeout=30)
        for number, idle in ((1, 1), (2, 2), (3, 3)):
            go_on[number].set()
            next(found)
            assert shared.idle == idle


def test_of_many_units_some_have_begun_when_the_first_is_done(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("kafkalog_reader.io.threads._MAX_BEGUN", 10)
    taken = []

    def units() -> Iterator[int]:
        for number in range(100):
            taken.append(number)
            yield number

    with Threads(2) as shared:
        found = shared.map(lambda number: number, units())
        for number in range(100):
            assert next(found) == number
            assert len(taken) <= number + 10
        assert list(found) == []


def test_a_unit_that_fails_has_no_thread_any_more() -> None:
    def unit(number: int) -> None:
        raise ValueError(number)

    with Threads(2) as shared:
        with pytest.raises(ValueError, match="7"):
            list(shared.map(unit, [7]))
        assert shared.idle == 2


def test_leaving_early_ends_what_runs_at_its_next_step_and_begins_nothing() -> None:
    begun = []

    def unit(number: int) -> None:
        begun.append(number)
        started = time.monotonic()
        while time.monotonic() < started + 60:
            report(1)
            time.sleep(0.001)

    def leave() -> None:
        with Threads(2) as shared:
            nonlocal report
            report = shared.reporting(lambda _: None)
            waiting = shared.map(unit, range(100))
            while len(begun) < 2:
                time.sleep(0.001)
            raise KeyboardInterrupt(waiting)

    def report(_: int) -> None:
        raise AssertionError

    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        leave()
    assert time.monotonic() < started + 30
    assert sorted(begun) == [0, 1]
