"""``python -m tests.halves``: a run of the tests as two processes at once, on two cores.

Their output appears line by line, after the name of the half. The end of what a failed half printed
appears once more at the very end.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import deque
from threading import Lock, Thread
from typing import TYPE_CHECKING, Final, TextIO

from fixtures.progress import DESCRIPTOR

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

PYTEST: Final = (sys.executable, "-m", "pytest")
RUNS: Final = {
    "test": (
        "spark and brokers",
        ("spark", "live", "notebooks", "oracle", "test_readme.py", "fixtures", "io", "report"),
    ),
    "oracle": (
        "starts and streams",
        tuple(
            f"oracle/test_{name}.py"
            for name in ("recovery", "streams", "metadata_starts", "younger_controllers")
        ),
    ),
}
"""By run, the name of its first half and what it runs; that takes about as long as all others.

Whatever uses Spark is in the same half, which starts it once.
"""
OPTIONS: Final = {"test": (), "oracle": ("-m", "oracle", "-v")}
INTERRUPTED: Final = 130
_REPEATED: Final = 150
"""Lines of a failed half that are printed again: the other half may have printed a lot since."""


class Half:
    """One running command, and the lines that it prints."""

    def __init__(self, name: str, command: Sequence[str], output: TextIO, lock: Lock) -> None:
        self._name = name
        self._output = output
        self._lock = lock
        self._last: deque[str] = deque(maxlen=_REPEATED)
        self._started = time.monotonic()
        reading, telling = os.pipe()
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            env={**os.environ, "PYTHONUNBUFFERED": "1", DESCRIPTOR: str(telling)},
            pass_fds=(telling,),
            process_group=0,  # a group of its own: it gets Ctrl-C once, from us
        )
        os.close(telling)
        said = self._process.stdout
        assert said is not None
        errors = os.fdopen(reading, errors="replace")
        self._listener = Thread(target=self._listen, args=(said, errors))
        self._listener.start()

    def wait(self) -> int:
        """The exit status, after all output was printed."""
        self._listener.join()
        return self._process.wait()

    def repeat(self) -> None:
        """Print the last lines once more."""
        for line in list(self._last):
            self._say(line)

    def interrupt(self) -> None:
        """End the command as Ctrl-C on a terminal does."""
        self._process.send_signal(signal.SIGINT)

    def _listen(self, said: TextIO, errors: TextIO) -> None:
        other = Thread(target=self._pass_on, args=(errors,))
        other.start()
        self._pass_on(said)
        other.join()
        status = self._process.wait()
        how = "passed" if status == 0 else f"ended with status {status}"
        self._say(f"{how} after {time.monotonic() - self._started:.0f} s")

    def _pass_on(self, lines: TextIO) -> None:
        with lines:
            for line in lines:
                self._say(line.rstrip("\n"))

    def _say(self, line: str) -> None:
        with self._lock:
            self._last.append(line)
            self._output.write(f"{self._name} | {line}\n")
            self._output.flush()


def run(commands: Mapping[str, Sequence[str]], output: TextIO) -> int:
    """Run all commands at once; return the first status that is not 0, or 0."""
    lock = Lock()
    halves = [Half(name, command, output, lock) for name, command in commands.items()]
    try:
        statuses = [half.wait() for half in halves]
    except KeyboardInterrupt:
        for half in halves:
            half.interrupt()
        for half in halves:
            half.wait()
        return INTERRUPTED
    failed = [half for half, status in zip(halves, statuses, strict=True) if status]
    if len(halves) > 1:
        for half in failed:
            half.repeat()
    return next((abs(status) for status in statuses if status), 0)


def halves(name: str) -> dict[str, Sequence[str]]:
    """The commands of a run: every test is in one of the two."""
    first, paths = RUNS[name]
    command = (*PYTEST, *OPTIONS[name])
    return {
        first: (*command, *(f"tests/{path}" for path in paths)),
        "others": (*command, *(f"--ignore=tests/{path}" for path in paths)),
    }


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    sys.exit(run(halves(sys.argv[1]), sys.stdout))
