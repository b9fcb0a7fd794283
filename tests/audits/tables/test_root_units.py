"""Findings about log directories: which of them a selection of partitions shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fixtures.builder import cluster, replica
from kafkalog_reader.audits.tables.findings import FindingsTable
from kafkalog_reader.audits.tables.root_units import RootUnit
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.tables.request import ReadRequest

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Brokers 1 and 2: one has topic t, the other u."""
    logs = "a@0/e0 b@1/e0"
    cluster(
        tmp_path,
        {
            1: replica(logs, high_watermark=2),
            2: replica(logs, topic="u", high_watermark=2),
        },
    )
    return tmp_path


def found_of(root: Path, broker: int, request: ReadRequest) -> list[tuple[str, str]]:
    """(code, topic in its evidence) of the findings about one log directory."""
    units = [
        each
        for each in FindingsTable().units(discover([str(root)]), request)
        if isinstance(each, RootUnit)
    ]
    (unit,) = (each for each in units if each.root.broker_id == broker)
    return [(each.code, dict(each.evidence).get("topic", "")) for each in unit.findings]


def write_high_watermarks(root: Path, content: str) -> None:
    (path,) = root.glob("*1/replication-offset-checkpoint")
    path.write_text(content)


def test_a_broken_checkpoint_concerns_each_partition_of_its_directory(root: Path) -> None:
    """That the broker was killed (KL-011) is only information, which no selection shows."""
    write_high_watermarks(root, "0\n1\nnonsense\n")
    assert found_of(root, 1, ReadRequest()) == [("KL-301", ""), ("KL-011", "")]
    assert found_of(root, 1, ReadRequest(topics=frozenset(["t"]))) == [("KL-301", "")]
    assert found_of(root, 1, ReadRequest(topics=frozenset(["u"]))) == []


def test_a_row_without_a_folder_is_reported_where_its_partition_is_selected(root: Path) -> None:
    write_high_watermarks(root, "0\n2\nt 0 2\nlost 3 9\n")
    row = ("KL-309", "lost")
    assert row in found_of(root, 1, ReadRequest())
    assert row not in found_of(root, 1, ReadRequest(topics=frozenset(["t"])))
    assert row not in found_of(root, 2, ReadRequest())
