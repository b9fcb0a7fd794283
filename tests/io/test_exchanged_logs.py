"""Which log files have each other's names: the batches are built, their offsets are the text's."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fixtures.builder import log_directory, replica
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.io.exchanged_logs import exchanged_logs, with_right_names
from kafkalog_reader.io.partition_directory import segments
from kafkalog_reader.tables.request import ReadRequest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from kafkalog_reader.io.directories import PartitionDirectory

LOG = " ".join(f"{letter}@{offset}/e0" for offset, letter in enumerate("abcdefgh"))
BATCH = 69
SEGMENTS = [0, 2, 4, 6]
"""Two batches of 69 bytes each."""


def name(base_offset: int, kind: str = "log") -> str:
    return f"{base_offset:020d}.{kind}"


def permuted(root: Path, held: Mapping[int, int]) -> Path:
    """A partition whose log file ``name`` holds the segment ``held[name]``."""
    log_directory(0, replica(LOG, segment_bytes=2 * BATCH), is_clean=True).write(root)
    folder = root / "t-0"
    content = {base: (folder / name(base)).read_bytes() for base in held.values()}
    for base, of in held.items():
        (folder / name(base)).write_bytes(content[of])
    return folder


def directory_of(root: Path) -> PartitionDirectory:
    (found,) = discover([str(root)]).partition_directories(ReadRequest())
    return found


def found_in(root: Path) -> Mapping[int, int]:
    directory = directory_of(root)
    return exchanged_logs(segments(directory), directory.context)


@pytest.mark.parametrize("held", [{0: 2, 2: 0}, {2: 6, 6: 2}, {0: 2, 2: 4, 4: 0}])
def test_files_with_each_others_names_are_found(tmp_path: Path, held: Mapping[int, int]) -> None:
    permuted(tmp_path, held)
    assert found_in(tmp_path) == held


def test_a_log_whose_files_have_their_names_has_none(tmp_path: Path) -> None:
    permuted(tmp_path, {})
    assert found_in(tmp_path) == {}


def test_a_file_that_is_there_twice_proves_nothing(tmp_path: Path) -> None:
    permuted(tmp_path, {2: 0})
    assert found_in(tmp_path) == {}


def test_a_segment_that_reaches_into_the_next_one_proves_nothing(tmp_path: Path) -> None:
    """The longer file would end above the segment after it."""
    folder = permuted(tmp_path, {0: 2, 2: 0})
    moved = folder / name(0)
    moved.write_bytes(moved.read_bytes() + (folder / name(4)).read_bytes())
    assert found_in(tmp_path) == {}


def test_an_empty_last_segment_keeps_its_name(tmp_path: Path) -> None:
    folder = permuted(tmp_path, {0: 2, 2: 0})
    (folder / name(6)).write_bytes(b"")
    assert found_in(tmp_path) == {0: 2, 2: 0}


def _one_moved(folder: Path) -> None:
    (folder / name(2)).rename(folder / name(1))


def _wrong_first_offset(folder: Path) -> None:
    content = bytearray((folder / name(2)).read_bytes())
    content[:8] = (900).to_bytes(8, "big")
    (folder / name(2)).write_bytes(content)


@pytest.mark.parametrize("change", [_one_moved, _wrong_first_offset])
def test_one_file_alone_proves_nothing(tmp_path: Path, change: Callable[[Path], None]) -> None:
    change(permuted(tmp_path, {}))
    assert found_in(tmp_path) == {}


def test_each_segment_is_read_from_the_file_that_holds_it(tmp_path: Path) -> None:
    """The indexes stay: only log files were exchanged."""
    folder = permuted(tmp_path, {0: 2, 2: 0})
    directory = directory_of(tmp_path)
    found = with_right_names(segments(directory), directory.context)
    assert [each.base_offset for each in found] == SEGMENTS
    assert [each.path("log") for each in found] == [
        str(folder / name(each)) for each in (2, 0, 4, 6)
    ]
    assert [each.path("index") for each in found] == [
        str(folder / name(each, "index")) for each in SEGMENTS
    ]
    assert [each.log_size for each in found] == [2 * BATCH] * 4
