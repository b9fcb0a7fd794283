"""The table ``gaps`` agrees with what real consumers got and with logs with known holes."""

from __future__ import annotations

import shutil
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from fixtures import captures, truth
from fixtures.builder import cluster, empty_batch, parse_log, replica
from tests.tables.logs import batch, offsets, rows, write_segment
from tests.tables.test_replicas import aborted, committed, written

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

CONSUMED = [
    pytest.param(capture, id=f"{scenario}/{capture.name}")
    for scenario in captures.names()
    for capture in truth.load(captures.path(scenario)).captures.values()
    if capture.offsets
]
LEVELS = ("read_uncommitted", "read_committed")


def gaps(path: Path, **options: Any) -> list[dict[str, Any]]:
    return rows(path, "gaps", **options)


def spans(path: Path, **options: Any) -> list[tuple[int, int, str, str]]:
    """First offset, next offset, reason, and the consumers from which they are hidden."""
    return [
        (row["firstOffset"], row["nextOffset"], row["reason"], row["hiddenFrom"])
        for row in gaps(path, **options)
    ]


def uncovered(consumed: Iterable[int], hidden: Iterable[tuple[int, int]], end: int) -> list[int]:
    """How often each offset below ``end`` occurs, minus one; all must be 0."""
    counts = [-1] * end
    for offset in consumed:
        counts[offset] += 1
    for first, stop in hidden:
        for offset in range(first, min(stop, end)):
            counts[offset] += 1
    return [offset for offset, count in enumerate(counts) if count]


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("capture", CONSUMED)
def test_what_a_consumer_got_and_the_gaps_are_the_whole_range(
    capture: truth.CaptureTruth, level: str
) -> None:
    consumed: dict[tuple[str, int], list[int]] = {}
    for record in capture.records():
        if record.committed or level == "read_uncommitted":
            consumed.setdefault((record.topic, record.partition), []).append(record.offset)
    found: dict[tuple[str, int], list[tuple[int, int]]] = {}
    for row in gaps(capture.files, replica="best"):
        if row["hiddenFrom"] in ("all", level):
            span = row["firstOffset"], row["nextOffset"]
            found.setdefault((row["topic"], row["partition"]), []).append(span)
    wrong = {
        partition: uncovered(consumed.get(partition, []), found.get(partition, []), offsets.latest)
        for partition, offsets in capture.offsets.items()
    }
    assert {partition: offsets for partition, offsets in wrong.items() if offsets} == {}


@pytest.mark.parametrize("flipped", [10, 18, 61, 500])
def test_with_a_damaged_byte_the_records_that_are_left_and_the_gaps_are_the_whole_range(
    flipped: int, tmp_path: Path
) -> None:
    path = tmp_path / "d"
    shutil.copytree(captures.path("everything") / "stopped", path)
    for log in path.glob("*/*-0/*.log"):
        content = bytearray(log.read_bytes())
        if len(content) > flipped:
            content[flipped] ^= 0x10
            log.write_bytes(content)
    ends = truth.load(captures.path("everything")).captures["stopped"].offsets
    consumed, hidden = Counter[Any](), Counter[Any]()
    columns = ["topic", "partition", "offset"]  # some timestamps are too late for datetime
    for row in rows(
        path, mode="DROPMALFORMED", include_control_records=False, log_range_only=True,
        columns=columns, replica="best",
    ):  # fmt: skip
        consumed[row["topic"], row["partition"], row["offset"]] += 1
    damaged = 0
    for row in gaps(path, mode="DROPMALFORMED", replica="best"):
        partition = row["topic"], row["partition"]
        damaged += row["reason"] == "damaged"
        stop = ends[partition].latest if row["nextOffset"] is None else row["nextOffset"]
        if row["hiddenFrom"] == "all":
            hidden.update((*partition, offset) for offset in range(row["firstOffset"], stop))
    assert damaged
    everything = {(*p, offset) for p, each in ends.items() for offset in range(each.latest)}
    seen = consumed + hidden
    assert everything - seen.keys() == set()
    assert {place for place, count in seen.items() if count > 1} == set()


def test_each_reason_with_its_evidence(tmp_path: Path) -> None:
    log = [
        *parse_log("0-3/e0"), empty_batch(parse_log("4-5/e0")[0]), *parse_log("8-9/e0"),
        written(10, 7), aborted(11, 7), written(12, 8), committed(13, 8), written(14, 9),
        *parse_log("15-16/e0"),
    ]  # fmt: skip
    path = cluster(tmp_path, {1: replica(log, log_start=2, high_watermark=19)}, clean=[1])[1]
    found = gaps(path)
    assert [(row["firstOffset"], row["nextOffset"], row["reason"]) for row in found] == [
        (0, 2, "belowLogStart"),
        (4, 8, "compacted"),
        (10, 11, "abortedTransaction"),
        (11, 12, "controlRecord"),
        (13, 14, "controlRecord"),
        (14, 17, "openTransaction"),
        (17, 19, "missing"),
    ]
    assert [row["hiddenFrom"] for row in found] == [
        "all", "all", "read_committed", "all", "all", "read_committed", "all"
    ]  # fmt: skip
    assert [row["evidence"] for row in found[:6]] == [
        "log-start-offset-checkpoint has 2",
        "its batch holds 0 of 2 records",
        "transaction of producer 7, ABORT marker at offset 11",
        "ABORT marker of producer 7",
        "COMMIT marker of producer 8",
        "at or above the last stable offset, 14",
    ]
    assert "replication-offset-checkpoint has 19 as high watermark" in found[6]["evidence"]
    assert {row["file"] for row in found[1:6]} == {"t-0/00000000000000000000.log"}
    segment = (path / "t-0" / "00000000000000000000.log").read_bytes()
    for row in found[2:5]:  # the batch is at the position of the row
        first = int.from_bytes(segment[row["position"] : row["position"] + 8], "big")
        assert first == row["firstOffset"]


