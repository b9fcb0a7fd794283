"""Offset indexes that were written for another log."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import pytest

from fixtures.builder import cluster, replica
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.scan.damage import Damage, Mode
from kafkalog_reader.tables.best_replica import compared_copies
from kafkalog_reader.tables.foreign_index import has_foreign_index
from kafkalog_reader.tables.request import ReadRequest
from tests.audits.conftest import audit_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from fixtures.builder import Replica
    from kafkalog_reader.io.directories import PartitionDirectory

INDEX = f"{0:020}.index"
SIZE = 69
"""Of a batch with one record whose value is one character."""


def held(log: str, *entries: tuple[int, int]) -> Replica:
    index = b"".join(struct.pack(">ii", *entry) for entry in entries)
    return replica(log, high_watermark=3, files={INDEX: index})


def copies(root: Path, *replicas: Replica) -> Sequence[PartitionDirectory]:
    cluster(root, dict(enumerate(replicas)))
    ((_, found),) = discover([str(root)]).topic_partitions(ReadRequest())
    return found


@pytest.mark.parametrize(
    ("entries", "is_foreign"),
    [
        ([], False),
        ([(1, SIZE), (2, 2 * SIZE)], False),
        ([(1, SIZE + 1)], True),
        ([(1, 2 * SIZE)], True),  # a batch, but one with another offset
        ([(2, 9000)], True),  # after the end
        ([(1, SIZE), (2, 5)], False),  # one entry may be damaged
    ],
)
def test_entries_point_to_batches_that_have_their_offsets(
    entries: list[tuple[int, int]], is_foreign: bool, tmp_path: Path
) -> None:
    (copy,) = copies(tmp_path, held("a@0/e0 b@1/e0 c@2/e0", *entries))
    assert has_foreign_index(copy, 1) == is_foreign


def test_copies_whose_segment_was_overwritten_outvote_no_other(tmp_path: Path) -> None:
    """Two copies have the same wrong bytes; the indexes are still those of the right ones."""
    wrong = held("x@0/e0 y@1/e0 z@2/e0", (1, SIZE + 8))
    right = held("a@0/e0 b@1/e0 c@2/e0", (1, SIZE))
    copies(tmp_path, wrong, wrong, right)
    audit = audit_of(tmp_path)
    assert [each.outvoted_from for each in audit.candidates] == [None] * 3
    lost = {each.candidate.broker_id: each.lacking.known for each in audit.elections}
    assert lost == {0: 0, 1: 0, 2: 0}


def test_a_majority_with_its_own_index_is_read(tmp_path: Path) -> None:
    right = held("a@0/e0 b@1/e0 c@2/e0", (1, SIZE))
    other = held("x@0/e0 y@1/e0 z@2/e0", (1, SIZE))
    found = compared_copies(copies(tmp_path, other, right, right), Damage(Mode.FAILFAST))
    assert found is not None
    assert found.best.log_directory.broker_id == 1
