"""`make same`: whether this checkout says the same as another commit, about every state.

A refactoring changes nothing. A commit that changes what is meant lists each changed value; a
commit that changes sentences changes nothing else.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

from fixtures.jars import cache_directory
from tests.same.comparison import Answers, changes, read_answers
from tests.same.corpus import PATHS, corpus

PACKAGE: Final = "kafkalog_reader"
KERNEL: Final = f"{PACKAGE}/kernel"
PROCESSES: Final = 2
SHOWN: Final = 40


def main() -> int:
    """Print the differences; return 1 if there is one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--base", default="HEAD", help="the commit to compare with")
    parser.add_argument("--clusters", type=int, default=500, help="number of random clusters")
    parser.add_argument("--twice", action="store_true", help="compare two runs of this checkout")
    given = parser.parse_args()
    states = corpus(given.clusters)
    here = Path.cwd()
    after = _asked(states, here)
    if given.twice:
        before = _asked(states, here)
    else:
        before = _kept(states, _git("rev-parse", f"{given.base}:{PACKAGE}"), given.base)
    found = [*changes(before, after)]
    meant = [each for each in found if each.is_meaning]
    for each in [*meant, *(each for each in found if not each.is_meaning)][:SHOWN]:
        _print(str(each))
    if len(found) > SHOWN:
        _print(f"... and {len(found) - SHOWN:,} more")
    total = len((states / PATHS).read_text().splitlines())
    _print(
        f"{total:,} states, {len(after):,} answers: {len(meant):,} differences in what is meant, "
        f"{len(found) - len(meant):,} in sentences"
    )
    return 1 if found else 0


def _kept(states: Path, tree: str, commit: str) -> Answers:
    """The answers of a commit, which are kept by the tree of its package."""
    kept = cache_directory() / "same" / f"answers-{tree[:16]}-{states.name[-16:]}-{_asks()}.jsonl"
    if not kept.exists():
        with tempfile.TemporaryDirectory() as folder:
            checkout = Path(folder, "checkout")
            checkout.mkdir()
            archive = subprocess.run(
                ["git", "archive", "--format=tar", commit], check=True, capture_output=True
            ).stdout
            subprocess.run(["tar", "-x", "-C", str(checkout)], input=archive, check=True)
            _add_kernel(commit, checkout)
            text = _text(states, checkout)
        whole = kept.with_suffix(".part")
        whole.write_text(text)
        whole.rename(kept)
    return read_answers(kept.read_text())


def _asks() -> str:
    return hashlib.sha256(Path(__file__).with_name("answers.py").read_bytes()).hexdigest()[:8]


def _add_kernel(commit: str, checkout: Path) -> None:
    """Copy this checkout's compiled kernel, or build that of the commit if its source differs."""
    differs = subprocess.run(["git", "diff", "--quiet", commit, "--", KERNEL], check=False)
    if differs.returncode:
        command = [sys.executable, "setup.py", "--quiet", "build_ext", "--inplace"]
        subprocess.run(command, cwd=checkout, check=True)
        return
    for each in Path(KERNEL).glob("*.so"):
        (checkout / each).write_bytes(each.read_bytes())


def _asked(states: Path, checkout: Path) -> Answers:
    return read_answers(_text(states, checkout))


def _text(states: Path, checkout: Path) -> str:
    """Let the program of a checkout answer, in several processes."""
    script = str(Path(__file__).with_name("answers.py"))
    environment = {**os.environ, "PYTHONPATH": str(checkout), "COLUMNS": "80"}

    def run(part: int) -> str:
        with tempfile.NamedTemporaryFile("r", suffix=".jsonl") as written:
            arguments = [str(states), str(part), str(PROCESSES), written.name]
            subprocess.run([sys.executable, "-P", script, *arguments], env=environment, check=True)
            return written.read()

    with ThreadPoolExecutor(PROCESSES) as pool:
        return "".join(pool.map(run, range(PROCESSES)))


def _git(*words: str) -> str:
    return subprocess.run(
        ["git", *words], check=True, capture_output=True, text=True
    ).stdout.strip()


def _print(text: str) -> None:
    print(text, flush=True)  # noqa: T201


if __name__ == "__main__":
    sys.exit(main())
