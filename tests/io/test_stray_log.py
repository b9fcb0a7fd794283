"""A log file of zeros beyond the end of the log: the segments are built, the file is added."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fixtures.builder import log_directory, replica
from kafkalog_reader.cli.plan import plan_command
from kafkalog_reader.cli.replica_diff import replica_diff
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.io.partition_directory import segments
from kafkalog_reader.scan.log_tail import scan_tail
from kafkalog_reader.tables.request import ReadRequest
from tests.agreement.commands import asked

if TYPE_CHECKING:
    from pathlib import Path

    from kafkalog_reader.io.directories import PartitionDirectory

LOG = "a@0/e0 b@1/e0 c@2/e0 d@3/e0"
BATCH = 69
BEYOND, AT_END = 9999, 4


def name(base_offset: int, kind: str = "log") -> str:
    return f"{base_offset:020d}.{kind}"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Segments 0 and 2; the log ends at 4."""
    copy = replica(LOG, segment_bytes=2 * BATCH, recovery_point=4, high_watermark=4)
    log_directory(0, copy, is_clean=True).write(tmp_path / "in")
    return tmp_path / "in" / "t-0"


def directory_of(folder: Path) -> PartitionDirectory:
    (found,) = discover([str(folder.parent)]).partition_directories(ReadRequest())
    return found


def bases(folder: Path, *, live_only: bool = True) -> list[int]:
    return [each.base_offset for each in segments(directory_of(folder), live_only=live_only)]


def sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(60 << 30)


def test_zeros_beyond_the_end_are_no_segment(folder: Path) -> None:
    sparse(folder / name(BEYOND))
    assert bases(folder) == [0, 2]
    assert bases(folder, live_only=False) == [0, 2, BEYOND]
    assert scan_tail(directory_of(folder)).next_offset == 4


def test_commands_say_to_move_the_file_aside(folder: Path) -> None:
    sparse(folder / name(BEYOND))
    status, text = asked(plan_command, str(folder.parent))
    assert status == 1
    assert text.startswith("First move aside log files that are none (KL-420) and make this plan")
    move = f"mv {folder / name(BEYOND)} "
    assert move in " ".join(text.replace("\\\n", "").split())
    status, text = asked(replica_diff, str(folder.parent))
    assert status == 1
    assert "9,999 →" not in text
    (folder / name(BEYOND)).rename(folder.parents[1] / "aside")
    assert asked(plan_command, str(folder.parent))[0] == 0


@pytest.mark.parametrize("kind", ["index", "timeindex", "snapshot"])
def test_a_file_beside_it_shows_that_a_broker_wrote_it(folder: Path, kind: str) -> None:
    sparse(folder / name(BEYOND))
    (folder / name(BEYOND, kind)).touch()
    assert bases(folder) == [0, 2, BEYOND]


def test_a_log_that_goes_on_at_its_end_is_one(folder: Path) -> None:
    """A preallocated segment that was just rolled, copied without its indexes."""
    (folder / name(AT_END, "snapshot")).unlink(missing_ok=True)
    (folder / name(AT_END)).write_bytes(bytes(4096))
    assert bases(folder) == [0, 2, AT_END]


@pytest.mark.parametrize("content", [b"", b"x" * 4096, bytes(100) + b"x" * 100])
def test_other_content_is_one(folder: Path, content: bytes) -> None:
    (folder / name(BEYOND)).write_bytes(content)
    assert bases(folder) == [0, 2, BEYOND]


def test_copies_without_any_index_prove_nothing(folder: Path) -> None:
    for path in (*folder.glob("*index"), *folder.glob("*.snapshot")):
        path.unlink()
    (folder / name(BEYOND)).write_bytes(bytes(4096))
    assert bases(folder) == [0, 2, BEYOND]
