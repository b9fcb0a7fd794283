"""The index of another log beside an active segment, and entries that a truncation left behind."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from fixtures import captures
from fixtures.builder import cluster, replica
from kafkalog_reader.audits.catalogue.actions import REBUILT_AT_START
from kafkalog_reader.audits.tables.verification import verify
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.registry import request, table
from kafkalog_reader.report.repair_text import repair_commands

if TYPE_CHECKING:
    from pathlib import Path

    from kafkalog_reader.audits.integrity.finding import Finding

SEGMENT = f"{0:020}"
EVEN = " ".join(f"{n}-{n + 9}/e0" for n in range(0, 5000, 10))
"""One batch of ten records after another, of the same size."""
UNEVEN = " ".join(f"{n}-{n + 6}/e0" for n in range(0, 4900, 7))


def found_in(root: Path) -> list[Finding]:
    findings = table("findings")
    asked = request(findings)
    units = findings.units(discover([str(root)]), asked)
    found = [each for unit in units for each, _ in verify(unit, asked).findings]
    return [each for each in found if each.code.startswith("KL-2")]


def write(root: Path, log: str) -> Path:
    """The folder of a replica whose broker was killed, with preallocated indexes."""
    described = replica(log, high_watermark=7, preallocated=8192)
    return cluster(root, {0: described})[0] / "t-0"


def a_day_earlier(entry: bytes) -> bytes:
    if not any(entry):
        return entry
    timestamp = int.from_bytes(entry[:8], "big") - 86_400_000
    return timestamp.to_bytes(8, "big") + entry[8:]


@pytest.mark.parametrize("kind", ["index", "timeindex"])
def test_an_active_index_without_any_entry_of_its_log_is_that_of_another(
    kind: str, tmp_path: Path
) -> None:
    """AbstractIndex#truncateToEntries leaves old entries, but new ones overwrite the first."""
    folder, other = write(tmp_path / "one", EVEN), write(tmp_path / "other", UNEVEN)
    assert found_in(tmp_path / "one") == []
    foreign = (other / f"{SEGMENT}.{kind}").read_bytes()
    if kind == "timeindex":  # of a log that is a day older
        foreign = b"".join(a_day_earlier(foreign[n : n + 12]) for n in range(0, len(foreign), 12))
    (folder / f"{SEGMENT}.{kind}").write_bytes(foreign)
    (found,) = found_in(tmp_path / "one")
    assert found.file == f"t-0/{SEGMENT}.{kind}"
    assert (found.severity, found.actions) == ("L", (REBUILT_AT_START,))
    assert "it is the index of another one" in found.message


def test_entries_that_a_truncation_left_are_no_finding(tmp_path: Path) -> None:
    folder, other = write(tmp_path / "one", EVEN), write(tmp_path / "other", UNEVEN)
    path = folder / f"{SEGMENT}.index"
    own, left = path.read_bytes(), (other / path.name).read_bytes()
    path.write_bytes(own[:8] + left[8:])  # one entry after the truncation
    assert found_in(tmp_path / "one") == []


def test_a_small_log_may_have_written_no_entry_since_it_was_truncated(tmp_path: Path) -> None:
    small = " ".join(f"{n}-{n + 9}/e0" for n in range(0, 100, 10))
    folder, other = write(tmp_path / "one", small), write(tmp_path / "other", UNEVEN)
    (folder / f"{SEGMENT}.index").write_bytes((other / f"{SEGMENT}.index").read_bytes())
    assert found_in(tmp_path / "one") == []


@pytest.mark.parametrize("is_damaged", [False, True], ids=["sound", "damaged"])
def test_the_commands_let_the_start_rebuild_the_index_of_a_sound_segment(
    is_damaged: bool, tmp_path: Path
) -> None:
    """A start reads a segment without .index again, and cuts it at the first damaged batch."""
    root = shutil.copytree(captures.path("everything/stopped/broker-0"), tmp_path / "broker-0")
    folder = root / "codec-zstd-0"
    first, middle, _ = sorted(folder.glob("*.log"))
    shutil.copy(folder.parent / "codec-none-0" / f"{middle.stem}.index", folder)
    if is_damaged:
        content = bytearray(middle.read_bytes())
        content[-3] ^= 4
        middle.write_bytes(content)
    found = [each for each in found_in(root) if (each.file or "").startswith("codec-zstd-0/")]
    assert ("A3" in {action for each in found for action in each.actions}) is not is_damaged
    commands = [command for each in found for command in repair_commands(each.repairs)]
    if is_damaged:
        assert commands == []
        return
    subprocess.run(["bash", "-e", "-c", "\n".join(dict.fromkeys(commands))], check=True)
    assert not [*folder.glob(f"{middle.stem}.*index")]
    assert len([*folder.glob(f"{first.stem}.*")]) > 1
    left = [each for each in found_in(root) if (each.file or "").startswith("codec-zstd-0/")]
    assert {(each.code, each.severity) for each in left} == {("KL-201", "L")}
