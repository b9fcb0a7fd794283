"""Logs of compacted topics whose first segment is gone."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any

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
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from fixtures.builder.replica import Replica

OFFSETS = "__consumer_offsets"
TOPIC = 2
LATER = "k=a@5/e0 k=b@6/e0"


def metadata(
    topic: str,
    policy: str | None,
    settings: Mapping[str, str] = MappingProxyType({}),
    *,
    at_creation: Sequence[str | None] = (),
) -> Replica:
    """A metadata log; ``at_creation``: the policies that are set before the first partition."""
    state = PartitionState(replicas=(0,), in_sync=(0,), leader=0, leader_epoch=0, topic=topic)
    of_topic, of_partition = metadata_records([state])
    first = [setting(TOPIC, topic, "cleanup.policy", each) for each in at_creation]
    values = [of_topic, *first, of_partition]
    if policy is not None:
        values.append(setting(TOPIC, topic, "cleanup.policy", policy))
    values += [setting(TOPIC, topic, name, value) for name, value in settings.items()]
    log = [
        data_batch(offset, [Record(offset_delta=0, value=value)])
        for offset, value in enumerate(values)
    ]
    return replica(log, topic="__cluster_metadata", topic_id=METADATA_TOPIC_ID)


def written(
    root: Path, *, topic: str = OFFSETS, policy: str | None = "compact", **options: Any
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
    ("at_creation", "later", "is_lost"),
    [
        (("compact",), None, True),
        (("compact",), "compact", True),
        (("delete", "compact"), None, True),  # before the first partition nothing is deleted
        ((), "compact", False),
        (("compact",), "compact,delete", False),
        (("delete",), "compact", False),
        (("compact,delete",), None, False),
    ],
)
@pytest.mark.parametrize("log_start", [None, 5, 6])
def test_only_the_whole_history_of_a_topic_of_users_shows_a_loss(
    *,
    at_creation: tuple[str, ...],
    later: str | None,
    is_lost: bool,
    log_start: int | None,
    tmp_path: Path,
) -> None:
    """Of a topic that was only ever compacted no checkpointed start is explained."""
    log = replica(LATER, topic="t", high_watermark=7, log_start=log_start)
    cluster(tmp_path, {0: [log, metadata("t", later, at_creation=at_creation)]})
    found = found_in(tmp_path, "t")
    assert (found is not None) == is_lost
    if found is not None:
        assert found[1] == (log_start or 5)


def test_another_policy_between_may_have_deleted_segments(tmp_path: Path) -> None:
    root = tmp_path / "metadata"
    log = replica(LATER, topic="t", high_watermark=7)
    values = {"cleanup.policy": "compact"}
    cluster(root, {0: [log, metadata("t", "delete", values, at_creation=("compact",))]})
    assert found_in(root, "t") is None


def test_a_snapshot_does_not_say_which_policies_a_topic_had(tmp_path: Path) -> None:
    """The metadata log begins later: what was before is only known as a state."""
    log = replica(LATER, topic="t", high_watermark=7)
    cluster(tmp_path, {0: [log, metadata("t", None, at_creation=("compact",))]})
    folder = tmp_path / "broker-0" / "__cluster_metadata-0"
    assert found_in(tmp_path, "t") is not None
    for each in folder.glob(f"{0:020}.*"):
        each.rename(folder / each.name.replace(f"{0:020}", f"{7:020}"))
    assert found_in(tmp_path, "t") is None


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
