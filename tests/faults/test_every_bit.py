"""A part of `make faults-long`: the first offset, a header, a few record bytes and two indexes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fixtures.faults.sample import Base
from tests.faults.every_bit import every_bit, flipped, harmful

if TYPE_CHECKING:
    from pathlib import Path

ZSTD = Base("4.4.0", "everything/stopped", "codec-zstd-0")
MESSAGES = Base("0.10.2.2", "release_0.10.2.2/stopped", "java-none-0")
WRAPPERS = Base("0.8.2.2", "release_0.8.2.2/stopped", "java-gzip-0")
"""Inner offsets are absolute, so that the wrapper's fields may be wrong and the records right."""


@pytest.mark.parametrize(
    ("base", "size"), [(ZSTD, 64), (MESSAGES, 40), (WRAPPERS, 8)], ids=lambda each: str(each)
)
def test_every_flipped_bit_of_a_header_is_found_and_shows_no_wrong_record(
    base: Base, size: int, tmp_path: Path
) -> None:
    sample = base.copied(tmp_path)
    second = sample.closed.entries[1].position
    bits = [*every_bit(8), *((second + position, bit) for position, bit in every_bit(size))]
    result = flipped(sample, sample.closed.file(), bits)
    assert (result.silent, result.wrong) == ([], [])


@pytest.mark.parametrize("kind", ["index", "timeindex"])
def test_a_flipped_bit_of_an_index_is_found_or_leads_to_the_right_batch(
    kind: str, tmp_path: Path
) -> None:
    sample = ZSTD.copied(tmp_path)
    name = sample.closed.file(kind)
    result = flipped(sample, name, every_bit(sample.path(name).stat().st_size))
    assert harmful(sample, name, result.silent) == []
