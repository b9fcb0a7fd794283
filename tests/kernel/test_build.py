"""A kernel that was built from other sources gives an error that says this."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import pytest

import kafkalog_reader
from kafkalog_reader.kernel.build import outdated_modules, rebuild_advice

SUFFIX = EXTENSION_SUFFIXES[0]
PACKAGE = Path(kafkalog_reader.__file__).parent
HOUR = 3600


def touched(path: Path, hours: int) -> None:
    path.write_bytes(b"")
    os.utime(path, (HOUR * hours, HOUR * hours))


@pytest.mark.parametrize(
    ("built", "source", "header", "outdated"),
    [
        pytest.param(5, 4, 4, [], id="built_last"),
        pytest.param(5, 6, 4, ["scan_cy"], id="source_changed"),
        pytest.param(5, 4, 6, ["scan_cy"], id="header_changed"),
        pytest.param(None, 4, 4, [], id="interpreted"),
    ],
)
def test_times_of_files_tell_what_is_outdated(
    tmp_path: Path, built: int | None, source: int, header: int, outdated: list[str]
) -> None:
    touched(tmp_path / "scan_cy.py", source)
    touched(tmp_path / "crc.h", header)
    if built is not None:
        touched(tmp_path / f"scan_cy{SUFFIX}", built)
    assert outdated_modules(tmp_path) == outdated
    assert (rebuild_advice(tmp_path) is not None) == bool(outdated)


def test_a_module_that_was_never_built_beside_built_ones_is_outdated(tmp_path: Path) -> None:
    for name in ("new_cy.py", f"scan_cy{SUFFIX}", "scan_cy.py"):
        touched(tmp_path / name, 5)
    assert outdated_modules(tmp_path) == ["new_cy"]


def test_a_kernel_that_does_not_load_after_its_sources_changed_asks_to_be_rebuilt(
    tmp_path: Path,
) -> None:
    kernel = tmp_path / "kafkalog_reader" / "kernel"
    shutil.copytree(PACKAGE, kernel.parent, ignore=shutil.ignore_patterns("*.so", "*.c"))
    touched(kernel / f"records_cy{SUFFIX}", 1)  # an extension that no loader accepts
    run = subprocess.run(
        [sys.executable, "-c", "import kafkalog_reader.kernel"],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    last = run.stderr.strip().splitlines()[-1]
    assert run.returncode == 1
    assert last.startswith(
        "kafkalog_reader.errors.OutdatedKernelError: the compiled kernel is older"
    )
    assert last.endswith("rebuild it with `make test` or `pip install -e .`")
