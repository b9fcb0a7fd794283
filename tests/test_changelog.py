"""The changelog is for users: it has three headings, and no figures of speed."""

from __future__ import annotations

import re
from pathlib import Path

import kafkalog_reader

TEXT = (Path(kafkalog_reader.__file__).parents[1] / "CHANGELOG.md").read_text()
MEASURED = re.compile(
    r"\d ?(GB/s|MB/s|GiB/s|MiB/s|ms|µs|seconds|times|×|%)|\bhalf the|\bthird of the"
)


def test_every_release_has_the_headings_that_users_read() -> None:
    for release in re.split(r"^## ", TEXT, flags=re.MULTILINE)[1:]:
        headings = re.findall(r"^### (.+)$", release, re.MULTILINE)
        assert headings == [name for name in ("Added", "Changed", "Fixed") if name in headings]
        assert headings


def test_the_version_has_its_section() -> None:
    assert re.search(rf"^## {re.escape(kafkalog_reader.__version__)}\b", TEXT, re.MULTILINE)


def test_figures_of_speed_stay_in_the_page_on_performance() -> None:
    assert MEASURED.findall(TEXT) == []
    assert "docs/performance.md" in TEXT


def test_the_first_release_tells_what_it_has_on_a_few_pages() -> None:
    """Nobody had what it replaced, so nothing was changed or fixed."""
    *_, first = re.split(r"^## ", TEXT, flags=re.MULTILINE)
    assert re.findall(r"^### (.+)$", first, re.MULTILINE) == ["Added"]
    assert len(first.splitlines()) <= 150
