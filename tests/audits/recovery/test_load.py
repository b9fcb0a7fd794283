"""The steps in which a starting broker loads one log: which segments it reads, what it refuses.

Source: kafka-on-disk-format.md, sections 5 and 14.8; Kafka 4.3, LogLoader and
ProducerStateManager.
"""

from __future__ import annotations

import struct
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from fixtures.builder import EPOCH_MILLIS, cluster, data_batch, replica
from kafkalog_reader.audits.recovery.outcome import StartFailure, StartOutcome
from kafkalog_reader.audits.recovery.rule import (
    SINCE_0_11,
    SINCE_2_3,
    LogConfig,
    StartRule,
)
from kafkalog_reader.format.record import Record
from tests.audits.recovery.logs import (
    BATCH,
    END,
    FIRST,
    LAST,
    known,
    loaded,
    put,
    start,
    write_small,
)

if TYPE_CHECKING:
    from pathlib import Path

FIRST_SIZE, LAST_SIZE = 576, 440


@pytest.mark.parametrize(
    ("recovery_point", "read"),
    [(0, {0, 13}), (12, {0, 13}), (13, {13}), (14, {13}), (1000, {13})],
)
def test_recovery_begins_with_the_segment_of_the_recovery_point(
    recovery_point: int, read: set[int], tmp_path: Path
) -> None:
    write_small(tmp_path, is_clean=False)
    assert loaded(tmp_path, recovery_point=recovery_point).read == read


def test_nothing_is_recovered_after_a_clean_stop_or_before_a_deletion(tmp_path: Path) -> None:
    write_small(tmp_path, is_clean=True)
    assert loaded(tmp_path, is_clean=True).read == set()
    deleted = loaded(tmp_path, is_deleted=True)
    assert (deleted.read, len(deleted.segments)) == (set(), 2)


@pytest.mark.parametrize(
    ("position", "end", "cut", "deleted"),
    [
        pytest.param(LAST_SIZE - 1, 21, [(LAST, 353)], "", id="the_last_batch"),
        pytest.param(70, 13, [(LAST, 0)], "", id="the_first_batch_of_the_last_segment"),
    ],
)
def test_the_log_is_cut_at_the_first_wrong_checksum(
    position: int, end: int, cut: list[tuple[str, int]], deleted: str, tmp_path: Path
) -> None:
    directory = write_small(tmp_path, is_clean=False)
    put(directory / f"{LAST}.log", position, b"\xff")
    load = loaded(tmp_path)
    assert (load.log_end_offset, load.first_damage, load.sound_end()) == (end, end, end)
    assert [(f"{each.files.base_offset:020}", each.start) for each in load.lost] == cut
    assert sum(each.size_in_bytes for each in load.lost) == LAST_SIZE - cut[0][1]
    assert deleted in "; ".join(load.reasons)
    assert len(load.segments) == 2


def test_segments_after_a_cut_are_deleted(tmp_path: Path) -> None:
    directory = write_small(tmp_path, is_clean=False)
    put(directory / f"{FIRST}.log", 4 * BATCH + 70, b"\xff")
    load = loaded(tmp_path, recovery_point=0)
    assert (load.log_end_offset, load.sound_end()) == (8, 8)
    assert [each.size_in_bytes for each in load.lost] == [FIRST_SIZE - 4 * BATCH, LAST_SIZE]
    assert load.reasons[-1] == "later segments are deleted: 13"
    assert "position 332 (offset 8)" in load.reasons[0]
    assert [each.base_offset for each in load.segments] == [0]
    assert load.read == {0}


def test_a_segment_without_index_is_cut_and_later_ones_stay(tmp_path: Path) -> None:
    """The first pass (LogLoader#loadSegmentFiles) deletes no later segment."""
    directory = write_small(tmp_path, is_clean=True)
    put(directory / f"{FIRST}.log", 4 * BATCH + 70, b"\xff")
    (directory / f"{FIRST}.index").unlink()
    load = loaded(tmp_path, is_clean=True)
    assert [each.base_offset for each in load.segments] == [0, 13]
    assert [each.size_in_bytes for each in load.lost] == [FIRST_SIZE - 4 * BATCH]
    assert (load.log_end_offset, load.sound_end(), load.read) == (END, 8, {0})
    assert load.reasons[0].endswith("segment 0 is read again")


@pytest.mark.parametrize(
    ("rule", "epochs"), [(SINCE_2_3, [0, 2, 5]), (SINCE_0_11, [2, 5]), (StartRule(), [0, 2, 5])]
)
def test_releases_before_2_3_learn_epochs_above_the_recovery_point_only(
    rule: StartRule, epochs: list[int], tmp_path: Path
) -> None:
    directory = write_small(tmp_path, is_clean=False)
    (directory / f"{FIRST}.index").unlink()
    load = loaded(tmp_path, rule=rule)
    assert [each.leader_epoch for each in load.cache.entries] == epochs


