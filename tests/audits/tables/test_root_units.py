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

ROWS = "0\n1\nnonsense\n"
LOST = "0\n2\nt 0 2\nlost 3 9\n"


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


def broken_checkpoint(root: Path, broker: int) -> None:
    (path,) = root.glob(f"*{broker}/replication-offset-checkpoint")
    path.write_text(ROWS)


def test_a_broken_checkpoint_concerns_each_partition_of_its_directory(root: Path) -> None:
    broken_checkpoint(root, 1)
    everything = found_of(root, 1, ReadRequest())
    assert everything
    assert found_of(root, 1, ReadRequest(topics=frozenset(["t"]))) == everything
    assert found_of(root, 1, ReadRequest(topics=frozenset(["u"]))) == []


def test_a_partition_without_a_folder_is_reported_only_where_it_is_selected(root: Path) -> None:
    (path,) = root.glob("*1/replication-offset-checkpoint")
    path.write_text(LOST)
    assert ("KL-310", "lost") in found_of(root, 1, ReadRequest())
    assert ("KL-310", "lost") not in found_of(root, 1, ReadRequest(topics=frozenset(["t"])))
    assert found_of(root, 2, ReadRequest()) == []
