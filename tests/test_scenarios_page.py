"""docs/scenarios.md and its pictures agree with the program; ``make scenarios`` rewrites them."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from examples.write_scenarios import FAMILIES, PATH, PICTURES, gallery
from fixtures.synthetic import EXPECTED, SCENARIOS

SECTION = re.compile(
    r'^<a id="(?P<name>\w+)"></a>\n\n### .*\n\n(?P<story>(?:.+\n)+)\n'
    r"(?P<rest>(?:(?!<a id=).*\n?)*)",
    re.MULTILINE,
)
SECTIONS = {match["name"]: match for match in SECTION.finditer(PATH.read_text())}
HEADINGS = {
    "consistent": "identical", "lagging": "behind|lagging", "forked": "FORKED",
    "pending-truncation": "PENDING TRUNCATION",
}  # fmt: skip


def expected(name: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((EXPECTED / f"{name}.json").read_text())
    return content


def test_the_page_and_its_pictures_are_current() -> None:
    page, pictures = gallery()
    assert PATH.read_text() == page, "run `make scenarios`"
    assert {path.name: path.read_text() for path in PICTURES.iterdir()} == pictures


def test_every_scenario_has_a_section_with_its_story() -> None:
    assert list(SECTIONS) == list(SCENARIOS)
    assert set(FAMILIES) < set(SCENARIOS)
    for name, section in SECTIONS.items():
        assert section["story"].split() == SCENARIOS[name].story.split()
        assert f'<img src="scenarios/{name}.svg"' in section["rest"]
        assert section["rest"].count("**What the files prove**\n") == 1
        assert section["rest"].count("**What to do**") == 1


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_section_says_what_the_reference_expects(name: str) -> None:
    proved = SECTIONS[name]["rest"].split("```")[1]
    wanted = expected(name)
    listed = f"](#{name}): {wanted['verdict'].replace('-', ' ')}\n"
    assert listed in PATH.read_text()
    if wanted["verdict"] in HEADINGS:
        assert re.search(HEADINGS[wanted["verdict"]], proved, re.IGNORECASE)
    if wanted["verdict"] == "forked":
        assert f"offset {wanted['forkOffset']}" in proved
    ranks = {row["candidateBrokerId"]: row for row in wanted["elections"]}
    for line in re.findall(r"^ +(\d) +broker (\d) .*", proved, re.MULTILINE):
        rank, candidate = map(int, line)
        assert ranks[candidate]["rank"] == rank


def test_what_left_no_trace_is_among_what_the_files_cannot_prove() -> None:
    told = {name: each.not_in_files for name, each in SCENARIOS.items() if each.not_in_files}
    assert {"s1_healed", "s3_2_d", "s5_2_d"} < set(told)
    for name, text in told.items():
        (after,) = SECTIONS[name]["rest"].split("**What they cannot prove**\n")[1:]
        assert f"\n- {text}\n" in after.split("**What to do**")[0]


def test_no_folder_of_the_machine_is_shown() -> None:
    assert "/tmp" not in PATH.read_text()
