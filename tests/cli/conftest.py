"""Fixtures that run the commands, and files to run them on."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from fixtures.builder import cluster, replica
from kafkalog_reader.cli.main import kafkalog
from kafkalog_reader.cli.run import status

ROOT = Path(__file__).parent.parent.parent
PROGRAM = "from kafkalog_reader.cli.scripts import kafkalog; kafkalog()"


@dataclass(frozen=True)
class Answer:
    """The exit status and output of a command."""

    status: int
    out: str
    err: str


Run = Callable[..., Answer]
Start = Callable[..., "subprocess.Popen[bytes]"]


@pytest.fixture
def run(capfdbinary: pytest.CaptureFixture[bytes]) -> Run:
    """Run ``kafkalog`` in this process, through the wrapper of the console script."""

    def run(*arguments: object) -> Answer:
        code = status(kafkalog, [str(argument) for argument in arguments])
        out, err = capfdbinary.readouterr()
        return Answer(code, out.decode(), err.decode())

    return run


def start(
    *arguments: object, environment: Mapping[str, str] | None = None, **options: Any
) -> subprocess.Popen[bytes]:
    """Start ``kafkalog`` as a separate process with pipes for standard output and error."""
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *map(str, arguments)],
        cwd=options.pop("cwd", ROOT),
        env={**os.environ, "PYTHONPATH": str(ROOT), **(environment or {})},
        stdout=options.pop("stdout", subprocess.PIPE),
        stderr=options.pop("stderr", subprocess.PIPE),
        **options,
    )


@pytest.fixture
def run_process() -> Run:
    """Run ``kafkalog`` as a separate process to its end."""

    def run(*arguments: object, **options: Any) -> Answer:
        process = start(*arguments, **options)
        out, err = process.communicate(timeout=60)
        return Answer(process.returncode, (out or b"").decode(), err.decode())

    return run


@pytest.fixture
def start_process() -> Iterator[Start]:
    """Start processes that are killed, and whose pipes are closed, at the end of the test."""
    started: list[subprocess.Popen[bytes]] = []

    def start_one(*arguments: object, **options: Any) -> subprocess.Popen[bytes]:
        started.append(start(*arguments, **options))
        return started[-1]

    yield start_one
    for process in started:
        if process.poll() is None:
            process.kill()
        process.wait(60)
        for pipe in (process.stdout, process.stderr):
            if pipe is not None:
                pipe.close()


@pytest.fixture
def brokers(tmp_path: Path) -> Path:
    """The files of scenario S3.2: three brokers, of which the first wrote alone."""
    root = tmp_path / "evidence"
    shared = "a@0/e0 b@1/e0"
    cluster(
        root,
        {
            1: replica(f"{shared} c@2/e0 d@3/e0 e@4/e0", epochs="0:0", high_watermark=2),
            2: replica(f"{shared} f@2/e1 g@3/e1", epochs="0:0 1:2", high_watermark=4),
            3: replica(f"{shared} f@2/e1 g@3/e1", epochs="0:0 1:2", high_watermark=4),
        },
    )
    return root


def digest(root: Path) -> dict[str, tuple[str, int]]:
    """The content and time of every file below ``root``."""
    return {
        str(path.relative_to(root)): (
            hashlib.sha256(path.read_bytes()).hexdigest(),
            path.stat().st_mtime_ns,
        )
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }


@pytest.fixture
def untouched(brokers: Path) -> Any:
    """Fail the test if the inputs have changed."""
    before = digest(brokers)
    yield brokers
    assert digest(brokers) == before
