"""The page of ``kafkalog report`` in a browser: what it shows, and that nothing else happens."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import pytest

from fixtures import captures
from fixtures.builder import cluster, replica
from kafkalog_reader.cli.main import kafkalog
from kafkalog_reader.cli.run import status
from tests.report.browser import Browser

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

HOSTILE = "<img src=x onerror=alert(1)><script>alert(2)<\u202egnp\x1b[31m'\"&"
"""A folder's name: elements, a character that turns text around, an escape sequence, quotes."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with Browser() as browser:
        yield browser


@pytest.fixture(scope="module")
def forked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of scenario S3.2, in which brokers 0 and 1 both led."""
    page = tmp_path_factory.mktemp("report") / "forked.html"
    assert (
        status(kafkalog, ["report", str(captures.path("s3_2/both-led")), "--output", str(page)])
        == 1
    )
    return page


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of sixty forked partitions, more than a page has from the beginning."""
    root = tmp_path_factory.mktemp("many")
    old = [replica("a@0/e0 b@1/e0", partition=n, epochs="0:0", high_watermark=1) for n in range(60)]
    new = [replica("a@0/e0 c@1/e1", partition=n, epochs="0:0 1:1", high_watermark=2)
           for n in range(60)]  # fmt: skip
    cluster(root / "evidence", {0: old, 1: new})
    page = root / "many.html"
    assert status(kafkalog, ["report", str(root / "evidence"), "--output", str(page)]) == 1
    return page


def test_it_requests_nothing_and_writes_nothing_to_the_console(
    browser: Browser, forked: Path
) -> None:
    browser.open(forked)
    assert browser.requests == [forked.as_uri()]
    assert browser.complaints == []


def test_the_parts_come_in_their_order(browser: Browser, forked: Path) -> None:
    browser.open(forked)
    headings = browser.evaluate("[...document.querySelectorAll('h1, h2')].map(e => e.textContent)")
    assert headings == [
        "Not sound: 1 high in 2 partitions",
        "What to do first",
        "The plan",
        "Not known",
        "Partitions in trouble",
        "Findings by cause",
        "Transactions",
        "Metadata quorum",
        "Leadership over time",
        "Where this comes from",
    ]


def test_it_shows_what_the_capture_is_known_to_hold(browser: Browser, forked: Path) -> None:
    """Values of the capture's README: three records on one side, two on the other."""
    browser.open(forked)
    text = browser.evaluate("document.getElementById('partitions').innerText")
    for words in (
        "FORKED", "only on broker 0 · offsets 2–4 · 3 records · epoch 0",
        "only on brokers 1 and 2 · offsets 2–3 · 2 records · epoch 1",
        "kafkalog salvage", "--from-offset 2",
    ):  # fmt: skip
        assert words in text
    bars = "document.querySelectorAll('#partitions details[open] svg .kl-bar').length"
    assert browser.evaluate(bars) == 6
    apart = "[...document.querySelectorAll('#partitions .kl-apart')].length"
    assert browser.evaluate(apart) == 1


def test_a_foreign_script_does_not_run(browser: Browser, forked: Path, tmp_path: Path) -> None:
    """The policy stops it, even if something came into the page."""
    changed = tmp_path / "changed.html"
    foreign = "<script>window.broken = 1</script><img src='x' onerror='window.broken = 2'>"
    changed.write_text(forked.read_text().replace("<main", f"{foreign}<main"))
    browser.open(changed)
    assert browser.evaluate("window.broken === undefined")
    refused = [each["params"]["entry"]["text"] for each in browser.complaints]
    assert any("inline script" in text for text in refused)
    assert any("inline event handler" in text for text in refused)
    assert any("Loading the image" in text for text in refused)


def test_a_hostile_name_is_shown_and_never_run(browser: Browser, tmp_path: Path) -> None:
    root = tmp_path / HOSTILE
    shutil.copytree(captures.path("s3_2/both-led"), root)
    (root / "broker-0" / "t-0" / "<b>odd\u202e\x07").write_bytes(b"x")
    page = tmp_path / "hostile.html"
    status(kafkalog, ["report", str(root), "--output", str(page)])
    browser.open(page)
    assert browser.complaints == []
    assert browser.requests == [page.as_uri()]
    assert (
        browser.evaluate("document.querySelectorAll('img, b > b, script:not([type])').length") == 1
    )
    shown = browser.evaluate("document.body.textContent")
    assert r"<img src=x onerror=alert(1)><script>alert(2)<\u202egnp\x1b[31m" in shown
    assert "\u202e" not in shown
    assert "\x1b" not in shown


