"""Make small changes to the program, one at a time, and count those that tests notice.

    python -m tests.mutants --seconds 3600 --seed 7

First the tests run once under coverage. Each change (a comparison flipped, a condition dropped, a
number off by one) is then made in a copy of the tree, and tests that reach its line run until one
fails. A change that no test notices is printed as a diff: either a test is missing, or the change
makes no difference and belongs into ``equivalent.py`` with the reason.
"""

from __future__ import annotations

import argparse
import importlib
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click
import pytest

from tests.mutants.equivalent import is_equivalent
from tests.mutants.mutant import ROOT, sample
from tests.mutants.reach import Reach, measured

if TYPE_CHECKING:
    from collections.abc import Sequence

TARGETS: Final = {
    "kafkalog_reader/audits/election": "tests/audits/election",
    "kafkalog_reader/audits/comparison": "tests/audits/comparison",
    "kafkalog_reader/audits/recovery": "tests/audits/recovery",
    "kafkalog_reader/scan": "tests/scan",
    "kafkalog_reader/tables/best_replica.py": "tests/tables/test_best_replica.py",
    "spark_datasource": "tests/spark",
}
"""The changed packages, and their own tests, which run first."""
FARTHER: Final = ("tests/audits", "tests/scenarios", "tests/tables", "tests/faults/test_faults.py")
WANTED: Final = 0.85
OWN_SECONDS: Final = 15
"""Seconds of tests that run for a change, measured under coverage; at least one test runs."""


def is_noticed(folder: Path, tests: Sequence[str], seconds: float) -> bool:
    """Whether a test fails, or does not end, in this copy of the tree."""
    child = multiprocessing.get_context("fork").Process(target=_run, args=(folder, tests))
    child.start()
    child.join(60 + 10 * seconds)
    if child.exitcode is None:
        assert child.pid is not None
        os.killpg(child.pid, signal.SIGKILL)
        child.join()
    # A test failed, or the module cannot be imported; 4 and 5 would mean that no test ran.
    assert child.exitcode not in (4, 5), f"pytest finds none of {tests}"
    return child.exitcode != 0


def _run(folder: Path, tests: Sequence[str]) -> None:
    """Run tests in a child process that has imported libraries, but nothing of this tree."""
    os.setsid()
    with open(os.devnull, "w") as nowhere:  # noqa: PTH123 -- a device
        os.dup2(nowhere.fileno(), 1)
        os.dup2(nowhere.fileno(), 2)
    os.chdir(folder)
    os.environ["PYTHONPATH"] = str(folder)
    sys.path[:] = [str(folder), *(each for each in sys.path if each not in ("", str(ROOT)))]
    for name in [each for each in sys.modules if each.split(".")[0] == "tests"]:
        del sys.modules[name]
    status = pytest.main(["-x", "-q", "-p", "no:cacheprovider", *tests])
    os._exit(int(status))


def copied_tree(folder: Path) -> None:
    """The files of the repository and the compiled kernel, without history and caches."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True
    ).stdout.split(b"\0")
    files = [os.fsdecode(name) for name in listed if name]
    kernels = [str(path.relative_to(ROOT)) for path in (ROOT / "kafkalog_reader").rglob("*.so")]
    for name in [*files, *kernels]:
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name, follow_symlinks=False)


def tried(folder: Path, reach: Reach, options: argparse.Namespace, stop: float) -> int:
    """Try changes until the time is over; return 1 if too few are noticed in an area."""
    count: Counter[str] = Counter()
    noticed: Counter[str] = Counter()
    for mutant in sample(options.areas, options.seed, options.count):
        if time.monotonic() > stop:
            break
        code = mutant.code()
        if code is None or is_equivalent(mutant.path, mutant.diff(code)):
            continue
        own = TARGETS[mutant.target]
        tests = reach.tests(mutant.path, mutant.line(code), own, OWN_SECONDS)
        if mutant.target not in count and tests and is_noticed(folder, tests, reach.seconds(tests)):
            raise SystemExit(f"{mutant.target}: its tests fail without a change")
        count[mutant.target] += 1
        source = (folder / mutant.path).read_text()
        (folder / mutant.path).write_text(code)
        if tests and is_noticed(folder, tests, reach.seconds(tests)):
            noticed[mutant.target] += 1
        else:
            click.echo(f"survived {len(tests)} tests:\n{mutant.diff(code)}")
        (folder / mutant.path).write_text(source)
        sys.stdout.flush()
    for target in count:
        share = noticed[target] / count[target]
        click.echo(f"{target}: {noticed[target]} of {count[target]} noticed, {share:.0%}")
    click.echo(f"in each area {WANTED:.0%} wanted")
    enough = [noticed[target] >= WANTED * count[target] for target in count]
    return 0 if len(enough) == len(options.areas) and all(enough) else 1


def main() -> int:
    """Measure the tests, then try changes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=3600, help="in all, with the measurement")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=1000, help="of each area, at most")
    parser.add_argument("areas", nargs="*", default=[*TARGETS], help="some of the areas")
    options = parser.parse_args()
    stop = time.monotonic() + options.seconds
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    sys.dont_write_bytecode = True
    for name in ("numpy", "pyarrow.compute", "pyarrow.parquet", "construct"):
        importlib.import_module(name)  # once, not for each change
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve() / "tree"
        copied_tree(folder)
        own = [TARGETS[area] for area in options.areas]
        farther = [each for each in FARTHER if not each.startswith("tests/scan")]
        # pytest must not meet a test twice.
        inside = [each for each in own if not any(_is_below(each, far) for far in farther)]
        reach = measured(folder, Path(name), [*inside, *farther])
        return tried(folder, reach, options, stop)


def _is_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(f"{folder}/")


if __name__ == "__main__":
    sys.exit(main())
