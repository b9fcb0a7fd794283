"""Starts of the small partition of kafka-on-disk-format.md, section 14.8, and section 5.3."""

from __future__ import annotations

import os
import shutil
import struct
from typing import TYPE_CHECKING

import pytest

import kafkalog_reader
from fixtures.builder import EPOCH_MILLIS, Batch, cluster, data_batch, replica, small_batches
from fixtures.builder.replica import TOPIC_ID
from kafkalog_reader.audits.recovery.outcome import StartOutcome
from kafkalog_reader.audits.recovery.rule import ClusterTopics, LogConfig, StartRule
from kafkalog_reader.errors import UnreadableFileError
from kafkalog_reader.format.record import Record
from tests.audits.recovery.logs import BATCH, FIRST, LAST, put, start, starts, write_small

if TYPE_CHECKING:
    from pathlib import Path

    from kafkalog_reader.audits.recovery.recovery import Recovery


def _end(recovery: Recovery) -> int:
    assert recovery.log_end_offset_after_start is not None
    return recovery.log_end_offset_after_start


def _epochs(recovery: Recovery) -> list[tuple[int, int]]:
    assert recovery.loaded is not None
    entries = recovery.loaded.log.cache.entries
    return [(entry.leader_epoch, entry.start_offset) for entry in entries]


def test_sound_partition_loads_after_a_clean_stop(tmp_path: Path) -> None:
    write_small(tmp_path, is_clean=True, recovery_point=23)
    recovery = start(tmp_path)
    assert (recovery.outcome, _end(recovery)) == (StartOutcome.LOADS, 23)
    assert (recovery.segments_read, recovery.bytes_cut, recovery.reason) == ((), 0, "")
    assert _epochs(recovery) == [(0, 0), (2, 10), (5, 17)]


def test_zeros_after_the_end_are_cut_after_a_crash(tmp_path: Path) -> None:
    directory = write_small(tmp_path, is_clean=False, recovery_point=13)
    with (directory / f"{LAST}.log").open("ab") as log:
        log.write(bytes(4096))
    recovery = start(tmp_path)
    assert (recovery.outcome, _end(recovery)) == (StartOutcome.CUT, 23)
    assert (recovery.bytes_cut, recovery.records_cut) == (4096, 0)
    assert "position 440 (offset 23): batch length 0" in recovery.reason


def test_zeros_after_the_end_stop_the_broker_after_a_clean_stop(tmp_path: Path) -> None:
    directory = write_small(tmp_path, is_clean=True, recovery_point=23)
    with (directory / f"{LAST}.log").open("ab") as log:
        log.write(bytes(4096))
    recovery = start(tmp_path)
    assert (recovery.outcome, recovery.log_end_offset_after_start) == (
        StartOutcome.BROKER_ABORTS,
        None,
    )
    assert (recovery.sound_end_offset, recovery.loaded) == (23, None)


@pytest.mark.parametrize("is_clean", [True, False])
def test_a_swap_whose_end_cannot_be_read_stops_the_broker(is_clean: bool, tmp_path: Path) -> None:
    """4.3.1 ends with a CorruptRecordException that names the ``.swap``: LogSegment#readNextOffset.

    No file changes, so the sound prefix is the batch before the impossible length.
    """
    directory = write_small(tmp_path, is_clean=is_clean)
    swap = directory / f"{LAST}.log.swap"
    swap.write_bytes((directory / f"{LAST}.log").read_bytes())
    put(swap, BATCH + 8, bytes(4))
    recovery = start(tmp_path)
    assert recovery.outcome is StartOutcome.BROKER_ABORTS
    assert recovery.is_own_failure
    assert f"{LAST}.log.swap at position {BATCH}" in recovery.reason
    assert recovery.sound_end_offset == 15


