"""Batches after damage are found, and the damage itself becomes a value with a byte range."""

from __future__ import annotations

import logging
import struct
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from fixtures.builder.stored_batches import build_record_batch
from fixtures.builder.stored_messages import build_message, build_wrapper
from kafkalog_reader.errors import CorruptRecordError
from kafkalog_reader.format.batch_fields import CONTROL_BIT
from kafkalog_reader.format.compression import Codec
from kafkalog_reader.format.message_set import LegacyRecord
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.io.partition_directory import segments
from kafkalog_reader.io.read_context import ReadContext
from kafkalog_reader.scan import resynchronisation
from kafkalog_reader.scan.scan import Scan, ScanPolicy
from kafkalog_reader.scan.unreadable_region import UnreadableRegion
from kafkalog_reader.tables.request import ReadRequest
from tests.tables.logs import T, batch, offsets, rows, write_segment

if TYPE_CHECKING:
    from pathlib import Path

RANDOM = Random(4)
GARBAGE = RANDOM.randbytes(5000)
WRAPPED = [LegacyRecord(offset=n, timestamp=T, value=RANDOM.randbytes(9)) for n in (6, 7, 8)]
MIXED = [
    batch(0),
    build_message(b"k3", b"v3", offset=3, magic=0),
    build_message(b"k4", b"v4", offset=4, timestamp=T),
    batch(5, 1, codec=Codec.GZIP),
    build_wrapper(WRAPPED, codec=Codec.SNAPPY),
    batch(9, 2),
]
OFFSETS = [[0, 1, 2], [3], [4], [5], [6, 7, 8], [9, 10]]


def found_in(path: Path, **options: Any) -> tuple[list[int], list[UnreadableRegion]]:
    """Base offsets of sound batches, and the damaged regions."""
    (directory,) = discover([str(path.parent)]).partition_directories(ReadRequest())
    (segment,) = segments(directory)
    bases: list[int] = []
    regions: list[UnreadableRegion] = []
    for found in Scan(segment, ScanPolicy(**options), context=ReadContext()):
        if isinstance(found, UnreadableRegion):
            regions.append(found)
        else:
            bases += found.base_offset[found.crc_valid].tolist()
    return bases, regions


@pytest.mark.parametrize(
    "garbage",
    [
        pytest.param(bytes(1), id="a_zero"),
        pytest.param(bytes(4096), id="zeros"),
        pytest.param(GARBAGE, id="random"),
        pytest.param(b"\x01" * 300, id="ones"),
        pytest.param(b"\x02" * 300, id="twos"),
        pytest.param(batch(3)[:50], id="half_a_batch"),
        pytest.param(batch(3)[:16] + b"\x09" + batch(3)[17:], id="unknown_magic"),
        pytest.param(MIXED[1][:-3], id="half_a_message"),
        pytest.param(RANDOM.randbytes(300_000), id="more_than_a_window"),
    ],
)
def test_the_next_sound_batch_is_found(tmp_path: Path, garbage: bytes) -> None:
    path = write_segment(tmp_path / "t-0", [batch(0), garbage, batch(6), batch(9)])
    bases, (region,) = found_in(path)
    start = len(batch(0))
    assert bases == [0, 6, 9]
    assert (region.start, region.stop) == (start, start + len(garbage))
    assert (region.first_offset, region.next_offset, region.given_up) == (3, 6, 0)


@pytest.mark.parametrize("garbage", [bytes(4096), GARBAGE])
def test_a_scan_without_crcs_goes_on_after_damage_too(tmp_path: Path, garbage: bytes) -> None:
    path = write_segment(tmp_path / "t-0", [batch(0), garbage, batch(6)])
    assert found_in(path, check_crc=False)[0] == [0, 6]


@pytest.mark.parametrize("length", [0, 13, 48, -1, 2**31 - 1, 48 + 1, len(batch(3)) - 13])
def test_a_wrong_length_costs_its_batch_only(tmp_path: Path, length: int) -> None:
    lying = batch(3)[:8] + struct.pack(">i", length) + batch(3)[12:]
    path = write_segment(tmp_path / "t-0", [batch(0), lying, batch(6), batch(9)])
    assert found_in(path)[0] == [0, 6, 9]


