"""Random damage: the result equals that of a search at every position with zlib and crcmod."""

from __future__ import annotations

import struct
import subprocess
import sys
import zlib
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from fixtures.builder.stored_batches import build_record_batch
from fixtures.builder.stored_messages import build_message
from kafkalog_reader.format.compression import Codec
from kafkalog_reader.format.crc import compute_crc32c
from kafkalog_reader.format.index_entries import OFFSET_INDEX_ENTRY
from kafkalog_reader.format.record import Record
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.io.partition_directory import segments
from kafkalog_reader.io.read_context import ReadContext
from kafkalog_reader.io.window import Windows
from kafkalog_reader.scan import batch_finder, resynchronisation
from kafkalog_reader.scan.batch_finder import BatchFinder
from kafkalog_reader.scan.scan import Scan
from kafkalog_reader.scan.unreadable_region import UnreadableRegion
from kafkalog_reader.tables.request import ReadRequest
from tests.tables.logs import T, batch, write_segment

if TYPE_CHECKING:
    from collections.abc import Sequence
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
def test_every_sound_batch_after_damage_comes_out(tmp_path: Path, seed: int) -> None:
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


def finder(
    folder: Path,
    *content: bytes,
    base_offset: int = 0,
    stop: int | None = None,
    index: Sequence[int] | None = None,
) -> BatchFinder:
    """A finder in one segment; ``index`` are the positions that its offset index names."""
    path = write_segment(folder / "t-0", [*content], base_offset=base_offset)
    if index is not None:
        entries = [OFFSET_INDEX_ENTRY.struct.pack(n + 1, at) for n, at in enumerate(index)]
        path.with_suffix(".index").write_bytes(b"".join(entries))
    (directory,) = discover([str(path.parent)]).partition_directories(ReadRequest())
    (segment,) = segments(directory)
    size = path.stat().st_size
    return BatchFinder(segment, size if stop is None else stop, context=ReadContext())


def at(offset: int, entry: bytes) -> bytes:
    """The entry with another offset, which no CRC covers."""
    return offset.to_bytes(8, "big", signed=True) + entry[8:]


EMPTY_0 = build_message(None, None, magic=0)
EMPTY_1 = build_message(None, None, magic=1, timestamp=T)
EMPTY_2 = build_record_batch([])
LONG_2 = build_record_batch([Record(offset_delta=0, value=b"v" * 20_000)])
LONG_1 = build_message(None, b"v" * 20_000, magic=1, timestamp=T)
SOUND = [EMPTY_0, EMPTY_1, EMPTY_2, LONG_1, LONG_2, batch(0, 1, codec=Codec.GZIP)]
NAMES = ["empty_0", "empty_1", "empty_2", "long_1", "long_2", "compressed"]


def test_the_smallest_entries_are_small() -> None:
    """They are as long as the format's fields: kafka-on-disk-format.md."""
    assert [*map(len, SOUND[:3])] == [26, 34, 61]


@pytest.mark.parametrize("entry", SOUND, ids=NAMES)
def test_a_whole_entry_with_a_right_crc_is_sound(tmp_path: Path, entry: bytes) -> None:
    found = finder(tmp_path, b"?", at(7, entry))
    assert found.batch_at(1) == 7
    assert found.batch_at(0) is None
    assert found.batch_at(2) is None
    assert found.given_up == 0


@pytest.mark.parametrize("entry", SOUND, ids=NAMES)
def test_an_entry_must_end_before_the_stop(tmp_path: Path, entry: bytes) -> None:
    assert finder(tmp_path, entry, b"?", stop=len(entry)).batch_at(0) == 0
    assert finder(tmp_path, entry, b"?", stop=len(entry) - 1).batch_at(0) is None


@pytest.mark.parametrize("entry", SOUND, ids=NAMES)
def test_the_last_byte_and_the_stored_crc_count(tmp_path: Path, entry: bytes) -> None:
    crc = 12 if entry[16] < 2 else 17
    for place in (crc, crc + 3, len(entry) - 1):
        wrong = entry[:place] + bytes([entry[place] ^ 1]) + entry[place + 1 :]
        assert finder(tmp_path, wrong).batch_at(0) is None, place


