"""Random damage: the result equals that of a search at every position with zlib and crcmod."""

from __future__ import annotations

import struct
import subprocess
import sys
import zlib
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from fixtures.builder.stored_messages import build_message
from kafkalog_reader.format.crc import compute_crc32c
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.io.partition_directory import segments
from kafkalog_reader.io.read_context import ReadContext
from kafkalog_reader.io.window import Windows
from kafkalog_reader.scan import batch_finder, resynchronisation
from kafkalog_reader.scan.scan import Scan
from kafkalog_reader.scan.unreadable_region import UnreadableRegion
from kafkalog_reader.tables.request import ReadRequest
from tests.tables.logs import T, batch, write_segment

if TYPE_CHECKING:
    from pathlib import Path


def scanned(path: Path) -> tuple[dict[int, int], list[UnreadableRegion]]:
    """Position and size of sound batches, and the damaged regions."""
    (directory,) = discover([str(path.parent)]).partition_directories(ReadRequest())
    (segment,) = segments(directory)
    sound: dict[int, int] = {}
    regions: list[UnreadableRegion] = []
    for found in Scan(segment, context=ReadContext()):
        if isinstance(found, UnreadableRegion):
            regions.append(found)
        else:
            which = found.crc_valid
            sizes = found.size_in_bytes[which].tolist()
            sound |= dict(zip(found.position[which].tolist(), sizes, strict=True))
    return sound, regions


def sound_by_force(log: bytes) -> dict[int, int]:
    """Every sound batch or message that does not begin inside another, by trying every position."""
    found: dict[int, int] = {}
    at = 0
    while at < len(log) - 25:
        size = 12 + struct.unpack_from(">i", log, at + 8)[0]
        magic = log[at + 16]
        is_sound = False
        if magic == 2 and 61 <= size <= len(log) - at:
            is_sound = compute_crc32c(log[at + 21 : at + size]) == _uint32(log, at + 17)
        elif magic < 2 and (26, 34)[magic] <= size <= len(log) - at:
            is_sound = zlib.crc32(log[at + 16 : at + size]) == _uint32(log, at + 12)
        if is_sound:
            found[at] = size
        at += size if is_sound else 1
    return found


def _uint32(log: bytes, at: int) -> int:
    return int(struct.unpack_from(">I", log, at)[0])


def damaged_log(random: Random) -> bytes:
    """Entries of all magics with rising offsets; most are whole, with other bytes between."""
    offset, pieces = 0, []
    for _ in range(random.randrange(1, 12)):
        kind = random.randrange(3)
        if kind == 2:
            piece = batch(offset, random.randrange(1, 4))
        else:
            value = random.randbytes(random.randrange(300))
            piece = build_message(
                None, value, offset=offset, magic=kind, timestamp=T * kind or None
            )
        offset += random.randrange(3, 9)
        pieces.append(_damaged(piece, random))
    return b"".join(pieces)


def _damaged(piece: bytes, random: Random) -> bytes:
    choice = random.randrange(9)
    place = random.randrange(8, len(piece))  # a wrong offset is not visible damage
    if choice == 0:
        return piece[:place]
    if choice == 1:
        return piece[:place] + bytes([piece[place] ^ 1 << random.randrange(8)]) + piece[place + 1 :]
    if choice == 2:
        length = random.choice([0, -1, 2**31 - 1, len(piece) * random.randrange(1, 5), 61])
        return piece[:8] + struct.pack(">i", length) + piece[12:]
    if choice == 3:
        return random.randbytes(random.choice([1, 7, 61, 5000])) + piece
    if choice == 4:
        return bytes(random.choice([1, 8, 64, 20_000])) + piece
    if choice == 5:  # many headers whose lengths cover later batches
        claims = range(random.randrange(1, 40))
        return b"".join(piece[:8] + struct.pack(">i", 61 * n + 300) + piece[12:61] for n in claims)
    return piece


@pytest.mark.parametrize("seed", range(150))
def test_every_sound_batch_behind_damage_comes_out(tmp_path: Path, seed: int) -> None:
    log = damaged_log(Random(seed))
    found, regions = scanned(write_segment(tmp_path / "t-0", [log]))
    assert found == sound_by_force(log)
    assert sum(region.given_up for region in regions) == 0


