"""Every code can be looked up, and every rule fires somewhere."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import kafkalog_reader
from kafkalog_reader.audits.catalogue.actions import ACTIONS
from kafkalog_reader.audits.catalogue.catalogue import CATALOGUE
from kafkalog_reader.audits.catalogue.rule import SEVERITIES
from kafkalog_reader.audits.catalogue.traps import TRAPS

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKAGE = Path(kafkalog_reader.__file__).parent
CATALOGUE_FOLDER = PACKAGE / "audits" / "catalogue"
DECLARATION = re.compile(r'^([A-Z_]+): Final = rule\(\n    "(KL-\d+)"', re.MULTILINE)
RULES = {
    code: constant
    for path in CATALOGUE_FOLDER.glob("*_rules.py")
    for constant, code in DECLARATION.findall(path.read_text())
}
DIALECT = re.compile(
    r"\btold\b|\b(it|that|which) is no (?!longer)|of which it is|\bwho reads\b|\blets go\b"
)
BEGINNING = re.compile(r"[A-Z]|[\w.-]*[-._]")  # a capital, or the name of a file, tool or setting


def sentences(code: str) -> Iterator[str]:
    """All full sentences about findings, actions and traps."""
    if code in CATALOGUE:
        rule = CATALOGUE[code]
        yield from (rule.explanation, rule.start, rule.election, rule.reader)
    elif code in ACTIONS:
        yield from (ACTIONS[code].explanation, *ACTIONS[code].warnings)
    else:
        trap = TRAPS[code]
        yield from (trap.situation, trap.looks, trap.how_to_tell)


def test_every_rule_is_declared_as_a_constant() -> None:
    assert set(RULES) == set(CATALOGUE)


@pytest.mark.parametrize("code", [*CATALOGUE, *ACTIONS, *TRAPS])
def test_what_is_reported_is_in_whole_sentences(code: str) -> None:
    for text in sentences(code):
        assert text.endswith("."), text
        assert BEGINNING.match(text.split()[0]), text
        assert "  " not in text
        assert not DIALECT.search(text.lower()), text


@pytest.mark.parametrize("code", CATALOGUE)
def test_a_rule_has_a_title_and_says_what_to_do(code: str) -> None:
    rule = CATALOGUE[code]
    assert rule.severity in SEVERITIES
    assert 0 < len(rule.title) <= 64
    assert not rule.title.endswith(".")
    assert rule.actions
    assert set(rule.actions) <= set(ACTIONS)
    assert set(rule.lookalikes) <= set(TRAPS)


def test_no_title_and_no_name_stands_twice() -> None:
    named = [*CATALOGUE.values(), *ACTIONS.values(), *TRAPS.values()]
    assert len({each.name for each in named}) == len(named)
    assert len({rule.title for rule in CATALOGUE.values()}) == len(CATALOGUE)


@pytest.mark.parametrize("code", CATALOGUE)
def test_a_rule_is_fired_somewhere(code: str) -> None:
    constant = re.compile(rf"\b{RULES[code]}\b(?!: Final)")
    users = [
        path
        for path in (PACKAGE / "audits").rglob("*.py")
        if CATALOGUE_FOLDER not in path.parents and constant.search(path.read_text())
    ]
    assert users, f"{code} is declared and nothing finds it"
