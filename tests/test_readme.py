"""The README shows the output of its commands; ``make readme`` rewrites it."""

from __future__ import annotations

import contextlib
import io
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from examples import demo

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
CAPTURE = "fixtures/captures/s3_2/both-led"
BLOCK = re.compile(r"^```console\n\$ (?P<command>.*)\n(?P<output>(?:.*\n)*?)```$", re.MULTILINE)
BLOCKS = {match["command"]: match["output"] for match in BLOCK.finditer(README.read_text())}
COMMANDS = [command for command in BLOCKS if not command.startswith("make ")]
PYTHON = re.compile(r"^```python\n(?P<code>(?:.*\n)*?)```$", re.MULTILINE)


def printed(command: str) -> str:
    """The output of a command of ours into a pipe, from the root of the checkout."""
    program, *arguments = command.split()
    module = {"kafkalog": "main", "replica-diff": "replica_diff"}[program]
    run = subprocess.run(
        [sys.executable, "-c", f"from kafkalog_reader.cli.{module} import main; main()",
         *arguments],
        cwd=ROOT, capture_output=True, text=True, timeout=60, check=False,
        env={**os.environ, "PYTHONIOENCODING": "utf-8", "COLUMNS": "100"},
    )  # fmt: skip
    assert run.returncode in (0, 1), run.stderr
    return run.stdout


def demo_output(spark: SparkSession) -> str:
    """The standard output of ``make demo``."""
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown), contextlib.chdir(ROOT):
        demo.show(spark, CAPTURE)
    return f"{shown.getvalue()}\n$ replica-diff {CAPTURE}\n" + printed(f"replica-diff {CAPTURE}")


def lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.strip().splitlines()]


@pytest.mark.parametrize(
    "command", [command for command in BLOCKS if not command.startswith("make")]
)
def test_output_in_the_readme_is_what_the_command_prints(command: str) -> None:
    assert lines(BLOCKS[command]) == lines(printed(command))


@pytest.mark.spark
def test_demo_in_the_readme_is_what_make_demo_prints(spark: SparkSession) -> None:
    assert lines(BLOCKS["make demo"]) == lines(demo_output(spark))


def test_python_example_of_the_readme_runs() -> None:
    (code,) = (m["code"] for m in PYTHON.finditer(README.read_text()) if "duckdb" in m["code"])
    run = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert re.search(r"0 +│ +5 +│ +4 ", run.stdout), run.stdout


def test_every_table_is_in_the_readme() -> None:
    from kafkalog_reader.registry import TABLES

    listed = re.findall(r"^\| (`.*?`) \|", README.read_text().split("## Tables")[1], re.MULTILINE)
    assert {name for cell in listed for name in re.findall(r"`(\w+)`", cell)} == set(TABLES)
