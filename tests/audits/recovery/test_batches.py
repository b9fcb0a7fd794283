"""A segment walked as a starting broker does, on bytes made by hand.

Source: Kafka 4.3, FileLogInputStream, DefaultRecordBatch#ensureValid, LegacyRecord.
"""

from __future__ import annotations

import struct
import zlib
from typing import TYPE_CHECKING

import crcmod.predefined
import numpy as np
import pytest

from kafkalog_reader.audits.recovery.batches import (
    BatchWalk,
    Reading,
    StoredBatches,
    WalkEnd,
    _row,
)
from kafkalog_reader.io.read_context import ReadContext
from kafkalog_reader.scan.large_batch import LARGE

if TYPE_CHECKING:
    from pathlib import Path

crc32c = crcmod.predefined.mkCrcFun("crc-32c")
HEADER_SIZE = 61
OLD = Reading(start_size=12, raises=False, decompresses=False, finds_by_last_offset=True)


def batch(
    base_offset: int, *, records: int = 1, delta: int | None = None, magic: int = 2, epoch: int = 3,
    max_timestamp: int = 1000, body: bytes = b"value", flip: bool = False,
) -> bytes:  # fmt: skip
    """A record batch; nothing on a start looks at its records."""
    last = records - 1 if delta is None else delta
    covered = struct.pack(">hiqqqhii", 0, last, 1000, max_timestamp, -1, -1, -1, records) + body
    crc = crc32c(covered) ^ flip
    return struct.pack(">qiibI", base_offset, len(covered) + 9, epoch, magic, crc) + covered


def message(offset: int, magic: int, *, codec: int = 0, timestamp: int = 77) -> bytes:
    """A message of magic 0 or 1 with a null key."""
    time = struct.pack(">q", timestamp) if magic else b""
    covered = struct.pack(">bb", magic, codec) + time + struct.pack(">ii", -1, 3) + b"abc"
    return struct.pack(">qiI", offset, len(covered) + 4, zlib.crc32(covered)) + covered


class Walked:
    """What a walk over these bytes finds."""

    def __init__(
        self, path: Path, content: bytes, *, check_crc: bool = True, reading: Reading | None = None,
        start: int = 0,
    ) -> None:  # fmt: skip
        file = path / f"{0:020}.log"
        file.write_bytes(content)
        self.read: list[int] = []
        walk = BatchWalk(
            str(file), start, len(content), check_crc=check_crc, context=ReadContext(),
            reading=reading or Reading(), progress=self.read.append,
        )  # fmt: skip
        runs = list(walk)
        self.end, self.at, self.problem = walk.end, walk.end_position, walk.problem
        self.columns = {
            name: np.concatenate([getattr(run, name) for run in runs]).tolist() if runs else []
            for name in StoredBatches.__slots__
        }

    def __getattr__(self, name: str) -> list[int]:
        return self.columns[name]


@pytest.mark.parametrize("check_crc", [True, False])
def test_batches_are_columns(tmp_path: Path, check_crc: bool) -> None:
    first, second = batch(5, records=3, body=b"x" * 10), batch(9, epoch=4, max_timestamp=2000)
    found = Walked(tmp_path, first + second, check_crc=check_crc)
    assert found.position == [0, len(first)]
    assert found.size_in_bytes == [len(first), len(second)]
    assert (found.base_offset, found.last_offset) == ([5, 9], [7, 9])
    assert (found.leader_epoch, found.max_timestamp) == ([3, 4], [1000, 2000])
    assert (found.records, found.is_sound) == ([3, 1], [True, True])
    assert (found.end, found.at, found.problem) == (WalkEnd.END, len(first + second), "")
    assert sum(found.read) == len(first + second)


def test_a_wrong_crc_matters_only_where_it_is_checked(tmp_path: Path) -> None:
    content = batch(0) + batch(1, flip=True) + batch(2)
    assert Walked(tmp_path, content).is_sound == [True, False, True]
    assert Walked(tmp_path, content, check_crc=False).is_sound == [True, True, True]


@pytest.mark.parametrize("magic", [3, 17, 127])
def test_every_magic_from_2_on_is_read_as_2(tmp_path: Path, magic: int) -> None:
    """AbstractRecords: magic < 2 is a message; the magic is outside the CRC."""
    content = batch(0) + batch(1, magic=magic, records=2) + batch(3)
    found = Walked(tmp_path, content)
    assert (found.base_offset, found.last_offset) == ([0, 1, 3], [0, 2, 3])
    assert (found.leader_epoch, found.records) == ([3, 3, 3], [1, 2, 1])
    assert found.is_sound == [True, True, True]
    wrong = batch(0) + batch(1, magic=magic, flip=True)
    assert Walked(tmp_path, wrong).is_sound == [True, False]


