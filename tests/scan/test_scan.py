"""All ways to read the same batches agree: with their bytes, without, and with both."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from fixtures.builder.stored_messages import build_message, build_wrapper
from kafkalog_reader.errors import LogPosition
from kafkalog_reader.format.batch_fields import (
    CONTROL_BIT,
    LOG_APPEND_TIME_BIT,
    TRANSACTIONAL_BIT,
)
from kafkalog_reader.format.compression import Codec
from kafkalog_reader.format.index_entries import OFFSET_INDEX_ENTRY
from kafkalog_reader.format.message_set import LegacyRecord
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.io.partition_directory import segments
from kafkalog_reader.io.read_context import ReadContext
from kafkalog_reader.scan import batch_run, column_scan
from kafkalog_reader.scan.batch_run import BatchRun
from kafkalog_reader.scan.column_scan import ColumnScan
from kafkalog_reader.scan.scan import CHAIN, TOLERANT, Scan, ScanPolicy
from kafkalog_reader.scan.scan_end import ScanEnd
from kafkalog_reader.scan.unreadable_region import UnreadableRegion
from kafkalog_reader.scan.unscanned_batches import UnscannedBatches
from kafkalog_reader.tables.request import ReadRequest
from tests.tables.logs import T, batch, write_segment

if TYPE_CHECKING:
    from pathlib import Path

NAMES = [*batch_run._COLUMNS]


def control(offset: int) -> bytes:
    return batch(offset, 1, flags=CONTROL_BIT | TRANSACTIONAL_BIT, producer_id=7)


def appended(offset: int) -> bytes:
    return batch(offset, 3, flags=LOG_APPEND_TIME_BIT, max_timestamp=T)


def message(offset: int) -> bytes:
    return build_message(b"key", b"value", offset=offset, magic=1, timestamp=T)


def wrapper(offset: int) -> bytes:
    records = [
        LegacyRecord(offset=offset + delta, timestamp=T, key=None, value=b"v") for delta in range(3)
    ]
    return build_wrapper(records, codec=Codec.GZIP, magic=1, timestamp=T)


@pytest.fixture
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows and buffers of a few batches, so that a small log has many."""
    monkeypatch.setattr(column_scan, "_ROOM", 400)
    monkeypatch.setattr(column_scan, "_AT_ONCE", 1500)


def segment_of(path: Path) -> Any:
    (directory,) = discover([str(path.parent)]).partition_directories(ReadRequest())
    (segment,) = segments(directory)
    return segment


def listed(path: Path, policy: ScanPolicy) -> list[tuple[Any, ...]]:
    """Everything that a scan finds, except run borders; also bytes if runs have them."""
    seen = []
    scan = Scan(segment_of(path), policy, context=ReadContext())
    for found in scan:
        if not isinstance(found, BatchRun):
            seen.append(found)
            continue
        for row in range(found.count):
            seen.append(tuple(getattr(found, name)[row].item() for name in NAMES))
            start = int(found.position[row]) - found.window_position
            content = found.buffer[start : start + int(found.size_in_bytes[row])]
            stored = path.read_bytes()[int(found.position[row]) :][: len(content)]
            assert (found.buffer.nbytes == 0 and not policy.keep_bytes) or content == stored
            assert len(content) == found.size_in_bytes[row] or not policy.keep_bytes
    return [*seen, scan.end_position, scan.next_offset, scan.given_up]


def random_log(directory: Path, chance: random.Random) -> Any:
    """Batches of all kinds, with an index that may be wrong, and perhaps damage."""
    batches, offset = [], 0
    for _ in range(chance.randrange(1, 60)):
        kind = chance.choices([batch, control, appended, message, wrapper], [40, 2, 2, 1, 1])[0]
        batches.append(kind(offset))
        offset += 1 if kind in (control, message) else 3
    path = write_segment(directory, batches)
    content = bytearray(path.read_bytes())
    for _ in range(chance.choice([0, 0, 0, 1, 3])):
        content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    if chance.random() < 0.2:
        del content[chance.randrange(len(content)) :]
    if chance.random() < 0.2:
        content += bytes(chance.randrange(300))
    path.write_bytes(content)
    borders = np.cumsum([0, *map(len, batches[:-1])]).tolist()
    positions = [at for at in borders if chance.random() < 0.7]
    if chance.random() < 0.3:
        positions = [at + chance.choice([0, 0, 0, 1, -5]) for at in positions]
    if chance.random() < 0.1:
        chance.shuffle(positions)
    entries = [
        OFFSET_INDEX_ENTRY.struct.pack(number, max(0, at)) for number, at in enumerate(positions)
    ]
    path.with_suffix(".index").write_bytes(b"".join(entries) + bytes(chance.choice([0, 0, 64])))
    return path