@pytest.mark.parametrize("skipped", [1, 2, 3])
def test_batches_inside_of_a_wrong_length_come_out(tmp_path: Path, skipped: int) -> None:
    behind = [batch(6), batch(9), batch(12)]
    length = len(batch(3)) - 12 + sum(map(len, behind[:skipped]))
    lying = batch(3)[:8] + struct.pack(">i", length) + batch(3)[12:]
    path = write_segment(tmp_path / "t-0", [batch(0), lying, *behind])
    bases, (region,) = found_in(path)
    assert bases == [0, 6, 9, 12]
    assert (region.start, region.stop) == (len(batch(0)), len(batch(0)) + len(lying))


def test_two_wrong_crcs_in_a_row_hide_nothing_and_stay_batches(tmp_path: Path) -> None:
    wrong = [batch(3)[:-1] + b"?", batch(6)[:-1] + b"?"]
    path = write_segment(tmp_path / "t-0", [batch(0), *wrong, batch(9)])
    assert found_in(path) == ([0, 9], [])
    assert [row["crcValid"] for row in rows(path.parent, "batches")] == [True, False, False, True]


def test_batches_in_a_value_are_not_batches_of_the_log(tmp_path: Path) -> None:
    smuggled = build_message(None, batch(4, 1) + batch(5, 1), offset=3, magic=1)
    wrong = smuggled[:17] + bytes([smuggled[17] ^ 0x08]) + smuggled[18:]
    path = write_segment(tmp_path / "t-0", [batch(0), wrong, batch(4)])
    assert found_in(path)[0] == [0, 4]


def test_messages_in_a_wrapper_that_is_cut_are_not_taken_for_the_logs_own(tmp_path: Path) -> None:
    inner = [LegacyRecord(offset=9 + n, value=RANDOM.randbytes(40)) for n in range(20)]
    wrapper = build_wrapper(inner, codec=Codec.SNAPPY, base_offset=0, magic=1, offset=90)
    lying = wrapper[:8] + struct.pack(">i", 2**30) + wrapper[12:]
    path = write_segment(tmp_path / "t-0", [batch(0), lying, batch(91)])
    assert found_in(path)[0] == [0, 91]


