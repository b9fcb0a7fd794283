"""Whether folders and files are proven to be unchanged."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import pytest

from kafkalog_reader.io.folder_states import FolderStates

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

TICK = 0.03
"""Seconds after which a change has another time, on a file system with a coarse clock."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "orders-0"
    (made / "inner").mkdir(parents=True)
    for name in ("0.log", "0.index"):
        (made / name).write_bytes(b"0123456789")
    time.sleep(TICK)
    return made


def append(path: Path, content: bytes) -> None:
    with path.open("ab") as file:
        file.write(content)


def overwrite_with_the_same_times(path: Path) -> None:
    before = path.stat()
    with path.open("r+b") as file:
        file.write(b"9876543210")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def replace_by_a_twin(path: Path) -> None:
    twin = path.with_suffix(".new")
    twin.write_bytes(path.read_bytes())
    os.utime(twin, ns=(path.stat().st_atime_ns, path.stat().st_mtime_ns))
    twin.rename(path)


CHANGES: dict[str, Callable[[Path], object]] = {
    "appended": lambda folder: append(folder / "0.log", b"x"),
    "truncated": lambda folder: os.truncate(folder / "0.log", 5),
    "overwritten": lambda folder: overwrite_with_the_same_times(folder / "0.index"),
    "replaced": lambda folder: replace_by_a_twin(folder / "0.log"),
    "deleted": lambda folder: (folder / "0.index").unlink(),
    "renamed": lambda folder: (folder / "0.log").rename(folder / "0.log.deleted"),
    "another file": lambda folder: (folder / "10.log").touch(),
    "another folder": lambda folder: (folder / "orders-1").mkdir(),
    "folder renamed": lambda folder: folder.rename(folder.with_name("orders-0.x-delete")),
}


def test_what_is_only_read_is_unchanged(folder: Path) -> None:
    states = FolderStates([str(folder)])
    (folder / "0.log").read_bytes()
    assert len(states) == 1
    assert states.are_unchanged()


@pytest.mark.parametrize("change", CHANGES)
def test_every_change_shows(folder: Path, change: str) -> None:
    states = FolderStates([str(folder.parent), str(folder)])
    CHANGES[change](folder)
    assert not states.are_unchanged()


def test_the_newest_time_is_that_of_the_last_change(folder: Path) -> None:
    states = FolderStates([str(folder)])
    assert states.newest_ns < time.time_ns()
    before = time.time_ns()
    time.sleep(TICK)
    os.utime(folder / "0.log", ns=(1, 1))  # an old file, but its change is new
    assert FolderStates([str(folder)]).newest_ns > before > states.newest_ns