def test_a_run_of_wrong_crcs_with_sound_batches_between_needs_no_search(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Offsets without a gap leave no room for a batch that a wrong length might hide."""
    monkeypatch.setattr(resynchronisation, "MAX_SEARCHES", 1)
    entries = [batch(3 * n) for n in range(3000)]
    for number in range(len(entries) - 1):
        if number % 3:
            entries[number] = entries[number][:-1] + b"?"
    path = write_segment(tmp_path / "t-0", entries)
    found, regions = scanned(path)
    assert regions == []
    assert len(found) == 1001


def test_lengths_that_lie_are_not_followed_without_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each claims 40 kB that would have to be read; the search finds the next batch without."""
    log, offset = batch(0), 3
    for _ in range(30):
        wrong = CLAIM.pack(offset, 49, 0, 2, 1, 0, 0, T, T, -1, -1, -1, 1)
        claim = CLAIM.pack(offset + 1, 40_000, 0, 2, 1, 0, 0, T, T, -1, -1, -1, 1)
        log += wrong + claim + batch(offset + 2)
        offset += 5
    path = write_segment(tmp_path / "t-0", [log, b"?" * 50_000])
    sound, regions = scanned(path)
    assert len(sound) == 31
    assert [region.given_up for region in regions] == [0] * len(regions)
    monkeypatch.setattr(batch_finder, "_BUDGET", 100_000)
    read = []
    read_window = Windows.read

    def counted(self: Windows, position: int, at_least: int = 0, **options: Any) -> memoryview:
        read.append(at_least)
        return read_window(self, position, at_least, **options)

    monkeypatch.setattr(Windows, "read", counted)
    again, regions = scanned(path)
    assert again == sound
    assert sum(region.given_up for region in regions) > 0
    assert sum(size for size in read if size > 40_000) <= 100_000 + 8 * path.stat().st_size


CLAIM = struct.Struct(">qiibIhiqqqhii")
MEASURED = """
import re, sys
import kafkalog_reader
def peak():
    return int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]) >> 10
def read(path):
    for table in ("batches", "records", "segments", "findings"):
        found = kafkalog_reader.open(path).table(table, mode="PERMISSIVE")
        print(table, sum(rows.num_rows for rows in found))
read(sys.argv[1])
before = peak()
read(sys.argv[2])
print("MiB", peak() - before)
"""


@pytest.mark.parametrize("claimed", [2**31 - 13, 1 << 30, 100 << 20])
def test_a_gigantic_length_in_a_sparse_file_takes_no_memory(tmp_path: Path, claimed: int) -> None:
    """A batch of two gibibytes in a sparse file is not read into memory to check its CRC."""
    header = CLAIM.pack(3, claimed - 12, 0, 2, 7, 0, 0, T, T, -1, -1, -1, 1)
    path = write_segment(tmp_path / "t-0", [batch(0), header])
    with path.open("r+b") as file:
        file.truncate(len(batch(0)) + claimed)
        file.seek(0, 2)
        file.write(batch(6))
    small = write_segment(tmp_path / "u-0", [batch(0), b"?", batch(6)])
    command = [sys.executable, "-c", MEASURED, str(small.parent), str(path.parent)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    counts = {line.split()[0]: int(line.split()[1]) for line in done.stdout.splitlines()}
    assert (counts["batches"], counts["records"]) == (2, 6)
    assert counts["MiB"] < 64


def test_a_large_batch_that_is_sound_is_read(tmp_path: Path) -> None:
    value = b"v" * (65 << 20)
    large = build_message(None, value, offset=3, magic=1, timestamp=T)
    found, regions = scanned(write_segment(tmp_path / "t-0", [batch(0), large, batch(6)]))
    assert list(found.values()) == [len(batch(0)), len(large), len(batch(6))]
    assert regions == []
    wrong = large[:-1] + b"?"
    found, (region,) = scanned(write_segment(tmp_path / "t-0", [batch(0), wrong, batch(6)]))
    assert len(found) == 2
    assert (region.start, region.size_in_bytes) == (len(batch(0)), len(wrong))
