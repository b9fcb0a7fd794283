"""Differences in starts of older releases, as seen with real brokers (``tests/oracle``)."""

from __future__ import annotations

import struct
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from fixtures import captures
from fixtures.builder import cluster, data_batch, replica
from kafkalog_reader.audits.recovery.outcome import StartOutcome
from kafkalog_reader.audits.recovery.release import possible_rules
from kafkalog_reader.audits.recovery.rule import (
    FIRST_RULE,
    SINCE_0_9,
    SINCE_0_10_1,
    SINCE_0_11,
    SINCE_2_3,
    SINCE_2_8,
    SINCE_3_0,
    SINCE_4_1,
    ClusterTopics,
    LogConfig,
    StartRule,
)
from kafkalog_reader.format.record import Record
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.tables.request import ReadRequest
from tests.audits.recovery.logs import FIRST, LAST, loaded, start, write_small

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("capture", "releases"),
    [
        ("release_0.8.2.2", ["0.8", "0.9"]),
        ("release_0.10.2.2", ["0.10.1"]),
        ("release_0.11.0.3", ["2.3", "0.11"]),
        ("release_2.8.2", ["2.3", "0.11"]),
        ("everything", ["4.4", "4.1", "3.0"]),
    ],
)
def test_files_tell_by_which_rules_a_broker_may_start(capture: str, releases: list[str]) -> None:
    evidence = discover([str(captures.path(f"{capture}/stopped/broker-0"))])
    directory = next(iter(evidence.partition_directories(ReadRequest())))
    assert [rule.release for rule in possible_rules(directory.log_directory)] == releases


@pytest.mark.parametrize(
    ("rule", "outcome", "read"),
    [(SINCE_2_3, StartOutcome.EXPIRED, ()), (SINCE_0_11, StartOutcome.LOADS, (0,))],
)
def test_an_untrimmed_time_index_was_rebuilt_before_2_3(
    rule: StartRule, outcome: StartOutcome, read: tuple[int, ...], tmp_path: Path
) -> None:
    directory = write_small(tmp_path, is_clean=True, recovery_point=23)
    with (directory / f"{FIRST}.timeindex").open("ab") as index:
        index.write(bytes(12 * 10))
    recovery = start(tmp_path, rule=rule)
    assert (recovery.outcome, recovery.segments_read) == (outcome, read)


@pytest.mark.parametrize(
    ("rule", "outcome", "end"),
    [(SINCE_2_3, StartOutcome.EMPTIED, 40), (SINCE_0_11, StartOutcome.LOADS, 23)],
)
def test_a_log_start_beyond_the_end_deleted_nothing_before_2_3(
    rule: StartRule, outcome: StartOutcome, end: int, tmp_path: Path
) -> None:
    write_small(tmp_path, is_clean=True, recovery_point=23, log_start=40)
    recovery = start(tmp_path, rule=rule)
    assert (recovery.outcome, recovery.log_end_offset_after_start) == (outcome, end)


@pytest.mark.parametrize(
    ("rule", "outcome"),
    [
        (SINCE_0_11, StartOutcome.LOADS),  # 17 bytes are too few for the start of a header
        (SINCE_0_10_1, StartOutcome.BROKER_ABORTS),  # it reads 12, and fails at a length of 0
        (SINCE_0_9, StartOutcome.LOADS),  # a length of 0 was the end of the log
    ],
)
def test_seventeen_zeros_after_the_end_ended_brokers_of_one_release(
    rule: StartRule, outcome: StartOutcome, tmp_path: Path
) -> None:
    directory = write_small(tmp_path, is_clean=True, recovery_point=23)
    log = max(directory.glob("*.log"))
    log.write_bytes(log.read_bytes() + bytes(17))
    recovery = start(tmp_path, rule=rule)
    assert recovery.outcome is outcome


OLDER_RULES = [FIRST_RULE, SINCE_0_9, SINCE_0_10_1, SINCE_0_11, SINCE_2_3, SINCE_2_8, SINCE_3_0]