@pytest.mark.parametrize(
    ("magic", "size", "is_batch"),
    [(0, 26, True), (0, 25, False), (1, 34, True), (1, 33, False), (1, 26, False), (3, 80, False)],
)
def test_each_format_has_a_smallest_size(
    tmp_path: Path, magic: int, size: int, is_batch: bool
) -> None:
    covered = bytes([magic]) + bytes(size - 17)
    head = struct.pack(">qiI", 5, size - 12, zlib.crc32(covered))
    found = finder(tmp_path, head + covered + bytes(60))
    assert found.batch_at(0) == (5 if is_batch else None)


def test_a_batch_smaller_than_its_header_is_none(tmp_path: Path) -> None:
    """Its CRC covers what there is: 39 bytes from the attributes on."""
    short = EMPTY_2[:60]
    crc = struct.pack(">I", compute_crc32c(short[21:]))
    short = short[:8] + struct.pack(">i", 60 - 12) + short[12:17] + crc + short[21:]
    assert finder(tmp_path, short, bytes(60)).batch_at(0) is None


def test_wrong_batches_use_the_budget_up_and_sound_ones_do_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch_finder, "_BUDGET", 2 * len(LONG_2))
    found = finder(tmp_path, LONG_2[:-1] + b"?", LONG_2)
    for _ in range(3):
        assert found.batch_at(len(LONG_2)) == 0
    for given_up in (0, 0, 1, 2):
        assert found.batch_at(0) is None
        assert found.given_up == given_up
    found.give_up()
    found.give_up(4)
    assert found.given_up == 7
    found.begin_region()
    assert found.given_up == 0


@pytest.mark.parametrize(
    ("base_offset", "offset", "lowest"),
    [
        (0, 90, 0),
        (50, 90, 50),
        (0, 2**31 - 2, 0),
        (0, 2**31 - 1, 1),
        (50, 2**31 + 100, 102),
        (100, 90, 90),
        (90, 90, 90),
        (91, 90, 90),
    ],
)
def test_a_compressed_message_may_begin_a_segments_offsets_below(
    tmp_path: Path, base_offset: int, offset: int, lowest: int
) -> None:
    """It holds at most 2^31 - 1 messages, and its offset is that of the last one."""
    packed = build_message(None, b"?", magic=1, timestamp=T, codec=Codec.GZIP)
    found = finder(tmp_path, at(offset, packed), base_offset=base_offset)
    assert found.batch_at(0) == found.base_offset_at(0) == lowest
    for entry in (EMPTY_1, batch(0, codec=Codec.GZIP)):
        others = finder(tmp_path, at(offset, entry), base_offset=base_offset)
        assert others.batch_at(0) == others.base_offset_at(0) == offset


@pytest.mark.parametrize(
    ("base_offset", "highest"),
    [(0, 2**31 - 1), (5, 2**31 + 4), (2**63 - 2**31 - 1, 2**63 - 2), (2**63 - 9, 2**63 - 1)],
)
def test_offsets_of_a_segment_fit_into_its_index(
    tmp_path: Path, base_offset: int, highest: int
) -> None:
    assert finder(tmp_path, b"", base_offset=base_offset).highest_offset == highest


def test_a_chain_of_lengths_leads_to_borders_only(tmp_path: Path) -> None:
    entries = [batch(0), batch(3)[:-1] + b"?", batch(6)]
    found = finder(tmp_path, *entries)
    first, second, whole = (sum(map(len, entries[:count])) for count in (1, 2, 3))
    for target in (first, second, whole):
        assert found.chain_reaches(0, target)
        assert not found.chain_reaches(0, target - 1)
    assert found.chain_reaches(first, second)
    assert not found.chain_reaches(1, second)


STEP = len(batch(0, 1))


