"""An installation has modules that Spark and the shell find from any directory."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import kafkalog_reader

ROOT = Path(kafkalog_reader.__file__).parents[1]
INTERPRETED = {"crc32c", "cython"}
"""Packages that only the interpreted kernel needs."""
LATER = {"compression"}
"""Packages that are part of Python from 3.14 on."""
EXTRAS = {"spark", "notebook", "pandas", "polars", "sql"}
"""Extras for users; the others, test and dev, are for work on this project."""


def test_spark_finds_the_data_source_from_any_directory(tmp_path: Path) -> None:
    # As pyspark.sql.worker.lookup_data_sources does it.
    program = (
        "import pkgutil; "
        "print(*(found.name for found in pkgutil.iter_modules() if found.name[:8] == 'pyspark_'))"
    )
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path, env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.split() == ["pyspark_kafkalog"]


def imported_packages() -> set[str]:
    """Third-party packages that the package imports anywhere."""
    found: set[str] = set()
    for source in (ROOT / "kafkalog_reader").rglob("*.py"):
        for node in ast.walk(ast.parse(source.read_text())):
            if isinstance(node, ast.Import):
                found |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
                found.add(node.module.split(".")[0])
    return found - sys.stdlib_module_names - {"kafkalog_reader"}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> metadata.Distribution:
    """The metadata of an installation of this checkout with the interpreted kernel."""
    folder = tmp_path_factory.mktemp("metadata")
    subprocess.run(
        [sys.executable, "setup.py", "--quiet", "egg_info", "--egg-base", str(folder)],
        cwd=ROOT, env={**os.environ, "KAFKALOG_KERNEL": "interpreted"}, check=True,
        capture_output=True,
    )  # fmt: skip
    return metadata.PathDistribution(folder / "kafkalog.egg-info")


def needed(built: metadata.Distribution) -> set[str]:
    """The packages that every installation needs, with any Python."""
    requirements = [Requirement(text) for text in built.requires or []]
    return {each.name for each in requirements if "extra" not in str(each.marker)} - INTERPRETED


def test_nine_packages_at_most_are_needed_without_spark(built: metadata.Distribution) -> None:
    assert len(needed(built)) <= 9
    assert {"construct", "crcmod"} < needed(built)  # the declared formats use both


def optional(built: metadata.Distribution) -> set[str]:
    """The packages of the extras for users."""
    requirements = [Requirement(text) for text in built.requires or []]
    return {
        each.name
        for each in requirements
        if "extra" in str(each.marker)
        and any(each.marker.evaluate({"extra": extra}) for extra in EXTRAS)
    }


def test_every_import_is_a_declared_dependency(built: metadata.Distribution) -> None:
    modules = {name.split(".")[0] for name in needed(built)}
    assert imported_packages() - optional(built) - LATER - INTERPRETED == modules


def test_metadata_is_what_a_package_index_shows(built: metadata.Distribution) -> None:
    found = built.metadata
    assert found["Version"] == kafkalog_reader.__version__
    assert found["Requires-Python"] == ">=3.11"
    assert found["License-Expression"] == "Apache-2.0"
    classifiers = set(found.get_all("Classifier") or [])
    versions = {f"Programming Language :: Python :: 3.{minor}" for minor in (11, 12, 13, 14)}
    assert versions < classifiers
    assert {"Operating System :: POSIX :: Linux", "Typing :: Typed"} < classifiers
    assert {*EXTRAS, "test", "dev"} == set(found.get_all("Provides-Extra"))


def test_the_manual_pages_are_installed(built: metadata.Distribution) -> None:
    sources = (built.read_text("SOURCES.txt") or "").splitlines()
    pages = {str(path.relative_to(ROOT)) for path in (ROOT / "man" / "man1").iterdir()}
    assert {"man/man1/kafkalog.1", "man/man1/replica-diff.1"} < pages <= set(sources)


def test_the_version_is_written_once() -> None:
    places = [
        name
        for name in ("pyproject.toml", "setup.py", "kafkalog_reader/__init__.py")
        if f'"{kafkalog_reader.__version__}"' in (ROOT / name).read_text()
    ]
    assert places == ["kafkalog_reader/__init__.py"]
