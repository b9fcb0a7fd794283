"""The search for sound batches, window by window, and the arithmetic of checksums under it."""

from __future__ import annotations

import struct
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
        message_registers=np.zeros(4 * (len(log) // 16 + 2), np.uint32),
        waiting=np.zeros(64 * (waiting + 1), np.int64),
        waiting_lists=np.zeros(16384, np.int64),
        marks=np.zeros(4096, np.uint8),
        positions=np.zeros(4112, np.int32),
        differences=np.zeros(4096, np.uint32),
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
    wrong = [PLAIN[:8] + (4000 - 61 * n).to_bytes(4, "big") + PLAIN[12:61] for n in range(40)]
    found = search(kernel, b"".join(wrong) + bytes(1800) + PLAIN, 200, waiting=1)
    assert found.given_up == 8  # one part of a list holds 32
    assert found.found == 61 * 40 + 1800


def test_who_reaches_farthest_goes_first(kernel) -> None:
    """Claims far away fill all the room; those that end nearer still get it."""
    far = [PLAIN[:8] + (900_000 - 61 * n).to_bytes(4, "big") + PLAIN[12:61] for n in range(40)]
    sound = build_message(None, b"v" * 300, offset=5, magic=0)
    found = search(kernel, b"".join(far) + sound + bytes(900_000), 200, waiting=2)
    assert (found.found, found.given_up) == (61 * 40, 40)


@pytest.mark.parametrize("behind", [0, 1, 7, 8, 15, 16, 17, 24, 31, 32, 33, 40])
@pytest.mark.parametrize("magic", [0, 1, 2])
def test_those_that_end_near_the_end_of_a_window_are_judged(
    kernel, magic: int, behind: int
) -> None:
    """Two dozen headers that claim all up to one place, the last of them a sound entry."""
    inner = PLAIN if magic == 2 else build_message(None, b"v" * 40, offset=7, magic=magic)
    size = (26, 34, 61)[magic]
    log = b""
    for number in range(24, 0, -1):
        length = size * number + len(inner) - 12
        header = PLAIN[:8] + length.to_bytes(4, "big")
        if magic == 2:
            header += PLAIN[12:61]
        else:
            header += b"crc?" + bytes([magic, 0]) + bytes(8 * magic) + b"\xff" * 4
            header += (length - 14 - 8 * magic).to_bytes(4, "big")
        log += header
    log += inner + b"\x7f" * behind
    for window in (len(log), len(log) - 1, 777, 300):
        assert search(kernel, log, window).found == 24 * size, window


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


def first_sound(log: bytes) -> int:
    """By trying every position, with the libraries alone."""
    for at in range(len(log) - 25):
        size = 12 + int.from_bytes(log[at + 8 : at + 12], "big", signed=True)
        is_batch = log[at + 16] == 2
        if log[at + 16] > 2 or not (61 if is_batch else 26) <= size <= len(log) - at:
            continue
        start, compute = (at + 21, crc32c.crc32c) if is_batch else (at + 16, zlib.crc32)
        field = at + 17 if is_batch else at + 12
        if compute(log[start : at + size]) == int.from_bytes(log[field : field + 4], "big"):
            return at
    return -1


def claims(random: Random, size: int) -> bytes:
    """Bytes in which much looks like a header; its offsets begin with four zeros."""
    reach = random.choice([100, 1000, 5000])
    parts = []
    while sum(map(len, parts)) < size:
        length = random.randrange(49, reach)
        batch = struct.pack(
            ">qiiBIhiqqqhii", 5, length, 0, 2, random.getrandbits(32), random.choice([0, 2, 8]),
            random.randrange(3), 0, 0, -1, -1, -1, random.randrange(3),
        )  # fmt: skip
        key = random.choice([-1, 0, length - 14, length - 22, random.randrange(length)])
        message = struct.pack(">qiIBB", 7, length, random.getrandbits(32), random.randrange(2), 0)
        parts.append(random.choice([
            batch, message + struct.pack(">ii", key, length - 14 - max(key, 0)),
            message + struct.pack(">qii", 0, key, length - 22 - max(key, 0)),
            random.choice([b"\0\3\0\0", b"\0\0\0\1\0\0\0\0\0\0"]) * 9, bytes(random.randrange(40)),
        ]))  # fmt: skip
    return b"".join(parts)


@pytest.mark.parametrize("seed", range(60))
def test_the_first_sound_one_is_found_among_claims(kernel, seed: int) -> None:
    random = Random(seed)
    log = bytearray(claims(random, random.choice([400, 3000])))
    for _ in range(random.randrange(4)):
        inside = claims(random, 200)
        large = build_message(None, inside + PLAIN + inside, offset=9, magic=random.randrange(2))
        at = random.randrange(len(log))
        log[at : at + random.choice([0, 30])] = random.choice([*ENTRIES, large])
    found = search(kernel, bytes(log), random.choice([61, 77, 256, 1000, 10_000]), waiting=999)
    assert (found.found, found.given_up) == (first_sound(log), 0)


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


@pytest.mark.parametrize(
    ("polynomial", "compute"), [(0x82F63B78, crc32c.crc32c), (0xEDB88320, zlib.crc32)]
)
@pytest.mark.parametrize("size", [511, 512, 513, 9_000, 100_000])
def test_a_bit_far_back_is_found(kernel, polynomial: int, compute, size: int) -> None:
    content = Random(size).randbytes(size)
    for at in (0, size // 3, size - 1):
        wrong = bytearray(content)
        wrong[at] ^= 0x10
        syndrome = compute(content) ^ compute(bytes(wrong))
        bits = 8 * (size - 1 - at) + 3  # bit 0 of a byte goes in first, bit 7 last
        assert kernel.crc_syndrome.bits_back(syndrome, polynomial, 8 * size) == bits
        assert kernel.crc_syndrome.bits_back(syndrome, polynomial, bits) == -1
        assert kernel.crc_syndrome.bits_back(syndrome, polynomial, 1 << 22) == bits
        assert kernel.crc_syndrome.bits_back(syndrome ^ 1, polynomial, bits + 1) != bits