@pytest.mark.parametrize(
    ("index", "position", "following"),
    [
        ([1, 3, 5], 0, 1),
        ([1, 3, 5], 1, 3),
        ([1, 3, 5], 2, 3),
        ([1, 3, 5], 4, 5),
        ([1, 3, 5], 5, None),
        ([1, 3, 8], 5, None),
        ([0.5, 1.5, 2.5, 5], 0, 5),
        ([0.5, 1.5, 2.5, 3.5, 5], 0, None),
        ([3, 3, 3, 3, 4], 2, 3),
        (None, 0, None),
        ([], 0, None),
    ],
)
def test_the_index_names_a_later_sound_batch(
    tmp_path: Path, index: list[float] | None, position: int, following: int | None
) -> None:
    """Places are in batches; the stop is after seven, and four entries are tried."""
    assert len({len(batch(n, 1)) for n in range(9)}) == 1
    places = None if index is None else [int(each * STEP) for each in index]
    found = finder(tmp_path, *(batch(n, 1) for n in range(9)), index=places, stop=7 * STEP)
    assert found.indexed_after(position * STEP) == (None if following is None else following * STEP)


@pytest.mark.parametrize(
    ("start", "stop", "lowest", "highest", "is_found"),
    [
        pytest.param(0, 0, 7, 7, True, id="just_there"),
        pytest.param(10, 0, 7, 7, True, id="begins_there"),
        pytest.param(11, 0, 7, 7, False, id="begins_before"),
        pytest.param(0, -30, 7, 7, True, id="ends_there"),
        pytest.param(0, -31, 7, 7, False, id="ends_behind"),
        pytest.param(0, 0, 8, 9, False, id="offset_below"),
        pytest.param(0, 0, 0, 6, False, id="offset_above"),
        pytest.param(0, 0, 8, 6, False, id="no_offset_possible"),
        pytest.param(0, 0, 0, 2**63 - 1, True, id="any_offset"),
    ],
)
@pytest.mark.parametrize("entry", SOUND, ids=NAMES)
def test_a_search_has_bounds_of_bytes_and_offsets(
    tmp_path: Path, entry: bytes, start: int, stop: int, lowest: int, highest: int, is_found: bool
) -> None:
    """Ten bytes lie before the entry, and thirty behind; a stop counts from the end."""
    found = finder(tmp_path, b"?" * 10, at(7, entry), b"?" * 30)
    size = 40 + len(entry)
    assert found.search(start, size + stop, lowest, highest) == (10 if is_found else None)
    assert found.search(start, size + stop + (0 if stop else 999), lowest, highest) == (
        10 if is_found else None
    )
    assert found.given_up == 0


@pytest.mark.parametrize("skipped", [0, 1, 26])
def test_a_large_batch_is_found_by_reading_it_in_windows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, skipped: int
) -> None:
    """What counts as large is made small here."""
    monkeypatch.setattr(batch_finder, "LARGE", 1000)
    for large in (LONG_1, LONG_2):
        found = finder(tmp_path, b"?" * skipped, large, batch(5))
        assert found.search(0, 99_999, 0, 9) == skipped
        assert found.batch_at(skipped) == 0
        wrong = finder(tmp_path, b"?" * skipped, large[:-1] + b"?", batch(5))
        assert wrong.search(0, 99_999, 0, 9) == skipped + len(large)
        assert wrong.batch_at(skipped) is None


def test_a_search_over_a_hole_finds_what_lies_behind(tmp_path: Path) -> None:
    for size in (1 << 20, (1 << 20) + 1, (1 << 20) + 4096 + 30):
        path = write_segment(tmp_path / "t-0", [b""])
        with path.open("r+b") as file:
            file.seek(size)
            file.write(batch(5) + batch(8))
        content = path.stat().st_size
        (directory,) = discover([str(path.parent)]).partition_directories(ReadRequest())
        (segment,) = segments(directory)
        found = BatchFinder(segment, content, context=ReadContext())
        assert found.search(0, content, 0, 9) == size


def test_a_finder_can_be_closed_and_used_again(tmp_path: Path) -> None:
    found = finder(tmp_path, batch(0), batch(3))
    found.close()
    assert found.header_at(len(batch(0))) == batch(3)[:61]
    found.close()
    assert found.header_at(2 * len(batch(0)) - 20) == batch(3)[-20:]
