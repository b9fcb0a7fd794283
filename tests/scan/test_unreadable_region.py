"""A region without batches: its place, whether it is damage, and its text."""

from __future__ import annotations

from typing import Any

import pytest

from kafkalog_reader.scan.scan_end import ScanEnd
from kafkalog_reader.scan.unreadable_region import UnreadableRegion


def region(**fields: Any) -> UnreadableRegion:
    given: dict[str, Any] = {
        "file": "t-0/0.log", "start": 100, "stop": 300, "first_offset": 7, "next_offset": None,
        "end": ScanEnd.COMPLETE, "problem": "the checksum is wrong",
    } | fields  # fmt: skip
    return UnreadableRegion(**given)


def test_its_place_is_its_first_byte() -> None:
    assert region().size_in_bytes == 200
    where = region().where
    assert (where.file, where.position, where.offset) == ("t-0/0.log", 100, 7)


def test_a_region_without_bytes_has_no_position() -> None:
    assert region(stop=100).where.position is None
    assert region(stop=101).where.position == 100


@pytest.mark.parametrize("end", ScanEnd)
@pytest.mark.parametrize("following", [None, 0, 9])
def test_only_a_torn_or_zeroed_end_is_unfinished(end: ScanEnd, following: int | None) -> None:
    found = region(end=end, next_offset=following)
    assert found.ends_log is (following is None)
    is_crash = end in (ScanEnd.TORN, ScanEnd.ZEROS) and following is None
    assert found.is_unfinished is is_crash


def test_the_text_says_how_far_it_reaches() -> None:
    assert region().description == "the checksum is wrong"
    assert region(goes_on=True, stop=1_300, next_offset=9).description == (
        "the checksum is wrong; 1,200 bytes are skipped, offset 9 follows at position 1300"
    )
    assert region(given_up=1_000).description == (
        "the checksum is wrong; 1,000 places were not searched to their end"
    )
