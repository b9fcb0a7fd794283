"""The search for sound batches, window by window, and the arithmetic of checksums under it."""

from __future__ import annotations

import zlib
from types import SimpleNamespace

import crc32c
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafkalog_reader.format.message import build_message
from tests.format.vectors import PLAIN, TRANSACTIONAL

MESSAGE = build_message(b"k", b"v" * 50, offset=2**20, magic=1)
ENTRIES = [PLAIN, TRANSACTIONAL, MESSAGE]


def search(kernel, log: bytes, window: int, *, waiting: int = 64):
    """Feed ``log`` in windows, as long as the search wants more."""
    room = SimpleNamespace(
        registers=np.zeros(len(log) // 16 + 2, np.int64),
        message_registers=np.zeros(len(log) // 16 + 2, np.int64),
        waiting_position=np.zeros(waiting, np.int64),
        waiting_end=np.zeros(waiting, np.int64),
        waiting_register=np.zeros(waiting, np.int64),
        waiting_next=np.zeros(waiting, np.int64),
        waiting_lists=np.zeros(4096, np.int64),
    )
    found = kernel.batch_search.BatchSearch(room, len(log), 0, 2**31, 1 << 20)
    position = 0
    while position >= 0:
        position = found.feed(log[position : position + window], position)
    return found


@pytest.mark.parametrize("entry", ENTRIES)
@pytest.mark.parametrize("window", [61, 64, 70, 128, 10_000])
@pytest.mark.parametrize("before", [0, 1, 59, 64, 200])
def test_an_entry_is_found_wherever_windows_cut_it(kernel, entry, window: int, before: int) -> None:
    log = b"\x7f" * before + entry + b"\x7f" * 30
    found = search(kernel, log, window)
    assert (found.found, found.given_up) == (before, 0)


def test_an_entry_with_a_wrong_crc_is_passed_over(kernel) -> None:
    for entry in ENTRIES:
        log = entry[:-1] + bytes([entry[-1] ^ 1]) + PLAIN
        assert search(kernel, log, 100).found == len(entry)


def test_the_outer_one_of_nested_entries_is_found(kernel) -> None:
    outer = build_message(None, PLAIN * 3, offset=5, magic=0)
    assert search(kernel, b"\x7f" * 9 + outer, 80).found == 9
    assert search(kernel, b"\x7f" * 9 + outer[:-1] + b"?", 80).found > 9


def test_what_finds_no_room_to_wait_is_counted(kernel) -> None:
    wrong = [PLAIN[:8] + (900 - 61 * n).to_bytes(4, "big") + PLAIN[12:61] for n in range(9)]
    found = search(kernel, b"".join(wrong) + bytes(400) + PLAIN, 200, waiting=4)
    assert found.given_up > 0
    assert found.found == 61 * 9 + 400


@settings(deadline=None)
@given(log=st.binary(max_size=400), window=st.integers(61, 400))
def test_any_bytes_are_searched_without_leaving_them(kernel, log: bytes, window: int) -> None:
    assert -1 <= search(kernel, log, window).found < max(len(log), 1)


@settings(deadline=None)
@given(content=st.binary(max_size=1000))
def test_crc_32_is_that_of_zlib(kernel, content: bytes) -> None:
    assert kernel.record_batches.checksum_of_messages(content) == zlib.crc32(content)


def test_a_syndrome_leads_back_to_its_bit(kernel) -> None:
    content = bytearray(PLAIN)
    computed = crc32c.crc32c(bytes(content))
    for bits_behind in (0, 1, 7, 8, 100):
        byte, bit = divmod(bits_behind, 8)
        content[-1 - byte] ^= 0x80 >> bit
        syndrome = computed ^ crc32c.crc32c(bytes(content))
        content[-1 - byte] ^= 0x80 >> bit
        found = kernel.crc_syndrome.bits_back(syndrome, 0x82F63B78, 8 * len(content))
        assert found == bits_behind