@pytest.mark.parametrize(("interval", "expected"), [(0, 64), (200, 64), (1000, 72), (4096, 72)])
def test_the_index_on_disk_says_whether_falling_offsets_empty_a_segment(
    interval: int, expected: int, tmp_path: Path
) -> None:
    """Offsets 64 to 89, then 64 to 71, then a batch at 72 that is cut short.

    Without the settings of its topic, ``index.interval.bytes`` is known from the index alone. The
    log ends are those of 4.3.1, from LogLoader of that release: where the rebuilt index refuses
    the batch that falls, LogLoader#recoverLog empties the segment.
    """
    batches = [_batch(64, 4), _batch(68, 6), _batch(80, 10), _batch(64, 8)]
    torn = _batch(72, 3).build()[:-20]
    held = replica(batches, index_interval=interval)
    root = cluster(tmp_path, {1: held})[1]
    with (root / "t-0" / f"{64:020}.log").open("ab") as log:
        log.write(torn)
    assert _end(start(tmp_path)) == expected


def _batch(base_offset: int, records: int) -> Batch:
    held = [Record(offset_delta=n, key=b"k", value=b"v" * 30) for n in range(records)]
    return data_batch(base_offset, held, base_timestamp=EPOCH_MILLIS + base_offset)


@pytest.mark.parametrize(
    ("is_clean", "end", "outcome", "bytes_cut", "records_cut"),
    [
        pytest.param(False, 21, StartOutcome.CUT, 430 - 353, 0, id="after_a_crash"),
        pytest.param(True, 13, StartOutcome.HIDDEN, 0, 8, id="after_a_clean_stop"),
    ],
)
def test_torn_last_batch_that_the_index_names(
    tmp_path: Path,
    is_clean: bool,
    end: int,
    outcome: StartOutcome,
    bytes_cut: int,
    records_cut: int,
) -> None:
    directory = write_small(tmp_path, is_clean=is_clean, recovery_point=23)
    log = directory / f"{LAST}.log"
    log.write_bytes(log.read_bytes()[:430])
    recovery = start(tmp_path)
    assert (recovery.outcome, _end(recovery), recovery.bytes_cut) == (outcome, end, bytes_cut)
    assert recovery.records_cut == records_cut
    assert recovery.sound_end_offset == 21
    hidden = (
        "the broker sees the end at 13, the sound batches end at 21; 8 records in the last segment "
        "will not be served, and new records will take their offsets"
    )
    assert (hidden in recovery.reason) == (outcome is StartOutcome.HIDDEN)
    assert (recovery.max_cut_in_torn_batch, recovery.max_cut_in_damaged_batches) == (
        0 if is_clean else 2,
        0,
    )
    # 77 bytes: the header of 61 and the first of two records of 13 bytes.
    assert recovery.readable_in_torn_batch == (21, 22)


def test_whole_records_of_a_torn_end_are_found_behind_damage_in_an_earlier_segment(
    tmp_path: Path,
) -> None:
    """The start cuts the first segment at 8 and deletes the last one, whose end is torn."""
    directory = write_small(tmp_path, is_clean=False, recovery_point=0)
    first, last = directory / f"{FIRST}.log", directory / f"{LAST}.log"
    content = bytearray(first.read_bytes())
    content[4 * 83 + 70] ^= 1
    first.write_bytes(content)
    last.write_bytes(last.read_bytes()[:430])
    recovery = start(tmp_path)
    assert (recovery.outcome, _end(recovery)) == (StartOutcome.CUT, 8)
    assert (recovery.max_cut_in_torn_batch, recovery.readable_in_torn_batch) == (2, (21, 22))


def test_what_a_stray_holds_is_not_cut(tmp_path: Path) -> None:
    """Its directory is kept, with its torn end."""
    directory = write_small(tmp_path, is_clean=True, recovery_point=23)
    log = directory / f"{LAST}.log"
    log.write_bytes(log.read_bytes()[:430])
    (directory / "partition.metadata").unlink()
    recovery = start(tmp_path)
    assert (recovery.outcome, recovery.bytes_cut) == (StartOutcome.STRAY, 0)
    assert (recovery.records_cut, recovery.max_cut_in_torn_batch) == (20, 2)
    assert recovery.readable_in_torn_batch == (0, 0)


