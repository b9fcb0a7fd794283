"""Each section of docs/reference that code or documentation cites exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
REFERENCE = ROOT / "docs" / "reference"
_CITED = re.compile(r"([a-z-]+)\.md, section (\d+(?:\.\d+)*)")
_HEADING = re.compile(r"^#+ (\d+(?:\.\d+)*)\.? ", re.MULTILINE)


def _sources() -> list[Path]:
    folders = ("kafkalog_reader", "spark_datasource", "fixtures", "tests", "benchmarks", "docs")
    return [
        path
        for folder in folders
        for pattern in ("*.py", "*.md")
        for path in sorted((ROOT / folder).rglob(pattern))
        if "captures" not in path.parts
    ]


def _cited() -> dict[tuple[str, str], Path]:
    return {
        (page, section): path
        for path in _sources()
        for page, section in _CITED.findall(path.read_text())
        if path.name != "test_reference.py"
    }


def test_sections_are_cited() -> None:
    pages = {page for page, _ in _cited()}
    assert {"replica-divergence", "kafka-on-disk-format"} <= pages


@pytest.mark.parametrize(
    "page", sorted(path.stem for path in REFERENCE.glob("*.md") if path.stem != "README")
)
def test_every_cited_section_is_a_heading(page: str) -> None:
    text = (REFERENCE / f"{page}.md").read_text()
    headings = set(_HEADING.findall(text))
    missing = {
        f"{path.relative_to(ROOT)}: {section}"
        for (name, section), path in _cited().items()
        if name == page and section not in headings
    }
    assert not missing


def test_nothing_cites_a_page_that_does_not_exist() -> None:
    pages = {path.stem for path in (ROOT / "docs").rglob("*.md")}
    assert {page for page, _ in _cited()} <= pages
