"""Whether two folders hold the same partition, by a few batches of each: built logs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fixtures.builder import cluster, replica
from kafkalog_reader.audits.partition.same_content import (
    fits_rows,
    is_content_of,
    is_same_content,
)
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.tables.request import ReadRequest

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from fixtures.builder import Replica
    from kafkalog_reader.io.directories import PartitionDirectory

LOG = "a@0/e0 b@1/e0 c@2/e0 d@3/e0"
ONE_BATCH = 80
"""As ``segment_bytes`` it gives each batch a segment."""


def folders(root: Path, *copies: Replica, clean: bool = False) -> list[PartitionDirectory]:
    cluster(root, dict(enumerate(copies)), clean=range(len(copies)) if clean else ())
    return list(discover([str(root)]).partition_directories(ReadRequest()))


def test_a_follower_that_is_behind_holds_the_same(tmp_path: Path) -> None:
    longer, shorter = folders(tmp_path, replica(LOG), replica("a@0/e0 b@1/e0"))
    assert is_same_content(longer, shorter) is True
    assert is_same_content(shorter, longer) is True


def test_other_records_at_the_same_offsets_are_another_partition(tmp_path: Path) -> None:
    one, other = folders(tmp_path, replica(LOG), replica("w@0/e0 x@1/e0 y@2/e0 z@3/e0"))
    assert is_same_content(one, other) is False


def test_a_fork_is_within_one_partition(tmp_path: Path) -> None:
    one, other = folders(tmp_path, replica("a@0/e0 b@1/e1"), replica("a@0/e0 c@1/e2"))
    assert is_same_content(one, other) is True


def test_logs_are_compared_where_both_have_offsets(tmp_path: Path) -> None:
    """Retention removed the first segments of one of them; the other has one segment."""
    late = "c@2/e0 d@3/e0"
    one, retained, other = folders(tmp_path, replica(LOG), replica(late), replica("y@2/e0 z@3/e0"))
    assert is_same_content(one, retained) is True
    assert is_same_content(one, other) is False


def test_segments_may_have_other_bounds(tmp_path: Path) -> None:
    one, other = folders(tmp_path, replica(LOG), replica(LOG, segment_bytes=ONE_BATCH))
    assert is_same_content(one, other) is True


def test_the_last_segment_decides_where_compaction_changed_the_first(tmp_path: Path) -> None:
    one, cleaned = folders(
        tmp_path,
        replica(LOG, segment_bytes=ONE_BATCH),
        replica("a@0/e0 n@1/e0 d@3/e0", segment_bytes=ONE_BATCH),
    )
    assert is_same_content(one, cleaned) is True


def test_empty_logs_and_logs_without_common_offsets_say_nothing(tmp_path: Path) -> None:
    one, empty, later = folders(
        tmp_path, replica("a@0/e0"), replica(), replica("x@7/e0", base_offset=7)
    )
    assert is_same_content(one, empty) is None
    assert is_same_content(one, later) is None


def test_copies_that_disagree_say_nothing(tmp_path: Path) -> None:
    folder, same, other = folders(tmp_path, replica(LOG), replica(LOG), replica("x@0/e0 y@1/e0"))
    assert is_content_of(folder, [same]) is True
    assert is_content_of(folder, [other]) is False
    assert is_content_of(folder, [same, other]) is None
    assert is_content_of(folder, []) is None


def test_only_the_first_bytes_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A log of 138,000 bytes."""
    from kafkalog_reader.io import window

    long = " ".join(f"{'ab'[n % 2]}@{n}/e0" for n in range(2_000))
    one, other = folders(tmp_path, replica(long), replica(long))
    read: list[int] = []
    original = window.Windows.read

    def counted(self: window.Windows, *arguments: object, **named: object) -> memoryview:
        found = original(self, *arguments, **named)  # type: ignore[arg-type]
        read.append(len(found))
        return found

    monkeypatch.setattr(window.Windows, "read", counted)
    assert is_same_content(one, other) is True
    assert 0 < sum(read) <= 4 * (32 << 10)


def test_a_recovery_point_is_the_log_end_after_a_clean_shutdown(tmp_path: Path) -> None:
    rows = replica(LOG, recovery_point=4, high_watermark=3)
    (stopped,) = folders(tmp_path / "stopped", rows, clean=True)
    (killed,) = folders(tmp_path / "killed", replica(LOG, recovery_point=2, high_watermark=3))
    (short,) = folders(tmp_path / "short", replica("a@0/e0", recovery_point=0, high_watermark=3))
    assert fits_rows(stopped, "t", 0) is True
    assert fits_rows(killed, "t", 0) is True
    assert fits_rows(short, "t", 0) is False
    assert fits_rows(stopped, "t", 1) is None