def test_a_segment_gone_from_the_middle_is_missing_and_not_compacted(tmp_path: Path) -> None:
    log = replica("0-3/e0 4-5/e0 6-9/e0", segment_bytes=1)
    path = cluster(tmp_path, {1: log}, clean=[1])[1]
    (path / "t-0" / "00000000000000000004.log").unlink()
    (row,) = gaps(path)
    assert (row["firstOffset"], row["nextOffset"], row["offsets"]) == (4, 6, 2)
    assert row["reason"] == "missing"
    assert "the next segment begins with offset 6" in row["evidence"]


def test_after_cleaning_the_same_hole_is_compacted(tmp_path: Path) -> None:
    log = replica("0-3/e0 4-5/e0 6-9/e0", segment_bytes=1, cleaner_offset=6)
    path = cluster(tmp_path, {1: log}, clean=[1])[1]
    (path / "t-0" / "00000000000000000004.log").unlink()
    assert spans(path) == [(4, 6, "compacted", "all")]


@pytest.mark.parametrize(("cleaner_offset", "reason"), [(None, "missing"), (6, "compacted")])
def test_a_batch_gone_from_a_segment_is_compacted_only_if_the_log_was_cleaned(
    tmp_path: Path, cleaner_offset: int | None, reason: str
) -> None:
    """``verify`` decides in the same way (KL-111)."""
    log = replica("0-3/e0 6-9/e0", cleaner_offset=cleaner_offset)
    path = cluster(tmp_path, {1: log}, clean=[1])[1]
    assert spans(path) == [(4, 6, reason, "all")]
    (path / "cleaner-offset-checkpoint").unlink()
    assert spans(path) == [(4, 6, "compacted", "all")]  # nothing says that it was not


def test_a_log_without_any_segment_misses_what_its_checkpoint_proves(tmp_path: Path) -> None:
    path = cluster(tmp_path, {1: replica("0-3/e0", high_watermark=4)}, clean=[1])[1]
    (path / "t-0" / "00000000000000000000.log").unlink()
    assert spans(path) == [(0, 4, "missing", "all")]


def test_a_damaged_batch_is_one_gap_with_its_checksums(tmp_path: Path) -> None:
    batches = [batch(0), batch(3), batch(6)]
    log = write_segment(tmp_path / "t-0", batches)
    content = bytearray(log.read_bytes())
    content[len(batches[0]) + 70] ^= 1
    log.write_bytes(content)
    (row,) = gaps(tmp_path)
    assert (row["firstOffset"], row["nextOffset"], row["reason"]) == (3, 6, "damaged")
    assert row["position"] == len(batches[0])
    assert row["evidence"].startswith(f"CRC stored 0x{batches[1][17:21].hex()}, computed 0x")


def test_a_batch_at_a_wrong_offset_is_damage_where_it_should_be(tmp_path: Path) -> None:
    for number, wrong in enumerate((1 << 40, 1)):
        batches = [batch(0), batch(3), batch(6), batch(9)]
        batches[2] = wrong.to_bytes(8, "big") + batches[2][8:]
        write_segment(tmp_path / str(number) / "t-0", batches)
        (row,) = gaps(tmp_path / str(number))
        assert (row["firstOffset"], row["nextOffset"], row["reason"]) == (6, 9, "damaged")
        assert row["evidence"].startswith("its base offset")


def test_damage_at_the_end_of_the_log_has_no_known_end(tmp_path: Path) -> None:
    log = write_segment(tmp_path / "t-0", [batch(0), batch(3)])
    size = log.stat().st_size
    with log.open("ab") as appended:
        appended.write(b"\xff" * 100)
    (row,) = gaps(tmp_path)
    assert (row["firstOffset"], row["nextOffset"], row["offsets"]) == (6, None, None)
    assert (row["reason"], row["position"]) == ("damaged", size)


def test_a_torn_last_batch_ends_the_log_without_a_gap(tmp_path: Path) -> None:
    log = write_segment(tmp_path / "t-0", [batch(0), batch(3)])
    log.write_bytes(log.read_bytes()[:-1])
    assert gaps(tmp_path) == []


def test_a_gap_longer_than_one_window_is_one_row(tmp_path: Path) -> None:
    count = 70_000  # more than fit into one run of batches
    log = [written(offset, 7) for offset in range(count)]
    cluster(tmp_path, {1: replica([*log, aborted(count, 7)])})
    assert spans(tmp_path) == [
        (0, count, "abortedTransaction", "read_committed"),
        (count, count + 1, "controlRecord", "all"),
    ]


def test_units_of_one_segment_each_give_the_same_rows(tmp_path: Path) -> None:
    path = captures.path("everything") / "killed"
    assert gaps(path, max_partition_bytes=1) == gaps(path)
    assert offsets(path, topic="compacted")  # there are also records


def test_single_files_tell_nothing_about_their_neighbours(tmp_path: Path) -> None:
    path = captures.path("everything") / "killed"
    for log in path.glob("*/records-deleted-0/*.log"):
        assert spans(log) == []
