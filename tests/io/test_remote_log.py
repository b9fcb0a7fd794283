"""Which remote segment is read for which offsets, by Kafka's rule of leader epochs."""

from __future__ import annotations

from kafkalog_reader.format.checkpoint import LeaderEpochEntry
from kafkalog_reader.io.remote_log import log_of
from kafkalog_reader.io.remote_segments import RemoteSegment
from kafkalog_reader.io.segment_files import SegmentFiles


def epochs(**starts: int) -> tuple[LeaderEpochEntry, ...]:
    """``e1=25`` is leader epoch 1 from offset 25 on."""
    return tuple(
        LeaderEpochEntry(leader_epoch=int(epoch[1:]), start_offset=start)
        for epoch, start in starts.items()
    )


def segment(base: int, stop: int | None, name: str, **starts: int) -> RemoteSegment:
    files = SegmentFiles(
        base_offset=base, suffix=None, directory=name, log_size=1, offset_index_size=None,
        time_index_size=None, transaction_index_size=None, modified_at=0,
    )  # fmt: skip
    return RemoteSegment(files=files, next_offset=stop, epochs=epochs(**starts))


def read(
    found: list[RemoteSegment], lineage: tuple[LeaderEpochEntry, ...] = (), end: int | None = None
) -> list[tuple[str, int, int | None]]:
    """The segments in order, with the offsets that are read: first, and next if cut."""
    log = log_of(found, lineage) if end is None else log_of(found, lineage, end)
    return [(each.directory, each.first_offset, each.to_offset) for each in log]


def test_segments_one_after_another_are_read_whole() -> None:
    found = [segment(0, 5, "a", e0=0), segment(5, 9, "b", e0=0)]
    assert read(found, epochs(e0=0)) == [("a", 0, None), ("b", 5, None)]


def test_a_repeated_upload_is_read_once() -> None:
    found = [segment(0, 5, "a", e0=0), segment(0, 5, "b", e0=0), segment(5, 9, "c", e0=0)]
    assert read(found, epochs(e0=0)) == [("a", 0, None), ("c", 5, None)]


def test_of_two_leaders_the_one_in_the_lineage_counts() -> None:
    """Leader 0 copied 5 to 9 before an unclean election; leader 1 wrote other records there."""
    found = [
        segment(0, 5, "a", e0=0),
        segment(5, 10, "lost", e0=0),
        segment(5, 8, "b", e0=0, e1=5),
        segment(8, 12, "c", e0=0, e1=5),
    ]
    assert read(found, epochs(e0=0, e1=5)) == [("a", 0, None), ("b", 5, None), ("c", 8, None)]


def test_a_segment_counts_up_to_where_the_next_epoch_begins() -> None:
    found = [segment(0, 10, "a", e0=0), segment(6, 12, "b", e0=0, e2=6)]
    assert read(found, epochs(e0=0, e2=6)) == [("a", 0, 6), ("b", 6, None)]


def test_overlapping_segments_of_one_lineage_are_read_once() -> None:
    """Another leader rolled at other offsets."""
    found = [segment(0, 6, "a", e0=0), segment(4, 12, "b", e0=0)]
    assert read(found, epochs(e0=0)) == [("a", 0, 4), ("b", 4, None)]


def test_a_damaged_end_does_not_hide_the_segments_after_it() -> None:
    found = [segment(0, 2**60, "a", e0=0), segment(5, 9, "b", e0=0)]
    assert read(found, epochs(e0=0)) == [("a", 0, 5), ("b", 5, None), ("a", 9, None)]


def test_a_segment_within_another_is_read_in_its_place() -> None:
    found = [segment(0, 12, "a", e0=0), segment(4, None, "x"), segment(6, 8, "b", e0=0)]
    assert read(found, epochs(e0=0)) == [("a", 0, 6), ("b", 6, None), ("a", 8, None)]


def test_local_segments_are_read_instead_where_there_are_some() -> None:
    found = [segment(0, 5, "a", e0=0), segment(5, 9, "b", e0=0), segment(9, 12, "c", e0=0)]
    assert read(found, epochs(e0=0), end=7) == [("a", 0, None), ("b", 5, 7)]


def test_a_segment_of_no_epoch_of_the_lineage_leaves_a_gap() -> None:
    found = [segment(0, 5, "a", e0=0), segment(5, 9, "b", e3=5), segment(9, 12, "c", e0=0)]
    assert read(found, epochs(e0=0, e5=20)) == [("a", 0, None), ("c", 9, None)]


def test_below_the_first_known_epoch_every_segment_counts() -> None:
    """Kafka drops the epochs below the log start from the checkpoint."""
    found = [segment(0, 5, "a", e0=0), segment(5, 9, "b", e0=0, e1=5)]
    assert read(found, epochs(e1=5)) == [("a", 0, None), ("b", 5, None)]


def test_without_epochs_segments_count_by_offset_only() -> None:
    assert read([segment(0, 5, "a"), segment(3, 9, "b")]) == [("a", 0, 3), ("b", 3, None)]


def test_a_segment_that_cannot_be_read_stands_where_no_other_does() -> None:
    """Reading it reports the error."""
    found = [segment(0, None, "x"), segment(0, 5, "a"), segment(5, None, "y"), segment(9, 12, "b")]
    assert read(found) == [("a", 0, None), ("y", 5, 9), ("b", 9, None)]


def test_no_segments_are_an_empty_log() -> None:
    assert read([]) == []