@pytest.mark.parametrize(
    ("log_start", "outcome", "end"),
    [(22, StartOutcome.LOADS, END), (23, StartOutcome.LOADS, END), (24, StartOutcome.EMPTIED, 24)],
)
def test_a_log_start_beyond_the_end_deletes_everything(
    log_start: int, outcome: StartOutcome, end: int, tmp_path: Path
) -> None:
    write_small(tmp_path, is_clean=True, recovery_point=END, log_start=log_start)
    recovery = start(tmp_path)
    assert (recovery.outcome, recovery.log_end_offset_after_start) == (outcome, end)
    assert recovery.bytes_cut == (0 if end == END else FIRST_SIZE + LAST_SIZE)
    assert recovery.loaded is not None
    assert recovery.loaded.log.log_start_offset == log_start


def test_the_log_starts_with_its_first_segment(tmp_path: Path) -> None:
    directory = write_small(tmp_path, is_clean=True)
    for path in directory.glob(f"{FIRST}.*"):
        path.unlink()
    for log_start, expected in ((0, 13), (13, 13), (15, 15)):
        assert loaded(tmp_path, is_clean=True, log_start=log_start).log_start_offset == expected


def test_a_log_without_segments_is_empty_at_its_start(tmp_path: Path) -> None:
    directory = write_small(tmp_path, is_clean=True)
    for path in directory.glob("0*"):
        path.unlink()
    for is_clean in (True, False):
        load = loaded(tmp_path, is_clean=is_clean, log_start=7)
        assert (load.log_start_offset, load.log_end_offset, load.segments) == (7, 7, [])
        assert load.reasons == ["there is no segment"]
        assert (load.hidden_records(), load.sound_end()) == (0, 7)


@pytest.mark.parametrize(("kind", "entry"), [("index", 8), ("timeindex", 12)])
@pytest.mark.parametrize(("spare", "starts"), [(0, True), (5, True), (-1, False)])
def test_the_indexes_of_the_last_segment_are_resized(
    kind: str, entry: int, spare: int, starts: bool, tmp_path: Path
) -> None:
    """AbstractIndex#resize rounds down to whole entries; one that does not fit ends the broker."""
    directory = write_small(tmp_path, is_clean=True)
    size = 40 * entry
    with (directory / f"{LAST}.{kind}").open("r+b") as index:
        index.truncate(size)
    config = LogConfig(max_index_size=size + spare, retention_ms=None)
    if starts:
        assert loaded(tmp_path, is_clean=True, config=config).segments
        return
    with pytest.raises(StartFailure, match=rf"{kind}: {size} bytes, and segment\.index\.bytes is"):
        loaded(tmp_path, is_clean=True, config=config)
    recovered = loaded(tmp_path, recovery_point=13, config=config)
    assert recovered.log_end_offset == END, "recovery rebuilds them"


def test_records_that_the_log_end_hides_are_counted(tmp_path: Path) -> None:
    """The index names the torn batch; a search finds nothing, and the log ends at its base."""
    directory = write_small(tmp_path, is_clean=True)
    log = directory / f"{LAST}.log"
    log.write_bytes(log.read_bytes()[:-10])
    load = loaded(tmp_path, is_clean=True)
    assert (load.log_end_offset, load.sound_end(), load.hidden_records()) == (13, 21, 8)
    whole = loaded(tmp_path)
    assert (whole.log_end_offset, whole.hidden_records()) == (21, 0)


@pytest.mark.parametrize("recovery_point", [0, 13])
def test_what_was_read_before_is_not_read_again(recovery_point: int, tmp_path: Path) -> None:
    write_small(tmp_path, is_clean=False)
    segments = known(tmp_path)
    assert len(segments) == 2
    load = loaded(tmp_path, recovery_point=recovery_point, known=segments, progress=pytest.fail)
    assert (load.log_end_offset, load.sound_end(), load.hidden_records()) == (END, END, 0)
    assert [each.leader_epoch for each in load.cache.entries] == ([0, 2, 5], [2, 5])[
        recovery_point > 0
    ]
    read: list[int] = []
    clean = loaded(tmp_path, is_clean=True, known=segments, progress=read.append)
    to_find_its_end = sum(read)
    assert (clean.sound_end(), clean.hidden_records(), clean.read) == (END, 0, set())
    assert sum(read) == to_find_its_end