@pytest.mark.parametrize(
    ("rule", "end"),
    [*((rule, 7) for rule in OLDER_RULES), (SINCE_4_1, 0), (StartRule(), 0)],
    ids=lambda each: getattr(each, "release", str(each)),
)
def test_only_older_brokers_find_an_offset_inside_a_batch_before_falling_ones(
    rule: StartRule, end: int, tmp_path: Path
) -> None:
    """The index names 12, the last offset of the batch 10 to 12; a batch 5 to 6 follows it.

    FileRecords#searchForOffsetFromPosition returned the first batch whose last offset is not below
    12. Since 4.1 it compares base offsets, and the last offset only of the batch before a greater
    base offset and of the last batch. It finds none, so that the log ends at the segment's base.
    """
    records = [Record(offset_delta=number, value=b"v") for number in range(3)]
    log = data_batch(10, records).build() + data_batch(5, records[:2]).build()
    files = {f"{FIRST}.log": log, f"{FIRST}.index": struct.pack(">ii", 12, 0)}
    cluster(tmp_path, {1: replace(replica("0-0/e0"), files=files)}, clean=[1])
    assert loaded(tmp_path, is_clean=True, rule=rule).log_end_offset == end


def test_what_an_older_release_finds_is_said_where_batches_overlap(tmp_path: Path) -> None:
    """The log of the test above: KAFKA-18989, in 4.1, changed the search."""
    records = [Record(offset_delta=number, value=b"v") for number in range(3)]
    log = data_batch(10, records).build() + data_batch(5, records[:2]).build()
    files = {f"{FIRST}.log": log, f"{FIRST}.index": struct.pack(">ii", 12, 0)}
    cluster(tmp_path, {1: replace(replica("0-0/e0"), files=files)}, clean=[1])
    reason = start(tmp_path).reason
    assert "; a broker before 4.1: hidden, log end 7" in reason
    assert "a broker before 4.4" not in reason


@pytest.mark.parametrize(
    ("rule", "outcome", "end"),
    [
        pytest.param(StartRule(), StartOutcome.BROKER_ABORTS, None, id="4.0"),
        pytest.param(SINCE_0_10_1, StartOutcome.HIDDEN, 13, id="0.10.1"),
    ],
)
def test_a_search_decompressed_no_old_wrapper_in_0_10(
    rule: StartRule, outcome: StartOutcome, end: int | None, tmp_path: Path
) -> None:
    """The last batch gets magic 1 and attributes of a wrapper, whose offset is the last inside.

    That is 21, and the index names 22, so that 0.10 finds nothing and ends at the segment's base.
    """
    directory = write_small(tmp_path, is_clean=True, recovery_point=23)
    log = directory / f"{LAST}.log"
    content = bytearray(log.read_bytes())
    content[353 + 16 : 353 + 18] = b"\x01\x01"
    log.write_bytes(content)
    recovery = start(tmp_path, rule=rule)
    assert (recovery.outcome, recovery.log_end_offset_after_start) == (outcome, end)


@pytest.mark.parametrize(
    ("rule", "points", "epochs"),
    [
        (StartRule(), StartOutcome.DIRECTORY_OFFLINE, StartOutcome.DIRECTORY_OFFLINE),
        (SINCE_2_3, StartOutcome.DIRECTORY_OFFLINE, StartOutcome.DIRECTORY_OFFLINE),
        (SINCE_0_11, StartOutcome.LOADS, StartOutcome.BROKER_ABORTS),
    ],
    ids=["4.0", "2.3", "0.11"],
)
def test_a_broker_without_kip_112_ends_or_ignores_what_takes_a_disk_offline(
    rule: StartRule, points: StartOutcome, epochs: StartOutcome, tmp_path: Path
) -> None:
    directory = write_small(tmp_path, is_clean=True, recovery_point=23)
    checkpoint = directory.parent / "recovery-point-offset-checkpoint"
    sound = checkpoint.read_bytes()
    checkpoint.write_text("1\n0\n")
    assert start(tmp_path, rule=rule).outcome is points
    checkpoint.write_bytes(sound)
    (directory / "leader-epoch-checkpoint").write_text("0\n2\n0 0\n")
    assert start(tmp_path, rule=rule).outcome is epochs