@pytest.mark.parametrize("magic", [0, 1, -1])
def test_a_magic_below_2_is_read_as_a_message(tmp_path: Path, magic: int) -> None:
    found = Walked(tmp_path, batch(0) + batch(8, records=5, magic=magic) + batch(13))
    assert found.base_offset == [0, 8, 13]
    assert found.last_offset == [0, 8, 13]  # its offset is that of the last record
    assert found.leader_epoch == [3, -1, 3]
    assert found.records == [1, 1, 1]
    assert found.is_sound == [True, False, True]


def test_messages_have_offsets_and_from_magic_1_times(tmp_path: Path) -> None:
    found = Walked(tmp_path, message(4, 0) + message(5, 1) + batch(6))
    assert found.last_offset == [4, 5, 6]
    assert found.max_timestamp == [-1, 77, 1000]  # RecordBatch.NO_TIMESTAMP
    assert found.is_sound == [True, True, True]


@pytest.mark.parametrize(
    ("magic", "cut", "timestamp"), [(0, 0, -1), (1, 0, 77), (1, 25, -1), (1, 26, 77)]
)
def test_the_header_of_a_message_alone_gives_its_time(magic: int, cut: int, timestamp: int) -> None:
    """Magic 0 has none, and a header that ends before it shows none."""
    content = message(5, magic)
    row = _row(memoryview(content[: cut or len(content)]), 96, magic)
    assert (row.position, row.base_offset, row.max_timestamp) == (96, 5, timestamp)


def test_old_wrappers_are_checked_in_any_case(tmp_path: Path) -> None:
    """A broker decompresses them as it walks, which fails for a wrong CRC."""
    sound, damaged = message(4, 1, codec=1), bytearray(message(5, 1, codec=1))
    damaged[-1] ^= 1
    for check_crc in (True, False):
        found = Walked(tmp_path, sound + bytes(damaged), check_crc=check_crc)
        assert found.is_sound == [True, False]
    plain = bytearray(message(5, 1))
    plain[-1] ^= 1
    assert Walked(tmp_path, bytes(plain), check_crc=False).is_sound == [True]


@pytest.mark.parametrize(
    ("left", "end", "problem"),
    [
        (1, WalkEnd.CUT_SHORT, "1 bytes are left, too few for a batch"),
        (17, WalkEnd.CUT_SHORT, "17 bytes are left, too few for a batch"),
        (18, WalkEnd.CUT_SHORT, f"batch cut short: 18 of {len(batch(1))} bytes"),
        (len(batch(1)) - 1, WalkEnd.CUT_SHORT, "batch cut short"),
    ],
)
def test_a_partial_batch_is_the_end(tmp_path: Path, left: int, end: WalkEnd, problem: str) -> None:
    """FileLogInputStream: 17 bytes, up to the magic, are no header."""
    found = Walked(tmp_path, batch(0) + batch(1)[:left])
    assert found.base_offset == [0]
    assert (found.end, found.at) == (end, len(batch(0)))
    assert problem in found.problem


@pytest.mark.parametrize(("left", "problem"), [(12, "12 bytes are left"), (13, "cut short: 13")])
def test_old_releases_read_twelve_bytes_first(tmp_path: Path, left: int, problem: str) -> None:
    found = Walked(tmp_path, batch(0) + batch(1)[:left], reading=OLD)
    assert (found.end, found.base_offset) == (WalkEnd.CUT_SHORT, [0])
    assert problem in found.problem


@pytest.mark.parametrize(
    ("length", "end"),
    [
        (-1, WalkEnd.TOO_SMALL),
        (0, WalkEnd.TOO_SMALL),
        (13, WalkEnd.TOO_SMALL),
        (14, WalkEnd.END),  # RECORD_OVERHEAD_V0: too small for a batch, but not an error
    ],
)
def test_a_length_below_that_of_a_message_is_an_error(
    tmp_path: Path, length: int, end: WalkEnd
) -> None:
    content = batch(0) + struct.pack(">qiib", 1, length, 0, 2).ljust(26, b"\0")
    found = Walked(tmp_path, content)
    assert found.end is end
    assert found.at == len(content if end is WalkEnd.END else batch(0))
    assert found.is_sound == [True, *([False] if end is WalkEnd.END else [])]
    old = Walked(tmp_path, content, reading=OLD)
    assert old.end is (WalkEnd.CUT_SHORT if end is WalkEnd.TOO_SMALL else WalkEnd.END)


