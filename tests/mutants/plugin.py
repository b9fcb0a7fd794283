"""A pytest plugin: records the lines of the program that each test reaches, and its duration.

It runs under ``coverage run``; the environment names the file for the seconds of each test.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

import coverage

if TYPE_CHECKING:
    import pytest

SECONDS_FILE: Final = "MUTANTS_SECONDS_FILE"
_seconds: Final[dict[str, float]] = {}


def pytest_runtest_logstart(nodeid: str) -> None:
    """Attribute lines to this test from now on."""
    _switch(nodeid)


def pytest_runtest_logfinish() -> None:
    """Attribute lines to no test."""
    _switch("")


def _switch(context: str) -> None:
    current = coverage.Coverage.current()
    assert current is not None, "runs under coverage only"
    current.switch_context(context)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Add the seconds of a set-up, a call or a tear-down; infinity for a test that fails."""
    _seconds[report.nodeid] = _seconds.get(report.nodeid, 0.0) + report.duration
    if report.failed:
        _seconds[report.nodeid] = float("inf")


def pytest_sessionfinish() -> None:
    """Write the seconds of each test that passed."""
    passed = {name: seconds for name, seconds in _seconds.items() if seconds != float("inf")}
    Path(os.environ[SECONDS_FILE]).write_text(json.dumps(passed))
