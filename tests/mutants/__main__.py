"""Make small changes to the program, one at a time, and count those that tests notice.

    python -m tests.mutants --seconds 3600 --seed 7

First the tests run under coverage, unless their measurement is stored (``tests.chosen.measure``).
Each change (a comparison flipped, a condition dropped, a number off by one) is then made in a copy
of the tree, and tests that reach its line run until one fails. A change that no test notices is
printed as a diff: either a test is missing, or the change makes no difference and belongs into
``equivalent.py`` with the reason.

    python -m tests.mutants --quick

tells how many of the changes that these tests notice are noticed by those of ``make quick``.
"""

from __future__ import annotations

import argparse
import compileall
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

try:
    from tests.chosen.measure import measure, outdated, reach_folder
    from tests.chosen.quick import shortened
    from tests.chosen.reach import Reach
    from tests.mutants.mutant import ROOT, sample
except ModuleNotFoundError as missing:
    sys.exit(f"{missing.name} is not installed: python -m pip install cosmic-ray coverage")

if TYPE_CHECKING:
    from collections.abc import Sequence

TARGETS: Final = {
    "kafkalog_reader/audits/election": "tests/audits/election",
    "kafkalog_reader/audits/comparison": "tests/audits/comparison",
    "kafkalog_reader/audits/recovery": "tests/audits/recovery",
    "kafkalog_reader/scan": "tests/scan",
    "kafkalog_reader/tables/best_replica.py": "tests/tables/test_best_replica.py",
    "kafkalog_reader/tables/epoch_fork.py": "tests/tables/test_epoch_fork.py",
    "spark_datasource": "tests/spark",
}
"""The changed packages, and their own tests, which run first."""
QUICK_TARGETS: Final = {
    f"kafkalog_reader/{area}": f"tests/{area}"
    for area in ("format", "io", "scan", "decode", "tables", "audits", "cli")
}
"""What ``make quick`` tests, without the kernel: it is compiled before a change."""
QUICK_OPTIONS: Final = ("-p", "tests.chosen.quick", "--hypothesis-profile=quick")
FARTHER: Final = ("tests/audits", "tests/scenarios", "tests/tables", "tests/faults")
WANTED: Final = 0.85
WANTED_QUICK: Final = 0.8
"""Of the changes that the whole suite notices."""
OWN_SECONDS: Final = 15
"""Seconds of tests that run for a change, measured under coverage; at least one test runs."""


def is_noticed(
    folder: Path, path: str, code: str, tests: Sequence[str], seconds: float,
    options: Sequence[str] = (),
) -> bool:  # fmt: skip
    """Whether a test fails, or does not end, with this code at ``path`` in a copy of the tree."""
    file = folder / path
    source = file.read_text()
    file.write_text(code)
    try:
        status = exit_status(folder, [*options, *tests], seconds)
    finally:
        file.write_text(source)
    if status == pytest.ExitCode.USAGE_ERROR:  # a conftest.py cannot be imported, or no such test
        assert passes(folder, tests, seconds), f"pytest finds not all of {tests}"
    assert status != pytest.ExitCode.NO_TESTS_COLLECTED, f"pytest finds none of {tests}"
    return status != pytest.ExitCode.OK


def passes(folder: Path, tests: Sequence[str], seconds: float) -> bool:
    """Whether the tests pass as the tree is."""
    return exit_status(folder, tests, seconds) == pytest.ExitCode.OK


def exit_status(folder: Path, tests: Sequence[str], seconds: float) -> int | None:
    """What pytest returns; None if the tests took ten times as long as before."""
    child = multiprocessing.get_context("fork").Process(target=_run, args=(folder, tests))
    child.start()
    child.join(60 + 10 * seconds)
    if child.exitcode is not None:
        return child.exitcode
    assert child.pid is not None
    os.killpg(child.pid, signal.SIGKILL)
    child.join()
    return None


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
    compileall.compile_dir(folder / "kafkalog_reader", quiet=2)  # once, not for each change


def tried(folder: Path, reach: Reach, options: argparse.Namespace, stop: float) -> int:
    """Try changes until the time is over; return 1 if too few are noticed in an area."""
    targets = QUICK_TARGETS if options.quick else TARGETS
    quick = Reach(reach_folder(), ROOT, shortened()) if options.quick else None
    count: Counter[str] = Counter()
    noticed: Counter[str] = Counter()
    for mutant in sample(options.areas, options.seed, options.count):
        if time.monotonic() > stop:
            break
        code = mutant.code()
        if code is None or is_equivalent(mutant.path, mutant.diff(code)):
            continue
        own = targets[mutant.target]
        tests = reach.tests(mutant.path, mutant.line(code), own, OWN_SECONDS)
        seconds = reach.seconds(tests)
        if mutant.target not in count and tests and not passes(folder, tests, seconds):
            raise SystemExit(f"{mutant.target}: its tests fail without a change")
        few = quick.tests(mutant.path, mutant.line(code), own, OWN_SECONDS) if quick else []
        by_few = bool(few) and is_noticed(
            folder, mutant.path, code, few, quick.seconds(few), QUICK_OPTIONS
        )
        by_all = by_few or (tests and is_noticed(folder, mutant.path, code, tests, seconds))
        if quick and not by_all:
            continue
        count[mutant.target] += 1
        if by_few if quick else by_all:
            noticed[mutant.target] += 1
        else:
            click.echo(f"survived {len(few if quick else tests)} tests:\n{mutant.diff(code)}")
        sys.stdout.flush()
    wanted = WANTED_QUICK if options.quick else WANTED
    for target in count:
        share = noticed[target] / count[target]
        click.echo(f"{target}: {noticed[target]} of {count[target]} noticed, {share:.0%}")
    click.echo(f"in each area {wanted:.0%} wanted")
    enough = [noticed[target] >= wanted * count[target] for target in count]
    return 0 if len(enough) == len(options.areas) and all(enough) else 1


def main() -> int:
    """Measure the tests, then try changes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=3600, help="in all, with the measurement")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=1000, help="of each area, at most")
    parser.add_argument("--quick", action="store_true", help="judge the tests of make quick")
    parser.add_argument("areas", nargs="*", help="some of the areas")
    options = parser.parse_args()
    options.areas = options.areas or [*(QUICK_TARGETS if options.quick else TARGETS)]
    stop = time.monotonic() + options.seconds
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    sys.dont_write_bytecode = True
    for name in ("numpy", "pyarrow.compute", "pyarrow.parquet", "construct"):
        importlib.import_module(name)  # once, not for each change
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve() / "tree"
        copied_tree(folder)
        targets = QUICK_TARGETS if options.quick else TARGETS
        near = (*FARTHER, *(targets[area] for area in options.areas))
        parts = [each for each in outdated(folder, reach_folder()) if each.startswith(near)]
        measure(folder, parts, reach_folder())
        return tried(folder, Reach(reach_folder(), folder), options, stop)


if __name__ == "__main__":
    sys.exit(main())