def test_records_above_the_last_batch_are_hidden_by_their_base_offset(tmp_path: Path) -> None:
    """No checksum covers it: the batch at 19 claims 40, and the last one still ends the log."""
    directory = write_small(tmp_path, is_clean=True, recovery_point=23)
    log = directory / f"{LAST}.log"
    content = bytearray(log.read_bytes())
    content[266:274] = (40).to_bytes(8, "big")
    log.write_bytes(content)
    recovery = start(tmp_path)
    assert (recovery.outcome, _end(recovery), recovery.records_cut) == (StartOutcome.HIDDEN, 23, 2)
    assert recovery.reason == (
        "2 records in the last segment will not be served: by their base offset, which no checksum "
        "covers, they are not below the log end 23"
    )


@pytest.mark.parametrize("extra", [0, 30])
def test_a_sound_or_torn_end_after_a_clean_stop(extra: int, tmp_path: Path) -> None:
    """Of a torn batch no whole record can be read here, and of a sound log nothing is torn."""
    directory = write_small(tmp_path, is_clean=True, recovery_point=23)
    with (directory / f"{LAST}.log").open("ab") as log:
        log.write((directory / f"{FIRST}.log").read_bytes()[:extra])
    recovery = start(tmp_path)
    assert (recovery.outcome, _end(recovery)) == (StartOutcome.LOADS, 23)
    assert recovery.readable_in_torn_batch[0] == recovery.readable_in_torn_batch[1]
    assert (recovery.rebuild is None) == (extra == 0)


def test_the_log_starts_with_the_first_segment_that_does_not_expire(tmp_path: Path) -> None:
    described = replica(small_batches(), segment_bytes=300, index_interval=100, recovery_point=23)
    directory = cluster(tmp_path, {1: described}, clean=[1])[1] / "t-0"
    first, second, *others = sorted(directory.glob("*.timeindex"))
    assert others
    with first.open("ab") as index:
        index.write(bytes(12 * 10))
    recovery = start(tmp_path)
    assert recovery.outcome is StartOutcome.EXPIRED
    assert recovery.loaded is not None
    log = recovery.loaded.log
    assert (log.log_start_offset, log.log_end_offset) == (int(second.stem), 23)
    assert log.cache.entries[0].start_offset == log.log_start_offset


def test_the_bound_of_a_gap_at_the_end_of_a_segment_is_the_next_one(tmp_path: Path) -> None:
    """The batch at 10 claims a length beyond the file; the next segment begins at 13.

    After a crash all is cut from there: 10 to 12 at most, and the ten records of the next segment.
    """
    directory = write_small(tmp_path, is_clean=False, recovery_point=0)
    log = directory / f"{FIRST}.log"
    content = bytearray(log.read_bytes())
    content[5 * 83 :] = bytes(len(content) - 5 * 83)
    log.write_bytes(content)
    recovery = start(tmp_path)
    assert (recovery.outcome, _end(recovery)) == (StartOutcome.CUT, 10)
    assert (recovery.records_cut, recovery.max_cut_in_damaged_batches) == (10, 3)


def test_torn_last_batch_that_no_index_entry_names_ends_the_log(tmp_path: Path) -> None:
    directory = write_small(tmp_path, is_clean=True, recovery_point=23)
    log, index = directory / f"{LAST}.log", directory / f"{LAST}.index"
    log.write_bytes(log.read_bytes()[:430])
    index.write_bytes(index.read_bytes()[:-8])
    assert _end(start(tmp_path)) == 21


@pytest.mark.parametrize(
    ("recovery_point", "end", "bytes_cut", "epochs"),
    [
        pytest.param(0, 4, 576 - 166 + 440, [(0, 0)], id="above_the_recovery_point"),
        pytest.param(23, 23, 0, [(0, 0), (2, 10), (5, 17)], id="below_the_recovery_point"),
    ],
)
def test_damaged_payload(
    tmp_path: Path, recovery_point: int, end: int, bytes_cut: int, epochs: list[tuple[int, int]]
) -> None:
    directory = write_small(tmp_path, is_clean=False, recovery_point=recovery_point)
    log = directory / f"{FIRST}.log"
    content = bytearray(log.read_bytes())
    content[240] ^= 1
    log.write_bytes(content)
    recovery = start(tmp_path)
    assert (_end(recovery), recovery.bytes_cut, _epochs(recovery)) == (end, bytes_cut, epochs)
    assert recovery.sound_end_offset == end


