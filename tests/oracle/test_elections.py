"""Every candidate is elected on real brokers: truncations and losses are as predicted."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

import pytest

from fixtures import live
from fixtures.elections import lost_start, refetching
from fixtures.elections.agreement import disagreements
from fixtures.elections.observation import Batch, observations, whole_batches
from fixtures.elections.state import states_of
from fixtures.elections.vote import BEFORE
from kafkalog_reader.audits.partition.auditor import audit_partition
from kafkalog_reader.audits.recovery.rule import ClusterTopics
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.tables.request import ReadRequest
from tests.oracle.states import captured_states, synthetic_states

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.oracle

SEED: Final = int(os.environ.get("KAFKALOG_SEED", "1"))
HISTORIES: Final = int(os.environ.get("KAFKALOG_HISTORIES", "2"))
PARTITIONS: Final = 12
BROKERS: Final = int(os.environ.get("KAFKALOG_BROKERS", "3"))

ENDLESS: Final = 20
"""More rounds than any follower needs that gets in sync."""


def test_every_candidate_in_every_known_state(tmp_path: Path) -> None:
    states = [*captured_states(), *synthetic_states(tmp_path / "synthetic")]
    output = live.run("elections", tmp_path / "output", "0,1,2", *states)
    assert disagreements(output) == []
    stuck = [each.state for each in observations(output) if each.is_refusing]
    assert stuck == ["m8.t-0"]
    assert len({each.state for each in observations(output)}) == len(states)


def test_followers_that_fetch_the_same_records_for_ever(tmp_path: Path) -> None:
    """They never get in sync, and the log lines of a minute show how often they truncate."""
    states = refetching.write_states(tmp_path / "states")
    output = live.run("elections", tmp_path / "output", str(refetching.LEADER), *states)
    assert disagreements(output) == []
    endless = {each.state for each in observations(output) if each.rounds > ENDLESS}
    assert endless == {f"{name}.t-0" for name in refetching.STATES} - {f"{refetching.HEALING}.t-0"}


def test_every_candidate_after_random_histories(tmp_path: Path) -> None:
    """``KAFKALOG_SEED``, ``KAFKALOG_HISTORIES`` and ``KAFKALOG_BROKERS`` choose others and more."""
    options = (str(SEED), str(HISTORIES), str(PARTITIONS), str(BROKERS))
    timeout = 600 * (HISTORIES + 1)
    output = live.run("election_histories", tmp_path / "output", *options, timeout=timeout)
    assert disagreements(output) == []
    seen = observations(output)
    assert len({each.state for each in seen}) == HISTORIES * PARTITIONS
    cut = [each for each in seen if each.truncation_offset < each.follower_log_end_offset]
    assert len(cut) >= len(seen) // 10


def test_followers_delete_what_a_leader_without_its_beginning_lacks(tmp_path: Path) -> None:
    """The table counts the records below the log start, which no broker has afterwards."""
    state = lost_start.write_state(tmp_path / "state")
    output = live.run("lost_starts", tmp_path / "output", state)
    topic = f"{lost_start.NAME}.t-0"
    (known,) = states_of(tmp_path / "state", lost_start.NAME)
    compacted = ClusterTopics(
        topic_ids={topic: known.topic_id}, configs={topic: {"cleanup.policy": "compact"}}
    )
    before = sorted(map(str, (output / BEFORE).glob("broker-*")))
    ((_, directories),) = discover(before).topic_partitions(ReadRequest())
    audit = audit_partition(directories, topics=compacted)
    predicted = {each.candidate.broker_id: each.lost.total for each in audit.elections}
    held = batches_of(output / BEFORE, topic)
    came = {
        node: sum(each.records for each in held - batches_of(output / f"candidate-{node}", topic))
        for node in predicted
    }
    assert came == {0: 2, 1: 8, 2: 5}
    assert predicted == came


def batches_of(root: Path, topic: str) -> set[Batch]:
    """The batches that some broker still has."""
    logs = root.glob(f"broker-*/{topic}-0/*.log")
    return {batch for log in logs for batch in whole_batches(log.read_bytes())}
