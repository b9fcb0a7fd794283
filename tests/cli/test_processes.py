"""Behaviour that only a separate process shows: signals, closed pipes, terminals."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import re
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from fixtures.builder import data_batch
from kafkalog_reader.format.record import Record
from tests.cli.conftest import PROGRAM, ROOT

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Run, Start

RECORDS = 40_000
"""Far more lines than a pipe holds, and more bytes than two windows."""


@pytest.fixture(scope="module")
def large_log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log of one batch of 100 records of 5 kB, repeated with rising offsets."""
    directory = tmp_path_factory.mktemp("large") / "t-0"
    directory.mkdir()
    batch = data_batch(0, [Record(offset_delta=n, value=b"v" * 500) for n in range(100)]).build()
    log = directory / "00000000000000000000.log"
    with log.open("wb") as file:
        for base_offset in range(0, RECORDS, 100):  # the CRC does not cover the base offset
            file.write(base_offset.to_bytes(8, "big") + batch[8:])
    return log


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_ctrl_c_ends_with_whole_rows_and_says_how_far(
    unbuffered: str, large_log: Path, start_process: Start
) -> None:
    process = start_process(
        "table", "records", large_log, "--format", "json",
        environment={"PYTHONUNBUFFERED": unbuffered},
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stderr is not None
    first = process.stdout.readline()  # it is running now, and waits until its pipe is read
    process.send_signal(signal.SIGINT)
    lines = [first, *process.stdout.readlines()]
    said = process.stderr.read().decode()
    assert process.wait(60) == 130
    assert [json.loads(line)["offset"] for line in lines] == list(range(len(lines)))
    assert 0 < len(lines) < RECORDS
    message = re.fullmatch(r"\ninterrupted: ([\d,]+) rows of records, .* read\n", said)
    assert message is not None
    assert int(message[1].replace(",", "")) == len(lines)


@pytest.mark.parametrize("module", ["click", "kafkalog_reader.cli.main"])
def test_ctrl_c_before_the_command_runs_shows_no_traceback(module: str) -> None:
    program = (
        f"import kafkalog_reader.cli.scripts, os, signal; import {module}; "
        "os.kill(os.getpid(), signal.SIGINT)"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, timeout=60, check=False
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (-signal.SIGINT, b"", b"")


def test_ctrl_c_ends_an_arrow_stream_properly(
    large_log: Path, tmp_path: Path, start_process: Start
) -> None:
    import pyarrow as pa

    process = start_process("table", "records", large_log, "--format", "arrow")
    assert process.stdout is not None
    first = process.stdout.read(1)
    process.send_signal(signal.SIGINT)
    content = first + process.stdout.read()
    assert process.wait(60) == 130
    read = pa.ipc.open_stream(content).read_all()
    assert 0 < read.num_rows < RECORDS
    assert content.endswith(b"\xff\xff\xff\xff\0\0\0\0")  # the end-of-stream marker


@pytest.mark.parametrize(
    "arguments", [["table", "records", "--format", "json"], ["dump", "--print-data-log"]]
)
def test_a_reader_that_goes_away_is_met_with_silence(
    arguments: list[str],
    large_log: Path,
    start_process: Start,
) -> None:
    process = start_process(*arguments, large_log)
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.readline()
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait(60) == 141


def test_standard_output_that_is_gone_from_the_start_is_met_with_silence(
    brokers: Path, run_process: Run
) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    answer = run_process("ls", brokers, stdout=writer)
    os.close(writer)
    assert (answer.status, answer.err) == (141, "")


def on_terminal(start: Start, *arguments: object, **environment: str) -> tuple[int, str, str]:
    """Exit status, standard output, and the text that a terminal as standard error received."""
    controller, terminal = pty.openpty()
    process = start(*arguments, stderr=terminal, environment={"TERM": "xterm", **environment})
    os.close(terminal)
    assert process.stdout is not None
    out = process.stdout.read().decode()
    shown = b""
    with contextlib.suppress(OSError):  # Linux returns EIO if the other end is closed
        while chunk := os.read(controller, 65536):
            shown += chunk
    os.close(controller)
    return process.wait(60), out, shown.decode()


def test_quick_answers_show_no_bar_on_a_terminal(brokers: Path, start_process: Start) -> None:
    status, out, shown = on_terminal(start_process, "ls", brokers)
    assert (status, shown) == (0, "")
    assert out.splitlines()[-1].startswith("3 replicas of 1 partition on 3 brokers: ")


@pytest.mark.parametrize("environment", [{}, {"NO_COLOR": "1"}])
def test_long_work_shows_a_bar_on_a_terminal_that_is_gone_when_done(
    environment: dict[str, str],
    large_log: Path,
    start_process: Start,
) -> None:
    files = [large_log] * 16  # seconds of work: the bar appears after half a second
    status, out, shown = on_terminal(
        start_process, "dump", "--print-data-log", *files, **environment
    )
    assert status == 0
    assert len(out.splitlines()) == 16 * (2 + RECORDS + RECORDS // 100)
    assert "reading" in shown
    assert "MiB" in shown
    assert shown.rstrip("\r\n").endswith("\x1b[2K")  # the line is erased
    if environment:
        assert re.search(r"\x1b\[[0-9;]*3[0-9]m", shown) is None


@pytest.mark.parametrize(
    ("closed", "status", "rows", "said"),
    [("2>&-", 0, 6, ""), ("<&-", 0, 6, ""), (">&-", 2, 0, "error: cannot write: Bad file"),
     (">/dev/full", 2, 0, "error: cannot write: No space left on device")],
)  # fmt: skip
def test_closed_and_full_streams_are_distinguished_from_bugs(
    closed: str, status: int, rows: int, said: str, brokers: Path
) -> None:
    command = f'"$0" -c "{PROGRAM}" ls "$1" {closed}'
    ended = subprocess.run(
        ["bash", "-c", command, sys.executable, str(brokers)],
        cwd=ROOT, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (ended.returncode, len(ended.stdout.splitlines())) == (status, rows)
    assert ended.stderr.startswith(said)
    assert len(ended.stderr.splitlines()) == bool(said)


def test_pipes_are_silent_on_standard_error(large_log: Path, run_process: Run) -> None:
    answer = run_process("table", "records", large_log, "--columns", "offset", "--format", "csv")
    assert answer.err == ""
    assert len(answer.out.splitlines()) == RECORDS + 1


@pytest.mark.parametrize("environment", [{"PYTHONIOENCODING": "ascii"}, {"LC_ALL": "C"}])
def test_lists_are_ascii_without_a_unicode_terminal(
    environment: dict[str, str], brokers: Path, run_process: Run
) -> None:
    answer = run_process("ls", brokers, environment=environment)
    assert answer.status == 0
    assert answer.out.isascii()
    assert ">=2" in answer.out
