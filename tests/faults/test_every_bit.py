"""Every single bit of a small segment and its time index, flipped one after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.faults.test_faults import Base, copied, found_in

if TYPE_CHECKING:
    from pathlib import Path

LAST = "00000000000000000048"
BYTES = 100
"""The whole header of the first batch and records of it; bytes behind are covered like these."""


def undetected(tmp_path: Path, name: str, length: int) -> list[tuple[int, int]]:
    """Byte and bit of every flip that leaves nothing above information."""
    directory = copied(Base("stopped", "codec-zstd"), tmp_path)
    path = directory / name
    sound = path.read_bytes()
    silent = []
    for position in range(min(length, len(sound))):
        for bit in range(8):
            content = bytearray(sound)
            content[position] ^= 1 << bit
            path.write_bytes(content)
            if not any(each.severity in "CHML" for each in found_in(tmp_path)):
                silent.append((position, bit))
    path.write_bytes(sound)
    return silent


def test_every_flipped_bit_of_a_segment_is_found(tmp_path: Path) -> None:
    assert undetected(tmp_path, f"{LAST}.log", BYTES) == []


def test_a_flipped_bit_of_a_time_index_is_found_or_leads_nowhere_wrong(tmp_path: Path) -> None:
    # Of the entry's offset (its last four bytes) those bits are harmless that leave it inside the
    # last batch: a search by time begins at the same batch.
    silent = undetected(tmp_path, f"{LAST}.timeindex", 12)
    assert all(position >= 8 for position, _ in silent), silent
