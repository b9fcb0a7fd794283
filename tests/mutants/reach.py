"""Measures once for all mutants which tests reach each line of the program."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import coverage

from tests.mutants.plugin import SECONDS_FILE

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

DEFAULT_RUN: Final = "not oracle and not spark and not broker"
"""No mutant starts Spark or a broker."""


class Reach:
    """The tests that reach each line, and the seconds of each test.

    ``lines`` is a path from the root of the tree, then a line, then ids of tests.
    """

    def __init__(
        self, lines: Mapping[str, Mapping[int, Iterable[str]]], seconds: Mapping[str, float]
    ) -> None:
        self._lines = {
            path: {n: frozenset(ids) for n, ids in of.items()} for path, of in lines.items()
        }
        self._seconds = seconds

    def tests(self, path: str, line: int, folder: str, seconds: float) -> list[str]:
        """Tests that reach a line, up to the given seconds; those of ``folder`` first.

        A line that runs when the module is imported counts as reached by all tests of the module.
        """
        reached = self._lines.get(path, {})
        # A statement counts at its first line.
        above = [number for number in reached if number <= line and reached[number]]
        ids = reached[max(above)] if above else frozenset()
        if line not in reached or not reached[line]:
            ids = frozenset().union(ids, *reached.values())
        ordered = sorted(
            ids & self._seconds.keys(),
            key=lambda each: (not each.startswith(folder), self._seconds[each], each),
        )
        chosen: list[str] = []
        total = 0.0
        for each in ordered:
            total += self._seconds[each]
            if chosen and total > seconds:
                break
            chosen.append(each)
        return chosen

    def seconds(self, tests: Iterable[str]) -> float:
        """The seconds that these tests took under coverage."""
        return sum(self._seconds[each] for each in tests)


def measured(folder: Path, work: Path, tests: Sequence[str]) -> Reach:
    """Run the tests of the tree at ``folder`` once under coverage; ``work`` receives the data."""
    settings = work / "coverage.ini"
    settings.write_text("[run]\nsource = kafkalog_reader,spark_datasource\n")
    data, times = work / "coverage.data", work / "seconds.json"
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])]),
        "COVERAGE_FILE": str(data),
        SECONDS_FILE: str(times),
    }
    subprocess.run(
        [
            sys.executable, "-m", "coverage", "run", f"--rcfile={settings}", "-m", "pytest", "-q",
            "-p", "tests.mutants.plugin", "-p", "no:cacheprovider", "-m", DEFAULT_RUN, *tests,
        ],
        cwd=folder, env=environment, check=False, stdout=sys.stderr,
    )  # fmt: skip
    return read(folder, [(data, times)])


def read(folder: Path, measurements: Iterable[tuple[Path, Path]]) -> Reach:
    """Read the results of runs under coverage: pairs of its data and the seconds of the tests."""
    lines: dict[str, dict[int, set[str]]] = {}
    seconds: dict[str, float] = {}
    for data, times in measurements:
        seconds |= json.loads(times.read_text())
        measurement = coverage.CoverageData(str(data))
        measurement.read()
        for name in measurement.measured_files():
            path = Path(name).relative_to(folder).as_posix()
            of_path = lines.setdefault(path, {})
            for number, ids in measurement.contexts_by_lineno(name).items():
                of_path.setdefault(number, set()).update(filter(None, ids))
    return Reach(lines, seconds)
