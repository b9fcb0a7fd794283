"""Differences in starts of older releases, as seen with real brokers (``tests/oracle``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fixtures import captures
from kafkalog_reader.audits.recovery.outcome import StartOutcome
from kafkalog_reader.audits.recovery.release import possible_rules
from kafkalog_reader.audits.recovery.rule import (
    FIRST_RULE,
    SINCE_0_9,
    SINCE_0_10_1,
    SINCE_0_11,
    SINCE_2_3,
    ClusterTopics,
    StartRule,
)
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.tables.request import ReadRequest
from tests.audits.recovery.logs import FIRST, start, write_small

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("capture", "releases"),
    [
        ("release_0.8.2.2", ["0.8", "0.9"]),
        ("release_0.10.2.2", ["0.10.1"]),
        ("release_0.11.0.3", ["2.3", "0.11"]),
        ("release_2.8.2", ["2.3", "0.11"]),
        ("everything", ["4.0"]),
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
    assert recovery.reason.endswith("a broker before 2.3: loads, log end 23")


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
