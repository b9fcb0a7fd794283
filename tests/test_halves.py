"""A run in two halves prints output as it appears, and ends with the status of its halves."""

from __future__ import annotations

import io
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from tests.halves import RUNS, halves, run

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT: Final = Path(__file__).parents[1]


def python(code: str) -> Sequence[str]:
    """A command that needs only the interpreter."""
    return (sys.executable, "-c", code)


@pytest.mark.parametrize(
    ("first", "second", "status"), [(0, 0, 0), (3, 0, 3), (0, 1, 1), (0, 5, 5)]
)
def test_half_that_fails_fails_the_run(first: int, second: int, status: int) -> None:
    commands = {"a": python(f"exit({first})"), "b": python(f"exit({second})")}
    assert run(commands, io.StringIO()) == status


def test_half_that_is_killed_fails_the_run() -> None:
    killed = python("import os; os.kill(os.getpid(), 9)")
    output = io.StringIO()
    assert run({"a": killed, "b": python("")}, output) == signal.SIGKILL
    assert "a | ended with status -9 after " in output.getvalue()


def test_end_of_a_failed_half_is_printed_last(tmp_path: Path) -> None:
    """Whoever sees only the end of a long output sees why it failed."""
    failed = tmp_path / "failed"
    failing = python(
        f"import pathlib; print('why'); pathlib.Path({str(failed)!r}).touch(); exit(1)"
    )
    waiting = python(
        "import pathlib, time\n"
        f"while not pathlib.Path({str(failed)!r}).exists(): time.sleep(0.05)\n"
        "time.sleep(0.5)\n"
        "for number in range(1000): print(number)"
    )
    output = io.StringIO()
    assert run({"a": failing, "b": waiting}, output) == 1
    first, second, third = output.getvalue().splitlines()[-3:]
    assert first.startswith("b | passed after ")
    assert second == "a | why"
    assert third.startswith("a | ended with status 1 after ")


def test_lines_come_as_they_are_reported_with_the_half_in_front(tmp_path: Path) -> None:
    """The half continues after the test has read its first line."""
    seen = tmp_path / "seen"
    asking = (
        "import pathlib, time; print('first', flush=True)\n"
        f"while not pathlib.Path({str(seen)!r}).exists(): time.sleep(0.05)\n"
        "print('second')"
    )
    code = (
        "import sys; from tests.halves import run\n"
        f"sys.exit(run({{'a': (sys.executable, '-c', {asking!r})}}, sys.stdout))"
    )
    with subprocess.Popen(python(code), stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "a | first\n"
        seen.touch()
        assert process.stdout.readline() == "a | second\n"


def test_what_scenarios_tell_is_shown_although_pytest_keeps_their_output(tmp_path: Path) -> None:
    test = tmp_path / "test_quiet.py"
    test.write_text(
        "from fixtures import progress\ndef test_quiet() -> None: progress.tell('s3_2: 1.0 s')\n"
    )
    output = io.StringIO()
    command = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(test))
    assert run({"a": command}, output) == 0
    assert "a | s3_2: 1.0 s" in output.getvalue().splitlines()


def test_interrupted_run_ends_both_halves() -> None:
    code = (
        "import sys; from tests.halves import run\n"
        "command = (sys.executable, '-c', 'import time; print(1, flush=True); time.sleep(60)')\n"
        "sys.exit(run({'a': command, 'b': command}, sys.stdout))"
    )
    started = time.monotonic()
    with subprocess.Popen(python(code), stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout is not None
        assert {process.stdout.readline() for _ in range(2)} == {"a | 1\n", "b | 1\n"}
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130
    assert time.monotonic() - started < 30


@pytest.mark.parametrize("name", RUNS)
def test_every_test_is_in_one_half(name: str) -> None:
    first, second = halves(name).values()
    chosen = {each for each in first if each.startswith("tests/")}
    left_out = {each.removeprefix("--ignore=") for each in second if each.startswith("--ignore=")}
    assert chosen == left_out
    assert all((ROOT / each).exists() for each in chosen)
    marked = "mark.spark"
    using = {path for path in (ROOT / "tests").rglob("test_*.py") if marked in path.read_text()}
    if name == "test":
        assert all(
            any(path.is_relative_to(ROOT / each) for each in chosen)
            for path in using - {Path(__file__)}
        )
