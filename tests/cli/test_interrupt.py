from __future__ import annotations

import signal
from threading import Thread
from typing import TYPE_CHECKING

import pytest

from kafkalog_reader.cli.interrupt import whole

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.cli.conftest import Run


@pytest.fixture(autouse=True)
def _handler() -> Iterator[None]:
    """Python's own: PySpark, if a test before started it, leaves its own one behind."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def interrupted(times: int) -> list[str]:
    """The actions of a block that was interrupted this often before its last statement."""
    done: list[str] = []
    try:
        with whole():
            for _ in range(times):
                signal.raise_signal(signal.SIGINT)
            done.append("rest of the block")
    except KeyboardInterrupt:
        done.append("interrupted")
    return done


def test_first_interrupt_waits_until_the_block_is_done() -> None:
    assert interrupted(1) == ["rest of the block", "interrupted"]


def test_second_interrupt_does_not_wait() -> None:
    assert interrupted(2) == ["interrupted"]


def test_a_block_without_interrupt_just_runs() -> None:
    assert interrupted(0) == ["rest of the block"]


def test_handler_is_what_it_was_afterwards() -> None:
    before = signal.getsignal(signal.SIGINT)
    with whole():
        assert signal.getsignal(signal.SIGINT) is not before
    assert signal.getsignal(signal.SIGINT) is before


def test_another_thread_leaves_signals_alone() -> None:
    seen = []

    def block() -> None:
        with whole():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = Thread(target=block)
    thread.start()
    thread.join()
    assert seen == [signal.default_int_handler]


def test_verify_says_nothing_of_what_it_did_not_reach(
    brokers: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("kafkalog_reader.audits.tables.verification.verify", interrupt)
    answer = run("verify", brokers)
    assert (answer.status, answer.out) == (130, "")
    assert answer.err.startswith("\ninterrupted: 0 of ")