def write_offsets(root: Path, offsets: list[int], behind: bytes = b"") -> None:
    """One segment 0 of a killed broker, with one record at each of these offsets."""
    batches = [data_batch(offset, [Record(offset_delta=0, value=b"v")]) for offset in offsets]
    content = b"".join(batch.build() for batch in batches) + behind
    held = replica("0-0/e0")
    cluster(root, {1: replace(held, files={f"{FIRST}.log": content})})


GREATEST = 2**31 - 1
"""The greatest offset above the base that an index entry holds: Integer.MAX_VALUE."""


def test_the_greatest_offset_of_a_segment_needs_no_split(tmp_path: Path) -> None:
    write_offsets(tmp_path, [0, 5, GREATEST])
    load = loaded(tmp_path, recovery_point=0)
    assert [each.base_offset for each in load.segments] == [0]
    assert load.log_end_offset == GREATEST + 1


@pytest.mark.parametrize(
    ("offsets", "bases"),
    [
        ([GREATEST + 1], [GREATEST + 1]),
        ([0, 5, GREATEST + 1], [0, GREATEST + 1]),
        ([0, GREATEST, GREATEST + 1, GREATEST + 9], [0, GREATEST + 1]),
        ([0, 2 * GREATEST, 4 * GREATEST], [0, 2 * GREATEST, 4 * GREATEST]),
    ],
)
def test_a_segment_with_greater_offsets_is_split(
    tmp_path: Path, offsets: list[int], bases: list[int]
) -> None:
    """LocalLog#splitOverflowedSegment."""
    write_offsets(tmp_path, offsets)
    load = loaded(tmp_path, recovery_point=0)
    assert [each.base_offset for each in load.segments] == bases
    assert (load.log_end_offset, load.lost) == (offsets[-1] + 1, [])
    assert f"offset {offsets[-1]:,} is not within 2^31 of the segment's base" in load.reasons[0]
    assert f"split into {len(bases)}" in load.reasons[0]


@pytest.mark.parametrize(
    ("is_clean", "start_offset", "bases"),
    [(True, 0, [0, 2 * GREATEST]), (False, 2 * GREATEST, [2 * GREATEST])],
)
def test_a_segment_that_is_split_before_it_is_part_of_the_log_stays_beside_its_parts(
    tmp_path: Path, is_clean: bool, start_offset: int, bases: list[int]
) -> None:
    """LogLoader of 4.3.1 left it where it was read because its index was missing.

    LocalLog#replaceSegments removes only segments that the log has. After a crash it is read a
    second time, and then removed.
    """
    write_offsets(tmp_path, [2 * GREATEST])
    (index,) = tmp_path.rglob(f"{FIRST}.index")
    index.unlink()
    load = loaded(tmp_path, is_clean=is_clean)
    assert [each.base_offset for each in load.segments] == bases
    assert (load.log_start_offset, load.log_end_offset) == (start_offset, 2 * GREATEST + 1)


def test_epochs_before_the_offset_that_does_not_fit_are_learned_for_good(tmp_path: Path) -> None:
    """LogLoader of 4.3.1 had epoch 0 from offset 81, though the batch went to another segment."""
    write_offsets(tmp_path, [81, GREATEST + 1])
    load = loaded(tmp_path, recovery_point=0)
    assert [(each.leader_epoch, each.start_offset) for each in load.cache.entries] == [(0, 81)]


@pytest.mark.parametrize(
    ("offsets", "times", "end", "size"),
    [
        pytest.param([(0, 14), (0, 0), (0, 2), (2, 6)], [0, 0, 100, 50], 15, 1, id="some_stays"),
        pytest.param([(3, 14), (15, 15), (2, 2), (17, 17)], [0, 9, 9, 9], 0, 0, id="all_is_cut"),
    ],
)
def test_refused_entries_cut_the_segment_where_a_search_for_its_base_ends(
    tmp_path: Path, offsets: list[tuple[int, int]], times: list[int], end: int, size: int
) -> None:
    """LogSegment#truncateTo looks in the index that recovery has made so far.

    All batches but the first get an entry. In the first case offset 0 has one, at the second batch.
    LogLoader of 4.3.1 did the same.
    """
    batches = [
        data_batch(
            first, [Record(offset_delta=0, value=b"v")], last_offset_delta=last - first,
            base_timestamp=EPOCH_MILLIS + time,
        ).build()
        for (first, last), time in zip(offsets, times, strict=True)
    ]  # fmt: skip
    held = replica("0-0/e0")
    cluster(tmp_path, {1: replace(held, files={f"{FIRST}.log": b"".join(batches)})})
    (directory,) = tmp_path.rglob("t-0")
    (directory / f"{FIRST}.index").write_bytes(b"")
    config = LogConfig(index_interval=0, is_interval_known=True)
    load = loaded(tmp_path, recovery_point=0, config=config)
    assert load.log_end_offset == end
    assert load.segments[0].size_in_bytes == size * len(batches[0])


