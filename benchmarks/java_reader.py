"""A peer: Kafka's own Java reader, kept warm in one process between passes."""

from __future__ import annotations

import json
import subprocess
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal

from benchmarks.answer import WRAP, Answer
from benchmarks.java import java_command

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

Work = Literal["records", "batches", "batches-in-memory"]


class JavaReader:
    """One warm Java process that reads one segment on request."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self.last: dict[str, Any] = {}

    def seconds(self) -> float:
        """Read the segment once; return the time by Java's own clock."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise subprocess.CalledProcessError(self._process.wait(), self._process.args)
        self.last = json.loads(line)
        return float(self.last["seconds"])

    @property
    def batches(self) -> int:
        """The number of record batches in the last pass."""
        return int(self.last["batches"])

    @property
    def answer(self) -> Answer:
        """The result of the last pass over records."""
        return Answer(
            records=self.last["records"],
            offsets=self.last["offsets"] % WRAP,
            timestamps=self.last["timestamps"] % WRAP,
            key_bytes=self.last["keyBytes"],
            value_bytes=self.last["valueBytes"],
            first_bytes=self.last["firstBytes"],
        )


@contextmanager
def java_reader(work: Work, segment: Path, warm_seconds: float) -> Iterator[JavaReader]:
    """Start Java on this thread's cores, read until it has compiled its code, then wait."""
    command = [*java_command("ReadSegment"), work, str(segment), str(warm_seconds)]
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        if process.stdout.readline() != "ready\n":
            raise subprocess.CalledProcessError(process.wait(), command)
        yield JavaReader(process)
        # Popen closes standard input, which ends the process, and waits for it.
