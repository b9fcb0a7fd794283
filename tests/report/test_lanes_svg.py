"""The lanes as SVG: what it shows, and that nothing in it runs or is fetched."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from fixtures.builder import cluster, replica
from kafkalog_reader.report.lanes import Lane, LaneInterval, Lanes
from kafkalog_reader.report.lanes_svg import STYLE, drawing, lanes_svg
from tests.audits.conftest import audit_of

if TYPE_CHECKING:
    from pathlib import Path

SVG = "{http://www.w3.org/2000/svg}"


def lane(name: str, end: int, *intervals: tuple[int, int, int, bool]) -> Lane:
    return Lane(
        name=name,
        first_offset=0,
        next_offset=end,
        high_watermark=(2, end),
        intervals=tuple(LaneInterval(*interval) for interval in intervals),
    )


SPLIT = Lanes(
    title="t-0",
    lanes=(
        lane("broker 0", 5, (0, 0, 2, False), (0, 2, 5, True)),
        lane("broker 1", 4, (0, 0, 2, False), (1, 2, 4, False)),
    ),
    fork=2,
)


def parsed(lanes: Lanes) -> ET.Element:
    return ET.fromstring(drawing(lanes, style=STYLE))


def of_class(svg: ET.Element, name: str) -> list[ET.Element]:
    return [each for each in svg.iter() if name in each.get("class", "").split()]


def test_a_bar_stands_where_its_offsets_are() -> None:
    bars = of_class(parsed(SPLIT), "kl-bar")
    edges = [(float(bar.get("x", "")), float(bar.get("width", ""))) for bar in bars]
    assert edges[0] == edges[2]  # both hold offsets 0 and 1
    fork = edges[0][0] + edges[0][1]
    assert {edges[1][0], edges[3][0]} == {fork}
    (mark,) = of_class(parsed(SPLIT), "kl-mark")
    assert mark.get("d", "").startswith(f"M{fork:.1f} ")


def test_only_what_is_lost_is_hatched() -> None:
    svg = parsed(SPLIT)
    assert len(of_class(svg, "kl-apart")) == len(of_class(svg, "kl-hatch")) == 1


def test_everything_is_said_in_words() -> None:
    texts = [each.text for each in parsed(SPLIT).iter(f"{SVG}text")]
    assert texts.count("epoch 0") == 3
    assert {"broker 0", "end 5 · HW 2–5", "fork at 2", "epoch 1"} <= set(texts)
    (description,) = parsed(SPLIT).iter(f"{SVG}desc")
    assert "broker 1: leader epoch 0 at offsets 0–1; leader epoch 1 at offsets 2–3" in str(
        description.text
    )


def test_a_hostile_name_is_only_text() -> None:
    name = "</text><script>alert(1)</script>\x1b\u202e\x00"
    svg = parsed(Lanes(title=name, lanes=(lane(name, 3, (0, 0, 3, False)),), fork=None))
    assert list(svg.iter(f"{SVG}script")) == []
    (shown,) = of_class(svg, "kl-name")
    assert shown.text == r"</text><script>alert(1)</script>\x1b\u202e\x00"


def test_nothing_is_fetched() -> None:
    text = drawing(SPLIT, style=STYLE).replace("http://www.w3.org/2000/svg", "")
    assert re.findall(r"https?:|url\(|@import|href|src=", text) == []


def test_a_thousand_leader_epochs_still_make_a_small_picture() -> None:
    intervals = [(epoch, epoch * 10, epoch * 10 + 10, False) for epoch in range(1000)]
    text = drawing(Lanes(title="t", lanes=(lane("broker 0", 10_000, *intervals),), fork=None))
    assert len(text) < 50_000
    ET.fromstring(text)


def test_an_empty_copy_says_so() -> None:
    svg = parsed(Lanes(title="t", lanes=(lane("b", 0), lane("c", 3, (0, 0, 3, False))), fork=None))
    assert "(empty)" in [each.text for each in svg.iter(f"{SVG}text")]


def test_an_audit_becomes_a_picture(tmp_path: Path) -> None:
    same = replica("a@0/e0 b@1/e0", epochs="0:0", high_watermark=2)
    cluster(tmp_path, {0: same, 1: same})
    svg = ET.fromstring(lanes_svg(audit_of(tmp_path)))
    assert len(of_class(svg, "kl-bar")) == 2
    assert "broker 1" in [each.text for each in of_class(svg, "kl-name")]