def test_segment_without_offset_index_is_read_again_whatever_the_marker_says(
    tmp_path: Path,
) -> None:
    directory = write_small(tmp_path, is_clean=True, recovery_point=23)
    (directory / f"{FIRST}.index").unlink()
    recovery = start(tmp_path)
    assert (recovery.outcome, _end(recovery), recovery.segments_read) == (
        StartOutcome.LOADS,
        23,
        (0,),
    )


def test_lost_snapshots_change_nothing_of_the_log(tmp_path: Path) -> None:
    directory = write_small(tmp_path, is_clean=True, recovery_point=23)
    for snapshot in directory.glob("*.snapshot"):
        snapshot.unlink()
    assert (start(tmp_path).outcome, _end(start(tmp_path))) == (StartOutcome.LOADS, 23)


@pytest.mark.parametrize(
    ("is_clean", "epochs"),
    [
        pytest.param(True, [], id="stays_lost_after_a_clean_stop"),
        pytest.param(False, [(0, 0), (2, 10), (5, 17)], id="is_rebuilt_after_a_crash"),
    ],
)
def test_lost_epoch_checkpoint(
    tmp_path: Path, is_clean: bool, epochs: list[tuple[int, int]]
) -> None:
    directory = write_small(tmp_path, is_clean=is_clean, recovery_point=0)
    (directory / "leader-epoch-checkpoint").unlink()
    assert _epochs(start(tmp_path)) == epochs


def test_log_start_beyond_the_end_empties_the_log(tmp_path: Path) -> None:
    write_small(tmp_path, is_clean=True, recovery_point=23, log_start=30)
    recovery = start(tmp_path)
    assert (recovery.outcome, _end(recovery)) == (StartOutcome.EMPTIED, 30)
    assert recovery.bytes_cut == 576 + 440
    assert recovery.records_cut == 22  # the marker at 12 is not a client record
    assert recovery.loaded is not None
    assert recovery.loaded.log.is_empty
    assert _epochs(recovery) == []


def test_high_watermark_is_clamped_to_what_is_left(tmp_path: Path) -> None:
    directory = write_small(tmp_path, is_clean=False, recovery_point=13)
    log = directory / f"{LAST}.log"
    log.write_bytes(log.read_bytes()[:430])
    recovery = start(tmp_path)
    assert recovery.loaded is not None
    assert recovery.loaded.log.high_watermark == 21


# kafka-on-disk-format.md, section 5.3, section 5.4, section 5.5: what a malformed file does.


@pytest.mark.parametrize(
    ("name", "content", "outcome"),
    [
        ("replication-offset-checkpoint", "0\n2\nt 0 1\n", StartOutcome.DIRECTORY_OFFLINE),
        ("cleaner-offset-checkpoint", "0\n1\nt 0\n", StartOutcome.DIRECTORY_OFFLINE),
        ("recovery-point-offset-checkpoint", "1\n0\n", StartOutcome.DIRECTORY_OFFLINE),
        ("recovery-point-offset-checkpoint", "0\n1\nt 0 x\n", StartOutcome.LOADS),
        ("recovery-point-offset-checkpoint", "", StartOutcome.LOADS),
        ("recovery-point-offset-checkpoint", "0\n", StartOutcome.LOADS),
        ("log-start-offset-checkpoint", "0\n1\nt 0 x\n", StartOutcome.LOADS),
        ("t-0/leader-epoch-checkpoint", "0\n1\n0 0 0\n", StartOutcome.DIRECTORY_OFFLINE),
        ("t-0/leader-epoch-checkpoint", "text", StartOutcome.DIRECTORY_OFFLINE),
        ("t-0/partition.metadata", "version: 0\n", StartOutcome.BROKER_ABORTS),
    ],
)
def test_malformed_file(tmp_path: Path, name: str, content: str, outcome: StartOutcome) -> None:
    write_small(tmp_path, is_clean=False, recovery_point=13)
    (tmp_path / "broker-1" / name).write_text(content)
    recovery = start(tmp_path)
    assert recovery.outcome is outcome
    assert (recovery.log_end_offset_after_start is None) == (outcome is not StartOutcome.LOADS)


