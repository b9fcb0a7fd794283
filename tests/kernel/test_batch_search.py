"""The search for sound batches, window by window, and its checksum arithmetic."""

from __future__ import annotations

import struct
import zlib
from random import Random
from typing import TYPE_CHECKING, Any

import crc32c
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fixtures.builder.stored_messages import build_message
from tests.format.vectors import PLAIN, TRANSACTIONAL

if TYPE_CHECKING:
    from types import SimpleNamespace

MESSAGE = build_message(b"k", b"v" * 50, offset=2**20, magic=1)
ENTRIES = [PLAIN, TRANSACTIONAL, MESSAGE]


def search(kernel: SimpleNamespace, log: bytes, window: int, *, budget: int = 1 << 20) -> Any:
    """Feed ``log`` in windows until the search needs no more."""
    found = kernel.batch_search.BatchSearch(len(log), 0, 2**31, 1 << 20, budget)
    position = 0
    while position >= 0:
        wanted = max(window, found.wanted)
        position = found.feed(log[position : position + wanted], position)
    return found


@pytest.mark.parametrize("entry", ENTRIES)
@pytest.mark.parametrize("window", [61, 64, 70, 128, 10_000])
@pytest.mark.parametrize("before", [0, 1, 59, 64, 200])
def test_an_entry_is_found_wherever_windows_cut_it(
    kernel: SimpleNamespace, entry: bytes, window: int, before: int
) -> None:
    log = b"\x7f" * before + entry + b"\x7f" * 30
    found = search(kernel, log, window)
    assert (found.found, found.given_up) == (before, 0)


def test_an_entry_with_a_wrong_crc_is_passed_over(kernel: SimpleNamespace) -> None:
    for entry in ENTRIES:
        log = entry[:-1] + bytes([entry[-1] ^ 1]) + PLAIN
        assert search(kernel, log, 100).found == len(entry)


def test_the_outer_one_of_nested_entries_is_found(kernel: SimpleNamespace) -> None:
    outer = build_message(None, PLAIN * 3, offset=5, magic=0)
    assert search(kernel, b"\x7f" * 9 + outer, 80).found == 9
    assert search(kernel, b"\x7f" * 9 + outer[:-1] + b"?", 80).found > 9


def lying(size: int, *, number: int) -> bytes:
    """The header of PLAIN with a length of ``size`` bytes; ``number`` makes its CRC wrong."""
    return (
        PLAIN[:8] + (size - 12).to_bytes(4, "big") + PLAIN[12:17] + bytes([number]) + PLAIN[18:61]
    )


def test_what_the_budget_does_not_allow_is_counted_and_the_search_goes_on(
    kernel: SimpleNamespace,
) -> None:
    claims = b"".join(lying(9000 - 61 * number, number=number) for number in range(40))
    log = claims + bytes(9000) + PLAIN
    enough = search(kernel, log, 20_000, budget=40 * 9300)
    assert (enough.found, enough.given_up) == (len(log) - len(PLAIN), 0)
    scarce = search(kernel, log, 20_000, budget=18_551)
    assert scarce.found == -1  # the budget was spent in that window
    assert scarce.given_up == 39
    scarce = search(kernel, log, 300, budget=100_000)
    assert scarce.found == len(log) - len(PLAIN)  # the bytes in between allowed it
    assert 0 < scarce.given_up < 40


def test_no_search_does_more_work_than_its_budget(kernel: SimpleNamespace) -> None:
    """Each of 300 headers claims 128 KiB, which would be 40 MB together."""
    log = b"".join(lying(1 << 17, number=number % 256) for number in range(300)) + bytes(1 << 17)
    fed = 0
    found = kernel.batch_search.BatchSearch(len(log), 0, 2**31, 1 << 20, 1 << 20)
    position = 0
    while position >= 0:
        window = log[position : position + max(1 << 17, found.wanted)]
        fed += len(window)
        position = found.feed(window, position)
    assert found.found == -1
    assert found.given_up > 250
    assert fed < (1 << 20) + 9 * len(log)


def test_no_batch_is_larger_than_allowed(kernel: SimpleNamespace) -> None:
    sound = build_message(None, b"v" * 3000, offset=5, magic=0)
    found = kernel.batch_search.BatchSearch(len(sound), 0, 2**31, len(sound), 1 << 20)
    assert found.feed(sound, 0) == -1
    assert found.found == 0
    found = kernel.batch_search.BatchSearch(len(sound), 0, 2**31, len(sound) - 1, 1 << 20)
    assert found.feed(sound, 0) == -1
    assert (found.found, found.given_up) == (-1, 0)


