"""Tests mirror the packages: ``tests/<same path>/test_<module>.py`` tests a module."""

from __future__ import annotations

from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parent.parent
TESTS_OF: Final = {"kafkalog_reader": ROOT / "tests", "spark_datasource": ROOT / "tests/spark"}
MIN_LINES: Final = 60
"""Shorter modules need no tests of their own."""
MIN_SHARE: Final = 0.7
"""Only raise it."""


def twins() -> dict[str, bool]:
    """Each module of more than ``MIN_LINES`` lines, and whether a file tests only this module."""
    found = {}
    for package, tests in TESTS_OF.items():
        for module in sorted((ROOT / package).rglob("*.py")):
            if module.name == "__init__.py" or len(module.read_text().splitlines()) <= MIN_LINES:
                continue
            inside = module.relative_to(ROOT / package)
            name = f"test_{module.stem.removesuffix('_cy')}.py"
            found[f"{package}/{inside.as_posix()}"] = (tests / inside.parent / name).is_file()
    return found


def test_as_many_modules_have_a_twin_as_ever() -> None:
    found = twins()
    share = sum(found.values()) / len(found)
    missing = [module for module, has_twin in found.items() if not has_twin]
    assert share >= MIN_SHARE, f"{share:.0%} of {len(found)}; without: {', '.join(missing)}"


def test_a_module_and_its_twin_are_matched_by_path() -> None:
    found = twins()
    assert found["kafkalog_reader/audits/recovery/retention.py"]
    assert found["kafkalog_reader/kernel/batch_search_cy.py"]