@pytest.mark.parametrize("seed", range(150))
@pytest.mark.usefixtures("small_steps")
def test_every_way_of_reading_gives_the_same_result(tmp_path: Path, seed: int) -> None:
    path = random_log(tmp_path / "orders-3", random.Random(seed))
    expected = listed(path, TOLERANT)
    for window_size in (900, 1 << 20):
        for keep_bytes in (False, True):
            policy = ScanPolicy(keep_bytes=keep_bytes, window_size=window_size)
            assert listed(path, policy) == expected


def test_what_a_decoder_took_comes_in_no_run(tmp_path: Path) -> None:
    batches = [batch(3 * n) for n in range(9)]
    path = write_segment(tmp_path / "orders-3", batches)
    scan = Scan(segment_of(path), ScanPolicy(offer_windows=True), context=ReadContext())
    bases: list[int] = []
    for found in scan:
        if isinstance(found, UnscannedBatches):
            assert bytes(found.buffer[found.start :]) == b"".join(batches)
            scan.pass_over(sum(map(len, batches[:4])), 11)
            assert scan.next_offset == 12
        else:
            assert isinstance(found, BatchRun)
            bases += found.base_offset.tolist()
    assert bases == [12, 15, 18, 21, 24]
    assert scan.next_offset == 27


def test_what_was_not_taken_is_offered_and_scanned(tmp_path: Path) -> None:
    path = write_segment(tmp_path / "orders-3", [batch(3 * n) for n in range(9)])
    found = [*Scan(segment_of(path), ScanPolicy(offer_windows=True), context=ReadContext())]
    assert [type(each) for each in found] == [UnscannedBatches, BatchRun]
    assert found[1].count == 9


def test_a_scan_that_is_not_tolerant_ends_with_the_first_region(tmp_path: Path) -> None:
    foreign = bytearray(batch(6))
    foreign[16] = 7
    path = write_segment(tmp_path / "orders-3", [batch(0), batch(3), bytes(foreign), batch(9)])
    start = 2 * len(batch(0))
    *runs, region = Scan(str(path), CHAIN, context=ReadContext())
    assert [run.base_offset.tolist() for run in runs] == [[0, 3]]
    assert isinstance(region, UnreadableRegion)
    assert (region.start, region.stop) == (start, path.stat().st_size)
    assert (region.end, region.first_offset, region.goes_on) == (ScanEnd.UNKNOWN_MAGIC, 6, False)
    assert region.where == LogPosition(str(path), start, 6)
    *runs, region, last = Scan(segment_of(path), context=ReadContext())
    assert (region.start, region.stop, region.next_offset) == (start, start + len(foreign), 9)
    assert last.base_offset.tolist() == [9]


def test_columns_of_many_and_of_few_batches_stay_when_the_room_is_filled_again(
    tmp_path: Path,
) -> None:
    batches = [batch(n, 1) for n in range(5000)]
    path = write_segment(tmp_path / "orders-3", batches)
    kept = list(ColumnScan(str(path), 0, path.stat().st_size, context=ReadContext()))
    assert np.concatenate([run.base_offset for run in kept]).tolist() == list(range(5000))
    few = list(
        Scan(str(path), ScanPolicy(tolerant=False, window_size=1000), context=ReadContext()).runs()
    )
    assert np.concatenate([run.base_offset for run in few]).tolist() == list(range(5000))


def test_plain_batches_come_without_their_bytes_if_those_are_not_kept(tmp_path: Path) -> None:
    path = write_segment(tmp_path / "orders-3", [batch(0), batch(3)])
    path.read_bytes()  # warm
    for keep_bytes in (False, True):
        scan = Scan(segment_of(path), ScanPolicy(keep_bytes=keep_bytes), context=ReadContext())
        (run,) = scan.runs()
        assert (len(run.buffer) > 0) is keep_bytes
        assert run.base_offset.tolist() == [0, 3]


@pytest.mark.parametrize(
    ("base_offset", "next_offset"),
    [(2**63 - 3, 2**63 - 2), (2**63 - 2, 2**63 - 1), (2**63 - 1,) * 2],
)
def test_no_offset_follows_the_greatest_one(
    tmp_path: Path, base_offset: int, next_offset: int
) -> None:
    """Offsets are signed 64-bit numbers (reference, section 1)."""
    moved = base_offset.to_bytes(8, "big") + batch(0, 1)[8:]
    scan = Scan(segment_of(write_segment(tmp_path / "t-0", [moved])), context=ReadContext())
    assert sum(run.count for run in scan.runs()) == 1
    assert scan.next_offset == next_offset