def test_offsets_overflow_as_in_java(tmp_path: Path) -> None:
    greatest = 2**63 - 1
    for magic in (2, 3):
        found = Walked(tmp_path, batch(greatest, delta=1, magic=magic), check_crc=False)
        assert found.last_offset == [-(2**63)]


def test_a_negative_count_is_no_record(tmp_path: Path) -> None:
    for magic in (2, 3):
        found = Walked(tmp_path, batch(0, records=-5, delta=0, magic=magic))
        assert (found.records, found.is_sound) == ([0], [True])


@pytest.mark.parametrize("check_crc", [True, False])
@pytest.mark.parametrize("magic", [2, 3])
@pytest.mark.parametrize("flip", [False, True])
def test_a_batch_of_any_size_is_a_batch(
    tmp_path: Path, magic: int, check_crc: bool, flip: bool
) -> None:
    """FileLogInputStream limits no length; only RecordBatch#ensureValid looks at the CRC."""
    large = batch(1, records=2, magic=magic, body=bytes(LARGE), flip=flip)
    found = Walked(tmp_path, batch(0) + large + batch(3) + batch(4), check_crc=check_crc)
    assert (found.base_offset, found.last_offset) == ([0, 1, 3, 4], [0, 2, 3, 4])
    assert found.is_sound == [True, not (flip and check_crc), True, True]
    assert found.end is WalkEnd.END


def test_a_large_wrapper_is_checked_in_any_case(tmp_path: Path) -> None:
    covered = struct.pack(">bb", 1, 1) + bytes(LARGE)
    for wrong in (0, 1):
        crc = zlib.crc32(covered) ^ wrong
        wrapper = struct.pack(">qiI", 7, len(covered) + 4, crc) + covered
        found = Walked(tmp_path, wrapper + batch(8), check_crc=False)
        assert (found.last_offset, found.is_sound) == ([7, 8], [not wrong, True])


def test_a_walk_begins_where_it_should(tmp_path: Path) -> None:
    first = batch(0)
    found = Walked(tmp_path, first + batch(1, magic=3) + batch(2), start=len(first))
    assert (found.base_offset, found.position[0]) == ([1, 2], len(first))


def test_alternating_magics_lose_no_batch(tmp_path: Path) -> None:
    content = b"".join(batch(offset, magic=2 + offset % 3 % 2) for offset in range(9000))
    found = Walked(tmp_path, content)
    assert found.base_offset == list(range(9000))
    assert found.position == list(range(0, len(content), len(batch(0))))
    assert sum(found.read) < 10 * len(content)  # not once for each of the 6000 changes


def test_the_first_batches_of_a_run(tmp_path: Path) -> None:
    file = tmp_path / "x.log"
    content = batch(0) + batch(1) + batch(2)
    file.write_bytes(content)
    (run,) = BatchWalk(str(file), 0, len(content), check_crc=True, context=ReadContext())
    assert run.first(3) is run
    assert run.first(2).base_offset.tolist() == [0, 1]
    assert len(run.first(0)) == 0


@pytest.mark.parametrize("magic", [2, 3])
def test_a_batch_is_a_header_at_least(tmp_path: Path, magic: int) -> None:
    """DefaultRecordBatch#ensureValid: at least 61 bytes, with a valid CRC."""
    whole = batch(1, records=0, delta=0, magic=magic, body=b"")
    assert len(whole) == HEADER_SIZE
    assert Walked(tmp_path, whole + batch(2)).is_sound == [True, True]
    covered = whole[21:-1]
    short = struct.pack(">qiibI", 1, len(covered) + 9, 3, magic, crc32c(covered)) + covered
    assert Walked(tmp_path, short + batch(2)).is_sound == [False, True]


@pytest.mark.parametrize(("codec", "is_sound"), [(0, True), (1, False), (7, False), (8, True)])
def test_a_damaged_message_of_a_negative_magic_is_decompressed_if_it_wraps_others(
    codec: int, is_sound: bool, tmp_path: Path
) -> None:
    """LegacyRecord: magic -1 is below 2; the lowest three bits of the attributes are the codec."""
    damaged = bytearray(message(5, -1, codec=codec))
    damaged[-1] ^= 1
    found = Walked(tmp_path, bytes(damaged) + batch(6), check_crc=False)
    assert (found.last_offset, found.is_sound) == ([5, 6], [is_sound, True])