@pytest.mark.parametrize(
    ("lowest", "highest"),
    [
        (0, 2**31),
        (2**32 - 5, 2**32 + 5),
        (2**40 - 3, 2**40 + 9),
        (2**62, 2**63 - 1),
        (5, 2**63 - 1),
    ],
)
def test_only_offsets_within_the_limits_are_found(
    kernel: SimpleNamespace, lowest: int, highest: int
) -> None:
    for offset in (lowest - 1, lowest, (lowest + highest) // 2, highest, highest + 1):
        if not 0 <= offset < 2**63:
            continue
        for before in range(9):
            log = b"\x7f" * before + build_message(None, b"v" * 30, offset=offset, magic=0)
            found = kernel.batch_search.BatchSearch(len(log), lowest, highest, 1 << 20, 1 << 20)
            assert found.feed(log, 0) == -1
            assert found.found == (before if lowest <= offset <= highest else -1)


@pytest.mark.parametrize("behind", [0, 1, 7, 8, 15, 16, 17, 24, 31, 32, 33, 40])
@pytest.mark.parametrize("magic", [0, 1, 2])
def test_those_that_end_near_the_end_of_a_window_are_judged(
    kernel: SimpleNamespace, magic: int, behind: int
) -> None:
    """Two dozen headers claim lengths up to the same end; the last one is a sound entry."""
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
def test_no_mark_is_missed(kernel: SimpleNamespace, seed: int) -> None:
    """Entries, and bytes that look like entries, at every distance in a log full of marks."""
    random = Random(seed)
    for before in range(0, 300, 7):
        filler = random.choice([b"\0", b"\1", b"\2", b"\0\3\0\0", b"\0\0\0\0\1"])
        rubbish = (filler * 500)[: before + random.randrange(3)]
        for entry in ENTRIES:
            log = rubbish + entry + filler * random.randrange(90)
            assert search(kernel, log, random.randrange(61, 5000)).found == len(rubbish)


def first_sound(log: bytes) -> int:
    """The first sound entry, found by trying every position with libraries alone."""
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
    """Bytes with many that look like headers, whose offsets begin with four zeros."""
    reach = random.choice([100, 1000, 5000])
    parts: list[bytes] = []
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
def test_the_first_sound_one_is_found_among_claims(kernel: SimpleNamespace, seed: int) -> None:
    random = Random(seed)
    log = bytearray(claims(random, random.choice([400, 3000])))
    for _ in range(random.randrange(4)):
        inside = claims(random, 200)
        large = build_message(None, inside + PLAIN + inside, offset=9, magic=random.randrange(2))
        at = random.randrange(len(log))
        log[at : at + random.choice([0, 30])] = random.choice([*ENTRIES, large])
    found = search(kernel, bytes(log), random.choice([61, 77, 256, 1000, 10_000]), budget=1 << 40)
    assert (found.found, found.given_up) == (first_sound(log), 0)


@settings(deadline=None)
@given(log=st.binary(max_size=400), window=st.integers(61, 400))
def test_any_bytes_are_searched_without_leaving_them(
    kernel: SimpleNamespace, log: bytes, window: int
) -> None:
    assert -1 <= search(kernel, log, window).found < max(len(log), 1)


@settings(deadline=None)
@given(content=st.binary(max_size=1000))
def test_crc_32_is_that_of_zlib(kernel: SimpleNamespace, content: bytes) -> None:
    assert kernel.checksums.checksum_of_messages(content) == zlib.crc32(content)


def test_a_syndrome_leads_back_to_its_bit(kernel: SimpleNamespace) -> None:
    content = bytearray(PLAIN)
    computed = crc32c.crc32c(bytes(content))
    for bits_behind in (0, 1, 7, 8, 100):
        byte, bit = divmod(bits_behind, 8)
        content[-1 - byte] ^= 0x80 >> bit
        syndrome = computed ^ crc32c.crc32c(bytes(content))
        content[-1 - byte] ^= 0x80 >> bit
        found = kernel.checksums.bits_back(syndrome, 0x82F63B78, len(content))
        assert found == bits_behind


@pytest.mark.parametrize(
    ("polynomial", "compute"), [(0x82F63B78, crc32c.crc32c), (0xEDB88320, zlib.crc32)]
)
@pytest.mark.parametrize("size", [1, 7, 511, 9_000, 100_000])
def test_a_bit_far_back_is_found(
    kernel: SimpleNamespace, polynomial: int, compute: Any, size: int
) -> None:
    content = Random(size).randbytes(size)
    for at in (0, size // 3, size - 1):
        wrong = bytearray(content)
        wrong[at] ^= 0x10
        syndrome = compute(content) ^ compute(bytes(wrong))
        bits = 8 * (size - 1 - at) + 3  # bit 0 of a byte enters first, bit 7 last
        assert kernel.checksums.bits_back(syndrome, polynomial, size) == bits
        assert kernel.checksums.bits_back(syndrome, polynomial, size - 1 - at) == -1
        assert kernel.checksums.bits_back(syndrome, polynomial, size + 50_000) == bits
        assert kernel.checksums.bits_back(syndrome ^ 1, polynomial, size) != bits
