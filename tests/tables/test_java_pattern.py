"""Patterns find the topics that Java's regular expressions find."""

from __future__ import annotations

import random
import subprocess
from typing import TYPE_CHECKING

import pytest

from fixtures.java_clients import SOURCES
from fixtures.java_process import JAVA
from kafkalog_reader.errors import UsageError
from kafkalog_reader.tables.java_pattern import java_pattern

if TYPE_CHECKING:
    from collections.abc import Sequence

TOPICS = (
    "codec", "codec-2", "my.codec", "Orders", "orders_eu", "orders.us", "aa", "aaa", "ab-ab",
    "a", "b", "B2", "x1y22", "T-9", "_", "..a", "-", "0", "10", "aXb", "a.b", "Ab.aB", "zz_z",
)  # fmt: skip
UNDERSTOOD = (
    "codec", "^codec$", "codec.*", r"\Qmy.\Ecodec", r"\Q.", r"a\Q.b\E|^b", r"\\Q|a\Q", "[a.]b",
    r"\p{Alpha}+\d", r"^\p{Upper}", r"\P{Lower}{3}", r"\p{javaLowerCase}|^$", r"^\pL+$",
    r"\p{IsL}_",
    r"\p{Lu}", r"\p{IsAlphabetic}\p{Punct}", r"^[\p{Digit}_]+$", r"[^\P{Alpha}b]2", r"\p{gc=Nd}$",
    "a++b", "a*+a", "a?+a", "a{2,}+", "a{1}?b", r"(?<n>ab)-\k<n>", r"(a)\1", r"(a)\10?",
    r"(?>a|ab)-",
    "(?i)ORDERS", "a(?i)B|x", "(?:(?i)A)b", "(?i:a)b", "(?i)a(?-i)b", "((?i)a|X)B", "(?s)a.b",
    "(?m)^b$",
    r"[\w-]2", r"[\w-.]b", "[]a]b", "[^]a]", "[a-]", "[-a]", r"[\Qa-\E]b", "[&.]a", "[--.]a",
    r"[\x61-b]b",
    r"\x61\x{61}", r"\0141b", "\\u0061b", r"\cA|b", r"\Aa\z", r"^a\Z", r"\h|\v|\R|zz", r"\H{5}",
    "]|}|-2",
    r"\_|\-", r"(?=a)a{3}", r"(?<!a)b", r"(?<=\.)a", "|nothing", "", r"\bb", r"b\B", r"^[^\h]$",
    "#| ",
)  # fmt: skip
REFUSED_BY_BOTH = (
    "(", ")", "[a", "*", "a**", "{", "a{", "a{,3}", "a{2,1}", r"\y", r"\E", "\\", "(?<1>a)",
    "[b-a]",
    "(?q)a", r"\p{Nothing}", r"\k<n>", "(?", "(?<n", r"\x6", "(?P<n>a)",
)  # fmt: skip
PIECES = (
    "a", "b", "z", "2", ".", "-", "_", "^", "$", "|", "(", ")", "(?:", "(?i)", "(?i:", "(?-i)",
    "(?=",
    "(?!", "(?>", "*", "+", "?", "++", "*?", "{2}", "{1,}", "[ab]", "[^a-z]", r"[\w.]", r"\d",
    r"\W", r"\b",
    r"\p{Upper}", r"\PL", r"\Q.\E", r"\1", "[", "]", "&&", "}", r"\.", "(?<k>", r"\k<k>", "[A-",
    r"\-", "\\",
)  # fmt: skip


def found_by_java(patterns: Sequence[str]) -> list[list[str] | None]:
    """The topics among ``TOPICS`` in which Java finds each pattern; None if it refuses it."""
    said = subprocess.run(
        [*JAVA, str(SOURCES / "FindTopics.java"), *TOPICS],
        input="\n".join(patterns) + "\n",
        check=True,
        capture_output=True,
        text=True,
    ).stdout.splitlines()
    assert len(said) == len(patterns)
    return [line.split()[1:] if line.startswith("found") else None for line in said]


def found_here(pattern: str) -> list[str] | None:
    try:
        compiled = java_pattern(pattern)
    except UsageError:
        return None
    return [topic for topic in TOPICS if compiled.search(topic)]


def test_what_is_understood_means_what_it_means_in_java() -> None:
    here = {pattern: found_here(pattern) for pattern in UNDERSTOOD}
    assert here == dict(zip(UNDERSTOOD, found_by_java(UNDERSTOOD), strict=True))
    assert None not in here.values()


def test_what_java_refuses_is_refused() -> None:
    assert found_by_java(REFUSED_BY_BOTH) == [None] * len(REFUSED_BY_BOTH)
    assert [found_here(pattern) for pattern in REFUSED_BY_BOTH] == [None] * len(REFUSED_BY_BOTH)


def test_random_patterns_mean_the_same_or_are_refused() -> None:
    numbers = random.Random(12)
    patterns = ["".join(numbers.choices(PIECES, k=numbers.randint(1, 7))) for _ in range(6000)]
    compared = 0
    for pattern, expected in zip(patterns, found_by_java(patterns), strict=True):
        found = found_here(pattern)
        if found is not None:
            compared += 1
            assert (pattern, found) == (pattern, expected)
    assert compared > 1000


@pytest.mark.parametrize(
    ("pattern", "problem"),
    [
        ("[a-z&&[^b]]", "&& (what two classes share) means something else in Python"),
        ("[a[bc]]", "a class inside a class means something else in Python"),
        ("(?x)a b", "the flag 'x' of (?x) is not supported, only i is"),
        (r"\p{IsGreek}", r"the property \p{IsGreek} is not supported"),
        (r"\X", r"\X is not supported"),
        ("(?<=a+)b", "look-behind requires fixed-width pattern"),
        ("a{,3}", r"write a count as {n}, {n,} or {n,m}, and a brace as \{"),
        ("*.log", "nothing to repeat before '*'"),
        (r"(a)\2", r"there is no group 2 before \2"),
    ],
)
def test_what_cannot_be_said_in_python_is_refused_in_one_sentence(
    pattern: str, problem: str
) -> None:
    with pytest.raises(UsageError) as caught:
        java_pattern(pattern)
    assert str(caught.value).startswith(f"{pattern}: {problem}")
    assert "\n" not in str(caught.value)
