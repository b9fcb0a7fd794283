"""Lines and integers of small text files, as java.io.BufferedReader and Integer.parseInt."""

from __future__ import annotations

import pytest

from kafkalog_reader.errors import CorruptCheckpointError, LogPosition
from kafkalog_reader.format.text_lines import (
    INT32,
    INT64,
    MAX_LINE_LENGTH,
    TextLine,
    excerpt,
    text_lines,
)

WHERE = LogPosition("file", 100)
LINE = TextLine(text=b"7", number=3, where=WHERE)


@pytest.mark.parametrize(
    ("content", "lines"),
    [
        pytest.param(b"", [], id="nothing"),
        pytest.param(b"a", [(b"a", 100)], id="no_terminator"),
        pytest.param(b"a\nb\n", [(b"a", 100), (b"b", 102)], id="unix"),
        pytest.param(b"a\r\nb\r\n", [(b"a", 100), (b"b", 103)], id="windows"),
        pytest.param(b"a\rb\r", [(b"a", 100), (b"b", 102)], id="old_mac"),
        pytest.param(b"\n\nc", [(b"", 100), (b"", 101), (b"c", 102)], id="empty_lines"),
        pytest.param(b"a\n\rb", [(b"a", 100), (b"", 102), (b"b", 103)], id="two_terminators"),
        pytest.param(b"a\x0b\x0c\x85b", [(b"a\x0b\x0c\x85b", 100)], id="no_other_terminator"),
    ],
)
def test_lines_have_numbers_and_positions(content: bytes, lines: list[tuple[bytes, int]]) -> None:
    found = list(text_lines(content, WHERE))
    assert [(line.text, line.where.position) for line in found] == lines
    assert [line.number for line in found] == list(range(1, len(lines) + 1))


def test_position_counts_from_0_if_the_file_has_none() -> None:
    assert [line.where for line in text_lines(b"a\nb", LogPosition("file", None, 7))] == [
        LogPosition("file", 0, 7), LogPosition("file", 2, 7),
    ]  # fmt: skip


@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n"])
def test_longest_line_is_read_and_a_longer_one_refused(end: bytes) -> None:
    longest = b"x" * MAX_LINE_LENGTH
    assert [line.text for line in text_lines(b"a\n" + longest + end, WHERE)] == [b"a", longest]
    lines = text_lines(b"a\n" + longest + b"x" + end, WHERE)
    assert next(lines).text == b"a"
    with pytest.raises(
        CorruptCheckpointError, match="line 2: longer than 1024 bytes, begins with 'x"
    ) as caught:
        next(lines)
    assert caught.value.where == LogPosition("file", 102)
    assert len(caught.value.problem) < 100, "a hostile line is shortened"


@pytest.mark.parametrize(
    ("field", "value"),
    [(b"0", 0), (b"9", 9), (b"-3", -3), (b"+4", 4), (b"007", 7)],
)
def test_integers_are_read_as_java_reads_them(field: bytes, value: int) -> None:
    assert LINE.integer(field, "count", range(-3, 10)) == value


@pytest.mark.parametrize(
    ("field", "problem"),
    [
        (b"10", "count 10 is outside -3..9"),
        (b"-4", "count -4 is outside -3..9"),
        (b"", "expected an integer as count, found ''"),
        (b"1 ", "expected an integer as count, found '1 '"),
        (b"--1", "expected an integer as count, found '--1'"),
        (b"1_0", "expected an integer as count, found '1_0'"),
        (b"0x1", "expected an integer as count, found '0x1'"),
        ("٣".encode(), r"expected an integer as count, found '\xd9\xa3'"),
        (b"1" * 21, f"expected an integer as count, found '{'1' * 21}'"),
        (b"1" * 20, f"count {'1' * 20} is outside -3..9"),
    ],
)
def test_other_fields_are_refused_with_their_line(field: bytes, problem: str) -> None:
    with pytest.raises(CorruptCheckpointError) as caught:
        LINE.integer(field, "count", range(-3, 10))
    assert (caught.value.problem, caught.value.where) == (f"line 3: {problem}", WHERE)


def test_ranges_are_those_of_java() -> None:
    assert (INT32[0], INT32[-1]) == (-2147483648, 2147483647)
    assert (INT64[0], INT64[-1]) == (-9223372036854775808, 9223372036854775807)


def test_excerpt_is_escaped_and_shortened() -> None:
    assert excerpt(b"\x1b[2J") == r"'\x1b[2J'"
    assert excerpt(b"x" * 60) == f"'{'x' * 60}'"
    assert excerpt(b"x" * 61) == f"'{'x' * 60}'... (61 bytes)"


def test_a_page_of_zeros_is_counted_instead_of_quoted() -> None:
    """What ext4 and XFS leave of a file that was not flushed before a crash."""
    with pytest.raises(CorruptCheckpointError, match=r"begins with 50 zero bytes$"):
        next(text_lines(bytes(4096), WHERE))
    assert excerpt(b"\x00") == "1 zero byte"
    assert excerpt(b"\x00a") == r"'\x00a'"
