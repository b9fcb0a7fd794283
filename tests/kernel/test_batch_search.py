"""The search for sound batches, window by window, and the arithmetic of checksums under it."""

from __future__ import annotations

import zlib
from random import Random
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
        registers=np.zeros(len(log) // 16 + 2, np.uint32),
        message_registers=np.zeros(len(log) // 16 + 2, np.uint32),
        waiting=np.zeros(64 * waiting, np.int64),
        waiting_lists=np.zeros(16384, np.int64),
        marks=np.zeros(4096, np.uint8),
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
    wrong = [PLAIN[:8] + (3000 - 61 * n).to_bytes(4, "big") + PLAIN[12:61] for n in range(30)]
    found = search(kernel, b"".join(wrong) + bytes(1400) + PLAIN, 200, waiting=1)
    assert found.given_up == 10  # one part of a list holds 20
    assert found.found == 61 * 30 + 1400


def test_who_reaches_farthest_goes_first(kernel) -> None:
    """Claims far away fill all the room; those that end nearer still get it."""
    far = [PLAIN[:8] + (900_000 - 61 * n).to_bytes(4, "big") + PLAIN[12:61] for n in range(40)]
    sound = build_message(None, b"v" * 300, offset=5, magic=0)
    found = search(kernel, b"".join(far) + sound + bytes(900_000), 200, waiting=2)
    assert (found.found, found.given_up) == (61 * 40, 40)


@pytest.mark.parametrize("seed", range(8))
def test_no_mark_is_missed(kernel, seed: int) -> None:
    """Entries at every distance, and what looks like one, in a log full of marks."""
    random = Random(seed)
    for before in range(0, 300, 7):
        filler = random.choice([b"\0", b"\1", b"\2", b"\0\3\0\0", b"\0\0\0\0\1"])
        rubbish = (filler * 500)[: before + random.randrange(3)]
        for entry in ENTRIES:
            log = rubbish + entry + filler * random.randrange(90)
            assert search(kernel, log, random.randrange(61, 5000)).found == len(rubbish)


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
