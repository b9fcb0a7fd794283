"""Killed quorums of 4.4.0: what was predicted from their files is what controllers then did."""

from __future__ import annotations

from fixtures import captures
from fixtures.jars import cache_directory
from fixtures.quorums.agreement import agreement
from fixtures.quorums.capture import CAPTURED, TRIALS
from kafkalog_reader.audits.quorum.outcome import Verdict
from tests.audits.quorum.controllers import audited, copy_of


def test_captured_controllers_elected_voted_and_cut_as_predicted() -> None:
    """``fixtures/quorums/captured/README.md`` says how they were made."""
    result = agreement(captures.unpacked(TRIALS, cache_directory() / "captures"))
    assert result.differences == []
    assert result.counts["leaders"] >= 10
    assert result.counts["votes"] >= 30
    assert result.counts["voter sets"] >= 15
    assert result.counts["logs"] >= 10
    assert result.counts["cuts"] >= 4
    assert result.counts["no leader"] >= 1
    assert result.counts["stopped by themselves"] >= 1


def test_a_leader_that_begins_at_its_snapshot_cuts_a_longer_follower() -> None:
    trials = captures.unpacked(TRIALS, cache_directory() / "captures")
    audit = audited(trials / "state-103" / "trial-1" / "before")
    assert copy_of(audit, 3).is_truncated_to_snapshot
    cuts = {each.copy.node_id: each.cut for each in audit.outcomes}
    assert {
        node: [(copy.node_id, offset) for copy, offset in cut] for node, cut in cuts.items()
    } == {1: [(2, 113)], 2: [], 3: [(2, 113)]}


def test_a_controller_on_a_new_disk_is_no_voter() -> None:
    """Controller 1 is gone, 2 was formatted with ``--no-initial-controllers``, 3 is left."""
    audit = audited(CAPTURED / "two-of-three-lost")
    assert audit.verdict is Verdict.NO_MAJORITY
    assert [each.node_id for each in audit.quorum.seated] == [3]
    assert [each.node_id for each in audit.quorum.missing] == [1, 2]
    assert copy_of(audit, 3).kraft_version == 1
    assert copy_of(audit, 3).snapshot == (24, 1)
