"""``python -m tests.chosen.affected`` runs the tests that reach the lines changed since a commit.

    python -m tests.chosen.affected --since main --seconds 60

It knows from ``tests.chosen.measure`` which tests reach a line. A changed file of tests runs whole.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from tests.chosen.measure import ROOT, SOURCES, reach_folder
from tests.chosen.quick import run_halves
from tests.chosen.reach import Reach, compared

if TYPE_CHECKING:
    from collections.abc import Iterable

_NO_TESTS: Final = 5


def changed_files(since: str) -> list[str]:
    """The files that differ from a commit, with new ones."""
    differing = _git("diff", "--name-only", "-z", "--no-renames", since, "--")
    new = _git("ls-files", "-z", "--others", "--exclude-standard")
    return sorted(filter(None, f"{differing}\0{new}".split("\0")))


def functions(reach: Reach, files: Iterable[str], since: str) -> set[str]:
    """The test functions that reach a changed line of these modules, and still exist."""
    found: set[str] = set()
    for file in files:
        before = _git("show", f"{since}:{file}", missing="")
        today = (ROOT / file).read_text() if (ROOT / file).exists() else ""
        lines, _ = compared(before, today)
        found |= reach.functions(file, before, lines)
    return {each for each in found if _exists(each)}


def _exists(function: str) -> bool:
    file, *_, name = function.split("::")
    return (ROOT / file).exists() and f"def {name}(" in (ROOT / file).read_text()


def _git(*arguments: str, missing: str | None = None) -> str:
    done = subprocess.run(
        ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if done.returncode and missing is None:
        raise SystemExit(done.stderr.strip())
    return done.stdout if done.returncode == 0 else str(missing)


def main() -> int:
    """Say what is run and how old the measurement is, then run it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--since", default="HEAD", help="the commit to compare with")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="processor seconds")
    options = parser.parse_args()
    reach = Reach(reach_folder(), ROOT)
    if not reach.parts:
        raise SystemExit("nothing is measured yet: make reach")
    files = changed_files(options.since)
    modules = [each for each in files if each.split("/")[0] in SOURCES and each.endswith(".py")]
    tests = [each for each in files if Path(each).name.startswith("test_") and each.endswith(".py")]
    whole = {each: [each] for each in tests if (ROOT / each).exists()}
    found = {
        each
        for each in functions(reach, modules, options.since)
        if each.split("::")[0] not in whole
    }
    seconds: dict[str, float] = {}
    chosen: dict[str, list[str]] = {}
    for each in sorted(found, key=lambda each: (reach.function_seconds[each], each)):
        if sum(seconds.values()) + reach.function_seconds[each] > options.seconds:
            break
        file = each.split("::")[0]
        chosen.setdefault(file, []).append(each)
        seconds[file] = seconds.get(file, 0.0) + reach.function_seconds[each]
    days = (time.time() - min(part.time for part in reach.parts)) / 86400
    count = sum(map(len, chosen.values()))
    click.echo(
        f"{count} of {len(found)} tests that reach a changed line, and {len(whole)} changed test"
        f" files: about {sum(seconds.values()):.0f} s of processor time\n"
        f"the measurement is up to {days:.1f} days old (make reach), without Spark and brokers"
    )
    others = [each for each in files if each not in modules and each not in tests]
    if others:
        click.echo(f"not followed: {', '.join(others)}")
    status = run_halves({**chosen, **whole}, seconds) if chosen or whole else 0
    return 0 if status == _NO_TESTS else status


if __name__ == "__main__":
    sys.exit(main())
