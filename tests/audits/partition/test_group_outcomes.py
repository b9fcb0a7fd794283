"""Where groups go on: as consumers of Kafka 4.4.0 did under leaders that brokers of 4.4.0 elected.

``tests/oracle/test_elected_groups.py`` lets real consumers do it again, in all of these states.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import kafkalog_reader
from fixtures.builder import cluster, replica
from fixtures.elections.group_states import PARTITIONS, group, write_states
from fixtures.synthetic.consumer_groups import Committed, offsets_partition
from kafkalog_reader.audits.partition.auditor import audit_partition
from kafkalog_reader.audits.partition.group_outcomes import group_outcomes
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.tables.request import ReadRequest

if TYPE_CHECKING:
    from pathlib import Path

    from fixtures.builder import Replica

Position = tuple[int, int]
"""Offset and leader epoch of a commit."""


@pytest.fixture(scope="module")
def predicted(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[int, str, str], Any]:
    root = tmp_path_factory.mktemp("groups")
    write_states(root)
    rows = kafkalog_reader.open(str(root)).table("group_elections").to_arrow().to_pylist()
    return {(row["candidateBrokerId"], row["groupId"], row["topic"]): row for row in rows}


@pytest.mark.parametrize(
    ("leader", "topic", "commit", "outcome", "earliest", "latest", "error"),
    [
        (0, "shorter", (8, 0), "unchanged", (8, 0, 0), (8, 0, 0), None),
        (1, "shorter", (8, 0), "truncation-detected", (5, 0, 0), (5, 0, 0), "LogTruncation"),
        (1, "shorter", (8, -1), "reset", (0, 5, 0), (5, 0, 0), "OffsetOutOfRange"),
        (1, "shorter", (5, -1), "unchanged", (5, 0, 0), (5, 0, 0), None),
        (1, "forked", (4, 0), "truncation-detected", (2, 0, 0), (2, 0, 0), "LogTruncation"),
        (0, "forked", (4, 1), "unnoticed", (4, 0, 2), (4, 0, 2), None),
        (0, "forked", (7, 1), "truncation-detected", (5, 0, 3), (5, 0, 3), "LogTruncation"),
        (0, "forked", (7, -1), "reset", (0, 2, 0), (5, 0, 3), "OffsetOutOfRange"),
        (1, "histories", (3, 1), "truncation-detected", (2, 0, 0), (2, 0, 0), "LogTruncation"),
        (0, "histories", (4, 2), "unnoticed", (4, 0, 2), (4, 0, 2), None),
        (0, "expired", (2, 1), "reset", (5, 0, 0), (9, 0, 4), "OffsetOutOfRange"),
        (0, "expired", (7, 1), "truncation-detected", (5, 0, 0), (5, 0, 0), "LogTruncation"),
        (1, "cleaned", (14, -1), "reset", (0, 5, 0), (12, 0, 0), "OffsetOutOfRange"),
        (1, "later", (5, 2), "truncation-detected", (2, 0, 0), (2, 0, 0), "LogTruncation"),
    ],
)
def test_a_group_goes_on_as_its_consumers_did(
    leader: int, topic: str, commit: Position, outcome: str, earliest: tuple[int, ...],
    latest: tuple[int, ...], error: str | None, predicted: dict[tuple[int, str, str], Any],
) -> None:  # fmt: skip
    (each,) = (each for each in PARTITIONS if each.topic == topic)
    number = [(read.offset, read.leader_epoch) for read in each.reads].index(commit)
    row = predicted[leader, group(number, "classic", "latest", "early"), topic]
    assert (row["committedOffset"], row["committedLeaderEpoch"]) == commit
    assert row["outcome"] == outcome
    columns = ("nextOffset", "recordsReread", "recordsSkipped")
    assert tuple(row[f"{name}IfEarliest"] for name in columns) == earliest
    assert tuple(row[f"{name}IfLatest"] for name in columns) == latest
    assert row["errorIfNone"] == (error and f"{error}Exception")


def rows_of(root: Path, replicas: dict[int, Replica], *commits: Committed) -> list[dict[str, Any]]:
    brokers = {node: [each] for node, each in replicas.items()}
    brokers[min(brokers)].append(offsets_partition(0, commits))
    cluster(root, brokers)
    rows = kafkalog_reader.open(str(root)).table("group_elections").to_arrow().to_pylist()
    return sorted(rows, key=lambda row: (row["candidateBrokerId"], row["groupId"]))


def test_what_the_start_of_the_leader_cuts_is_not_there(tmp_path: Path) -> None:
    """The last batch is torn: the broker removes it (section 4.6), then it leads."""
    whole = replica("a@0/e0 b@1/e0 c@2/e0", high_watermark=3)
    log = whole.segments[0].log()
    torn = replica("a@0/e0 b@1/e0 c@2/e0", high_watermark=3, files={f"{0:020d}.log": log[:-3]})
    committed = Committed(group="g", offset=3)
    of_torn, of_whole = rows_of(tmp_path, {0: torn, 1: whole}, committed)
    assert (of_torn["outcome"], of_torn["nextOffsetIfLatest"]) == ("reset", 2)
    assert (of_torn["recordsRereadIfEarliest"], of_torn["safeOffset"]) == (2, 2)
    assert (of_whole["outcome"], of_whole["safeOffset"]) == ("unchanged", 3)


def test_a_commit_is_taken_to_be_of_the_best_copy_if_nothing_says_whose(tmp_path: Path) -> None:
    replicas = {
        0: replica("a@0/e0 b@1/e0 c@2/e0", high_watermark=3),
        1: replica("a@0/e0 x@1/e1 y@2/e1 z@3/e1", high_watermark=1),
    }
    old, best = rows_of(tmp_path, replicas, Committed(group="g", offset=3))
    assert (old["outcome"], old["recordsSkippedIfLatest"], old["safeOffset"]) == ("unnoticed", 2, 1)
    assert best["outcome"] == "unchanged"


@pytest.mark.parametrize(("gap", "whole"), [(0, 1), (1, 0)])
@pytest.mark.parametrize("leader_epoch", [-1, 0])
@pytest.mark.parametrize("offset", [3, 4, 5])
def test_records_missing_inside_a_log_move_no_group(
    gap: int, whole: int, leader_epoch: int, offset: int, tmp_path: Path
) -> None:
    """The group has read offsets 1 to 3 before one copy lost them; the other still has them."""
    replicas = {
        gap: replica("a@0/e0 e@4/e0 f@5/e0", high_watermark=5),
        whole: replica("a@0/e0 b@1/e0 c@2/e0 d@3/e0 e@4/e0", high_watermark=5),
    }
    committed = Committed(group="g", offset=offset, leader_epoch=leader_epoch)
    for row in rows_of(tmp_path, replicas, committed):
        assert (row["outcome"], row["safeOffset"]) == ("unchanged", offset)
        assert (row["recordsSkippedIfLatest"], row["recordsRereadIfEarliest"]) == (0, 0)


@pytest.mark.parametrize("offset", [-(2**63), -1, 2**63 - 1])
@pytest.mark.parametrize("leader_epoch", [-(2**31), -2, 0, 2**31 - 1])
def test_hostile_commits_are_out_of_range(offset: int, leader_epoch: int, tmp_path: Path) -> None:
    (row,) = rows_of(
        tmp_path,
        {0: replica("a@0/e0 b@1/e0", high_watermark=2)},
        Committed(group="g", offset=offset, leader_epoch=leader_epoch),
    )
    expected = "truncation-detected" if offset > 0 and leader_epoch >= 0 else "reset"
    assert row["outcome"] == expected
    assert 0 <= row["safeOffset"] <= 2


def test_without_commits_there_is_nothing_to_say(tmp_path: Path) -> None:
    root = cluster(tmp_path, {0: replica("a@0/e0"), 1: replica("")})
    ((_, directories),) = discover([*map(str, root.values())]).topic_partitions(ReadRequest())
    audit = audit_partition(directories)
    assert len(audit.elections) == 2
    assert [group_outcomes(audit, each) for each in audit.elections] == [(), ()]
