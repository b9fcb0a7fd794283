"""The states of `make same`: captures, faults, scenarios, named states and random clusters.

They are written once and kept, with fixed file times: what a command says of them depends on its
code alone. The folder's name is a hash of what made it.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from fixtures import captures
from fixtures.faults.catalogue import FAULTS
from fixtures.jars import cache_directory
from fixtures.plans.named_states import NAMED, deal_named
from fixtures.plans.random_cluster import DEALT, deal, sources
from fixtures.synthetic import SCENARIOS
from fixtures.synthetic.across_replicas import CROSS_FAULTS
from tests.agreement.faulty_copy import base_of, faulty_copy

if TYPE_CHECKING:
    from collections.abc import Iterable

PATHS: Final = "paths.txt"
"""Names the arguments of the commands, a state a line; written last, so that a corpus is whole."""
MODIFIED: Final = 1_795_824_000
"""Seconds since 1970, UTC: after the records of every capture (2026-11-23), and before now."""
_MADE_BY: Final = ("fixtures", "tests/same/corpus.py", "tests/agreement/faulty_copy.py")
_SOURCES: Final = (".py", ".tar.xz", ".json", ".log")


def corpus(clusters: int) -> Path:
    """The folder with all states, made if it is not there.

    Args:
        clusters: how many random clusters it has.
    """
    folder = cache_directory() / "same" / f"corpus-{_hash(clusters)}"
    if not (folder / PATHS).exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
            made = Path(scratch, "made")
            made.mkdir()
            paths = [*_written(made, Path(scratch), clusters)]
            for each in made.rglob("*"):
                os.utime(each, (MODIFIED, MODIFIED))
            (made / PATHS).write_text("\n".join(paths) + "\n")
            shutil.rmtree(folder, ignore_errors=True)
            made.rename(folder)
    return folder


def _written(folder: Path, scratch: Path, clusters: int) -> Iterable[str]:
    """Write each state below a folder; yield its arguments, relative to the folder."""
    for name in captures.states():
        shutil.copytree(captures.path(name), folder / f"captures/{name}", symlinks=True)
        yield f"captures/{name}"
    for fault in FAULTS:
        path = faulty_copy(fault, base_of(fault, "1"), folder / "faults" / fault.id)
        yield path.replace(f"{folder}/", "")
    for cross in CROSS_FAULTS:
        yield str(cross.write(folder / "cross" / cross.id).relative_to(folder))
    for name, scenario in SCENARIOS.items():
        yield str(scenario.write(folder / "scenarios" / name).relative_to(folder))
    for name in NAMED:
        deal_named(name, scratch / name, folder / "named" / name)
        yield _supplied(folder, folder / "named" / name)
    known = sources(scratch / "sources")
    for seed in range(clusters):
        output = folder / "clusters" / str(seed)
        deal(seed, known, scratch / str(seed), output)
        shutil.rmtree(scratch / str(seed), ignore_errors=True)
        yield _supplied(folder, output)


def _supplied(folder: Path, state: Path) -> str:
    (state / DEALT).unlink(missing_ok=True)
    return " ".join(sorted(str(each.relative_to(folder)) for each in state.glob("*/*-*")))


def _hash(clusters: int) -> str:
    digest = hashlib.sha256(f"{clusters}".encode())
    for each in _MADE_BY:
        inside = [each] if each.endswith(".py") else sorted(map(str, Path(each).rglob("*")))
        for path in map(Path, inside):
            if path.is_file() and path.name.endswith(_SOURCES):
                digest.update(str(path).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]
