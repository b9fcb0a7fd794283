"""``python -m tests.chosen.quick`` runs the tests of ``make quick``, in two processes.

As a pytest plugin it leaves out cases. ``quick.json`` lists test functions, each with the
parameters of the cases that run. A function that it does not name runs, with up to
``recorder.CASES`` cases.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from typing import TYPE_CHECKING, Final

from tests.chosen.measure import MEASURED_RUN, ROOT
from tests.chosen.recorder import CASES, function, parameters, spread

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import pytest

AREAS: Final = tuple(
    f"tests/{area}"
    for area in ("format", "io", "kernel", "scan", "decode", "tables", "audits", "cli")
)
SELECTION: Final = ROOT / "tests/chosen/quick.json"
_COLLECTED: Final = 0.05
"""Seconds of a test file before its tests run, and of a file that was never measured."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the cases that were not chosen."""
    of_functions: dict[str, list[str]] = defaultdict(list)
    for item in items:
        of_functions[function(item.nodeid)].append(item.nodeid)
    shortened = json.loads(SELECTION.read_text())["shortened"]
    kept = {
        case
        for name, cases in of_functions.items()
        for case in chosen_cases(cases, shortened.get(name))
    }
    config.hook.pytest_deselected(items=[each for each in items if each.nodeid not in kept])
    items[:] = [each for each in items if each.nodeid in kept]


def chosen_cases(cases: Sequence[str], names: Sequence[str] | None) -> list[str]:
    """The cases of one function that run: those with these parameters, None for some of all."""
    if names is None:
        return spread(cases, CASES)
    return [case for case in cases if parameters(case) in names]


def shortened() -> dict[str, int]:
    """The test functions that do not run whole, and how many of their cases run."""
    return {
        name: len(kept) for name, kept in json.loads(SELECTION.read_text())["shortened"].items()
    }


def halves(files: Iterable[str], seconds: Mapping[str, float]) -> tuple[list[str], list[str]]:
    """Divide test files between two processes that end at about the same time."""
    first: list[str] = []
    second: list[str] = []
    loads = [0.0, 0.0]
    for file in sorted(files, key=lambda each: (-seconds.get(each, 0.0), each)):
        lighter = loads.index(min(loads))
        (first, second)[lighter].append(file)
        loads[lighter] += _COLLECTED + seconds.get(file, 0.0)
    return sorted(first), sorted(second)


def run_halves(
    tests: Mapping[str, Sequence[str]], seconds: Mapping[str, float], *options: str
) -> int:
    """Run tests in two processes; return the exit status.

    Args:
        tests: what of each test file runs, as arguments of pytest.
        seconds: what the files take, where it is known.
        options: of pytest.
    """
    from tests.halves import run

    command = [sys.executable, "-m", "pytest", "-q", "-m", MEASURED_RUN, *options]
    names = ("first half", "second half")
    commands = {
        name: [*command, *(each for file in files for each in tests[file])]
        for name, files in zip(names, halves(tests, seconds), strict=True)
        if files
    }
    return run(commands, sys.stdout)


def main() -> int:
    """Run both halves."""
    files = [
        path.relative_to(ROOT).as_posix()
        for area in AREAS
        for path in (ROOT / area).rglob("test_*.py")
    ]
    seconds = json.loads(SELECTION.read_text())["seconds"]
    options = ("-p", "tests.chosen.quick", "--hypothesis-profile=quick", *sys.argv[1:])
    return run_halves({file: [file] for file in files}, seconds, *options)


if __name__ == "__main__":
    sys.exit(main())
