"""Which copies go into one output: all to merge, or the chosen one of each partition."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fixtures.builder import cluster, replica
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.salvage.copy_groups import CopyGroup, copy_groups
from kafkalog_reader.scan.expected_end import ExpectedEnds
from kafkalog_reader.tables.request import ReadRequest

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from kafkalog_reader.io.directories import PartitionDirectory


@pytest.fixture
def evidence(tmp_path: Path) -> Path:
    """Broker 2 has the newer leader epoch, broker 1 has two records that it lacks."""
    cluster(tmp_path, {1: replica("0-5/e0"), 2: replica("0-3/e0 4-4/e1")})
    return tmp_path


def groups(root: Path, *, is_merge: bool = False) -> list[CopyGroup]:
    request = ReadRequest(replica="best")
    found = copy_groups(discover([str(root)]), request, ExpectedEnds(), is_merge=is_merge)
    return list(found)


def brokers(copies: Sequence[PartitionDirectory]) -> list[int | None]:
    return [each.log_directory.broker_id for each in copies]


def test_all_copies_are_merged(evidence: Path) -> None:
    (group,) = groups(evidence, is_merge=True)
    assert (brokers(group.copies), group.others, group.lacking) == ([1, 2], (), ())


def test_the_best_copy_comes_with_what_only_others_hold(evidence: Path) -> None:
    (group,) = groups(evidence)
    assert (brokers(group.copies), brokers(group.others)) == ([2], [1])
    (lacking,) = group.lacking
    assert (lacking.first_offset, lacking.next_offset, lacking.is_fork) == (4, 6, True)
