"""Base offsets, which no checksum covers: which are wrong, and what the right ones are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

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
