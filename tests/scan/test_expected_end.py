"""FAILFAST fails if files of a replica prove that records are missing."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import pytest

import kafkalog_reader
from fixtures.builder import cluster, data_batch, replica
from fixtures.builder.stored_messages import build_message
from kafkalog_reader.errors import MissingRecordsError, UnreadableFileError
from kafkalog_reader.format.batch_fields import DELETE_HORIZON_BIT
from kafkalog_reader.format.record import Record
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.io.partition_directory import segments
from kafkalog_reader.io.read_context import ReadContext
from kafkalog_reader.scan.damage import Mode
from kafkalog_reader.scan.expected_end import ExpectedEnd, missing_records
from kafkalog_reader.tables.records import RecordsTable
from kafkalog_reader.tables.request import ReadRequest
from tests.io.counted_rate import CountedRate
from tests.tables.logs import batch, offsets, write_segment

if TYPE_CHECKING:
    from pathlib import Path

    from fixtures.builder import Batch

LOG = "0-3/e0 4-5/e0 6-9/e0"
"""With ``segment_bytes=1``, it has segments 0, 4 and 6."""


def written(tmp_path: Path, log: str | list[Batch] = LOG, **described: Any) -> Path:
    """The log directory of a cleanly stopped broker with the partition t-0."""
    clean = described.pop("clean", (0,))
    described = {"segment_bytes": 1, **described}
    return cluster(tmp_path, {0: replica(log, **described)}, clean=clean)[0]


def segment(root: Path, base_offset: int) -> Path:
    return root / "t-0" / f"{base_offset:020d}.log"


def refusal(root: Path, **options: Any) -> str:
    with pytest.raises(MissingRecordsError) as caught:
        offsets(root, **options)
    return str(caught.value)


def test_a_segment_gone_from_the_middle_is_named_with_the_offsets(tmp_path: Path) -> None:
    root = written(tmp_path)
    segment(root, 4).unlink()
    message = refusal(root)
    assert message.startswith(f"{segment(root, 0)} (offset 4): offsets 4 to 5 are missing")
    assert "the next segment begins with offset 6" in message
    assert "PERMISSIVE" in message


def test_a_look_at_the_next_segment_keeps_the_rate(tmp_path: Path) -> None:
    root = written(tmp_path)
    segment(root, 4).write_bytes(b"")
    rate = CountedRate()
    evidence = discover([str(root)], ReadContext(rate=rate))
    with pytest.raises(MissingRecordsError, match="offsets 4 to 5 are missing"):
        list(RecordsTable().units(evidence, ReadRequest(from_offset=4)))
    assert segment(root, 6).stat().st_size in rate.taken


def test_the_last_segment_gone_is_below_the_high_watermark(tmp_path: Path) -> None:
    root = written(tmp_path, high_watermark=10, recovery_point=8)
    segment(root, 6).unlink()
    message = refusal(root)
    assert message.startswith(f"{segment(root, 4)} (offset 6): offsets 6 to 9 are missing")
    assert "replication-offset-checkpoint has 10 as high watermark" in message
    assert "running broker" not in message  # it was shut down cleanly


def test_the_recovery_point_proves_records_that_were_not_committed(tmp_path: Path) -> None:
    root = written(tmp_path, high_watermark=4, recovery_point=10)
    segment(root, 6).write_bytes(b"")
    message = refusal(root)
    assert "offsets 6 to 9 are missing" in message
    assert "recovery-point-offset-checkpoint has 10 as recovery point" in message


def test_a_read_that_ends_at_the_last_stable_offset_looks_at_the_end_too(tmp_path: Path) -> None:
    root = written(tmp_path, high_watermark=10)
    segment(root, 6).unlink()
    assert "offsets 6 to 9 are missing" in refusal(root, isolation="read_committed")
    assert offsets(root, isolation="read_committed", mode="DROPMALFORMED") == [0, 1, 2, 3, 4, 5]


def test_without_the_marker_the_message_says_what_may_explain_it(tmp_path: Path) -> None:
    root = written(tmp_path, high_watermark=11, clean=())
    assert "a copy of a running broker can look the same" in refusal(root)


def test_a_log_without_any_segment_lacks_all_up_to_the_high_watermark(tmp_path: Path) -> None:
    root = written(tmp_path, high_watermark=10)
    for each in (0, 4, 6):
        segment(root, each).unlink()
    assert "offsets 0 to 9 are missing" in refusal(root)


def test_other_modes_read_what_is_there(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    root = written(tmp_path, high_watermark=12)
    segment(root, 4).unlink()
    caplog.set_level(logging.WARNING)
    assert offsets(root, mode="DROPMALFORMED") == [0, 1, 2, 3, 6, 7, 8, 9]
    assert caplog.messages == []
    assert offsets(root, mode="PERMISSIVE") == [0, 1, 2, 3, 6, 7, 8, 9]
    assert ["4 to 5" in each or "10 to 11" in each for each in caplog.messages] == [True, True]


def test_records_that_nobody_requested_may_be_missing(tmp_path: Path) -> None:
    root = written(tmp_path, high_watermark=12)
    segment(root, 4).unlink()
    assert offsets(root, to_offset=4) == [0, 1, 2, 3]
    assert offsets(root, from_offset=6, to_offset=10) == [6, 7, 8, 9]
    assert "offsets 4 to 5 are missing" in refusal(root, to_offset=5)
    assert "offsets 10 to 11 are missing" in refusal(root, from_offset=6)


def test_every_size_of_unit_finds_it(tmp_path: Path) -> None:
    root = written(tmp_path, high_watermark=10)
    segment(root, 4).unlink()
    for size in (1, 100, 1000):
        assert "offsets 4 to 5 are missing" in refusal(root, max_partition_bytes=size)


def test_a_part_of_a_log_given_by_its_files_is_whole(tmp_path: Path) -> None:
    root = written(tmp_path, high_watermark=10)
    segment(root, 4).unlink()
    assert offsets(segment(root, 0)) == [0, 1, 2, 3]


def test_deleted_and_cleaned_records_are_not_missing(tmp_path: Path) -> None:
    """Retention deletes the first segments; a checkpoint or batches show how far cleaning got."""
    retained = written(tmp_path / "a", high_watermark=10)
    segment(retained, 0).unlink()
    assert offsets(retained) == [4, 5, 6, 7, 8, 9]
    checkpointed = written(tmp_path / "b", "0-3/e0 6-9/e0 10-11/e0", cleaner_offset=10)
    segment(checkpointed, 0).unlink()
    assert offsets(checkpointed) == [6, 7, 8, 9, 10, 11]
    cleaned = data_batch(0, [Record(offset_delta=1), Record(offset_delta=3)])
    behind = data_batch(9, [Record(offset_delta=0)])
    assert offsets(written(tmp_path / "c", [cleaned, behind])) == [1, 3, 9]
    deleted = written(tmp_path / "d", "4-5/e0", log_start=6, high_watermark=6, base_offset=4)
    assert offsets(deleted, log_range_only=True) == []


def test_a_gap_above_what_the_cleaner_reached_is_one(tmp_path: Path) -> None:
    root = written(tmp_path, cleaner_offset=4)
    segment(root, 4).unlink()
    assert "offsets 4 to 5 are missing" in refusal(root)


@pytest.mark.parametrize("left", [0, 1])
def test_a_file_that_shrank_after_planning_is_an_error(tmp_path: Path, left: int) -> None:
    """The file is cut at the border of a batch, which nothing else shows."""
    root = written(tmp_path, segment_bytes=1 << 20)
    evidence = kafkalog_reader.open(str(root)).evidence
    request = ReadRequest(columns=("offset",))
    (unit,) = RecordsTable().units(evidence, request)
    size = segment(root, 0).stat().st_size
    border = {0: 0, 1: batches_end(root, 1)}[left]
    with segment(root, 0).open("r+b") as log:
        log.truncate(border)
    with pytest.raises(UnreadableFileError) as caught:
        list(RecordsTable().read(unit, request))
    assert str(caught.value).startswith(f"{segment(root, 0)} at position {border}")
    assert f"the file is {border} bytes long, but was {size}" in str(caught.value)
    permissive = ReadRequest(columns=("offset",), mode=Mode.PERMISSIVE)
    rows = sum(each.num_rows for each in RecordsTable().read(unit, permissive))
    assert rows == {0: 0, 1: 4}[left]


def batches_end(root: Path, count: int) -> int:
    """The ends of the first batches of the first segment, by their own lengths."""
    content, at = segment(root, 0).read_bytes(), 0
    for _ in range(count):
        at += 12 + int.from_bytes(content[at + 8 : at + 12], "big")
    return at


def test_a_checkpoint_that_cannot_be_read_proves_nothing_and_is_named(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    root = written(tmp_path, high_watermark=12)
    (root / "replication-offset-checkpoint").write_text("0\nx\n")
    assert len(offsets(root)) == 10
    assert any("replication-offset-checkpoint" in each for each in caplog.messages)


@pytest.mark.parametrize(("cleaner_offset", "is_missing"), [(5, True), (6, False), (7, False)])
def test_a_gap_up_to_where_the_cleaner_came_is_none(
    tmp_path: Path, cleaner_offset: int, is_missing: bool
) -> None:
    root = written(tmp_path, cleaner_offset=cleaner_offset)
    segment(root, 4).unlink()
    if is_missing:
        assert "offsets 4 to 5 are missing" in refusal(root)
    else:
        assert offsets(root) == [0, 1, 2, 3, 6, 7, 8, 9]


@pytest.mark.parametrize(
    ("asked", "first"),
    [
        ((0, None), 10),
        ((10, None), 10),
        ((11, None), 11),
        ((19, None), 19),
        ((20, None), None),
        ((0, 10), None),
        ((0, 11), 10),
        ((15, 15), None),
        ((15, 16), 15),
        ((15, 99), 15),
    ],
)
@pytest.mark.parametrize("may_be_ahead", [False, True])
def test_what_is_missing_begins_where_it_is_asked_for(
    asked: tuple[int, int | None], first: int | None, may_be_ahead: bool
) -> None:
    expected = ExpectedEnd(
        next_offset=20,
        what="high watermark",
        proof="a file says 20",
        following=None,
        may_be_ahead=may_be_ahead,
    )
    found = missing_records(expected, "t-0/0.log", 10, asked, context=ReadContext())
    if first is None:
        assert found is None
    else:
        assert found is not None
        assert found.where.offset == first
        doubt = " (a copy of a running broker can look the same, when its checkpoint is newer)"
        missing = f"offsets {first} to 19 are" if first < 19 else "offset 19 is"
        assert found.problem == (
            f"{missing} missing: the batches here end before offset 10, but a file says 20"
            f"{doubt if may_be_ahead else ''}"
        )


def test_a_log_without_a_whole_batch_ends_nowhere() -> None:
    expected = ExpectedEnd(
        next_offset=20, what="high watermark", proof="a file says 20", following=None,
        may_be_ahead=False,
    )  # fmt: skip
    found = missing_records(expected, "t-0/0.log", 0, (0, None), context=ReadContext())
    assert found is not None
    assert found.problem.startswith(
        "offsets 0 to 19 are missing: no whole batch is here, but a file says 20"
    )


_AFTER_OFFSET = batch(0, 1)[8:]
MANY = [n.to_bytes(8, "big") + _AFTER_OFFSET for n in range(32_769)]
"""One more than a run of a scan holds; no CRC covers the offset."""


@pytest.mark.parametrize(
    ("batches", "was_cleaned"),
    [
        pytest.param([], False, id="empty"),
        pytest.param([batch(0), batch(3), batch(6)], False, id="all_offsets"),
        pytest.param([batch(0), batch(4)], True, id="gap"),
        pytest.param([batch(0), batch(3), batch(7)], True, id="later_gap"),
        pytest.param([batch(0), batch(4), batch(7)], True, id="earlier_gap"),
        pytest.param([batch(0), batch(3, last_offset_delta=3)], True, id="a_record_is_gone"),
        pytest.param([batch(0), batch(3, flags=DELETE_HORIZON_BIT)], True, id="delete_horizon"),
        pytest.param([build_message(b"k", b"v", offset=n) for n in (0, 1)], False, id="old"),
        pytest.param([build_message(b"k", b"v", offset=n) for n in (0, 2)], True, id="old_gap"),
        pytest.param(MANY, False, id="several_runs"),
        pytest.param([*MANY[:32_767], *MANY[32_768:]], True, id="gap_in_several_runs"),
        pytest.param([*MANY[:1], *MANY[:32_767], batch(32_768)], True, id="gap_between_runs"),
    ],
)
def test_batches_show_that_a_log_was_cleaned(
    tmp_path: Path, batches: list[bytes], was_cleaned: bool
) -> None:
    """Then a gap before the next segment is no loss, whichever of both shows it."""
    write_segment(tmp_path / "t-0", batches)
    (tmp_path / "u-0").mkdir()
    write_segment(tmp_path / "u-0", [batch(20)], base_offset=20)
    shown, sound = (
        segments(directory)[0]
        for directory in discover([str(tmp_path)]).partition_directories(ReadRequest())
    )
    for before, following in ((shown, sound), (sound, shown)):
        expected = ExpectedEnd(
            next_offset=20,
            what="base offset of the next segment",
            proof="of the next",
            following=following,
            may_be_ahead=True,
        )
        found = missing_records(
            expected, "t-0/0.log", 10, (0, None), segment=before, context=ReadContext()
        )
        assert (found is None) is was_cleaned
        assert found is None or found.problem.endswith(
            "(a compacted log whose cleaner checkpoint is not here can look the same)"
        )
