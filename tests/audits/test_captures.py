"""Audits of real brokers' files give what is known about them (``expected.json``)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from fixtures import captures
from kafkalog_reader.audits.comparison.verdict import Verdict
from kafkalog_reader.audits.partition.auditor import audit_partition
from kafkalog_reader.audits.tables.findings import findings_of
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.tables.request import ReadRequest

if TYPE_CHECKING:
    from kafkalog_reader.audits.partition.partition_audit import PartitionAudit

STATES = [
    (scenario, state)
    for scenario in ("s1", "s3_2", "s5_1", "s5_2")
    for state in json.loads(captures.path(f"{scenario}/expected.json").read_text())["captures"]
]
VERDICTS = {
    ("s1", "shrunk"): Verdict.LAGGING,
    ("s1", "healed"): Verdict.CONSISTENT,
    ("s3_2", "both-led"): Verdict.FORKED,
    ("s3_2", "healed"): Verdict.CONSISTENT,
    ("s5_1", "a-down"): Verdict.LAGGING,
    ("s5_1", "b-elected"): Verdict.PENDING_TRUNCATION,
    ("s5_1", "c-written"): Verdict.FORKED,
    ("s5_1", "d-resynchronised"): Verdict.CONSISTENT,
    ("s5_2", "a-down"): Verdict.LAGGING,
    ("s5_2", "c-written"): Verdict.FORKED,
    ("s5_2", "d-resynchronised"): Verdict.CONSISTENT,
}


def audit_of(scenario: str, state: str) -> PartitionAudit:
    request = ReadRequest(topics=frozenset({"t"}))
    ((_, directories),) = discover([str(captures.path(f"{scenario}/{state}"))]).topic_partitions(
        request
    )
    return audit_partition(directories)


def expected_of(scenario: str, state: str) -> dict[str, Any]:
    return json.loads(captures.path(f"{scenario}/expected.json").read_text())["captures"][state]


@pytest.mark.parametrize(("scenario", "state"), STATES)
def test_ends_epochs_and_fork_are_what_the_scenario_did(scenario: str, state: str) -> None:
    expected, audit = expected_of(scenario, state), audit_of(scenario, state)
    assert audit.fork_offset == expected.get("forkOffset")
    for replica in audit.replicas:
        history = replica.history
        known = expected["replicas"][str(replica.broker_id)]
        assert history.log_start_offset == known["logStart"]
        assert history.log_end_offset == known["logEnd"]
        steps = [
            [interval.leader_epoch, interval.first_offset] for interval in history.lineage.intervals
        ]
        assert steps == [step for step in known["leaderEpochs"] if step[1] < known["logEnd"]]


@pytest.mark.parametrize(("scenario", "state"), list(VERDICTS))
def test_verdict_of_each_state(scenario: str, state: str) -> None:
    assert audit_of(scenario, state).verdict is VERDICTS[scenario, state]


def test_what_the_brokers_cut_when_the_link_healed_is_what_was_predicted() -> None:
    cut = expected_of("s3_2", "healed")["truncations"]
    audit = audit_of("s3_2", "both-led")
    leader = expected_of("s3_2", "both-led")["leader"]
    election = next(e for e in audit.elections if e.candidate.broker_id == leader)
    predicted = {
        str(outcome.follower.broker_id): outcome.truncation_offset
        for outcome in election.followers
        if outcome.is_cut
    }
    assert predicted == cut


def test_each_side_of_the_fork_and_each_election_of_s3_2() -> None:
    audit = audit_of("s3_2", "both-led")
    assert [election.candidate.broker_id for election in audit.elections] == [1, 2, 0]
    assert [(e.lost.total, e.lost.known) for e in audit.elections] == [(3, 0), (3, 0), (2, 2)]
    found = {each.code for each in findings_of(audit)}
    assert {"KL-503", "KL-520", "KL-901", "KL-902"} <= found
    assert found.isdisjoint({"KL-505", "KL-513", "KL-514"})


def test_the_record_that_the_unclean_election_lost_is_known_to_be_committed() -> None:
    audit = audit_of("s5_2", "c-written")
    assert {"KL-503", "KL-513", "KL-514", "KL-903"} <= {each.code for each in findings_of(audit)}
    assert [(e.lost.total, e.lost.known) for e in audit.elections] == [(1, 1), (1, 1)]


def test_a_topic_of_every_kind_has_no_finding_above_information() -> None:
    for state in ("running", "stopped", "killed"):
        for _, directories in discover([str(captures.path("everything") / state)]).topic_partitions(
            ReadRequest()
        ):
            audit = audit_partition(directories)
            worse = [each for each in findings_of(audit) if each.severity in "CHM"]
            assert worse == []
            assert audit.verdict is Verdict.CONSISTENT
