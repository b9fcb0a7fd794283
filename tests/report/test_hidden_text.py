"""What is said of records that an answer lacks."""

from __future__ import annotations

from typing import Final

import pytest

from kafkalog_reader.errors import CorruptRecordError, LogPosition
from kafkalog_reader.report.hidden_text import MAX_SENTENCES, hidden_lines, hidden_sentences
from kafkalog_reader.scan.hidden_records import HiddenRecords

LOG: Final = "00000000000000000000.log"


def noted(count: int) -> HiddenRecords:
    hidden = HiddenRecords()
    for offset in range(0, 10 * count, 10):
        where = LogPosition(f"b/t-0/{LOG}", offset, offset)
        hidden.add(CorruptRecordError("bad", where), offset + 2)
    return hidden


def test_sentences_say_what_is_known_of_the_offsets() -> None:
    hidden = HiddenRecords()
    for position, (first, following) in enumerate([(None, None), (3, None), (5, 5), (7, 8)]):
        where = LogPosition(f"b/t-0/{LOG}", position, first)
        hidden.add(CorruptRecordError("bad", where), following)
    assert [text.partition(" unreadable")[0] for text in hidden_sentences(hidden)] == [
        "part of t-0 is",
        "offsets from 3 on of t-0 are",
        "bytes at offset 5 of t-0 are",
        "offset 7 of t-0 is",
    ]


@pytest.mark.parametrize(("count", "left_out", "more"), [(5, 0, ""), (8, 0, "3"), (5, 2, "2")])
def test_many_ranges_are_counted(count: int, left_out: int, more: str) -> None:
    hidden = noted(count)
    hidden.left_out = left_out
    lines = [*hidden_lines(hidden)]
    assert lines[:MAX_SENTENCES] == hidden_sentences(hidden)[:MAX_SENTENCES]
    assert [line.split()[0] for line in lines[MAX_SENTENCES:]] == ([more] if more else [])
