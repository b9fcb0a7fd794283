"""README.md and docs/commands.md show the output of commands; ``make readme`` rewrites it."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from examples import demo
from kafkalog_reader.cli.exit_meaning import EXIT_MEANINGS, exit_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
COMMANDS_PAGE = ROOT / "docs" / "commands.md"
PAGES = (README, COMMANDS_PAGE)
CAPTURE = "fixtures/captures/s3_2/both-led"
BLOCK = re.compile(r"^```console\n\$ (?P<command>.*)\n(?P<output>(?:.*\n)*?)```$", re.MULTILINE)
BLOCKS = [
    (match["command"], match["output"])
    for page in PAGES
    for match in BLOCK.finditer(page.read_text())
]
COMMANDS = [command for command, _ in BLOCKS if not command.startswith("make ")]
SECTION = re.compile(r"^## (?P<command>\S+)\n(?P<text>(?:(?!## ).*\n)*)", re.MULTILINE)
PYTHON = re.compile(r"^```python\n(?P<code>(?:.*\n)*?)```$", re.MULTILINE)


def printed(command: str) -> str:
    """The output of a command of ours into a pipe, from a new folder that shows the fixtures."""
    program, *arguments = shlex.split(command)
    module = {"kafkalog": "main", "replica-diff": "replica_diff"}[program]
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "fixtures").symlink_to(ROOT / "fixtures")
        run = subprocess.run(
            [sys.executable, "-c", f"from kafkalog_reader.cli.{module} import main; main()",
             *arguments],
            cwd=folder, capture_output=True, text=True, timeout=60, check=False,
            env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8",
                 "COLUMNS": "100"},
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
    ("command", "shown"), [block for block in BLOCKS if not block[0].startswith("make")]
)
def test_output_in_the_pages_is_what_the_command_prints(command: str, shown: str) -> None:
    assert lines(shown) == lines(printed(command))


def test_every_command_has_a_section_with_example_and_exit_status() -> None:
    sections = {match["command"]: match["text"] for match in _sections()}
    assert set(sections) == set(EXIT_MEANINGS)
    for command, text in sections.items():
        name = command if command == "replica-diff" else f"kafkalog {command}"
        assert any(block["command"].startswith(f"{name} ") for block in BLOCK.finditer(text))
        assert f"\n{exit_text(command)}\n\nRead on: " in text
        assert text.count("\n") < 70  # a screen or little more, with the schema


def _sections() -> Iterator[re.Match[str]]:
    return SECTION.finditer(COMMANDS_PAGE.read_text())


@pytest.mark.parametrize("page", PAGES)
def test_links_to_other_pages_resolve(page: Path) -> None:
    for path, anchor in re.findall(r"\]\(([^)#:]*)#?([^):]*)\)", page.read_text()):
        target = (page.parent / path) if path else page
        assert target.exists(), path
        assert not anchor or anchor in _anchors(target), f"{path}#{anchor}"


def _anchors(page: Path) -> set[str]:
    """The anchors that GitHub gives to headings."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", each.lower()).replace(" ", "-") for each in headings}


@pytest.mark.spark
def test_demo_in_the_readme_is_what_make_demo_prints(spark: SparkSession) -> None:
    assert lines(dict(BLOCKS)["make demo"]) == lines(demo_output(spark))


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
