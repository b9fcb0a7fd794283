"""The list of changes that make no difference."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from tests.mutants.equivalent import EQUIVALENT, SIZES, Equivalent, is_equivalent

ROOT = Path(__file__).parent.parent.parent


@pytest.mark.parametrize("each", EQUIVALENT, ids=lambda each: each.path)
def test_an_equivalent_change_is_of_a_line_that_exists(each: Equivalent) -> None:
    lines = [line.strip() for line in (ROOT / each.path).read_text().splitlines()]
    assert each.line in lines
    assert not each.before or (each.before, each.line) in pairwise(lines)
    assert each.reason


def test_only_the_listed_change_of_a_line_is_equivalent() -> None:
    each = next(each for each in EQUIVALENT if each.changed)
    diff = f"--- a\n+++ b\n@@ -1 +1 @@\n-    {each.line}\n+    %s"
    assert is_equivalent(each.path, diff % each.changed)
    assert not is_equivalent(each.path, diff % "other = 1")
    assert not is_equivalent(each.path, diff % each.line)
    assert not is_equivalent("kafkalog_reader/log.py", diff % each.changed)


def test_a_line_without_a_changed_one_may_become_anything() -> None:
    each = next(each for each in EQUIVALENT if not each.changed)
    diff = f"--- a\n+++ b\n@@ -1 +1 @@\n-    {each.line}\n+    %s"
    assert is_equivalent(each.path, diff % "other = 1")
    assert not is_equivalent(each.path, diff % each.line)
    assert not is_equivalent(each.path, diff % "other = 1\n+    another = 2")


def test_of_lines_that_read_alike_only_the_one_after_its_line_before_is_equivalent() -> None:
    each = next(each for each in EQUIVALENT if each.before)
    diff = f"--- a\n+++ b\n@@ -2 +2 @@\n%s-    {each.line}\n+    {each.changed}"
    assert is_equivalent(each.path, diff % f"     {each.before}\n")
    assert not is_equivalent(each.path, diff % "     other = 1\n")
    assert not is_equivalent(each.path, diff % "")


def test_a_size_of_what_is_read_at_once_is_a_constant_that_exists() -> None:
    for path, names in SIZES.items():
        lines = (ROOT / path).read_text().splitlines()
        for name in names:
            (line,) = [each for each in lines if each.startswith(f"{name}: Final = ")]
            diff = f"--- a\n+++ b\n@@ -1 +1 @@\n-{line}\n+%s"
            assert is_equivalent(path, diff % f"{name}: Final = 7")
            assert not is_equivalent(path, diff % "OTHER: Final = 7")
            assert not is_equivalent("kafkalog_reader/log.py", diff % f"{name}: Final = 7")


def test_the_size_of_a_cache_alone_is_equivalent() -> None:
    diff = "--- a\n+++ b\n@@ -1 +1 @@\n-%s\n+%s"
    assert is_equivalent("a.py", diff % ("@lru_cache(maxsize=64)", "@lru_cache(maxsize= 65)"))
    small, other = "_small = lru_cache(maxsize=64)(_read)", "_small = lru_cache(maxsize=64)(_write)"
    assert is_equivalent("a.py", diff % (small, small.replace("64", "63")))
    assert not is_equivalent("a.py", diff % (small, other))
