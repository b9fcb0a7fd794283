r"""Sets of characters by Java's names: the documentation of ``java.util.regex.Pattern``."""

from __future__ import annotations

import re

import pytest

from kafkalog_reader.tables.java_classes import (
    as_set,
    characters_of,
    complement,
    escaped,
    shorthand,
)

ASCII = "".join(map(chr, range(128)))


@pytest.mark.parametrize(
    ("name", "java"),
    [
        ("Lower", "[a-z]"), ("Upper", "[A-Z]"), ("ASCII", r"[\x00-\x7f]"), ("Alpha", "[a-zA-Z]"),
        ("Digit", "[0-9]"), ("Alnum", "[a-zA-Z0-9]"), ("Blank", r"[ \t]"),
        ("Punct", r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~]"""), ("Graph", r"[\x21-\x7e]"),
        ("Print", r"[\x20-\x7e]"), ("Cntrl", r"[\x00-\x1f\x7f]"), ("XDigit", "[0-9a-fA-F]"),
        ("Space", r"[ \t\n\x0b\f\r]"), ("javaLowerCase", "[a-z]"), ("javaUpperCase", "[A-Z]"),
        ("L", "[a-zA-Z]"), ("Lu", "[A-Z]"), ("IsLl", "[a-z]"), ("gc=Nd", "[0-9]"),
        ("general_category=Sc", "[$]"), ("Pc", "_"), ("Zs", " "), ("Zl", "(?!)"), ("N", "[0-9]"),
        ("Cc", r"[\x00-\x1f\x7f]"), ("IsAlphabetic", "[a-zA-Z]"), ("IsLETTER", "[a-zA-Z]"),
        ("Isuppercase", "[A-Z]"), ("IsLowercase", "[a-z]"), ("IsDigit", "[0-9]"),
    ],
)  # fmt: skip
def test_property_has_the_characters_that_java_documents(name: str, java: str) -> None:
    found = characters_of(name)
    assert found is not None
    assert set(found) == set(re.findall(java, ASCII))


@pytest.mark.parametrize(
    "name", ["", "lower", "IsGreek", "Greek", "Alphabetic", "Lx", "Is", "gc=", "xIsDigit", "Q"]
)
def test_other_properties_are_not_known(name: str) -> None:
    assert characters_of(name) is None


def test_shorthands_that_python_lacks() -> None:
    assert shorthand("h") == " \t"
    assert shorthand("v") == "\n\x0b\f\r"
    assert [shorthand(letter) for letter in "dHV"] == [None] * 3


def test_complement_is_within_ascii() -> None:
    assert complement(ASCII) == ""
    assert complement("") == ASCII
    assert complement(ASCII[1:]) == "\0"


@pytest.mark.parametrize(
    "character", ["a", "Z", "0", "-", "]", "\\", "^", "&", "\n", "\0", "~", "é"]
)
def test_escaped_character_is_a_literal_inside_a_class_and_outside(character: str) -> None:
    literal = escaped(character)
    others = [each for each in ASCII if each != character]
    for pattern in (literal, f"[{literal}]"):
        assert re.fullmatch(pattern, character)
        assert not any(re.fullmatch(pattern, each) for each in others)


def test_set_of_all_signs_is_a_class_of_python() -> None:
    signs = "^]-\\[&~|"
    assert set(re.findall(f"[{as_set(signs)}]", ASCII)) == set(signs)
