from __future__ import annotations

import pytest

from kafkalog_reader.cli.printable import for_stdout, grouped, is_unicode, plural, size, width


@pytest.mark.parametrize(
    ("size_in_bytes", "text"),
    [
        (0, "0 B"), (345, "345 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (1536, "1.5 KiB"),
        (1024**2 - 1, "1.0 MiB"), (1024**2, "1.0 MiB"), (40_909_563_494, "38.1 GiB"),
        (5 * 1024**5, "5,120.0 TiB"),
    ],
)  # fmt: skip
def test_size_has_the_unit_that_people_would_choose(size_in_bytes: int, text: str) -> None:
    assert size(size_in_bytes) == text


def test_numbers_are_grouped_and_nouns_counted() -> None:
    assert grouped(1048203) == "1,048,203"
    assert [plural(n, "row") for n in (0, 1, 1204)] == ["0 rows", "1 row", "1,204 rows"]
    assert plural(2, "batch") == "2 batches"


@pytest.mark.parametrize(("text", "columns"), [("abc", 3), ("漢字", 4), ("e\u0301", 1), ("–", 1)])
def test_width_is_that_of_the_terminal(text: str, columns: int) -> None:
    assert width(text) == columns


@pytest.mark.parametrize(
    ("encoding", "unicode"), [("utf-8", True), ("UTF8", True), ("ascii", False), (None, False)]
)
def test_only_utf_encodings_show_everything(encoding: str | None, unicode: bool) -> None:
    assert is_unicode(encoding) is unicode


def test_signs_have_ascii_twins_where_they_must(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "C")
    assert for_stdout("2–5 → é 😀") == "2-5 -> \\u00e9 \\U0001f600"
    monkeypatch.delenv("LC_ALL")
    assert for_stdout("2-5") == "2-5"
