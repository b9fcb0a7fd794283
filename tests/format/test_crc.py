"""Checksums against the vectors of the format reference 14.2 and independent libraries."""

from __future__ import annotations

import crc32c
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalog_reader.format.crc import compute_crc32c
from kafkalog_reader.format.xxhash32 import compute_xxhash32


@pytest.mark.parametrize(
    ("content", "crc"), [(b"123456789", 0xE3069283), (bytes(4), 0x48674BC7), (b"", 0)]
)
def test_crc32c_reference_vector(content: bytes, crc: int) -> None:
    assert compute_crc32c(content) == crc


@given(content=st.binary())
def test_portable_crc_equals_the_fast_library(content: bytes) -> None:
    assert compute_crc32c(content) == crc32c.crc32c(content)


@pytest.mark.parametrize(
    ("content", "checksum"), [("6040", 0x82), ("04224d186040", 0x1A)], ids=["correct", "magic_0"]
)
def test_lz4_header_checksum_reference_vector(content: str, checksum: int) -> None:
    assert compute_xxhash32(bytes.fromhex(content)) >> 8 & 0xFF == checksum


@pytest.mark.parametrize(
    ("content", "value"),
    [  # from the xxHash project's own test vectors, seed 0
        (b"", 0x02CC5D05),
        (b"a", 0x550D7456),
        (b"abc", 0x32D153FF),
        (b"Nobody inspects the spammish repetition", 0xE2293B2F),
    ],
)
def test_xxhash32_published_vector(content: bytes, value: int) -> None:
    assert compute_xxhash32(content) == value
