"""Files that change, vanish or fail while they are read; wrong clocks (T01, D26, Y12, Y13)."""

from __future__ import annotations

import errno
import os
import time
from typing import TYPE_CHECKING

import pytest

from fixtures.faults.catalogue import PLAIN
from fixtures.faults.run import found_in
from kafkalog_reader.audits.tables.verification import verify
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.registry import table
from kafkalog_reader.tables.request import ReadRequest
from tests.tables.logs import batch, offsets

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.hostile.conftest import Inputs

BATCHES = 40


def grow(log: Path) -> None:
    with log.open("ab") as file:
        file.write(batch(3 * BATCHES))


def shrink(log: Path) -> None:
    os.truncate(log, 100)


def replace(log: Path) -> None:
    other = log.with_name("other")
    other.write_bytes(batch(0))
    other.replace(log)


def remove(log: Path) -> None:
    log.unlink()


@pytest.mark.parametrize("change", [grow, shrink, replace, remove], ids=lambda each: each.__name__)
def test_d26_a_log_that_changes_while_it_is_read_is_reported(
    tmp_path: Path, change: Callable[[Path], None]
) -> None:
    log = tmp_path / "b1" / "orders-0" / "00000000000000000000.log"
    log.parent.mkdir(parents=True)
    log.write_bytes(b"".join(batch(3 * number) for number in range(BATCHES)))
    changed = False

    def change_once(_: int) -> None:
        nonlocal changed
        if not changed:
            changed = True
            change(log)

    request = ReadRequest()
    units = table("findings").units(discover([str(tmp_path / "b1")]), request)
    codes = {each.code for unit in units for each, _ in verify(unit, request, change_once).findings}
    assert changed
    assert "KL-001" in codes
    # Nothing is damaged in the bytes that were read first.
    assert not codes & {"KL-101", "KL-102", "KL-105", "KL-106", "KL-110"}


def failing(
    monkeypatch: pytest.MonkeyPatch, name: str, number: int, concerns: Callable[[object], bool]
) -> None:
    """Make a call of the operating system fail if its first argument matches."""
    real = getattr(os, name)

    def call(*arguments: object, **more: object) -> object:
        if concerns(arguments[0]):
            raise OSError(number, os.strerror(number))
        return real(*arguments, **more)

    monkeypatch.setattr(os, name, call)


@pytest.mark.parametrize("number", [errno.EACCES, errno.EIO], ids=["no_permission", "disk_error"])
@pytest.mark.parametrize("is_whole", [False, True], ids=["folders_only", "log_directory"])
def test_y12_a_folder_that_cannot_be_listed_hides_no_other(
    inputs: Inputs, monkeypatch: pytest.MonkeyPatch, number: int, *, is_whole: bool
) -> None:
    inputs.log.write_bytes(batch(0))
    if is_whole:
        (inputs.root / "b1" / "meta.properties").write_bytes(b"version=1\nnode.id=1\n")
    other = inputs.root / "b1" / "refused-0"
    other.mkdir()
    (other / inputs.log.name).write_bytes(batch(0))
    path = inputs.sealed()
    failing(monkeypatch, "scandir", number, lambda asked: str(asked).endswith("refused-0"))
    codes = {(each.code, each.file) for each in found_in(path)}
    assert any(code == "KL-004" and "refused-0" in (file or "") for code, file in codes)
    assert not any((file or "").startswith("orders-0/") for code, file in codes if code < "KL-2")


def test_y12_a_disk_error_in_one_file_costs_that_file_only(
    inputs: Inputs, monkeypatch: pytest.MonkeyPatch
) -> None:
    inputs.log.write_bytes(batch(0))
    (inputs.partition / "00000000000000000003.log").write_bytes(batch(3))
    path = inputs.sealed()
    bad = inputs.log.stat().st_ino
    failing(
        monkeypatch, "preadv", errno.EIO,
        lambda asked: isinstance(asked, int) and os.fstat(asked).st_ino == bad,
    )  # fmt: skip
    found = [each for each in found_in(path) if each.code == "KL-004"]
    assert [each.file for each in found] == [f"orders-0/{inputs.log.name}"]
    assert offsets(path, mode="PERMISSIVE") == [3, 4, 5]


@pytest.mark.parametrize("year", [1970, 2100])
def test_y13_a_clock_that_lies_changes_no_finding(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, year: int
) -> None:
    paths = [str(base.copied(tmp_path / base.name).log_directory) for base in PLAIN]
    before = [found_in(path) for path in paths]
    monkeypatch.setattr(time, "time", lambda: (year - 1970) * 365.25 * 86400.0)
    assert [found_in(path) for path in paths] == before
