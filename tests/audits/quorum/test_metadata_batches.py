"""Base offsets, which no checksum covers: which are wrong, and what the right ones are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from kafkalog_reader.audits.quorum.metadata_batches import restored_offsets
from kafkalog_reader.audits.quorum.outcome import Verdict
from tests.audits.quorum.controllers import audited, copy_of, write_controllers

if TYPE_CHECKING:
    from pathlib import Path

OFFSET = 1
"""Of the second of four batches of one size, each of one record."""


def with_wrong_offset(root: Path, node: int, stored: int) -> bytes:
    """Write another base offset into a controller's log; return the sound log."""
    (log,) = root.glob(f"broker-{node}/*/*.log")
    before = log.read_bytes()
    at = len(before) // 4 * OFFSET
    assert int.from_bytes(before[at : at + 8], "big") == OFFSET
    log.write_bytes(before[:at] + stored.to_bytes(8, "big") + before[at + 8 :])
    return before


@pytest.mark.parametrize("stored", [OFFSET | 1 << 27, OFFSET | 1 << 2, 0, 0x0700_0300])
def test_a_wrong_base_offset_is_no_other_history(tmp_path: Path, stored: int) -> None:
    """The bytes that the checksum covers are those of the others."""
    write_controllers(tmp_path, {1: "1111", 2: "1111", 3: "111"})
    with_wrong_offset(tmp_path, 2, stored)
    audit = audited(tmp_path)
    assert audit.verdict is Verdict.ELECTABLE
    assert [each.node_id for each in audit.misplaced] == [2]
    assert audit.is_unsafe
    assert not audit.is_clean
    assert copy_of(audit, 2).end == (1, 4)
    assert all(each.lost == () for each in audit.outcomes if each.can_win)
    wrong = zip(stored.to_bytes(8, "big"), OFFSET.to_bytes(8, "big"), strict=True)
    repairs = copy_of(audit, 2).batches.offset_repairs
    assert [each.value for each in repairs] == [right for left, right in wrong if left != right]


@pytest.mark.parametrize(
    ("base", "last", "due"),
    [
        pytest.param([0, 3, 5], [2, 4, 9], [0, 3, 5], id="sound"),
        pytest.param([64, 3, 5], [66, 4, 9], [0, 3, 5], id="the first"),
        pytest.param([0, 7, 5], [2, 8, 9], [0, 3, 5], id="one between"),
        pytest.param([0, 3, 69], [2, 4, 73], [0, 3, 5], id="one bit of the last"),
        pytest.param([0, 3, 58], [2, 4, 62], [0, 3, 58], id="several bits of the last"),
        pytest.param([0, 7, 9], [2, 8, 13], [0, 7, 9], id="a gap: the next goes on there"),
        pytest.param([], [], [], id="no batch"),
    ],
)
def test_the_batches_around_it_prove_a_base_offset(
    base: list[int], last: list[int], due: list[int]
) -> None:
    columns = np.array(base, np.int64), np.array(last, np.int64)
    found = restored_offsets(*columns, 0)
    assert columns[0].tolist() == due
    assert (columns[1] - columns[0]).tolist() == [b - a for a, b in zip(base, last, strict=True)]
    assert [(row, stored, right) for row, stored, right in found] == [
        (row, a, b) for row, (a, b) in enumerate(zip(base, due, strict=True)) if a != b
    ]
