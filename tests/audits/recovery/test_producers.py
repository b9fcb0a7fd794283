"""What a start reads to rebuild the state of producers, and where that ends a broker.

Source: Kafka 4.3, UnifiedLog#rebuildProducerState, ProducerStateManager and LogSegment#read. What
brokers of 4.4 did with such damage is in ``fixtures/recovery/captured``.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import pytest

from fixtures.builder import cluster, replica, small_batches
from kafkalog_reader.audits.recovery.outcome import StartFailure
from kafkalog_reader.audits.recovery.rule import SINCE_0_10_1, SINCE_0_11, SINCE_2_3, SINCE_2_8
from tests.audits.recovery.logs import BATCH, END, FIRST, LAST, known, loaded, put, write_small

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

DIES = "batch length 0, at least 14 expected, read to rebuild the producers' state from offset"


def write_damaged(root: Path, snapshots: Collection[int], broken: int | None = None) -> Path:
    """Write a log with a length of zero at offset 4, and keep these producer snapshots."""
    directory = write_small(root, is_clean=True)
    put(directory / f"{FIRST}.log", 2 * BATCH + 8, bytes(4))
    keep_snapshots(directory, snapshots, broken)
    return directory


def keep_snapshots(directory: Path, snapshots: Collection[int], broken: int | None) -> None:
    """Leave the log with sound producer snapshots at these offsets, and one of zeros."""
    sound = (directory / f"{END:020}.snapshot").read_bytes()
    for path in directory.glob("*.snapshot"):
        path.unlink()
    for offset in snapshots:
        (directory / f"{offset:020}.snapshot").write_bytes(sound)
    if broken is not None:
        (directory / f"{broken:020}.snapshot").write_bytes(bytes(len(sound)))


@pytest.mark.parametrize(
    ("snapshots", "broken", "starts"),
    [
        pytest.param([], None, True, id="none_as_after_an_upgrade"),
        pytest.param([END], None, True, id="at_the_end"),
        pytest.param([13], None, True, id="after_the_damage"),
        pytest.param([0], None, False, id="at_the_log_start"),
        pytest.param([2, 4], None, True, id="stray_ones_are_deleted_which_leaves_none"),
        pytest.param([END + 1], None, False, id="beyond_the_end"),
        pytest.param([END, END + 1], None, False, id="of_two_beyond_the_segments_the_newest_stays"),
        pytest.param([], 13, False, id="the_newest_is_broken"),
        pytest.param([4, 13], END, True, id="a_broken_one_is_passed_by"),
    ],
)
def test_after_a_clean_stop_batches_after_the_newest_snapshot_are_read(
    snapshots: list[int], broken: int | None, starts: bool, tmp_path: Path
) -> None:
    """The length of zero ends that walk, and with it the broker."""
    write_damaged(tmp_path, snapshots, broken)
    if starts:
        assert loaded(tmp_path, is_clean=True).log_end_offset == END
        return
    with pytest.raises(StartFailure, match=DIES):
        loaded(tmp_path, is_clean=True)
    old = loaded(tmp_path, is_clean=True, rule=SINCE_0_10_1)
    assert old.log_end_offset == END, "it keeps no producers"


def test_only_since_2_8_a_snapshot_inside_a_segment_is_deleted(tmp_path: Path) -> None:
    """KAFKA-9393 added ``removeStraySnapshots``; before, the newest one is where reading begins."""
    write_damaged(tmp_path, [2, 4])
    assert loaded(tmp_path, is_clean=True, rule=SINCE_2_8).log_end_offset == END
    for older in (SINCE_2_3, SINCE_0_11):
        with pytest.raises(StartFailure, match=f"{DIES} 4"):
            loaded(tmp_path, is_clean=True, rule=older)


def test_segments_below_the_snapshot_are_not_read_whatever_their_offsets(tmp_path: Path) -> None:
    """``LogSegments#values(snapshot, end)`` begins with the last base that is not above it: 13.

    No checksum covers the base offset of the second batch, which becomes 15; damage follows it.
    """
    directory = write_small(tmp_path, is_clean=True)
    put(directory / f"{FIRST}.log", BATCH, struct.pack(">q", 15))
    put(directory / f"{FIRST}.log", 2 * BATCH + 8, bytes(4))
    keep_snapshots(directory, [13], None)
    assert loaded(tmp_path, is_clean=True).log_end_offset == END


@pytest.mark.parametrize(
    ("snapshots", "log_start", "starts"),
    [
        pytest.param([], 0, False, id="none"),
        pytest.param([13], 0, True, id="at_the_recovered_segment"),
        pytest.param([4], 0, False, id="below_it"),
        pytest.param([END], 0, False, id="only_after_it"),
        pytest.param([], 13, True, id="none_and_the_log_starts_there"),
        pytest.param([], 3, False, id="none_and_the_log_starts_before_the_damage"),
    ],
)
def test_after_a_crash_batches_up_to_the_recovered_segment_are_read(
    snapshots: list[int], log_start: int, starts: bool, tmp_path: Path
) -> None:
    write_damaged(tmp_path, snapshots)
    if starts:
        assert loaded(tmp_path, log_start=log_start).log_end_offset == END
        return
    with pytest.raises(StartFailure, match=DIES):
        loaded(tmp_path, log_start=log_start)


def test_the_damage_does_not_matter_in_a_segment_that_was_recovered(tmp_path: Path) -> None:
    """Recovery cuts it off, and every later segment."""
    write_damaged(tmp_path, [])
    assert loaded(tmp_path, recovery_point=0).log_end_offset == 4


def test_a_segment_that_was_recovered_does_not_end_the_rebuilding(tmp_path: Path) -> None:
    """The first segment has no index and is recovered; the damage is in the second of four."""
    described = replica(small_batches(), segment_bytes=300, index_interval=100)
    directory = cluster(tmp_path, {1: described}, clean=[1])[1] / "t-0"
    first, second, third, *_ = sorted(directory.glob("*.log"))
    assert third.exists()
    first.with_suffix(".index").unlink()
    put(second, BATCH + 8, bytes(4))
    keep_snapshots(directory, [END + 1], None)
    with pytest.raises(StartFailure, match=f"{second.name}.*to rebuild the producers' state"):
        loaded(tmp_path, is_clean=True)


def test_a_recovered_segment_deletes_the_snapshots_after_it(tmp_path: Path) -> None:
    """offset-index-of-the-first-missing-and-length-zero-in-the-middle."""
    described = replica(small_batches(), segment_bytes=300, index_interval=100)
    directory = cluster(tmp_path, {1: described}, clean=[1])[1] / "t-0"
    first, second, third, *_ = sorted(directory.glob("*.log"))
    put(second, BATCH + 8, bytes(4))
    keep_snapshots(directory, [int(third.stem), END], None)
    assert loaded(tmp_path, is_clean=True).log_end_offset == END
    first.with_suffix(".index").unlink()
    with pytest.raises(StartFailure, match=f"{second.name}.*{DIES} {int(second.stem)} "):
        loaded(tmp_path, is_clean=True)


def test_segments_before_one_without_an_index_are_read(tmp_path: Path) -> None:
    """offset-index-of-the-last-missing-and-length-zero-below-and-no-snapshots."""
    directory = write_damaged(tmp_path, [])
    assert loaded(tmp_path, is_clean=True).log_end_offset == END
    (directory / f"{LAST}.index").unlink()
    with pytest.raises(StartFailure, match=f"{FIRST}.*{DIES} 0 "):
        loaded(tmp_path, is_clean=True)
    old = loaded(tmp_path, is_clean=True, rule=SINCE_0_10_1)
    assert old.log_end_offset == END, "it keeps no producers"


@pytest.mark.parametrize(
    ("entries", "starts"),
    [
        pytest.param([(9, 332)], True, id="the_index_points_after_the_damage"),
        pytest.param([(12, 332)], False, id="its_only_entry_is_above_the_snapshot"),
        pytest.param([(3, 83), (9, 332)], True, id="the_greatest_that_is_not_above_it"),
        pytest.param([(3, 83), (12, 332)], False, id="the_damage_is_between_entry_and_snapshot"),
        pytest.param([(9, -4)], False, id="a_negative_position_is_the_start"),
        pytest.param([], False, id="no_entry"),
    ],
)
def test_reading_begins_where_the_index_finds_the_snapshot(
    entries: list[tuple[int, int]], starts: bool, tmp_path: Path
) -> None:
    """length-zero-before-the-index-entry-of-the-snapshot, and ...-between-the-index-entry-and-...

    Everything lies in one segment; the snapshot is at 10, the damage at 4 or, by the offset of the
    batch before it, at 30; the last batch but one begins at 332. After a crash, the log is read up
    to the second segment.
    """
    for before in (2, 30):
        root = tmp_path / str(before)
        directory = write_small(root, is_clean=True)
        put(directory / f"{FIRST}.log", BATCH, struct.pack(">q", before))
        put(directory / f"{FIRST}.log", 2 * BATCH + 8, bytes(4))
        keep_snapshots(directory, [10], None)
        content = b"".join(struct.pack(">ii", *entry) for entry in entries)
        (directory / f"{FIRST}.index").write_bytes(content)
        if starts:
            assert loaded(root).log_end_offset == END
            continue
        with pytest.raises(StartFailure, match=f"{DIES} 10 "):
            loaded(root)


def test_an_index_that_points_into_a_batch_ends_the_rebuilding(tmp_path: Path) -> None:
    """The last offset delta of 1 is read as a length, whatever is known of the segment."""
    directory = write_small(tmp_path, is_clean=True)
    keep_snapshots(directory, [10], None)
    (directory / f"{FIRST}.index").write_bytes(struct.pack(">ii", 9, 4 * BATCH + 15))
    with pytest.raises(StartFailure, match="read to rebuild the producers' state from offset 10 "):
        loaded(tmp_path, known=known(tmp_path))


def test_a_segment_that_is_known_to_be_sound_is_not_read(tmp_path: Path) -> None:
    directory = write_small(tmp_path, is_clean=True)
    keep_snapshots(directory, [], None)
    assert loaded(tmp_path, known=known(tmp_path), progress=pytest.fail).log_end_offset == END


@pytest.mark.parametrize("offset", [17, 40])
def test_a_batch_beyond_the_end_does_not_end_the_rebuilding(offset: int, tmp_path: Path) -> None:
    """``UnifiedLog#rebuildProducerState`` reads up to where ``translateOffset`` finds the log end.

    That begins at the last index entry, and finds nothing. The index names the last batch, which
    ends the log at 23; the batch before it has a length of zero. The one before that is at 17, or
    by its base offset, which no checksum covers, at 40.
    """
    directory = write_small(tmp_path, is_clean=True)
    put(directory / f"{LAST}.log", 183, struct.pack(">q", offset))
    put(directory / f"{LAST}.log", 266 + 8, bytes(4))
    keep_snapshots(directory, [13], None)
    with pytest.raises(StartFailure, match=f"{DIES} 13 "):
        loaded(tmp_path, is_clean=True)


def test_a_swap_without_an_index_is_read_from_its_start(tmp_path: Path) -> None:
    """The start creates its index anew, and empty; the snapshot is inside the segment."""
    directory = write_small(tmp_path, is_clean=True)
    keep_snapshots(directory, [4], None)
    (directory / f"{FIRST}.log").rename(directory / f"{FIRST}.log.swap")
    (directory / f"{FIRST}.index").unlink()
    assert loaded(tmp_path).log_end_offset == END
