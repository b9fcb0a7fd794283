"""What is known of each remote segment: where it ends, and who wrote it."""

from __future__ import annotations

import shutil
import struct
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from fixtures import captures
from fixtures.aiven_tier import write_aiven_tier
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.io.remote_segments import RemoteSegment, remote_segments

if TYPE_CHECKING:
    from collections.abc import Iterator

SOURCE = next(captures.path("tiered").glob("copied/tier/*/*"))
BASES = sorted(int(log.name[:20]) for log in SOURCE.glob("*.log"))
ENDS = [*BASES[1:], 46]
"""Each segment ends where the next one begins; the brokers' local segment begins at 46."""


def listed(folder: Path) -> tuple[RemoteSegment, ...]:
    (part,) = discover([str(folder)]).remote
    return remote_segments(part)


@pytest.fixture(params=["apache", "aiven", "compressed"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    if request.param == "apache":
        yield Path(shutil.copytree(SOURCE, tmp_path / SOURCE.name))
    else:
        is_compressed = request.param == "compressed"
        yield write_aiven_tier(SOURCE, tmp_path, log_end=46, is_compressed=is_compressed)


def test_segments_have_their_offsets_sizes_and_epochs(folder: Path) -> None:
    found = listed(folder)
    assert [each.files.base_offset for each in found] == BASES
    assert [each.next_offset for each in found] == ENDS
    assert [each.files.log_size for each in found] == [
        log.stat().st_size for log in sorted(SOURCE.glob("*.log"))
    ]
    epochs = [[(e.leader_epoch, e.start_offset) for e in each.epochs] for each in found]
    assert epochs == [[(0, 0)] if base < 25 else [(0, 0), (1, 25)] for base in BASES]


@pytest.mark.parametrize(
    "entry",
    [(2**31 - 1, 2**31 - 1), (-1, -1), (0, 0), (2, 50), (4, 1), (1, 0), (-(2**31), 2**31 - 1)],
)
def test_an_index_that_lies_does_not_change_the_end(tmp_path: Path, entry: tuple[int, int]) -> None:
    folder = Path(shutil.copytree(SOURCE, tmp_path / SOURCE.name))
    for index in folder.glob("*.index"):
        index.write_bytes(struct.pack(">ii", *entry))
    assert [each.next_offset for each in listed(folder)] == ENDS


def test_the_last_entry_of_a_real_index_saves_reading(tmp_path: Path) -> None:
    """The second batch of the first segment with two, by its length, is the entry's."""
    folder = Path(shutil.copytree(SOURCE, tmp_path / SOURCE.name))
    for log in sorted(folder.glob("*.log")):
        content = log.read_bytes()
        second = 12 + int.from_bytes(content[8:12], "big")
        if second < len(content):
            base = int(log.name[:20])
            last = int.from_bytes(content[second : second + 8], "big")
            last += int.from_bytes(content[second + 23 : second + 27], "big")
            log.with_suffix(".index").write_bytes(struct.pack(">ii", last - base, second))
            log.write_bytes(b"\0" * second + content[second:])  # what is before is not read
    assert [each.next_offset for each in listed(folder)] == ENDS


def test_damaged_epochs_are_unknown(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    folder = Path(shutil.copytree(SOURCE, tmp_path / SOURCE.name))
    damaged = min(folder.glob("*.leader_epoch_checkpoint"))
    damaged.write_bytes(b"0\n9\nx\n")
    assert [bool(each.epochs) for each in listed(folder)] == [False, *[True] * (len(BASES) - 1)]
    assert f"{damaged}" in caplog.text


def test_indexes_without_a_log_are_left_out(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = Path(shutil.copytree(SOURCE, tmp_path / SOURCE.name))
    min(folder.glob("*.log")).unlink()
    assert len(listed(folder)) == len(BASES) - 1
    assert "no log beside it: this remote segment is left out" in caplog.text


def test_links_are_not_followed(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    folder = Path(shutil.copytree(SOURCE, tmp_path / SOURCE.name))
    log = min(folder.glob("*.log"))
    log.unlink()
    log.symlink_to(min(SOURCE.glob("*.log")))
    assert len(listed(folder)) == len(BASES) - 1
    assert f"{log}: symbolic link, not followed" in caplog.text


def test_a_log_that_cannot_be_read_has_an_unknown_end(tmp_path: Path) -> None:
    folder = write_aiven_tier(SOURCE, tmp_path, log_end=46, is_encrypted=True)
    assert {each.next_offset for each in listed(folder)} == {None}
