"""A tree that tests must not change: content, size, times, links."""

from __future__ import annotations

import hashlib
import stat
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MAX_HASHED = 64 << 20


def portrait(root: Path) -> dict[str, tuple[object, ...]]:
    """Everything about every entry that reading must not change."""
    found: dict[str, tuple[object, ...]] = {}
    for path in sorted(root.rglob("*")):
        status = path.lstat()
        content = None
        if stat.S_ISREG(status.st_mode) and status.st_size <= MAX_HASHED:
            content = hashlib.sha256(path.read_bytes()).hexdigest()
        found[str(path)] = (
            status.st_mode, status.st_size, status.st_mtime_ns, status.st_nlink, content,
        )  # fmt: skip
    return found


class Inputs:
    """The folder of a test's inputs; call ``sealed`` after they are built."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.partition = root / "b1" / "orders-0"
        self.partition.mkdir(parents=True)
        self.before: dict[str, tuple[object, ...]] | None = None

    @property
    def log(self) -> Path:
        return self.partition / "00000000000000000000.log"

    def sealed(self) -> str:
        """The path for a command; from now on nothing may change."""
        self.before = portrait(self.root)
        return str(self.root / "b1")


@pytest.fixture
def inputs(tmp_path: Path) -> Iterator[Inputs]:
    made = Inputs(tmp_path / "inputs")
    yield made
    assert made.before is not None, "the test sealed nothing"
    assert portrait(made.root) == made.before
