"""The CRC-32C of a batch that is read a window at a time."""

from __future__ import annotations

import random

import crc32c
import pytest

from kafkalog_reader.scan.large_batch import extended_crc32c


@pytest.mark.parametrize("seed", range(200))
def test_windows_of_any_size_give_the_checksum_of_the_whole(seed: int) -> None:
    chance = random.Random(seed)
    content = chance.randbytes(chance.choice([0, 1, 3, 4, 5, 40, 5000]))
    computed = at = 0
    while at < len(content):
        stop = at + chance.choice([1, 2, 3, 4, 5, 17, 1000])
        computed = extended_crc32c(memoryview(bytearray(content[at:stop])), computed)
        at = stop
    assert computed == crc32c.crc32c(content)
