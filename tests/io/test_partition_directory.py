"""Segments and snapshots of one directory, with interrupted swaps and hostile entries."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from fixtures.builder import replica
from kafkalog_reader.errors import UnreadableFileError
from kafkalog_reader.io.directories import LogDirectory, PartitionDirectory
from kafkalog_reader.io.names import segment_file_name
from kafkalog_reader.io.partition_directory import producer_snapshot_offsets, segments
from kafkalog_reader.io.read_context import ReadContext

if TYPE_CHECKING:
    from pathlib import Path


def directory_at(path: Path, *, follow_links: bool = False) -> PartitionDirectory:
    root = LogDirectory(path=str(path.parent), context=ReadContext(follow_links=follow_links))
    return PartitionDirectory(path=str(path), log_directory=root, topic="t", partition=0)


def touch(directory: Path, *names: str) -> None:
    for name in names:
        (directory / name).touch()


def bases(directory: Path, *, live_only: bool = True) -> list[tuple[int, str | None]]:
    found = segments(directory_at(directory), live_only=live_only)
    return [(segment.base_offset, segment.suffix) for segment in found]


def write_log(directory: Path, base_offset: int, log: str, suffix: str | None = None) -> None:
    (segment,) = replica(log, base_offset=base_offset).segments
    (directory / segment_file_name(base_offset, "log", suffix)).write_bytes(segment.log())


def test_segments_come_by_base_offset_with_the_sizes_of_their_files(tmp_path: Path) -> None:
    (tmp_path / "00000000000000000010.log").write_bytes(b"x" * 7)
    (tmp_path / "00000000000000000010.index").write_bytes(b"x" * 8)
    os.utime(tmp_path / "00000000000000000010.log", (1, 1000.5))
    os.utime(tmp_path / "00000000000000000010.index", (1, 900))
    touch(tmp_path, "00000000000000000009.log", "leader-epoch-checkpoint", "x.tmp")
    first, second = segments(directory_at(tmp_path))
    assert (first.base_offset, first.log_size, first.offset_index_size) == (9, 0, None)
    assert (second.base_offset, second.log_size, second.offset_index_size) == (10, 7, 8)
    assert (second.time_index_size, second.transaction_index_size) == (None, None)
    assert second.modified_at == 1000.5
    assert second.path("txnindex") == str(tmp_path / "00000000000000000010.txnindex")


def test_index_without_a_log_is_a_segment_without_a_log(tmp_path: Path) -> None:
    touch(tmp_path, "00000000000000000003.timeindex")
    (segment,) = segments(directory_at(tmp_path))
    assert (segment.log_size, segment.time_index_size) == (None, 0)


def test_files_set_aside_are_listed_only_when_asked(tmp_path: Path) -> None:
    touch(tmp_path, *(f"{n:020d}.log{s}" for n, s in enumerate(["", ".deleted", ".cleaned"])))
    assert bases(tmp_path) == [(0, None)]
    assert bases(tmp_path, live_only=False) == [(0, None), (1, "deleted"), (2, "cleaned")]


def test_swapped_segment_replaces_those_in_its_range(tmp_path: Path) -> None:
    write_log(tmp_path, 0, "a@0/e0 b@1/e0")
    write_log(tmp_path, 2, "c@2/e0 d@3/e0")
    write_log(tmp_path, 4, "e@4/e0")
    write_log(tmp_path, 0, "b@1/e0 d@3/e0", "swap")  # reaches offset 3, so 4 is not touched
    assert bases(tmp_path) == [(0, "swap"), (4, None)]


def test_swapped_segment_counts_where_the_old_ones_are_gone_already(tmp_path: Path) -> None:
    write_log(tmp_path, 0, "b@1/e0 d@3/e0", "swap")
    write_log(tmp_path, 2, "c@2/e0 d@3/e0", "deleted")
    write_log(tmp_path, 4, "e@4/e0")
    assert bases(tmp_path) == [(0, "swap"), (4, None)]


def test_swap_above_a_cleaned_file_is_incomplete_and_loses(tmp_path: Path) -> None:
    write_log(tmp_path, 0, "a@0/e0 b@1/e0")
    write_log(tmp_path, 0, "a@0/e0", "cleaned")
    write_log(tmp_path, 1, "b@1/e0", "swap")
    assert bases(tmp_path) == [(0, None)]


def test_torn_end_of_a_swap_file_ends_its_range(tmp_path: Path) -> None:
    write_log(tmp_path, 0, "a@0/e0")
    write_log(tmp_path, 2, "c@2/e0")
    write_log(tmp_path, 0, "a@0/e0 b@1/e0 c@2/e0", "swap")
    swap = tmp_path / "00000000000000000000.log.swap"
    swap.write_bytes(swap.read_bytes()[:-1])
    assert bases(tmp_path) == [(0, "swap"), (2, None)]


def test_producer_snapshots_are_listed_by_offset(tmp_path: Path) -> None:
    touch(tmp_path, *(f"{n:020d}.snapshot" for n in (20, 3)), "00000000000000000004.snapshot.tmp")
    assert producer_snapshot_offsets(directory_at(tmp_path)) == (3, 20)


def test_foreign_names_are_passed_by_with_a_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    touch(tmp_path, "0.log", "99999999999999999999.index", "notes.txt", "a\x1b[0m.log")
    assert segments(directory_at(tmp_path)) == ()
    assert "0.log: not a name that Kafka gives a segment" in caplog.text
    assert r"a\x1b[0m.log: not a name" in caplog.text
    assert "notes.txt" not in caplog.text


def test_fifo_link_and_folder_are_not_segments(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    os.mkfifo(tmp_path / "00000000000000000000.log")
    (tmp_path / "00000000000000000001.log").symlink_to("/etc/passwd")
    (tmp_path / "00000000000000000002.log").mkdir()
    assert segments(directory_at(tmp_path)) == ()
    assert "00000000000000000000.log: not a regular file" in caplog.text
    assert "00000000000000000001.log: symbolic link, not followed" in caplog.text
    assert "00000000000000000002.log: not a regular file" in caplog.text


def test_linked_segment_is_read_where_it_lies_when_links_are_followed(tmp_path: Path) -> None:
    (tmp_path / "t-0").mkdir()
    (tmp_path / "object").write_bytes(b"12345")
    (tmp_path / "t-0" / "00000000000000000000.log").symlink_to("../object")
    (tmp_path / "t-0" / "00000000000000000001.log").symlink_to("dangling")
    (segment,) = segments(directory_at(tmp_path / "t-0", follow_links=True))
    assert (segment.log_size, segment.path("log")) == (5, str(tmp_path / "object"))


def test_directory_that_went_away_has_no_segments(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert segments(directory_at(tmp_path / "t-0.0-delete")) == ()
    assert "deleted since it was listed" in caplog.text


def test_path_that_became_a_file_is_unreadable(tmp_path: Path) -> None:
    touch(tmp_path, "t-0")
    with pytest.raises(UnreadableFileError, match="Not a directory"):
        segments(directory_at(tmp_path / "t-0"))
