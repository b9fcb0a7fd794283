"""README.md and pages in docs/ show the output of commands; ``make readme`` rewrites it."""

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

import kafkalog_reader
from examples import demo
from kafkalog_reader.cli.exit_meaning import EXIT_MEANINGS, exit_text
from kafkalog_reader.registry import TABLES
from kafkalog_reader.report.lanes_svg import lanes_svg

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
DOCS = ROOT / "docs"
INDEX = DOCS / "README.md"
COMMANDS_PAGE = DOCS / "commands.md"
DEMO_PAGE = DOCS / "demo.md"
PICTURE = DOCS / "images" / "forked.svg"
PAGES = (README, COMMANDS_PAGE, DEMO_PAGE, DOCS / "dump.md")
"""The pages with output of commands."""
LINKED = (README, ROOT / "CONTRIBUTING.md", *sorted(DOCS.glob("*.md")))
CAPTURE = "fixtures/captures/s3_2/both-led"
BLOCK = re.compile(r"^```console\n\$ (?P<command>.*)\n(?P<output>(?:.*\n)*?)```$", re.MULTILINE)
BLOCKS = [
    (match["command"], match["output"])
    for page in PAGES
    for match in BLOCK.finditer(page.read_text())
]
SECTION = re.compile(r"^## (?P<command>\S+)\n(?P<text>(?:(?!## ).*\n)*)", re.MULTILINE)
PYTHON = re.compile(
    r"^```python\n(?P<code>(?:.*\n)*?)```\n\n```text\n(?P<output>(?:.*\n)*?)```$", re.MULTILINE
)
CODES = {match["code"]: match["output"] for match in PYTHON.finditer(README.read_text())}
"""The Python of README.md with its output: one in this Python, one in Spark."""


def printed(command: str) -> str:
    """The output of a command of ours into a pipe, from a new folder that shows the fixtures.

    Args:
        command: the name of a program and its arguments; it may end with ``| head -n NUMBER``.
    """
    command, _, cut = command.partition(" | head -n ")
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
    return "".join(run.stdout.splitlines(keepends=True)[: int(cut) if cut else None])


def python_output(code: str) -> str:
    """What Python code prints; Spark code in the session that runs."""
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown), contextlib.chdir(ROOT):
        exec(compile(code, str(README), "exec"), {})
    return shown.getvalue()


def picture() -> str:
    """The lanes of the forked partition that README.md begins with."""
    with contextlib.chdir(ROOT):
        return lanes_svg(kafkalog_reader.open(CAPTURE).diff("t", 0))


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


@pytest.mark.parametrize("page", LINKED, ids=lambda page: page.stem)
def test_links_to_other_pages_resolve(page: Path) -> None:
    text = page.read_text()
    links = re.findall(r"\]\(([^)#: ]*)#?([^): ]*)\)", text)
    for path, anchor in (*links, *((path, "") for path in re.findall(r'<img src="(.*?)"', text))):
        target = (page.parent / path) if path else page
        assert target.exists(), path
        assert not anchor or anchor in _anchors(target), f"{path}#{anchor}"


def _anchors(page: Path) -> set[str]:
    """The anchors that GitHub gives to headings, and those that the page has itself."""
    text = page.read_text()
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    given = {re.sub(r"[^\w -]", "", each.lower()).replace(" ", "-") for each in headings}
    return given | set(re.findall(r'<a id="([^"]+)">', text))


def test_the_index_of_the_documentation_lists_every_page() -> None:
    linked = set(re.findall(r"^\| \[.*?\]\((.*?)\)", INDEX.read_text(), re.MULTILINE))
    pages = {path.name for path in DOCS.glob("*.md")} - {INDEX.name}
    assert pages <= linked
    assert {"schemas", "reference/README.md", "../CONTRIBUTING.md", "../CHANGELOG.md"} <= linked


def test_the_picture_shows_what_the_capture_holds() -> None:
    assert PICTURE.read_text() == picture(), "run `make readme`"


@pytest.mark.spark
def test_the_demo_page_has_what_make_demo_prints(spark: SparkSession) -> None:
    assert lines(dict(BLOCKS)["make demo"]) == lines(demo_output(spark))


@pytest.mark.parametrize(
    "code", [pytest.param(code, id="duckdb") for code in CODES if "pyspark" not in code]
)
def test_python_of_the_readme_prints_what_is_below_it(code: str) -> None:
    assert lines(CODES[code]) == lines(python_output(code))
    assert re.search(r"0 +│ +5 +│ +4 ", CODES[code])  # five records on broker 0, the last at 4


@pytest.mark.spark
@pytest.mark.usefixtures("spark")
def test_spark_of_the_readme_prints_what_is_below_it() -> None:
    (code,) = (code for code in CODES if "pyspark" in code)
    assert lines(CODES[code]) == lines(python_output(code))


def test_the_first_page_is_short() -> None:
    text = README.read_text()
    assert text.count("\n") < 160
    assert re.findall(r"^## (.*)$", text, re.MULTILINE) == [
        "Two commands", "In the terminal", "In Python", "In Spark", "More",
    ]  # fmt: skip
    assert text.index("<img") < text.index("## Two commands")


@pytest.mark.parametrize("page", ["tables.md", "architecture.md"])
def test_every_table_is_in_the_lists_of_tables(page: str) -> None:
    rows = (DOCS / page).read_text().partition("\n| table |")[2].partition("\n\n")[0]
    listed = re.findall(r"^\| (`.*?`) \|", rows, re.MULTILINE)
    names = {name for cell in listed for name in re.findall(r"`(\w+)`", cell)}
    assert names == set(TABLES), f"add or remove its row in docs/{page}"