def test_settings_have_kafkas_defaults() -> None:
    """TopicConfig: index.interval.bytes, segment.index.bytes and retention.ms, 7 days."""
    config = StartRule().config_of("t", None)
    assert config == LogConfig(index_interval=4096, max_index_size=10_485_760)
    assert (config.retention_ms, config.is_known) == (604_800_000, False)


@pytest.mark.parametrize(
    ("topic", "settings", "retention_ms", "is_known"),
    [
        pytest.param("t", {"retention.ms": "5"}, 5, True, id="its_own"),
        pytest.param("t", {"retention.ms": "0"}, 0, True, id="none"),
        pytest.param("t", {"retention.ms": "-1"}, None, True, id="for_ever"),
        pytest.param("t", {"cleanup.policy": "compact"}, None, True, id="compacted"),
        pytest.param(
            "t", {"cleanup.policy": "compact", "retention.ms": "5"}, None, True, id="not_by_time"
        ),
        pytest.param(
            "t", {"cleanup.policy": "compact,delete", "retention.ms": "5"}, 5, True, id="both"
        ),
        pytest.param("t", {"cleanup.policy": "delete"}, 604_800_000, False, id="kafkas_default"),
        pytest.param("t", {"retention.ms": "soon"}, 604_800_000, False, id="not_a_number"),
        pytest.param("__consumer_offsets", {}, None, True, id="compacted_by_itself"),
        pytest.param(
            "__consumer_offsets",
            {"cleanup.policy": "delete"},
            604_800_000,
            False,
            id="not_any_more",
        ),
    ],
)
def test_the_settings_of_a_topic_say_when_its_records_expire(
    topic: str, settings: dict[str, str], retention_ms: int | None, is_known: bool
) -> None:
    topics = ClusterTopics(configs={topic: settings, "other": {"retention.ms": "77"}})
    config = StartRule().config_of(topic, topics)
    assert (config.retention_ms, config.is_known) == (retention_ms, is_known)


def test_a_retention_that_was_given_is_known() -> None:
    given = LogConfig(retention_ms=9, is_known=True)
    assert StartRule(default_config=given).config_of("t", ClusterTopics()) == given


def test_a_topic_may_lower_the_size_of_its_indexes() -> None:
    topics = ClusterTopics(configs={"t": {"segment.index.bytes": "120"}})
    assert StartRule().config_of("t", topics).max_index_size == 120
    assert StartRule().config_of("u", topics).max_index_size == 10_485_760


def test_releases_are_ordered_by_number() -> None:
    rules = [*OLDER_RULES, StartRule()]
    assert sorted(rules, key=lambda each: each.order) == rules


@pytest.mark.parametrize(
    ("topic", "settings", "is_compacted", "because"),
    [
        pytest.param("t", {}, False, "", id="by_default"),
        pytest.param("t", {"cleanup.policy": "delete"}, False, "", id="delete"),
        pytest.param("t", {"cleanup.policy": "compact"}, True, "is only compacted", id="compact"),
        pytest.param("t", {"cleanup.policy": "compact,delete"}, True, "", id="both"),
        pytest.param("t", {"retention.ms": "-1"}, False, "has retention.ms=-1", id="for_ever"),
        pytest.param(
            "t", {"retention.ms": "-1", "retention.bytes": "9"}, False, "", id="limited_by_size"
        ),
        pytest.param(
            "t", {"retention.ms": "5", "retention.bytes": "-1"}, False, "", id="limited_by_time"
        ),
        pytest.param(
            "t", {"retention.ms": "-1", "remote.storage.enable": "true"}, False, "", id="remote"
        ),
        pytest.param(
            "t", {"retention.ms": "-1", "remote.storage.enable": "false"}, False,
            "has retention.ms=-1", id="not_remote",
        ),
        pytest.param("u", {}, None, "", id="unknown_topic"),
    ],
)  # fmt: skip
def test_what_removes_records_of_a_topic(
    topic: str, settings: dict[str, str], is_compacted: bool | None, because: str
) -> None:
    topics = ClusterTopics(topic_ids={"t": "T"}, configs={"t": settings})
    assert topics.is_compacted(topic) is is_compacted
    assert topics.kept_because(topic) == because


