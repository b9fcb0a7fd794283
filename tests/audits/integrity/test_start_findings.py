"""KL-412 to KL-418 on damaged copies of a real broker's files.

Expected is what 4.3.1 brokers did when they were started on such copies (fixtures/recovery tests
the predictions).
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from fixtures import captures
from kafkalog_reader.audits.tables.verification import verify
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.io.names import OFFSET_CHECKPOINTS
from kafkalog_reader.registry import request, table

if TYPE_CHECKING:
    from kafkalog_reader.audits.integrity.finding import Finding

CAPTURE = captures.path("everything")
NAME = "codec-none-0"
FIRST, MIDDLE, LAST = (f"{offset:020}" for offset in (0, 24, 48))
PREDICTIONS = ("KL-412", "KL-413", "KL-414", "KL-415", "KL-417", "KL-418")
Change = Callable[[Path], None]


def copied(state: str, to: Path) -> Path:
    """A log directory with one partition of three segments, offsets 0, 24 and 48 to 71."""
    source = CAPTURE / state / "broker-0"
    shutil.copytree(source / NAME, to / NAME)
    for file in source.iterdir():
        if file.name in OFFSET_CHECKPOINTS:
            rows = [r for r in file.read_text().splitlines() if r.startswith("codec-none 0 ")]
            (to / file.name).write_text("\n".join(["0", str(len(rows)), *rows, ""]))
        elif file.is_file():
            shutil.copy(file, to / file.name)
    return to / NAME


def recovery_point(directory: Path, offset: int) -> None:
    (directory.parent / "recovery-point-offset-checkpoint").write_text(
        f"0\n1\ncodec-none 0 {offset}\n"
    )


def flip(segment: str) -> Change:
    def change(directory: Path) -> None:
        path = directory / f"{segment}.log"
        content = bytearray(path.read_bytes())
        content[-20] ^= 4
        path.write_bytes(content)

    return change


def tear(size: int) -> Change:
    def change(directory: Path) -> None:
        path = directory / f"{LAST}.log"
        path.write_bytes(path.read_bytes()[:-size])

    return change


def predictions(directory: Path) -> list[Finding]:
    findings = table("findings")
    asked = request(findings, topic="codec-none")
    units = findings.units(discover([str(directory.parent)]), asked)
    found = [each for unit in units for each, _ in verify(unit, asked).findings]
    return [each for each in found if each.code in PREDICTIONS]


@pytest.mark.parametrize("state", ["stopped", "killed"])
def test_of_a_sound_replica_nothing_is_predicted(tmp_path: Path, state: str) -> None:
    assert predictions(copied(state, tmp_path)) == []


def test_recovery_cuts_at_damage_and_deletes_later_segments(tmp_path: Path) -> None:
    directory = copied("killed", tmp_path)
    recovery_point(directory, 24)
    flip(MIDDLE)(directory)
    (found,) = predictions(directory)
    evidence = dict(found.evidence)
    assert (found.code, found.severity) == ("KL-412", "C")
    assert found.next_offset == 72
    assert evidence["logEndOffsetAfterStart"] == str(found.first_offset)
    assert found.records_at_risk == 24  # those of the last segment, not the damaged batch
    assert (found.caused_by or "").startswith(f"KL-101 {NAME}/{MIDDLE}.log ")


def test_a_torn_end_goes_without_a_record(tmp_path: Path) -> None:
    directory = copied("killed", tmp_path)
    tear(7)(directory)
    (found,) = predictions(directory)
    assert (found.code, found.severity, found.records_at_risk) == ("KL-412", "L", 0)
    assert (found.caused_by or "").startswith("KL-103 ")
    assert found.confidence == "possible"


def test_a_clean_marker_keeps_the_start_from_looking(tmp_path: Path) -> None:
    directory = copied("stopped", tmp_path)
    flip(MIDDLE)(directory)
    (found,) = predictions(directory)
    assert (found.code, found.severity) == ("KL-413", "H")


def test_damage_below_the_recovery_point_is_never_looked_at(tmp_path: Path) -> None:
    directory = copied("killed", tmp_path)
    recovery_point(directory, 48)
    flip(FIRST)(directory)
    (found,) = predictions(directory)
    assert (found.code, found.severity) == ("KL-414", "H")


def test_a_segment_without_its_index_is_recovered_in_spite_of_the_marker(tmp_path: Path) -> None:
    directory = copied("stopped", tmp_path)
    flip(LAST)(directory)
    (directory / f"{LAST}.index").unlink()
    (found,) = predictions(directory)
    assert found.code == "KL-412"


def test_an_end_that_lies_before_the_last_index_entry_is_misread(tmp_path: Path) -> None:
    directory = copied("stopped", tmp_path)
    index = directory / f"{LAST}.index"
    size = (directory / f"{LAST}.log").stat().st_size
    index.write_bytes((20).to_bytes(4, "big") + (size + 100).to_bytes(4, "big"))
    (found,) = predictions(directory)
    assert (found.code, found.severity) == ("KL-415", "C")
    assert (found.first_offset, found.next_offset) == (48, 72)  # the end is read at the base


def test_a_missing_topic_id_sets_the_directory_aside(tmp_path: Path) -> None:
    directory = copied("stopped", tmp_path)
    (directory / "partition.metadata").unlink()
    (found,) = predictions(directory)
    assert (found.code, found.severity) == ("KL-417", "C")
    assert (found.first_offset, found.next_offset) == (0, 72)


def test_an_untrimmed_time_index_lets_retention_delete_everything(tmp_path: Path) -> None:
    directory = copied("stopped", tmp_path)
    for segment in (FIRST, MIDDLE, LAST):
        path = directory / f"{segment}.timeindex"
        path.write_bytes(path.read_bytes() + bytes(120))
    (found,) = predictions(directory)
    assert (found.code, found.severity) == ("KL-418", "C")
    assert found.records_at_risk == 72


def test_an_index_above_the_last_log_is_the_trace_of_a_lost_segment(tmp_path: Path) -> None:
    """Kafka deletes the oldest segments first (UnifiedLog#deleteOldSegments)."""
    directory = copied("stopped", tmp_path)
    (directory / f"{LAST}.log").unlink()
    asked = request(table("findings"), topic=directory.name.rpartition("-")[0])
    units = table("findings").units(discover([str(directory.parent)]), asked)
    found = [each for unit in units for each, _ in verify(unit).findings if each.code == "KL-209"]
    assert {each.severity for each in found} == {"H"}  # the only copy
    assert all("from offset 48 on" in each.message for each in found)