def test_no_table_needs_a_scroll_bar_on_a_laptop(browser: Browser, tmp_path: Path) -> None:
    """The lists of groups and transactions have up to eleven columns."""
    page = tmp_path / "page.html"
    logs = captures.path("everything/stopped")
    status(kafkalog, ["report", str(logs), "--output", str(page)])
    browser.screen(width=1300)
    browser.open(page)
    browser.evaluate("document.querySelectorAll('details').forEach(e => { e.open = true })")
    widest = browser.evaluate(
        "[...document.querySelectorAll('.scroll')].filter(e => e.clientWidth)"
        ".map(e => [e.scrollWidth, e.clientWidth, e.getAttribute('aria-label')])"
    )
    assert "Committed offsets and lags" in [name for *_, name in widest]
    assert [each for each in widest if each[0] > each[1]] == []
    committed = browser.evaluate(
        "[...document.querySelectorAll('[aria-label^=Committed] td')]"
        ".filter(e => /^\\d{4}-.*Z$/.test(e.textContent)).map(e => getComputedStyle(e).whiteSpace)"
    )
    assert set(committed) == {"nowrap"}  # a time in three lines is no time


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 1200])
def test_it_fits_the_screen(browser: Browser, forked: Path, width: int, scheme: str) -> None:
    browser.screen(width=width, scheme=scheme)
    browser.open(forked)
    browser.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true; })")
    assert browser.evaluate("document.documentElement.scrollWidth") <= width
    ground = browser.evaluate("getComputedStyle(document.body).backgroundColor")
    assert ground == {"light": "rgb(255, 255, 255)", "dark": "rgb(21, 24, 27)"}[scheme]
    assert browser.picture().startswith(b"\x89PNG")
    browser.screen(width=1200)


def test_partitions_are_listed_when_asked_for_and_drawn_when_opened(
    browser: Browser, many: Path
) -> None:
    browser.open(many)
    count = "document.querySelectorAll('#partition-list > details').length"
    assert 1 <= browser.evaluate(count) < 60
    browser.evaluate("document.getElementById('more').click()")
    browser.wait_for(f"{count} === 60")
    last = "document.querySelector('#partition-list > details:last-child')"
    assert browser.evaluate(f"{last}.querySelector('svg') === null")
    browser.evaluate(f"{last}.open = true")
    browser.wait_for(f"{last}.querySelector('svg .kl-bar') !== null")
    assert browser.complaints == []


def test_the_filter_finds_partitions_that_are_not_listed_yet(browser: Browser, many: Path) -> None:
    browser.open(many)
    browser.key("/")
    assert browser.evaluate("document.activeElement.id") == "words"
    for key in "t-59":
        browser.key(key)
    shown = "[...document.querySelectorAll('#partition-list > details:not(.away) .name')]"
    browser.wait_for(f"{shown}.length === 1 && {shown}[0].textContent === 't-59'")
    browser.key("Escape")
    browser.wait_for(f"{shown}.length === 60")


def test_keys_go_through_the_entries(browser: Browser, forked: Path) -> None:
    browser.open(forked)
    browser.key("j")
    focused = "document.activeElement.querySelector('.name').textContent"
    assert browser.evaluate(focused) == "t-0"
    browser.key("j")
    assert browser.evaluate(focused) == "KL-503"
    browser.key("k")
    assert browser.evaluate(focused) == "t-0"


def test_severities_can_be_left_out(browser: Browser, forked: Path) -> None:
    browser.open(forked)
    browser.evaluate("document.querySelector('input[value=I]').click()")
    shown = (
        "[...document.querySelectorAll('details.finding:not(.away) .name')].map(e => e.textContent)"
    )
    browser.wait_for(f"{shown}.length === 1")
    assert browser.evaluate(shown) == ["KL-503"]


def test_the_bytes_of_a_finding_are_one_click_away(browser: Browser, tmp_path: Path) -> None:
    """A flipped bit in the base offset of the second batch, at position 69."""
    root = tmp_path / "evidence"
    shutil.copytree(captures.path("s3_2/both-led"), root)
    log = root / "broker-1" / "t-0" / f"{0:020d}.log"
    content = bytearray(log.read_bytes())
    content[70] ^= 4
    log.write_bytes(content)
    page = tmp_path / "damaged.html"
    status(kafkalog, ["report", str(root), "--output", str(page)])
    browser.open(page)
    row = (
        "[...document.querySelectorAll('table.bytes tr')].map(r => [...r.cells]"
        ".map(c => c.textContent)).find(r => r[0] === '69')"
    )
    number = int.from_bytes(content[69:77], "big")
    assert browser.evaluate(row) == ["69", content[69:77].hex(" "), "baseOffset", str(number)]


def test_the_page_gives_its_json_to_the_reader(browser: Browser, forked: Path) -> None:
    browser.open(forked)
    browser.evaluate(
        "window.saved = null; URL.createObjectURL = (blob) => { blob.text().then((text) => "
        "{ window.saved = text; }); return 'about:blank'; };"
        "HTMLAnchorElement.prototype.click = () => {};"
        "document.getElementById('save-json').click()"
    )
    browser.wait_for("window.saved !== null")
    assert json.loads(browser.evaluate("window.saved"))["exitStatus"] == 1
