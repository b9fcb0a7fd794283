"""A leader without its first segment makes followers delete theirs; a real broker did so."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fixtures.elections import lost_start
from kafkalog_reader.audits.partition.auditor import audit_partition
from kafkalog_reader.audits.recovery.rule import ClusterTopics
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.tables.request import ReadRequest

if TYPE_CHECKING:
    from pathlib import Path

    from kafkalog_reader.audits.partition.partition_audit import PartitionAudit


def audited(root: Path, policy: str, **settings: str) -> PartitionAudit:
    ((_, directories),) = discover([str(root)]).topic_partitions(ReadRequest())
    topic_id = (root / "broker-0" / "t-0" / "partition.metadata").read_text().split()[-1]
    said = {name.replace("_", "."): value for name, value in settings.items()}
    configs = {"t": {"cleanup.policy": policy, **said}}
    topics = ClusterTopics(topic_ids={"t": topic_id}, configs=configs)
    return audit_partition(directories, topics=topics)


@pytest.mark.parametrize(
    ("policy", "lost"),
    [
        ("compact", {0: 2, 1: 8, 2: 5}),  # what the brokers of tests/oracle/test_elections.py left
        ("compact,delete", {0: 2, 1: 0, 2: 5}),  # retention may have deleted the first segment
        ("delete", {0: 2, 1: 0, 2: 5}),
    ],
)
def test_what_only_followers_have_below_the_leaders_log_start(
    policy: str, lost: dict[int, int], tmp_path: Path
) -> None:
    lost_start.write_state(tmp_path)
    audit = audited(tmp_path, policy)
    assert {each.candidate.broker_id: each.lost.total for each in audit.elections} == lost
    (one,) = (each for each in audit.elections if each.candidate.broker_id == 1)
    below = [each for each in one.lost_ranges if each.first_offset < lost_start.FIRST_LEFT]
    assert [(each.first_offset, each.next_offset, each.records.known) for each in below] == (
        [(0, 8, 8)] if lost[1] else []
    )


@pytest.mark.parametrize(("policy", "deleting"), [("compact", [0, 2]), ("delete", [])])
def test_which_followers_delete_below_a_lost_start(
    policy: str, deleting: list[int], tmp_path: Path
) -> None:
    lost_start.write_state(tmp_path)
    audit = audited(tmp_path, policy)
    found = {each.candidate.broker_id: each.deleted_below for each in audit.elections}
    assert sorted(each.broker_id for each in found[1] if each.broker_id is not None) == deleting
    assert not found[0]
    assert not found[2]


@pytest.mark.parametrize(
    ("policy", "without"), [("compact", {0: [1], 1: [], 2: [1]}), ("delete", {0: [], 1: [], 2: []})]
)
def test_which_followers_never_fetch_the_start_that_they_lost(
    policy: str, without: dict[int, list[int]], tmp_path: Path
) -> None:
    """A follower fetches from its own log end on; what retention deletes, it did not lose."""
    lost_start.write_state(tmp_path)
    found = {
        each.candidate.broker_id: [follower.broker_id for follower in each.without_start]
        for each in audited(tmp_path, policy).elections
    }
    assert found == without


def test_deleting_records_moves_the_log_start_by_a_checkpoint(tmp_path: Path) -> None:
    lost_start.write_state(tmp_path)
    rows = tmp_path / "broker-1" / "log-start-offset-checkpoint"
    rows.write_text("0\n1\nt 0 9\n")
    audit = audited(tmp_path, "compact")
    (one,) = (each for each in audit.elections if each.candidate.broker_id == 1)
    assert one.lost.total == 0


@pytest.mark.parametrize(
    ("settings", "lost"),
    [
        ({"retention_ms": "-1"}, 8),
        ({"retention_ms": "-1", "retention_bytes": "-1"}, 8),
        ({"retention_ms": "-1", "retention_bytes": "1000"}, 0),
        ({"retention_bytes": "-1"}, 0),
        ({"retention_ms": "-1", "remote_storage_enable": "true"}, 0),
    ],
)
def test_nothing_deletes_segments_without_a_limit_of_time_and_size(
    settings: dict[str, str], lost: int, tmp_path: Path
) -> None:
    """UnifiedLog.deleteOldSegments: -1 is no limit, also of size, where that is the default."""
    lost_start.write_state(tmp_path)
    audit = audited(tmp_path, "delete", **settings)
    (one,) = (each for each in audit.elections if each.candidate.broker_id == 1)
    assert one.lost.total == lost
