"""What damage in a log explains, and which advice it takes away."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from fixtures import captures
from kafkalog_reader.audits.catalogue.actions import REBUILD_INDEX
from kafkalog_reader.audits.integrity.file_repair import Move
from kafkalog_reader.audits.tables.verification import verify
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.registry import request, table

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from kafkalog_reader.audits.integrity.finding import Finding

SEGMENT = f"{24:020}"


def base_offset_too_high(folder: Path) -> None:
    log = folder / f"{SEGMENT}.log"
    content = bytearray(log.read_bytes())
    second = 12 + int.from_bytes(content[8:12])
    content[second] ^= 24  # two bits of the second batch's base offset: nothing proves it
    log.write_bytes(content)


def middle_cut_out(folder: Path) -> None:
    log = folder / f"{SEGMENT}.log"
    content = log.read_bytes()
    log.write_bytes(content[:1000])  # in the second of six batches


def index_past_the_log(folder: Path) -> None:
    index = folder / f"{SEGMENT}.index"
    content = bytearray(index.read_bytes())
    content[-4:] = (1 << 20).to_bytes(4)
    index.write_bytes(content)


def index_findings(tmp_path: Path, change: Callable[[Path], None]) -> list[Finding]:
    root = tmp_path / "brokers"
    shutil.copytree(captures.path("everything/stopped"), root)
    change(root / "broker-0" / "codec-none-0")
    findings = table("findings")
    asked = request(findings, topic="codec-none")
    units = findings.units(discover([str(root)]), asked)
    found = [each for unit in units for each, _ in verify(unit, asked).findings]
    return [each for each in found if (each.file or "").endswith(f"{SEGMENT}.index")]


@pytest.mark.parametrize("change", [base_offset_too_high, middle_cut_out])
def test_the_index_of_a_damaged_log_is_not_moved_aside(
    change: Callable[[Path], None], tmp_path: Path
) -> None:
    """A start without the index reads the segment: it cuts it at the damage, or aborts.

    Seen on 3.9.1 with a base offset that is too high: "Split operation is only permitted for
    segments with overflow", and the broker stays down; with the index it starts.
    """
    found = index_findings(tmp_path, change)
    assert found
    for each in found:
        assert f"{SEGMENT}.log" in (each.caused_by or "")
        assert REBUILD_INDEX not in each.actions
        assert not each.repairs


def test_the_damaged_index_of_a_sound_log_is_moved_aside(tmp_path: Path) -> None:
    (found,) = index_findings(tmp_path, index_past_the_log)
    assert (found.caused_by, found.actions) == (None, (REBUILD_INDEX,))
    moved = [each.path.rpartition("/")[2] for each in found.repairs if isinstance(each, Move)]
    assert moved == [f"{SEGMENT}.index", f"{SEGMENT}.timeindex"]
