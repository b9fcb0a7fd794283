"""A pytest plugin: the lines of the program that each test reaches, and its processor seconds.

It runs under ``coverage run``; the environment names the file for the seconds.
"""

from __future__ import annotations

import json
import os
from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pytest

SECONDS_FILE: Final = "REACH_SECONDS_FILE"
CASES: Final = 6
"""So many cases of a test stand for all of its cases."""
_seconds: Final[dict[str, float]] = {}
_counts: Final[Counter[str]] = Counter()
_failed: Final[set[str]] = set()
_started = 0.0


def function(case: str) -> str:
    """The test function of a case: its id without parameters."""
    return case.partition("[")[0]


def parameters(case: str) -> str:
    """The parameters of a case as pytest writes them; empty without."""
    return case.partition("[")[2].removesuffix("]")


def spread(cases: Sequence[str], count: int) -> list[str]:
    """At most ``count`` of the cases, the first and the last among them, at equal distances."""
    if len(cases) <= count:
        return list(cases)
    return [cases[number * (len(cases) - 1) // (count - 1)] for number in range(count)]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep some cases of each test."""
    cases: dict[str, list[str]] = defaultdict(list)
    for item in items:
        cases[function(item.nodeid)].append(item.nodeid)
        _counts[function(item.nodeid)] += 1
    kept = {each for of_one in cases.values() for each in spread(of_one, CASES)}
    config.hook.pytest_deselected(items=[each for each in items if each.nodeid not in kept])
    items[:] = [each for each in items if each.nodeid in kept]


def pytest_runtest_logstart(nodeid: str) -> None:
    """Attribute lines and seconds to this test from now on."""
    global _started
    _switch(nodeid)
    _started = _processor_seconds()


def pytest_runtest_logfinish(nodeid: str) -> None:
    """Attribute lines to no test."""
    _seconds[nodeid] = _processor_seconds() - _started
    _switch("")


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Note the tests that fail."""
    if report.failed:
        _failed.add(report.nodeid)


def pytest_sessionfinish() -> None:
    """Write the seconds of each test that passed, and how many cases each function has."""
    passed = {name: seconds for name, seconds in _seconds.items() if name not in _failed}
    Path(os.environ[SECONDS_FILE]).write_text(json.dumps({"seconds": passed, "cases": _counts}))


def _switch(context: str) -> None:
    import coverage  # here, because only a measurement needs it

    current = coverage.Coverage.current()
    assert current is not None, "runs under coverage only"
    current.switch_context(context)


def _processor_seconds() -> float:
    return sum(os.times()[:4])