def test_unknown_recovery_point_means_that_everything_is_read(tmp_path: Path) -> None:
    write_small(tmp_path, is_clean=False, recovery_point=23)
    assert start(tmp_path).segments_read == (13,)
    (tmp_path / "broker-1" / "recovery-point-offset-checkpoint").write_text("0\n1\nt 0 x\n")
    assert start(tmp_path).segments_read == (0, 13)


# One replica, its broker, and the cluster.


def test_replica_that_stops_the_broker_takes_the_others_with_it(tmp_path: Path) -> None:
    replicas = [
        replica("a@0/e0", topic="t", partition=0),
        replica("a@0/e0", topic="t", partition=1, files={"abc.log": b""}),
    ]
    cluster(tmp_path, {1: replicas})
    recoveries = starts(tmp_path)
    assert {each.outcome for each in recoveries.values()} == {StartOutcome.BROKER_ABORTS}
    assert "t-1/abc.log" in recoveries["t-0"].reason
    assert recoveries["t-0"].sound_end_offset == 1


def test_directory_of_no_partition_stops_the_broker(tmp_path: Path) -> None:
    write_small(tmp_path, is_clean=True, recovery_point=23)
    (tmp_path / "broker-1" / "lost+found").mkdir()
    recovery = start(tmp_path)
    assert recovery.outcome is StartOutcome.BROKER_ABORTS
    assert "lost+found" in recovery.reason


@pytest.mark.parametrize(
    ("topics", "outcome"),
    [
        (ClusterTopics(topic_ids={"t": TOPIC_ID}), StartOutcome.LOADS),
        (ClusterTopics(topic_ids={"t": "AAAAAAAAAAEAAAAAAAAABg"}), StartOutcome.STRAY),
        (ClusterTopics(), StartOutcome.STRAY),
        (None, StartOutcome.LOADS),
    ],
)
def test_topic_id_is_held_against_the_clusters(
    tmp_path: Path, topics: ClusterTopics | None, outcome: StartOutcome
) -> None:
    write_small(tmp_path, is_clean=True, recovery_point=23)
    recovery = start(tmp_path, topics=topics)
    assert recovery.outcome is outcome
    assert (recovery.log_end_offset_after_start is None) == (outcome is StartOutcome.STRAY)
    assert recovery.records_cut == (22 if outcome is StartOutcome.STRAY else 0)
    assert recovery.bytes_cut == 0  # the directory is kept under another name


def test_the_partition_of_a_stray_starts_empty(tmp_path: Path) -> None:
    """real-brokers.md: renamed, and the partition starts empty, with its log end at 0."""
    directory = write_small(tmp_path, is_clean=True, recovery_point=23)
    (directory / "partition.metadata").unlink()
    recovery = start(tmp_path)
    assert (recovery.outcome, recovery.sound_end_offset) == (StartOutcome.STRAY, 23)
    assert recovery.loaded is not None
    log = recovery.loaded.log
    assert (log.log_start_offset, log.high_watermark, log.log_end_offset) == (0, 0, 0)
    assert _epochs(recovery) == []


def test_stray_is_not_an_outcome_of_brokers_that_set_nothing_aside(tmp_path: Path) -> None:
    directory = write_small(tmp_path, is_clean=True, recovery_point=23)
    (directory / "partition.metadata").unlink()
    assert start(tmp_path).outcome is StartOutcome.STRAY
    rule = StartRule(release="2.8", sets_strays_aside=False)
    assert start(tmp_path, rule=rule).outcome is StartOutcome.LOADS


@pytest.mark.parametrize(
    ("config", "outcome"),
    [
        pytest.param(LogConfig(), StartOutcome.EXPIRED, id="default"),
        pytest.param(
            LogConfig(retention_ms=None, is_known=True), StartOutcome.LOADS, id="for_ever"
        ),
    ],
)
def test_untrimmed_time_index_expires_the_segment(
    tmp_path: Path, config: LogConfig, outcome: StartOutcome
) -> None:
    directory = write_small(tmp_path, is_clean=True, recovery_point=23)
    with (directory / f"{FIRST}.timeindex").open("ab") as index:
        index.write(bytes(12 * 10))
    recovery = start(tmp_path, rule=StartRule(default_config=config))
    assert (recovery.outcome, _end(recovery)) == (outcome, 23)
    assert recovery.loaded is not None
    assert recovery.loaded.log.log_start_offset == (13 if outcome is StartOutcome.EXPIRED else 0)
    assert recovery.records_cut == (12 if outcome is StartOutcome.EXPIRED else 0)


