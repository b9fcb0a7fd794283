"""Hashes of ranges, and the search for copies, in both kernels and against plain Python."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.chosen.examples import examples
from tests.kernel.conftest import load_module

if TYPE_CHECKING:
    from types import ModuleType, SimpleNamespace

KERNELS = [load_module("repeats", kind) for kind in ("interpreted", "compiled")]
RING = 16
Log = list[tuple[int, int]]
"""Content and batch of each record."""
SMALL_LOGS = st.lists(
    st.lists(st.integers(0, 4), min_size=1, max_size=5), min_size=1, max_size=12
).map(lambda batches: [(value, number) for number, b in enumerate(batches) for value in b])


def hashes(module: ModuleType, *contents: bytes, seed: int = 0) -> list[int]:
    offsets = np.cumsum([0, *map(len, contents)], dtype=np.int32)
    found = np.full(len(contents), seed, np.int64)
    module.hash_ranges(b"".join(contents), offsets, found)
    return [int(each) for each in found]


def recent(module: ModuleType, near: int, ring: int = RING) -> object:
    wide = [np.full(ring, -1, np.int64), *(np.zeros(ring, np.int64) for _ in range(3))]
    return module.RecentRecords(*wide, *(np.zeros(ring, np.int32) for _ in range(2)), near)


def copies(module: ModuleType, log: Log, near: int, at_once: int) -> tuple[list[int], list[int]]:
    window = recent(module, near)
    previous, number = np.empty(len(log), np.int64), np.empty(len(log), np.int32)
    contents, batches = (np.array(each, np.int64) for each in zip(*log, strict=True))
    for start in range(0, len(log), at_once):
        part = slice(start, start + at_once)
        window.add(contents[part], batches[part], previous[part], number[part])  # type: ignore[attr-defined]
    return [int(each) for each in previous], [int(each) for each in number]


def expected(log: Log, near: int) -> tuple[list[int], list[int]]:
    """By comparing each record with all before it."""
    ordinals: list[tuple[int, int]] = []
    in_batch: Counter[tuple[int, int]] = Counter()
    previous: list[int] = []
    number: list[int] = []
    for row, (content, batch) in enumerate(log):
        same = (content, in_batch[content, batch])
        in_batch[content, batch] += 1
        before = [each for each in range(max(0, row - near), row) if ordinals[each] == same]
        previous.append(before[-1] if before else -1)
        number.append(number[before[-1]] + 1 if before else 1)
        ordinals.append(same)
    return previous, number


@given(contents=st.lists(st.binary(max_size=40)), seed=st.integers(0, 2**63 - 1))
def test_both_kernels_hash_alike_and_equal_bytes_equally(contents: list[bytes], seed: int) -> None:
    one, other = (hashes(module, *contents, seed=seed) for module in KERNELS)
    assert one == other
    assert all(0 <= each < 2**63 for each in one)
    by_content: dict[bytes, set[int]] = {}
    for content, found in zip(contents, one, strict=True):
        by_content.setdefault(content, set()).add(found)
    assert all(len(found) == 1 for found in by_content.values())
    assert len({min(found) for found in by_content.values()}) == len(by_content)


def test_zeros_of_every_length_differ(kernel: SimpleNamespace) -> None:
    found = hashes(kernel.repeats, *(bytes(size) for size in range(40)))
    assert len(set(found)) == 40


@pytest.mark.parametrize(
    "offsets", [[0, 9], [3, 2], [-1, 2], [0]], ids=["beyond", "falling", "negative", "too_few"]
)
def test_ranges_outside_the_bytes_are_refused(offsets: list[int], kernel: SimpleNamespace) -> None:
    with pytest.raises(ValueError, match=r"bytes|one more offset"):
        kernel.repeats.hash_ranges(bytes(8), np.array(offsets, np.int32), np.zeros(1, np.int64))


@settings(max_examples=examples(200))
@given(log=SMALL_LOGS, at_once=st.integers(1, 7))
def test_copies_are_those_that_a_comparison_with_all_records_finds(log: Log, at_once: int) -> None:
    for module in KERNELS:
        assert copies(module, log, near=RING, at_once=at_once) == expected(log, RING)


def test_what_lies_further_back_is_forgotten(kernel: SimpleNamespace) -> None:
    log = [(1, 0), (2, 1), (3, 2), (1, 3)]
    assert copies(kernel.repeats, log, near=3, at_once=4)[0][-1] == 0
    assert copies(kernel.repeats, log, near=2, at_once=4)[0][-1] == -1


def test_another_log_begins_without_the_records_of_the_first(kernel: SimpleNamespace) -> None:
    window = recent(kernel.repeats, RING)
    one = (np.array([7], np.int64), np.array([0], np.int64))
    previous, number = np.empty(1, np.int64), np.empty(1, np.int32)
    window.add(*one, previous, number)  # type: ignore[attr-defined]
    window.forget()  # type: ignore[attr-defined]
    window.add(*one, previous, number)  # type: ignore[attr-defined]
    assert (previous[0], number[0]) == (-1, 1)


def test_hashes_made_to_meet_in_one_chain_cost_no_more(kernel: SimpleNamespace) -> None:
    """64 of a chain are compared: a copy behind more of them is missed."""
    size = 256
    window = recent(kernel.repeats, size, ring=size)
    contents = np.arange(100, dtype=np.int64) * size
    contents[-1] = contents[0]
    previous, number = np.empty(100, np.int64), np.empty(100, np.int32)
    window.add(contents, np.arange(100, dtype=np.int64), previous, number)  # type: ignore[attr-defined]
    assert previous[-1] == -1


def test_a_ring_that_is_too_small_is_refused(kernel: SimpleNamespace) -> None:
    for near, ring in ((17, 16), (4, 12)):
        with pytest.raises(ValueError, match="a ring of"):
            recent(kernel.repeats, near, ring)
