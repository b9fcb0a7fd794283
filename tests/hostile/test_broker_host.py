"""On a broker's own host: without pyspark and Java, and with a rate that every command keeps."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.tables.logs import batch

if TYPE_CHECKING:
    from tests.hostile.conftest import Inputs

ROOT = Path(__file__).parents[2]
# Java and Spark are not imported, and could not be found.
PROGRAM = """
import sys
class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("pyspark", "py4j", "spark_datasource"):
            raise AssertionError(name + " was asked for")
sys.meta_path.insert(0, Refuse())
sys.argv = sys.argv[1:]
if sys.argv[0] == "replica-diff":
    from kafkalog_reader.cli.replica_diff import main
else:
    from kafkalog_reader.cli.main import main
main()
"""
COMMANDS = [
    ["kafkalog", "ls", "{directory}"],
    ["kafkalog", "table", "records", "{directory}"],
    ["kafkalog", "table", "findings", "{directory}"],
    ["kafkalog", "dump", "{log}", "--print-data-log"],
    ["kafkalog", "inspect", "{log}"],
    ["replica-diff", "{directory}"],
]


def run(inputs: Inputs, command: list[str], *more: str) -> subprocess.CompletedProcess[str]:
    places = {"directory": inputs.sealed(), "log": str(inputs.log)}
    arguments = [part.format(**places) for part in command]
    return subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments, *more],
        env={"PATH": "", "PYTHONPATH": str(ROOT), "LANG": os.environ.get("LANG", "C.UTF-8")},
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_command_needs_no_spark_and_no_java_and_knows_the_rate(
    inputs: Inputs, command: list[str]
) -> None:
    inputs.log.write_bytes(batch(0))
    done = run(inputs, command, "--max-rate", "50MB")
    assert done.returncode in (0, 1), done.stderr
    assert "was asked for" not in done.stderr


def test_a_rate_is_kept_by_a_whole_command(inputs: Inputs) -> None:
    inputs.log.write_bytes(b"".join(batch(3 * number) for number in range(10_000)))
    size = inputs.log.stat().st_size
    started = time.monotonic()
    done = run(inputs, ["kafkalog", "dump", "{log}"], "--max-rate", str(size // 2))
    assert done.returncode == 0
    assert time.monotonic() - started > 1.5


@pytest.mark.parametrize("rate", ["0", "fast", "-1", "5PB"])
def test_a_rate_that_is_none_is_refused(inputs: Inputs, rate: str) -> None:
    inputs.log.write_bytes(batch(0))
    done = run(inputs, ["kafkalog", "ls", "{directory}"], "--max-rate", rate)
    assert done.returncode == 2
    assert "is not a size" in done.stderr
