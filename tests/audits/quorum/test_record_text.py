"""What is said of single records, however much they hold."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from fixtures.builder import cluster
from fixtures.builder.log_directory import LogDirectory
from fixtures.builder.metadata_log import PartitionState, metadata_log
from kafkalog_reader.audits.quorum.record_text import RecordTexts
from tests.audits.quorum.controllers import audited, copy_of, quorum_state

if TYPE_CHECKING:
    from pathlib import Path


def _texts(root: Path, *states: PartitionState) -> list[tuple[int, str, str]]:
    log = metadata_log(states)
    log = replace(log, files={"quorum-state": quorum_state(voters=(1,))})
    cluster(root, {1: LogDirectory(node_id=1, replicas=(log,))})
    return list(RecordTexts(copy_of(audited(root), 1)).between(0, 100))


def test_a_partition_is_named_by_its_topic(tmp_path: Path) -> None:
    state = PartitionState(replicas=(3, 1), in_sync=(1,), leader=1, leader_epoch=0, topic="orders")
    assert _texts(tmp_path, state) == [
        (0, "TopicRecord", "topic orders created"),
        (1, "PartitionRecord", "partition orders-0 created on brokers 3,1"),
    ]


def test_a_record_of_megabytes_is_cut(tmp_path: Path) -> None:
    many = PartitionState(replicas=(7,) * 900_000, in_sync=(1,), leader=1, leader_epoch=0)
    *_, (_, _, text) = _texts(tmp_path, many)
    assert text.startswith("partition t-0 created on brokers 7,7,7,")
    assert text.endswith(",7... (1,799,032 characters left out)")  # of 33 and 1,799,999
