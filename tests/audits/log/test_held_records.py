"""Client records of a part of a segment, against a count of every batch from its header."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fixtures.builder import marker_batch
from fixtures.builder.stored_messages import build_message, build_wrapper
from kafkalog_reader.audits.log import held_records as module
from kafkalog_reader.audits.log.held_records import (
    HeldRecords,
    RecordsAfter,
    count_records,
    in_region,
    sum_of,
)
from kafkalog_reader.format.compression import Codec
from kafkalog_reader.format.control_record import ControlType
from kafkalog_reader.format.message_set import LegacyRecord
from kafkalog_reader.io.read_context import ReadContext
from kafkalog_reader.scan.scan import CHAIN, Scan
from kafkalog_reader.scan.scan_end import ScanEnd
from kafkalog_reader.scan.unreadable_region import UnreadableRegion
from tests.tables.logs import T, batch, write_segment

if TYPE_CHECKING:
    from pathlib import Path

    from kafkalog_reader.scan.batch_run import BatchRun

MARKER = marker_batch(8, control_type=ControlType.COMMIT, producer_id=7, producer_epoch=0).build()


def wrong(content: bytes) -> bytes:
    """With another byte in a record, so that the checksum is wrong."""
    return content[:-2] + bytes([content[-2] ^ 1]) + content[-1:]


def wrapper(offset: int) -> bytes:
    record = LegacyRecord(offset=offset, timestamp=T, key=None, value=b"v")
    return build_wrapper([record], codec=Codec.GZIP, magic=1, timestamp=T)


def run_of(folder: Path, *batches: bytes) -> BatchRun:
    path = write_segment(folder / "t-0", [*batches])
    (run,) = Scan(str(path), CHAIN, context=ReadContext()).runs()
    return run


@pytest.mark.parametrize(
    ("batches", "expected"),
    [
        pytest.param([batch(0, 3), batch(3, 5)], (8, 0), id="sound"),
        pytest.param([batch(0, 3), wrong(batch(3, 5))], (3, 5), id="one_is_damaged"),
        pytest.param([wrong(batch(0, 3)), wrong(batch(3, 5))], (0, 8), id="all_are"),
        pytest.param([batch(0, 3), MARKER], (3, 0), id="a_marker_is_no_record"),
        pytest.param([batch(0, 3), wrong(MARKER)], (3, 0), id="nor_is_a_damaged_one"),
        pytest.param(
            [build_message(b"k", b"v", offset=0, magic=1, timestamp=T), wrapper(4)],
            (1, 0),
            id="a_wrapper_counts_as_nothing",
        ),
    ],
)
def test_records_are_counted_by_headers(
    tmp_path: Path, batches: list[bytes], expected: tuple[int, int]
) -> None:
    assert count_records(run_of(tmp_path, *batches)) == HeldRecords(*expected)


@pytest.mark.parametrize(("count", "held"), [(-1, 0), (0, 0), (5, 5), (6, 5), (2**31 - 1, 5)])
def test_a_damaged_count_is_at_most_the_offsets_of_its_batch(
    tmp_path: Path, count: int, held: int
) -> None:
    content = bytearray(batch(3, 5))
    content[57:61] = count.to_bytes(4, "big", signed=True)
    if count == 5:
        content[-2] ^= 1
    assert count_records(run_of(tmp_path, batch(0, 3), bytes(content))) == HeldRecords(3, held)


def region(following: int | None, begun: int = 0) -> UnreadableRegion:
    return UnreadableRegion(
        file="", start=500, stop=900, first_offset=None, next_offset=following,
        end=ScanEnd.WRONG_CRC, problem="", begun_records=begun,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("following", "next_base", "expected"),
    [
        (20, None, (0, 8, 0)),
        (20, 50, (0, 8, 0)),
        (None, 50, (0, 38, 0)),
        (None, None, (0, 0, 3)),
        (12, None, (0, 0, 0)),
        (5, None, (0, 0, 0)),
        (None, 5, (0, 0, 0)),
    ],
)
def test_every_offset_up_to_the_next_sound_batch_may_have_been_a_record(
    following: int | None, next_base: int | None, expected: tuple[int, int, int]
) -> None:
    """From offset 12 on; at the end of a log, its unfinished batch says how many it began."""
    assert in_region(region(following, begun=3), 12, next_base) == HeldRecords(*expected)


def test_sums_and_differences_are_by_kind() -> None:
    parts = [HeldRecords(1, 20, 300), HeldRecords(4, 50, 600)]
    assert sum_of(parts) == HeldRecords(5, 70, 900)
    assert sum_of([]) == HeldRecords(0, 0)
    assert parts[1] - parts[0] == HeldRecords(3, 30, 300)
    most = 2**63 - 1
    assert sum_of([HeldRecords(0, most), HeldRecords(0, 5)]).damaged == most


def test_records_after_a_position_are_those_from_the_next_counted_one_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three batches a run; a count begins at each position that is far enough from the last."""
    size = len(batch(12, 3))
    monkeypatch.setattr(module, "_APART", 2 * size)
    run = run_of(tmp_path, *(batch(12 + 3 * n, 3) for n in range(6)))
    behind = RecordsAfter()
    assert behind.since(0) is None
    for number in range(6):
        behind.add(run.taken(slice(number, number + 1)))
    assert behind.since(0) == (0, HeldRecords(18, 0))
    assert behind.since(1) == (2 * size, HeldRecords(12, 0))
    assert behind.since(2 * size) == (2 * size, HeldRecords(12, 0))
    assert behind.since(2 * size + 1) == (4 * size, HeldRecords(6, 0))
    assert behind.since(4 * size) == (4 * size, HeldRecords(6, 0))
    assert behind.since(4 * size + 1) is None
    behind.add_region(region(40), 30)
    assert behind.since(4 * size) == (4 * size, HeldRecords(6, 10))


def test_a_wrapper_ends_the_count(tmp_path: Path) -> None:
    plain = build_message(b"k", b"v", offset=0, magic=1, timestamp=T)
    run = run_of(tmp_path, plain, wrapper(4), batch(5, 3))
    behind = RecordsAfter()
    behind.add(run.taken(slice(0, 1)))
    assert behind.since(0) == (0, HeldRecords(1, 0))
    behind.add(run.taken(slice(1, 2)))
    assert behind.since(0) is None
    behind.add(run.taken(slice(2, 3)))
    assert behind.since(0) is None, "whoever wants to know must decompress it"
