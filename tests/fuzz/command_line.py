"""Runs the commands on mutated files: each must give a result or a one-line error."""

from __future__ import annotations

import contextlib
import io
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from kafkalog_reader.cli.main import kafkalog
from kafkalog_reader.cli.replica_diff import replica_diff
from kafkalog_reader.cli.run import status

if TYPE_CHECKING:
    import click

ANSWERS: Final = (0, 1, 2)
MAX_SHOWN: Final = 8 << 20
"""Maximum bytes of output: small files do not give long output."""


def commands_survive(directory: str, files: list[str]) -> None:
    """Run every command on a log directory with one partition, and on its files."""
    paths = [str(path) for name in files for path in Path(directory).rglob(name)]
    _answers(kafkalog, "ls", directory)
    _answers(kafkalog, "verify", directory)
    _answers(kafkalog, "verify", "--deep", "--format", "json", directory)
    _answers(kafkalog, "table", "records", "--format", "json", "--limit", "50", directory)
    _answers(kafkalog, "table", "recoveries", directory)
    _answers(replica_diff, f"1={directory}", f"2={directory}")
    for path in paths:
        _answers(kafkalog, "dump", path)
        _answers(kafkalog, "dump", "--print-data-log", path)
        _answers(kafkalog, "inspect", path)
    with tempfile.TemporaryDirectory() as output:
        _answers(kafkalog, "salvage", directory, "--output", f"{output}/parquet")
        _answers(kafkalog, "salvage", directory, "--as-segments", "--output", f"{output}/log")


def starts_survive(directory: str) -> None:
    """Run the commands that predict the start of a broker on its log directories."""
    _answers(kafkalog, "verify", directory)
    _answers(kafkalog, "plan", directory)
    _answers(kafkalog, "table", "recoveries", directory)


def _answers(command: click.Command, *arguments: str) -> None:
    shown = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
    said = io.StringIO()
    with contextlib.redirect_stdout(shown), contextlib.redirect_stderr(said):
        code = status(command, arguments)
    text = said.getvalue()
    assert code in ANSWERS, f"{arguments}: status {code}"
    assert "Traceback" not in text, f"{arguments}: {text}"
    assert "This is a bug" not in text, f"{arguments}: {text}"
    assert shown.tell() <= MAX_SHOWN, f"{arguments}: {shown.tell()} bytes"