def test_hostile_headers_are_judged_without_reading_them_again(tmp_path: Path) -> None:
    total = 600_000
    headers = [
        struct.pack(">qiiBIhiqqqhii", 5, total - 61 * n, 0, 2, n, 0, 0, 0, 0, -1, -1, -1, 0)
        for n in range(total // 61)
    ]
    nested = [struct.pack(">qiIBBii", 5, 26 * n - 12, 1, 0, 0, -1, 26 * n - 26)
              for n in range(9000, 0, -1)]  # fmt: skip
    path = write_segment(tmp_path / "t-0", [batch(0), *headers, *nested, batch(6), batch(9)])
    bases, regions = found_in(path)
    assert bases == [0, 6, 9]
    assert sum(region.given_up for region in regions) == 0


def test_a_region_is_an_error_or_a_warning_with_its_range(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = write_segment(tmp_path / "t-0", [batch(0), GARBAGE, batch(6)])
    with pytest.raises(CorruptRecordError) as caught:
        offsets(path.parent)
    assert (caught.value.where.position, caught.value.where.offset) == (len(batch(0)), 3)
    with caplog.at_level(logging.WARNING):
        assert offsets(path.parent, mode="PERMISSIVE") == [0, 1, 2, 6, 7, 8]
    assert "5,000 bytes are skipped, offset 6 follows at position" in caplog.text


def test_every_single_wrong_byte_costs_its_own_batch_at_most(tmp_path: Path) -> None:
    """No CRC covers the offset: see the last lines."""
    path = write_segment(tmp_path / "t-0", MIXED)
    sound = path.read_bytes()
    truth = {row["offset"]: (row["key"], row["value"]) for row in rows(path.parent)}
    starts = [sum(map(len, MIXED[:n])) for n in range(len(MIXED) + 1)]
    for position in range(len(sound)):
        number = sum(start <= position for start in starts) - 1
        inside = position - starts[number]
        for change in (0x01, 0x80, 0xFF):
            content = bytearray(sound)
            content[position] ^= change
            path.write_bytes(content)
            found = rows(path.parent, mode="DROPMALFORMED")
            contents = [(row["key"], row["value"]) for row in found]
            others = [truth[o] for n, each in enumerate(OFFSETS) for o in each if n != number]
            place = f"byte {inside} of entry {number}, {change:#x}"
            assert [c for c in contents if c in others] == others, place
            if inside >= 8:
                assert all(truth.get(row["offset"]) == c for row, c in
                           zip(found, contents, strict=True)), place  # fmt: skip
            else:  # a negative offset is refused, any other misnames sound records
                assert contents in (list(truth.values()), others), place


def at(offset: int, entry: bytes) -> bytes:
    """The entry with another offset, which no CRC covers."""
    return offset.to_bytes(8, "big", signed=True) + entry[8:]


def hiding(base_offset: int, inner: bytes) -> bytes:
    """A batch of three offsets whose CRC is wrong and whose length covers another one."""
    return build_record_batch(
        [], base_offset=base_offset, last_offset_delta=2, records_count=3, payload=inner, crc=1
    )


def torn(entry: bytes, length: int) -> bytes:
    """The first bytes of an entry that claims more than there are."""
    return (entry[:8] + struct.pack(">i", 1_000_000) + entry[12:])[:length]


@pytest.mark.parametrize(
    ("rest", "begins_batch", "records"),
    [
        pytest.param(torn(batch(3), 70), True, 3, id="batch"),
        pytest.param(torn(batch(3), 27), True, 3, id="up_to_the_last_offset_delta"),
        pytest.param(torn(batch(3), 26), True, 0, id="not_up_to_it"),
        pytest.param(torn(batch(3), 25), False, 0, id="too_short"),
        pytest.param(torn(batch(3, 1, flags=CONTROL_BIT), 70), True, 0, id="marker"),
        pytest.param(torn(batch(3, last_offset_delta=-9), 70), True, 0, id="negative_delta"),
        pytest.param(torn(build_message(b"k", b"v" * 9, offset=3), 40), True, 0, id="message"),
        pytest.param(torn(batch(2), 70), False, 0, id="offset_below_the_next"),
        pytest.param(torn(at(2**31 - 1, batch(3)), 70), True, 3, id="highest_offset"),
        pytest.param(torn(at(2**31, batch(3)), 70), False, 0, id="offset_above_the_highest"),
        pytest.param(bytes(70), False, 0, id="zeros"),
    ],
)
def test_a_region_says_what_its_first_bytes_begin(
    tmp_path: Path, rest: bytes, begins_batch: bool, records: int
) -> None:
    path = write_segment(tmp_path / "t-0", [batch(0), rest])
    bases, (region,) = found_in(path)
    assert bases == [0]
    assert (region.begins_batch, region.begun_records) == (begins_batch, records)
    assert (region.first_offset, region.next_offset, region.goes_on) == (3, None, False)


def test_zeros_at_the_start_begin_no_batch(tmp_path: Path) -> None:
    """Offset 0 may come first, but zeros are nobody's batch."""
    for content, begins in ((bytes(70), False), (torn(batch(0), 70), True)):
        _, (region,) = found_in(write_segment(tmp_path / "t-0", [content]))
        assert (region.begins_batch, region.first_offset) == (begins, None)


@pytest.mark.parametrize(
    ("hidden", "comes_out"), [(5, False), (6, True), (12, True), (19, True), (20, False)]
)
def test_only_offsets_between_its_neighbours_can_hide_in_a_batch(
    tmp_path: Path, hidden: int, comes_out: bool
) -> None:
    """The length of the wrong one leads to offset 20, and its own offsets are 3 to 5."""
    path = write_segment(tmp_path / "t-0", [batch(0), hiding(3, batch(hidden, 1)), batch(20)])
    bases, regions = found_in(path)
    assert bases == ([0, hidden, 20] if comes_out else [0, 20])
    assert len(regions) == comes_out


@pytest.mark.parametrize("offset", [9, 91])
def test_a_message_stored_in_a_damaged_wrapper_is_not_the_logs_own(
    tmp_path: Path, offset: int
) -> None:
    """Codecs store what they cannot compress. The wrapper's own offset is its last one, 90."""
    message = build_message(None, RANDOM.randbytes(40), offset=offset, timestamp=T)
    wrapper = build_message(None, message, offset=90, timestamp=T, codec=Codec.SNAPPY)
    lying = wrapper[:8] + struct.pack(">i", 2**30) + wrapper[12:]
    path = write_segment(tmp_path / "t-0", [batch(0), lying, batch(95)])
    assert found_in(path)[0] == ([0, 95] if offset < 91 else [0, 91, 95])


@pytest.mark.parametrize(("searches", "regions"), [(1, 2), (2, 3), (3, 3)])
def test_searches_after_ends_of_chains_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, searches: int, regions: int
) -> None:
    monkeypatch.setattr(resynchronisation, "MAX_SEARCHES", searches)
    garbage = GARBAGE[:100]
    entries = [batch(0), garbage, batch(3), garbage, batch(6), garbage, batch(9)]
    bases, found = found_in(write_segment(tmp_path / "t-0", entries))
    assert bases == [0, 3, 6, 9][: searches + 1]
    assert len(found) == regions
    assert [region.given_up for region in found] == [0] * searches + [1] * (searches < 3)
    assert [region.goes_on for region in found] == [True] * searches + [False] * (searches < 3)


@pytest.mark.parametrize(("searches", "shown"), [(1, [6]), (2, [6, 26]), (3, [6, 26, 46])])
def test_searches_behind_wrong_crcs_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, searches: int, shown: list[int]
) -> None:
    """Three wrong batches hide another one each; those beyond the limit stay hidden."""
    monkeypatch.setattr(resynchronisation, "MAX_SEARCHES", searches)
    entries = []
    for base in (0, 20, 40):
        entries += [batch(base), hiding(base + 3, batch(base + 6, 1))]
    bases, _ = found_in(write_segment(tmp_path / "t-0", [*entries, batch(60)]))
    assert [base for base in bases if base % 20 == 6] == shown
    assert [base for base in bases if base % 20 == 0] == [0, 20, 40, 60]


