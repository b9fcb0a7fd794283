"""docs/findings.md agrees with the catalogue and the program; ``make findings`` rewrites it."""

from __future__ import annotations

import re

import pytest

from examples.write_findings import PATH, markdown
from kafkalog_reader.audits.catalogue.actions import ACTIONS
from kafkalog_reader.audits.catalogue.catalogue import CATALOGUE
from kafkalog_reader.audits.catalogue.traps import TRAPS

ANCHOR = re.compile(r'<a id="([^"]+)"></a>')
LINK = re.compile(r"\]\(#([^)]+)\)")


@pytest.fixture(scope="module")
def page() -> str:
    return PATH.read_text()


def test_the_page_is_current(page: str) -> None:
    assert page == markdown(), "run `make findings`"


def test_every_code_has_a_section_and_every_link_an_anchor(page: str) -> None:
    anchors = ANCHOR.findall(page)
    assert len(set(anchors)) == len(anchors)
    assert set(anchors) == {code.lower() for code in (*CATALOGUE, *ACTIONS, *TRAPS)}
    assert set(LINK.findall(page)) <= set(anchors)


def test_every_code_has_an_example_that_shows_it(page: str) -> None:
    shown = set()
    for section in page.split("\n### ")[1:]:
        code = section.split()[0]
        if "Example: " in section:
            shown.add(code)
            assert re.search(rf"^```\n[CHMLI] {code} ", section, re.MULTILINE), section
    assert shown == set(CATALOGUE)


def test_no_folder_of_the_machine_is_shown(page: str) -> None:
    assert "/tmp" not in page