def test_damage_that_is_served_after_a_clean_stop_ends_the_sound_prefix(tmp_path: Path) -> None:
    directory = write_small(tmp_path, is_clean=True, recovery_point=23)
    log = directory / f"{LAST}.log"
    content = bytearray(log.read_bytes())
    content[183 + 70] ^= 1
    log.write_bytes(content)
    recovery = start(tmp_path)
    assert (recovery.outcome, recovery.sound_end_offset, _end(recovery)) == (
        StartOutcome.LOADS,
        17,
        23,
    )
    assert "sees the end at 23, the sound batches end at 17" in recovery.reason


def test_magic_three_passes_because_no_crc_covers_it(tmp_path: Path) -> None:
    directory = write_small(tmp_path, is_clean=False, recovery_point=0)
    log = directory / f"{FIRST}.log"
    content = bytearray(log.read_bytes())
    for position in (0, 83, 166, 332):
        content[position + 16] ^= 1
    log.write_bytes(content)
    recovery = start(tmp_path)
    assert (recovery.outcome, _end(recovery), recovery.bytes_cut) == (StartOutcome.LOADS, 23, 0)


def test_records_after_a_lying_length_are_counted_as_cut(tmp_path: Path) -> None:
    directory = write_small(tmp_path, is_clean=False, recovery_point=0)
    log = directory / f"{FIRST}.log"
    content = bytearray(log.read_bytes())
    content[83 + 8 : 83 + 12] = b"\0\0\0\0"
    log.write_bytes(content)
    recovery = start(tmp_path)
    assert (_end(recovery), recovery.records_cut) == (2, 22 - 4)
    assert recovery.bytes_cut == 576 - 83 + 440


def test_partition_directory_alone_counts_as_of_a_killed_broker(tmp_path: Path) -> None:
    directory = write_small(tmp_path, is_clean=True, recovery_point=23)
    recovery = start(directory)
    assert recovery.segments_read == (13,)
    assert "an unclean shutdown is assumed" in recovery.reason


def test_file_that_is_refused_is_not_a_prediction(tmp_path: Path) -> None:
    directory = write_small(tmp_path, is_clean=False, recovery_point=0)
    path = directory / f"{LAST}.log"
    path.unlink()
    (directory / "partition.metadata").unlink()
    os.mkfifo(directory / "partition.metadata")
    with pytest.raises(UnreadableFileError, match=r"partition\.metadata"):
        start(tmp_path)


def test_small_partition_is_that_of_the_reference() -> None:
    sizes = [len(batch.build()) for batch in small_batches()]
    assert sizes == [83, 83, 83, 83, 83, 83, 78, 83, 100, 83, 87, 87]


def _topics(**settings: str) -> ClusterTopics:
    return ClusterTopics(topic_ids={"t": TOPIC_ID}, configs={"t": settings})


HOUR = 3_600_000
NEWEST = EPOCH_MILLIS
"""The timestamp of all batches of the builder."""


def test_a_plain_copy_is_taken_to_start_right_after_its_newest_record(tmp_path: Path) -> None:
    directory = write_small(tmp_path, is_clean=False, recovery_point=0)
    for path in directory.iterdir():
        path.touch()
    recovery = start(tmp_path, topics=_topics(**{"retention.ms": str(12 * HOUR)}))
    assert (recovery.outcome, recovery.records_cut) == (StartOutcome.LOADS, 0)
    deleted = "retention deletes the segments that begin at offsets 0 and 13 (--started-at"
    assert deleted in recovery.expires_later
    assert recovery.expires_later in recovery.reason


CHECK_INTERVAL = 300_000
"""``log.retention.check.interval.ms``, Kafka's default."""