@pytest.mark.parametrize("last", [GREATEST, GREATEST - 1, 7])
def test_a_segment_that_ends_within_its_range_is_not_split(tmp_path: Path, last: int) -> None:
    """LogSegment#hasOverflow looks at the last offset only, so that recovery fails again."""
    write_offsets(tmp_path, [0, GREATEST + 1, last])
    with pytest.raises(StartFailure, match="and the last one is, so it cannot be split"):
        loaded(tmp_path, recovery_point=0)


def test_records_above_the_last_offset_of_a_split_segment_are_hidden(tmp_path: Path) -> None:
    """After a clean stop nothing reads the parts again; the last batch ends the log."""
    write_offsets(tmp_path, [0, GREATEST + 9, GREATEST + 12, GREATEST + 10])
    (index,) = tmp_path.rglob(f"{FIRST}.index")
    index.unlink()
    load = loaded(tmp_path, is_clean=True)
    assert [each.base_offset for each in load.segments] == [0, GREATEST + 9]
    assert (load.log_end_offset, load.hidden_records()) == (GREATEST + 11, 1)


def test_a_segment_with_a_damaged_end_is_not_split(tmp_path: Path) -> None:
    write_offsets(tmp_path, [0, GREATEST + 1], bytes(4096))
    with pytest.raises(StartFailure, match="cannot be split, its end is damaged"):
        loaded(tmp_path, recovery_point=0)


@pytest.mark.parametrize(
    ("base", "is_noted"),
    [(0, False), (5, False), (6, True), (7, True), (12, True), (13, False), (30, False)],
)
def test_a_deleted_segment_between_live_ones_is_noted(
    base: int, is_noted: bool, tmp_path: Path
) -> None:
    """The live segments have the offsets 0 to 5 and 13 to 22."""
    directory = write_small(tmp_path, is_clean=True)
    log = directory / f"{FIRST}.log"
    log.write_bytes(log.read_bytes()[: 3 * BATCH])
    (directory / f"{base:020}.log.deleted").write_bytes(b"")
    reasons = loaded(tmp_path, is_clean=True).reasons
    if not is_noted:
        assert reasons == []
        return
    (reason,) = reasons
    assert f"{base:020}.log.deleted: no other segment has offset {base}" in reason


def test_a_deleted_index_without_its_log_is_not_noted(tmp_path: Path) -> None:
    directory = write_small(tmp_path, is_clean=True)
    log = directory / f"{FIRST}.log"
    log.write_bytes(log.read_bytes()[: 3 * BATCH])
    (directory / f"{7:020}.index.deleted").write_bytes(b"")
    assert loaded(tmp_path, is_clean=True).reasons == []


def test_recovery_begins_with_the_first_segment_if_the_recovery_point_is_below_it(
    tmp_path: Path,
) -> None:
    """LogLoader#recoverLog reads every segment at or above the recovery point."""
    directory = write_small(tmp_path, is_clean=False)
    for path in directory.glob(f"{FIRST}.*"):
        path.unlink()
    assert loaded(tmp_path, recovery_point=0, log_start=13).read == {13}


def test_a_record_at_the_log_end_is_hidden(tmp_path: Path) -> None:
    """The last batch ends the log at 5; a batch before it holds offset 5."""
    write_offsets(tmp_path, [0, 5, 4])
    load = loaded(tmp_path, recovery_point=0)
    assert (load.log_end_offset, load.hidden_records()) == (5, 1)
    (tmp_path / "below").mkdir()
    write_offsets(tmp_path / "below", [0, 4, 3, 4])
    load = loaded(tmp_path / "below", recovery_point=0)
    assert (load.log_end_offset, load.hidden_records()) == (5, 0)


def test_hidden_records_behind_damage_are_counted(tmp_path: Path) -> None:
    """The batch at 17 has a wrong CRC, and the one behind it claims to begin at 40.

    After a clean stop only the last batch is read, which the index names: it ends the log at 23.
    """
    directory = write_small(tmp_path, is_clean=True)
    put(directory / f"{LAST}.log", 183 + 70, b"\xff")
    put(directory / f"{LAST}.log", 266, struct.pack(">q", 40))
    load = loaded(tmp_path, is_clean=True)
    assert (load.log_end_offset, load.sound_end(), load.hidden_records()) == (END, 17, 2)