@pytest.mark.parametrize("wrong", [1, 2])
def test_a_wrong_crc_whose_offsets_lead_on_needs_no_search(
    wrong: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resynchronisation, "MAX_SEARCHES", 1)
    flipped = [batch(3 * n)[:-1] + b"?" for n in range(1, wrong + 1)]
    behind = [batch(3 * wrong + 3), hiding(15, batch(18, 1)), batch(40)]
    bases, _ = found_in(write_segment(tmp_path / "t-0", [batch(0), *flipped, *behind]))
    assert bases == [0, 3 * wrong + 3, 18, 40]


def test_a_batch_of_another_magic_is_stepped_over(tmp_path: Path) -> None:
    """Its length leads to a sound batch, so that nothing inside of it is taken for one."""
    inner = batch(6, 1)
    foreign = bytearray(hiding(3, inner))
    foreign[16] = 9
    path = write_segment(tmp_path / "t-0", [batch(0), bytes(foreign), batch(20)])
    bases, (region,) = found_in(path)
    assert bases == [0, 20]
    assert (region.start, region.size_in_bytes) == (len(batch(0)), len(foreign))
    foreign[11] += 1  # the length leads behind the next batch's first byte
    path = write_segment(tmp_path / "t-0", [batch(0), bytes(foreign), batch(20)])
    assert found_in(path)[0] == [0, 6, 20]
