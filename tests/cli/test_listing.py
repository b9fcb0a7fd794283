"""Aligned lines that fit the screen."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from kafkalog_reader.cli.listing import Heading, listing, screen_width

if TYPE_CHECKING:
    import pytest

NAME = Heading(name="name", text="NAME", short="N", left=True)
COUNT = Heading(name="count", text="COUNT", short="CNT")
FIRST = Heading(name="first", text="FIRST OUT", short="FIRST", dispensable=2)
SECOND = Heading(name="second", text="SECOND OUT", short="SECOND", dispensable=1)
STATE = Heading(name="state", text="STATE", short="STATE", left=True, is_remark=True)
HEADINGS = (NAME, FIRST, COUNT, SECOND, STATE)
ROWS = [
    {"name": "orders", "count": "1", "first": "7", "second": "9", "state": "torn"},
    {"name": "x", "count": "1,000", "first": "8", "second": "10", "state": ""},
]
WIDE = [
    "NAME     FIRST OUT   COUNT   SECOND OUT   STATE",
    "orders           7       1            9   torn",
    "x                8   1,000           10",
]


def test_everything_is_shown_in_a_pipe() -> None:
    assert list(listing(HEADINGS, ROWS, None)) == WIDE


def test_screen_of_exactly_the_width_is_wide_enough() -> None:
    assert list(listing(HEADINGS, ROWS, 47)) == WIDE
    assert list(listing(HEADINGS, ROWS, 46)) != WIDE


def test_first_headings_are_shortened_and_remarks_moved_below() -> None:
    assert list(listing(HEADINGS, ROWS, 46)) == [
        "N       FIRST    CNT  SECOND",
        "orders      7      1       9",
        "    torn",
        "x           8  1,000      10",
    ]


def test_that_is_kept_while_it_fits() -> None:
    assert "FIRST" in next(listing(HEADINGS, ROWS, 28))
    assert "FIRST" not in next(listing(HEADINGS, ROWS, 27))


def test_columns_are_left_out_in_order_and_named() -> None:
    assert list(listing(HEADINGS, ROWS, 21)) == [
        "N         CNT  SECOND",
        "orders      1       9",
        "    torn",
        "x       1,000      10",
        "Left out at 21 columns: FIRST OUT.",
    ]
    narrowest = list(listing(HEADINGS, ROWS, 1))
    assert narrowest[0] == "N         CNT", "these are always shown"
    assert narrowest[-1] == "Left out at 1 columns: FIRST OUT, SECOND OUT."


def test_wide_characters_count_twice() -> None:
    rows = [ROWS[0] | {"name": "群"}, ROWS[0] | {"name": "ab"}]
    lines = list(listing((NAME, COUNT), rows, None))
    assert lines[1] == "群         1"
    assert lines[2] == "ab         1"


def test_only_a_terminal_has_a_width(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "77")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    assert screen_width() == 77
    monkeypatch.setattr(sys.stdout, "isatty", lambda: False, raising=False)
    assert screen_width() is None
