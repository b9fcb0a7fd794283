"""Which copies are of the topic that exists: by topic ids and the metadata log of a capture."""

from __future__ import annotations

import logging
import shutil
from typing import TYPE_CHECKING

import pytest

from fixtures import captures
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.tables.current_topics import CurrentTopics
from kafkalog_reader.tables.request import ReadRequest

if TYPE_CHECKING:
    from pathlib import Path

BOTH = "recreated/a-away"
"""Broker 0 has the topic that was made again, broker 1 the deleted one."""


def kept(root: Path) -> list[int | None]:
    evidence = discover([str(root)])
    request = ReadRequest(topics=frozenset({"t"}))
    ((_, supplied),) = evidence.topic_partitions(request)
    copies = CurrentTopics(evidence=evidence).copies(supplied)
    return [each.log_directory.broker_id for each in copies]


@pytest.fixture
def both(tmp_path: Path) -> Path:
    """A copy of the capture that a test may change."""
    return shutil.copytree(captures.path(BOTH), tmp_path / "both")


def test_the_copy_of_the_deleted_topic_is_left_out(
    both: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert kept(both) == [0]
    assert [each.getMessage() for each in caplog.records] == [
        "t-0: not read from broker 1: a copy of a deleted topic of this name"
    ]


def test_a_copy_without_a_topic_id_stays(both: Path, caplog: pytest.LogCaptureFixture) -> None:
    (both / "broker-1" / "t-0" / "partition.metadata").unlink()
    assert kept(both) == [0, 1]
    assert not caplog.records


def test_a_copy_whose_topic_id_cannot_be_read_stays(both: Path) -> None:
    (both / "broker-1" / "t-0" / "partition.metadata").write_text("version: 0\n")
    assert kept(both) == [0, 1]


def test_members_are_in_the_isr_by_the_metadata_log(both: Path) -> None:
    """The capture's controllers stopped with broker 0 as the only in-sync replica of ``t-0``."""
    evidence = discover([str(both)])
    ((_, supplied),) = evidence.topic_partitions(ReadRequest(topics=frozenset({"t"})))
    members = CurrentTopics(evidence=evidence).members(supplied)
    assert [each.log_directory.broker_id for each in members] == [0]
    shutil.rmtree(both / "controller-100")
    for folder in both.glob("*/__cluster_metadata-0"):
        shutil.rmtree(folder)
    evidence = discover([str(both)])
    assert CurrentTopics(evidence=evidence).members(supplied) == []


@pytest.mark.parametrize("nodes", ["broker-[01]/__cluster_metadata-0", "controller-100"])
def test_any_copy_of_the_metadata_log_will_do(both: Path, nodes: str) -> None:
    for folder in both.glob(nodes):
        shutil.rmtree(folder)
    assert kept(both) == [0]


def test_a_warning_says_so_if_none_is_of_the_topic_that_exists(
    both: Path, caplog: pytest.LogCaptureFixture
) -> None:
    metadata = both / "broker-0" / "t-0" / "partition.metadata"
    metadata.write_text("version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAA5w\n")
    with caplog.at_level(logging.WARNING):
        assert kept(both) == [0, 1]
    (record,) = caplog.records
    assert "which of them exists is unknown" in record.getMessage()
    assert "broker 0 has topic id AAAAAAAAAAAAAAAAAAAA5w" in record.getMessage()