@pytest.mark.parametrize(
    ("milliseconds", "outcome"),
    [
        (0, StartOutcome.LOADS),
        (1, StartOutcome.LOADS),
        (CHECK_INTERVAL, StartOutcome.LOADS),
        (CHECK_INTERVAL + 1, StartOutcome.EXPIRED),
        (NEWEST - 12 * HOUR, StartOutcome.EXPIRED),  # the index says 1970
    ],
)
def test_what_expired_since_retention_ran_last_is_no_loss_of_the_start(
    milliseconds: int, outcome: StartOutcome, tmp_path: Path
) -> None:
    """A segment of a running broker is expired for up to the check interval before it is gone."""
    directory = write_small(tmp_path, is_clean=True, recovery_point=23)
    newest = (directory / f"{LAST}.timeindex").read_bytes()[-12:-4]
    stamp = int.from_bytes(newest, "big") - 12 * HOUR - milliseconds
    (directory / f"{FIRST}.timeindex").write_bytes(struct.pack(">qi", stamp, 12))
    recovery = start(tmp_path, topics=_topics(**{"retention.ms": str(12 * HOUR)}))
    assert recovery.outcome is outcome
    is_named = "the segment that begins at offset 0 had expired by" in recovery.expires_later
    assert is_named == (0 < milliseconds <= CHECK_INTERVAL)


@pytest.mark.parametrize(
    ("hours", "outcome", "records_cut"),
    [(11, StartOutcome.LOADS, 0), (13, StartOutcome.EXPIRED, 22)],
)
def test_a_start_time_that_is_given_decides_what_retention_deletes(
    hours: int, outcome: StartOutcome, records_cut: int, tmp_path: Path
) -> None:
    write_small(tmp_path, is_clean=False, recovery_point=0)
    topics = _topics(**{"retention.ms": str(12 * HOUR)})
    recovery = start(tmp_path, topics=topics, started_at=NEWEST + hours * HOUR)
    assert (recovery.outcome, recovery.records_cut) == (outcome, records_cut)
    assert recovery.expires_later == ""
    assert ("the start time that was given" in recovery.reason) == (outcome is StartOutcome.EXPIRED)


@pytest.mark.parametrize(("days", "outcome"), [(6, StartOutcome.LOADS), (8, StartOutcome.EXPIRED)])
def test_with_a_start_time_kafkas_default_retention_is_assumed_and_said(
    days: int, outcome: StartOutcome, tmp_path: Path
) -> None:
    write_small(tmp_path, is_clean=True, recovery_point=23)
    recovery = start(tmp_path, started_at=NEWEST + days * 24 * HOUR)
    assert recovery.outcome is outcome
    is_said = "the default retention of 7 days" in recovery.reason
    assert is_said == (outcome is StartOutcome.EXPIRED)


@pytest.mark.parametrize(
    ("assigned", "outcome", "reason"),
    [
        ({("t", 0): (1, 2)}, StartOutcome.LOADS, ""),
        ({("t", 0): (2, 3)}, StartOutcome.STRAY, "assigns the partition to brokers 2, 3, not to 1"),
        ({("t", 1): (1,)}, StartOutcome.STRAY, "has no partition 0 of the topic"),
        (None, StartOutcome.LOADS, ""),
    ],
    ids=["assigned", "reassigned_away", "no_such_partition", "unknown"],
)
def test_assignment_decides_whether_a_directory_stays(
    assigned: dict[tuple[str, int], tuple[int, ...]] | None,
    outcome: StartOutcome,
    reason: str,
    tmp_path: Path,
) -> None:
    """LogManager#isStrayReplica of 4.3.1; the topic id is the cluster's in all cases."""
    write_small(tmp_path, is_clean=True, recovery_point=23)
    recovery = start(tmp_path, topics=ClusterTopics(topic_ids={"t": TOPIC_ID}, replicas=assigned))
    assert recovery.outcome is outcome
    assert reason in recovery.reason


@pytest.mark.parametrize(
    ("text", "expected"),
    [("0", 0), ("100", 100), ("x", 4096), (None, 4096)],
)
def test_an_index_interval_of_zero_is_a_value(text: str | None, expected: int) -> None:
    settings = {} if text is None else {"index.interval.bytes": text}
    assert StartRule().config_of("t", _topics(**settings)).index_interval == expected


