"""inspect and dump name an offset index with entries of 12 bytes (KIP-1333)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.io.wide_indexes import EVERYTHING, widened

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Run

INDEX = f"broker-0/codec-none-0/{24:020}.index"


def test_inspect_shows_a_wide_entry(tmp_path: Path, run: Run) -> None:
    shown = run("inspect", widened(tmp_path / "wide") / INDEX, "--position", "12")
    assert "12-byte (KIP-1333) offset index entry 1" in shown.out
    assert "offset 41" in shown.out


def test_dump_shows_the_entries_and_says_how_wide_they_are(tmp_path: Path, run: Run) -> None:
    index = widened(tmp_path / "wide") / INDEX
    for options in ((), ("--index-sanity-check",)):
        dumped = run("dump", "--files", index, *options)
        expected = run("dump", "--files", EVERYTHING / INDEX, *options).out
        assert dumped.out == expected.replace(str(EVERYTHING), str(tmp_path / "wide"))
        assert "12 bytes (KIP-1333)" in dumped.err
