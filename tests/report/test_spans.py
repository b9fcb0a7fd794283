"""Lines of styled words are wrapped at the width of the terminal."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kafkalog_reader.report.spans import Span, Style, listed, offsets_text, plain, wrapped


@given(st.lists(st.text("ab-–", min_size=1, max_size=9), min_size=1), st.integers(20, 60))
def test_wrapping_loses_no_word_and_keeps_within_the_columns(words: list[str], room: int) -> None:
    beginning = (Span("name: "), Span("WORD", Style.LOST))
    lines = [plain(line) for line in wrapped(f" {' '.join(words)}", room, beginning=beginning)]
    assert " ".join(lines).split() == ["name:", "WORD", *words]
    assert max(map(len, lines)) <= room


def test_a_path_longer_than_a_line_stays_whole() -> None:
    path = "/mnt/" + "x" * 100
    assert path in [plain(line).strip() for line in wrapped(f"see {path} at 3", 40, indent=2)]


def test_a_style_survives_the_wrapping() -> None:
    first, *_ = wrapped(": " + "word " * 30, 40, beginning=(Span("FORKED", Style.LOST),))
    assert Span("FORKED", Style.LOST) in first


def test_offsets_are_inclusive_for_people() -> None:
    assert offsets_text(2, 3) == "offset 2"
    assert offsets_text(1000, 2001) == "offsets 1,000–2,000"


def test_lists_read_as_sentences() -> None:
    assert [listed("0"), listed("01"), listed("012")] == ["0", "0 and 1", "0, 1 and 2"]
