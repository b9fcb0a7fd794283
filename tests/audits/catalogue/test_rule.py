"""The declarations of rules: their fields, their severities, and that a code is never reused."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kafkalog_reader.audits import catalogue
from kafkalog_reader.audits.catalogue.catalogue import CATALOGUE
from kafkalog_reader.audits.catalogue.rule import (
    RETIRED,
    SEVERITIES,
    SEVERITY_WORDS,
    declared,
    rule,
)


def test_severities_are_ordered_from_the_worst_and_each_has_its_word() -> None:
    """replica-divergence.md, section 6: C, H, M, L, I."""
    assert list(SEVERITIES) == ["C", "H", "M", "L", "I"]
    assert {key: word[0] for key, word in SEVERITY_WORDS.items()} == {s: s for s in SEVERITIES}


def test_a_code_is_declared_once() -> None:
    (code, *_) = declared()
    before = declared()[code]
    with pytest.raises(AssertionError, match=code):
        rule(
            code, "other", severity="I", title="", explanation="", start="", election="",
            reader="", actions=(),
        )  # fmt: skip
    assert declared()[code] is before


@pytest.mark.parametrize("code", sorted(RETIRED))
def test_a_retired_code_is_not_declared_again(code: str) -> None:
    with pytest.raises(AssertionError, match=code):
        rule(
            code, "other", severity="I", title="", explanation="", start="", election="",
            reader="", actions=(),
        )  # fmt: skip
    assert code not in declared()


def test_the_codes_of_a_family_have_no_holes_but_retired_ones() -> None:
    """So "one above the greatest of its family" is always a code that nothing had before."""
    families: dict[str, set[int]] = {}
    for code in (*CATALOGUE, *RETIRED):
        families.setdefault(code[:4], set()).add(int(code[4:]))
    for family, numbers in families.items():
        assert numbers == {*range(1, max(numbers) + 1)}, family


def test_a_rule_is_in_the_module_of_its_family() -> None:
    """Its docstring names the family, as ``(KL-9xx)``."""
    for path in sorted(Path(catalogue.__file__).parent.glob("*_rules.py")):
        text = path.read_text()
        family = re.search(r"\(KL-(\d)xx\)", text.partition("\n")[0])
        assert family is not None, path.name
        assert set(re.findall(r'^    "KL-(\d)\d\d",$', text, re.MULTILINE)) == {family[1]}, (
            path.name
        )


def test_every_rule_is_complete() -> None:
    names = [each.name for each in CATALOGUE.values()]
    assert len(set(names)) == len(names)
    for code, each in CATALOGUE.items():
        assert each.code == code
        assert re.fullmatch(r"KL-\d{3}", code)
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", each.name), each.name
        assert each.severity in SEVERITIES
        for text in (each.title, each.explanation, each.start, each.election, each.reader):
            assert text, code
