"""Measures which tests reach which line of the program, one folder of tests at a time.

    python -m tests.chosen.measure [FOLDER ...]

The results stay in the cache, with the sources that the lines refer to. Without folders it measures
those whose tests have changed since, or that were never measured.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from tests.chosen.reach import Reach
from tests.chosen.recorder import SECONDS_FILE

if TYPE_CHECKING:
    from collections.abc import Iterable

ROOT: Final = Path(__file__).parent.parent.parent
MEASURED_RUN: Final = "not oracle and not spark and not broker"
"""The tests that are measured: Spark and brokers are other processes."""
SOURCES: Final = ("kafkalog_reader", "spark_datasource")
_PACKED: Final = ("tests/audits",)
"""Folders whose subfolders are measured one by one, because all of them take long."""


def folder_of(path: str) -> str:
    """The part of the tests that is measured together, of a test file or a case of it."""
    parents = Path(path.partition("::")[0]).parent.as_posix().split("/")
    return "/".join(parents[: 3 if "/".join(parents[:2]) in _PACKED else 2])


def test_files(root: Path) -> dict[str, list[str]]:
    """The test files of each part, sorted."""
    files: dict[str, list[str]] = {}
    for path in sorted((root / "tests").rglob("test_*.py")):
        name = path.relative_to(root).as_posix()
        files.setdefault(folder_of(name), []).append(name)
    return files


def measured(root: Path, part: str, files: Iterable[str], cache: Path) -> None:
    """Run the tests of a part of the tree at ``root`` under coverage, and store what they reach."""
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        settings = work / "coverage.ini"
        settings.write_text(f"[run]\nsource = {','.join(SOURCES)}\n")
        data, times = work / "coverage.data", work / "seconds.json"
        before = _digests(root, cache)
        subprocess.run(
            [
                sys.executable, "-m", "coverage", "run", f"--rcfile={settings}", "-m", "pytest",
                "-q", "-p", "tests.chosen.recorder", "-p", "no:cacheprovider", "-m", MEASURED_RUN,
                "--hypothesis-profile=quick", *files,
            ],
            cwd=root, check=False, stdout=sys.stderr,
            env={
                **os.environ,
                "PYTHONPATH": os.pathsep.join(
                    [str(root), *filter(None, [os.environ.get("PYTHONPATH")])]
                ),
                "COVERAGE_FILE": str(data), SECONDS_FILE: str(times),
            },
        )  # fmt: skip
        told = json.loads(times.read_text())
        cases = sorted(told["seconds"])
        arrays = _lines(root, data, cases) if data.exists() else {}
    meta = {
        "time": time.time(), "cases": cases, "seconds": [told["seconds"][each] for each in cases],
        "counts": told["cases"], "sources": before,
        "tests": {each: digest_of((root / each).read_bytes()) for each in files},
    }  # fmt: skip
    arrays[""] = np.frombuffer(json.dumps(meta).encode(), np.uint8)
    target = cache / f"{part.replace('/', '.')}.npz"
    with tempfile.NamedTemporaryFile(dir=cache, suffix=".new", delete=False) as file:
        np.savez_compressed(file, **arrays)
    Path(file.name).rename(target)


def _lines(root: Path, data: Path, cases: list[str]) -> dict[str, np.ndarray]:
    """Of each path a bit per case and line, ``(cases, lines // 8)``, the lowest bit first.

    The last row is what no test reached: the lines that run at an import.
    """
    rows = {case: number for number, case in enumerate(cases)} | {"": len(cases)}
    arrays: dict[str, np.ndarray] = {}
    with sqlite3.connect(data) as database:
        contexts = dict(database.execute("select id, context from context"))
        for file, path in database.execute("select id, path from file").fetchall():
            found = [
                (rows[contexts[context]], np.frombuffer(bits, np.uint8))
                for context, bits in database.execute(
                    "select context_id, numbits from line_bits where file_id = ?", (file,)
                )
                if contexts[context] in rows
            ]
            width = max((len(bits) for _, bits in found), default=0)
            whole = np.zeros((len(rows), width), np.uint8)
            for row, bits in found:
                whole[row, : len(bits)] |= bits
            arrays[Path(path).relative_to(root).as_posix()] = whole
    return arrays


def digest_of(content: bytes) -> str:
    """What names a version of a file."""
    return hashlib.sha256(content).hexdigest()[:20]


def _digests(root: Path, cache: Path) -> dict[str, str]:
    """The digest of each module, whose text goes into the cache."""
    (cache / "sources").mkdir(parents=True, exist_ok=True)
    digests = {}
    for folder in SOURCES:
        for path in sorted((root / folder).rglob("*.py")):
            content = path.read_bytes()
            digest = digest_of(content)
            kept = cache / "sources" / digest
            if not kept.exists():
                kept.write_bytes(content)
            digests[path.relative_to(root).as_posix()] = digest
    return digests


def reach_folder() -> Path:
    """Where the measurement is; it belongs to this checkout."""
    folder = ROOT / ".cache/reach"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def measure(root: Path, parts: Iterable[str], folder: Path) -> None:
    """Measure these parts of the tests of the tree at ``root``, two at a time."""
    files = test_files(root)
    with ThreadPoolExecutor(2) as pool:
        for done in [pool.submit(measured, root, each, files[each], folder) for each in parts]:
            done.result()


def outdated(root: Path, folder: Path) -> list[str]:
    """The parts that were never measured, or whose tests have changed since."""
    known = {
        file: digest for part in Reach(folder, root).parts for file, digest in part.tests.items()
    }
    return [
        part
        for part, files in test_files(root).items()
        if any(known.get(file) != digest_of((root / file).read_bytes()) for file in files)
    ]


if __name__ == "__main__":
    measure(ROOT, sys.argv[1:] or outdated(ROOT, reach_folder()), reach_folder())