def test_a_topic_without_a_name_is_not_known() -> None:
    topics = ClusterTopics(topic_ids={"t": "T"})
    assert (topics.is_compacted(None), topics.kept_because(None)) == (None, "")
    assert topics.kept_because("__consumer_offsets") == "is only compacted"


def test_only_topics_that_the_cluster_has_are_chosen() -> None:
    """A folder of another name may be a renamed one of any topic."""
    topics = ClusterTopics(topic_ids={"a": "A", "b": "B"}, configs={"b": {"retention.ms": "5"}})
    assert topics.only(["a", "__cluster_metadata", ""]) == ClusterTopics(topic_ids={"a": "A"})
    assert topics.only(["a", "c"]) is topics


def test_a_damaged_index_ended_the_first_brokers(tmp_path: Path) -> None:
    directory = write_small(tmp_path, is_clean=True, recovery_point=23)
    with (directory / f"{FIRST}.index").open("ab") as index:
        index.write(bytes(8))
    assert start(tmp_path, rule=FIRST_RULE).outcome is StartOutcome.BROKER_ABORTS
    assert start(tmp_path, rule=SINCE_0_9).outcome is StartOutcome.LOADS


def test_where_files_do_not_tell_the_release_the_reason_names_the_other_outcome(
    tmp_path: Path,
) -> None:
    directory = write_small(tmp_path, is_clean=True, recovery_point=23, log_start=40)
    (directory / "partition.metadata").unlink()
    meta = directory.parent / "meta.properties"
    lines = [line for line in meta.read_text().splitlines() if "directory.id" not in line]
    meta.write_text("\n".join([*lines, ""]))
    recovery = start(tmp_path)
    assert recovery.outcome is StartOutcome.EMPTIED
    own, _, other = recovery.reason.partition("; a broker ")
    assert own.startswith("the log ends at 23, below its start 40 in the checkpoint")
    assert other == "before 2.3: loads, log end 23"


def test_of_the_first_two_releases_the_older_one_is_likelier(tmp_path: Path) -> None:
    """0.8 ends at an index that 0.9 builds anew; meta.properties came with 0.9 (KAFKA-1070)."""
    directory = write_small(tmp_path, is_clean=True, recovery_point=23)
    for path in (*directory.glob("*.timeindex"), *directory.glob("*.snapshot")):
        path.unlink()
    for path in (
        directory / "partition.metadata",
        directory / "leader-epoch-checkpoint",
        directory.parent / "meta.properties",
        directory.parent / "log-start-offset-checkpoint",
    ):
        path.unlink()
    assert start(tmp_path).reason == ""
    with (directory / f"{FIRST}.index").open("ab") as index:
        index.write(bytes(8))
    recovery = start(tmp_path)
    assert recovery.outcome is StartOutcome.BROKER_ABORTS
    assert "; a broker from 0.9 on: loads, log end 23 (" in recovery.reason


@pytest.mark.parametrize("replicas", [None, {("a", 0): (1, 2), ("a", 1): (2, 3), ("b", 0): (1,)}])
def test_each_topic_alone_is_what_choosing_it_leaves(
    replicas: dict[tuple[str, int], tuple[int, ...]] | None,
) -> None:
    topics = ClusterTopics(
        topic_ids={"a": "A", "b": "B", "c": "C"},
        configs={"b": {"cleanup.policy": "compact"}},
        replicas=replicas,
    )
    assert topics.each_alone() == {name: topics.only({name}) for name in "abc"}
