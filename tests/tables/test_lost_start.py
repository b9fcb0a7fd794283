"""Logs of compacted topics whose first segment is gone."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

import pytest

from fixtures.builder import cluster, data_batch, replica
from fixtures.builder.metadata_log import (
    METADATA_TOPIC_ID,
    PartitionState,
    metadata_records,
    setting,
)
from kafkalog_reader import registry
from kafkalog_reader.errors import MissingRecordsError
from kafkalog_reader.format.record import Record
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.scan.damage import Mode
from kafkalog_reader.scan.hidden_records import HiddenRecords
from kafkalog_reader.tables.cleanup_policies import CleanupPolicies
from kafkalog_reader.tables.lost_start import lost_start, with_starts_checked
from kafkalog_reader.tables.request import ReadRequest
from tests.tables.logs import rows

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from fixtures.builder.replica import Replica

OFFSETS = "__consumer_offsets"
TOPIC = 2
LATER = "k=a@5/e0 k=b@6/e0"


def metadata(
    topic: str, policy: str | None, settings: Mapping[str, str] = MappingProxyType({})
) -> Replica:
    state = PartitionState(replicas=(0,), in_sync=(0,), leader=0, leader_epoch=0, topic=topic)
    values = [*metadata_records([state])]
    if policy is not None:
        values.append(setting(TOPIC, topic, "cleanup.policy", policy))
    values += [setting(TOPIC, topic, name, value) for name, value in settings.items()]
    log = [
        data_batch(offset, [Record(offset_delta=0, value=value)])
        for offset, value in enumerate(values)
    ]
    return replica(log, topic="__cluster_metadata", topic_id=METADATA_TOPIC_ID)


def written(
    root: Path, *, topic: str = OFFSETS, policy: str | None = "compact", **options: int | None
) -> Path:
    log = replica(LATER, topic=topic, high_watermark=7, **options)
    cluster(root, {0: [log, metadata(topic, policy)]})
    return root


def found_in(root: Path, topic: str = OFFSETS) -> tuple[str, int] | None:
    evidence = discover([str(root)])
    ((_, copies),) = evidence.topic_partitions(ReadRequest(topics=frozenset({topic})))
    found = lost_start(copies[0], CleanupPolicies(evidence=evidence))
    return None if found is None else (found[0].problem, found[1])


def test_nothing_deletes_segments_of_a_compacted_topic(tmp_path: Path) -> None:
    problem, next_offset = found_in(written(tmp_path)) or ("", 0)
    assert problem.startswith("offsets 0 to 4 are missing: the first segment begins at offset 5")
    assert next_offset == 5


@pytest.mark.parametrize("policy", ["delete", "compact,delete"])
def test_retention_deletes_segments(policy: str, tmp_path: Path) -> None:
    assert found_in(written(tmp_path, policy=policy)) is None


def test_a_log_start_that_was_moved_explains_it(tmp_path: Path) -> None:
    assert found_in(written(tmp_path, log_start=5)) is None


def test_without_a_metadata_log_an_index_that_is_left_proves_it(tmp_path: Path) -> None:
    root = written(tmp_path)
    partition = root / "broker-0" / f"{OFFSETS}-0"
    assert found_in(partition) is None
    (partition / "00000000000000000000.index").write_bytes(bytes(8))
    assert found_in(partition) is not None


def test_a_topic_of_users_may_have_had_another_policy(tmp_path: Path) -> None:
    """An index that is left is what KL-404 goes by, too."""
    root = written(tmp_path, topic="t", cleaner_offset=6)
    assert found_in(root, "t") is None
    (root / "broker-0" / "t-0" / "00000000000000000000.index").write_bytes(bytes(8))
    assert found_in(root, "t") is not None


@pytest.mark.parametrize(
    ("settings", "is_lost"),
    [
        ({"retention.ms": "-1"}, True),
        ({"retention.ms": "-1", "retention.bytes": "1000"}, False),
        ({"retention.ms": "604800000"}, False),
    ],
)
def test_nothing_deletes_segments_without_retention(
    settings: dict[str, str], is_lost: bool, tmp_path: Path
) -> None:
    log = replica(LATER, topic="t", high_watermark=7)
    cluster(tmp_path, {0: [log, metadata("t", "delete", settings)]})
    assert found_in(tmp_path, "t") is None
    (tmp_path / "broker-0" / "t-0" / "00000000000000000000.index").write_bytes(bytes(8))
    assert (found_in(tmp_path, "t") is not None) == is_lost


def test_a_log_from_offset_0_on_is_whole(tmp_path: Path) -> None:
    log = replica("k=a@0/e0", topic=OFFSETS, high_watermark=1)
    cluster(tmp_path, {0: [log, metadata(OFFSETS, "compact")]})
    assert found_in(tmp_path) is None


def test_only_offsets_that_are_asked_for_are_missing(tmp_path: Path) -> None:
    evidence = discover([str(written(tmp_path))])
    asked = ReadRequest(topics=frozenset({OFFSETS}))
    ((_, copies),) = evidence.topic_partitions(asked)
    with pytest.raises(MissingRecordsError):
        list(with_starts_checked(copies, evidence, asked))
    later = ReadRequest(topics=frozenset({OFFSETS}), from_offset=5)
    assert list(with_starts_checked(copies, evidence, later)) == list(copies)


def test_the_table_of_commits_notes_it(tmp_path: Path) -> None:
    evidence = discover([str(written(tmp_path))])
    table, hidden = registry.table("group_offsets"), HiddenRecords()
    request = ReadRequest(mode=Mode.DROPMALFORMED, hidden=hidden)
    list(table.units(evidence, request))
    (missing,) = hidden.ranges()
    assert (missing.topic_partition, missing.first_offset, missing.next_offset) == (
        (OFFSETS, 0), 0, 5,
    )  # fmt: skip
    assert missing.is_missing


@pytest.mark.parametrize(
    ("log_start", "reason"), [(None, "missing"), (5, "belowLogStart")], ids=["lost", "moved"]
)
def test_the_table_of_gaps_says_what_was_lost(
    log_start: int | None, reason: str, tmp_path: Path
) -> None:
    root = written(tmp_path, log_start=log_start)
    (row, *_) = rows(root, "gaps", topic=OFFSETS)
    assert (row["firstOffset"], row["nextOffset"], row["reason"]) == (0, 5, reason)
    assert ("nothing deletes segments" in row["evidence"]) == (reason == "missing")