def test_an_index_that_a_lowered_size_has_no_room_for_stops_the_broker(tmp_path: Path) -> None:
    write_small(tmp_path, is_clean=False, recovery_point=0)
    narrow = LogConfig(index_interval=0, max_index_size=36)  # four offset entries, and two of time
    recovery = start(tmp_path, rule=StartRule(default_config=narrow))
    assert recovery.outcome is StartOutcome.BROKER_ABORTS
    assert "segment.index.bytes of 36" in recovery.reason
    wide = LogConfig(index_interval=0, max_index_size=120)
    assert start(tmp_path, rule=StartRule(default_config=wide)).outcome is StartOutcome.LOADS


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("0\n1\n2147483647 0\n", StartOutcome.LOADS),
        ("0\n1\n2147483648 0\n", StartOutcome.BROKER_ABORTS),
        ("0\n1\n0 9223372036854775808\n", StartOutcome.BROKER_ABORTS),
        ("0\n1\n0 -1\n", StartOutcome.BROKER_ABORTS),
        ("0\n1\n-1 0\n", StartOutcome.BROKER_ABORTS),
        ("0\n-1\n0 0\n", StartOutcome.BROKER_ABORTS),
        ("0\n2147483648\n0 0\n", StartOutcome.DIRECTORY_OFFLINE),
    ],
)
def test_numbers_are_those_that_java_reads(
    text: str, outcome: StartOutcome, tmp_path: Path
) -> None:
    directory = write_small(tmp_path, is_clean=True, recovery_point=23)
    (directory / "leader-epoch-checkpoint").write_text(text)
    assert start(tmp_path).outcome is outcome


@pytest.mark.parametrize("state", ["delete", "future", "stray"])
def test_directories_that_are_not_replicas_are_loaded_too(state: str, tmp_path: Path) -> None:
    directory = write_small(tmp_path, is_clean=True, recovery_point=23)
    aside = directory.with_name(f"t-0.{'0' * 32}-{state}")
    aside.mkdir()
    (aside / "abc.log").touch()
    (recovery,) = kafkalog_reader.open(str(tmp_path)).table("recoveries").to_arrow().to_pylist()
    assert recovery["outcome"] == "brokerAborts"
    assert f"-{state}/abc.log" in recovery["reason"]


def _second_disk(root: Path, directory_id: str) -> None:
    first = root / "broker-1"
    second = root / "disk-2"
    shutil.copytree(first, second)
    meta = second / "meta.properties"
    lines = [line for line in meta.read_text().splitlines() if "directory.id" not in line]
    meta.write_text("\n".join([*lines, f"directory.id={directory_id}", ""]))


def test_one_partition_on_two_disks_stops_the_broker(tmp_path: Path) -> None:
    write_small(tmp_path, is_clean=True, recovery_point=23)
    _second_disk(tmp_path, "AAAAAAAAAAEAAAAAAAAAEQ")
    rows = kafkalog_reader.open(str(tmp_path)).table("recoveries").to_arrow().to_pylist()
    assert [row["outcome"] for row in rows] == ["brokerAborts"] * 2
    assert "two directories of one partition" in rows[0]["reason"]


def test_two_future_copies_stop_the_broker(tmp_path: Path) -> None:
    directory = write_small(tmp_path, is_clean=True, recovery_point=23)
    for unique in "12":
        aside = directory.with_name(f"t-0.{unique * 32}-future")
        shutil.copytree(directory, aside)
    (recovery,) = kafkalog_reader.open(str(tmp_path)).table("recoveries").to_arrow().to_pylist()
    assert recovery["outcome"] == "brokerAborts"
    assert "two directories of one partition" in recovery["reason"]


@pytest.mark.parametrize("is_clean", [False, True])
def test_a_log_without_segments_loads_empty(is_clean: bool, tmp_path: Path) -> None:
    """LogLoader#load creates a segment at the log start: nothing is read, cut or torn."""
    directory = write_small(tmp_path, is_clean=is_clean, recovery_point=0, log_start=7)
    for path in directory.glob("0*"):
        path.unlink()
    recovery = start(tmp_path)
    assert (recovery.outcome, _end(recovery), recovery.sound_end_offset) == (
        StartOutcome.LOADS,
        7,
        7,
    )
    assert (recovery.segments_read, recovery.bytes_cut, recovery.rebuild) == ((), 0, None)
    assert recovery.readable_in_torn_batch == (0, 0)
