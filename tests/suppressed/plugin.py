"""A pytest plugin: runs each test again without each finding code that it met.

It removes the code from the results of ``findings_of`` and ``RootUnit.findings``. Lower layers are
unchanged, so that a code counts as noticed only if a test checks what users get. Results that a
fixture of a module or a cache holds were made before and are not suppressed.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Final

import pytest
from _pytest.runner import runtestprotocol

from kafkalog_reader.audits.catalogue.catalogue import CATALOGUE
from kafkalog_reader.audits.tables import findings, root_units

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from kafkalog_reader.audits.integrity.finding import Finding

noticed: Final[dict[str, str]] = {}
"""The first test that failed without a code, by code."""
_met: Final[set[str]] = set()
_suppressed: Final[set[str]] = set()


def _without_suppressed(found: Iterable[Finding]) -> list[Finding]:
    listed = list(found)
    _met.update(each.code for each in listed)
    return [each for each in listed if each.code not in _suppressed]


def _filtered(whole: Callable[..., Iterable[Finding]]) -> Callable[..., tuple[Finding, ...]]:
    @functools.wraps(whole)
    def filtered(*arguments: object, **named: object) -> tuple[Finding, ...]:
        return tuple(_without_suppressed(whole(*arguments, **named)))

    return filtered


_of_root = root_units.RootUnit.findings.fget
assert _of_root is not None
findings.findings_of = _filtered(findings.findings_of)
root_units.RootUnit.findings = property(lambda unit: _without_suppressed(_of_root(unit)))


def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool:
    """Run a test, then once more without each code that it met and that no test has noticed yet."""
    _met.clear()
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    reports = _run(item)
    for report in reports:
        item.ihook.pytest_runtest_logreport(report=report)
    met = sorted(_met - set(noticed))
    # The control: a test that cannot be run twice proves nothing.
    if met and _passes(reports) and _passes(_run(item)):
        for code in met:
            if _notices(code, item):
                noticed[code] = item.nodeid
    if not set(CATALOGUE) - set(noticed):
        item.session.shouldstop = "every code was noticed"
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    item.session._setupstate.teardown_exact(nextitem)  # reruns keep the module's fixtures
    return True


def _run(item: pytest.Item) -> list[pytest.TestReport]:
    """Run a test as if another one of its module followed: fixtures of functions are torn down.

    ``teardown_exact`` needs only the collectors of the next item, and the parent has them.
    """
    return runtestprotocol(item, log=False, nextitem=item.parent)


def _passes(reports: list[pytest.TestReport]) -> bool:
    return all(report.outcome == "passed" for report in reports)


def _notices(code: str, item: pytest.Item) -> bool:
    """Whether a test, and not only its fixtures, fails without a code."""
    _suppressed.add(code)
    try:
        reports = _run(item)
    finally:
        _suppressed.clear()
    return any(report.outcome == "failed" for report in reports if report.when == "call")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the codes that can be missing without a failing test."""
    survivors = sorted(set(CATALOGUE) - set(noticed))
    terminalreporter.write_line(
        f"suppressed {len(CATALOGUE)} codes, each by itself: a test noticed {len(noticed)}; "
        f"unnoticed: {', '.join(survivors) or 'none'}"
    )
    for code, test in sorted(noticed.items()):
        terminalreporter.write_line(f"{code}  {test}")


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Succeed if every code was noticed and no test fails by itself."""
    is_good = not set(CATALOGUE) - set(noticed) and not session.testsfailed
    session.exitstatus = pytest.ExitCode.OK if is_good else pytest.ExitCode.TESTS_FAILED
