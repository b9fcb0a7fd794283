"""The acceptance scenarios of replica-divergence.md, section 5, byte for byte."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fixtures.builder import Replica, replica
from kafkalog_reader.audits.comparison.verdict import Verdict
from kafkalog_reader.audits.partition.partition_audit import PartitionAudit
from kafkalog_reader.audits.tables.findings import findings_of

Audited = Callable[..., PartitionAudit]
AB = "a@0/e0 b@1/e0"


def codes(audit: PartitionAudit) -> set[str]:
    return {found.code for found in findings_of(audit)}


def ranking(audit: PartitionAudit) -> list[int]:
    """Replicas, best candidate first."""
    return [election.candidate.broker_id for election in audit.elections]


def lost(audit: PartitionAudit, leader: int) -> tuple[int, int, int, str]:
    """Lost records, how many of them are known or possibly committed, and the kind of election."""
    (election,) = (each for each in audit.elections if each.candidate.broker_id == leader)
    count = election.lost
    return count.total, count.known, count.possible, election.kind.value


def cuts(audit: PartitionAudit, leader: int) -> dict[int, int]:
    """Truncation offset of each follower that loses something."""
    (election,) = (each for each in audit.elections if each.candidate.broker_id == leader)
    return {
        each.follower.broker_id: each.truncation_offset
        for each in election.followers
        if each.is_cut
    }


def held(log: str, epochs: str, high_watermark: int) -> Replica:
    return replica(log, epochs=epochs, high_watermark=high_watermark)


def test_s1_follower_cut_from_its_leader_lags(audited: Audited) -> None:
    ahead = held(f"{AB} m*2@2/e0", "0:0", 4)
    audit = audited(ahead, held(AB, "0:0", 2), ahead)
    assert audit.verdict is Verdict.LAGGING
    assert {"KL-502"} <= codes(audit)
    assert "KL-503" not in codes(audit)
    assert lost(audit, 0) == lost(audit, 2) == (0, 0, 0, "clean")
    assert lost(audit, 1) == (2, 2, 0, "unclean")
    assert cuts(audit, 1) == {0: 2, 2: 2}


def test_s1_stale_checkpoints_leave_the_loss_undetermined(audited: Audited) -> None:
    ahead = held(f"{AB} m*2@2/e0", "0:0", 2)
    audit = audited(ahead, held(AB, "0:0", 2), ahead)
    assert lost(audit, 1) == (2, 0, 2, "undetermined")


def test_s2_nothing_differs(audited: Audited) -> None:
    audit = audited(*[held(AB, "0:0", 2)] * 3)
    assert audit.verdict is Verdict.CONSISTENT
    assert codes(audit) == {"KL-501"}
    assert all(lost(audit, leader)[0] == 0 for leader in range(3))


def test_s3_1_isolated_follower_lags_and_is_not_superseded(audited: Audited) -> None:
    ahead = held(f"{AB} c@2/e1 d@3/e1", "0:0 1:2", 4)
    audit = audited(held(AB, "0:0", 2), ahead, ahead)
    assert audit.verdict is Verdict.LAGGING
    assert codes(audit).isdisjoint({"KL-503", "KL-504"})
    assert cuts(audit, 1) == cuts(audit, 2) == {}
    assert lost(audit, 0) == (2, 2, 0, "unclean")
    assert cuts(audit, 0) == {1: 2, 2: 2}


def s3_2(audited: Audited, isolated: str, *, epochs: str = "0:0") -> PartitionAudit:
    won = held(f"{AB} f@2/e2 g@3/e2", "0:0 2:2", 4)
    return audited(held(isolated, epochs, 2), won, won)


def test_s3_2_a_two_leaders_wrote(audited: Audited) -> None:
    audit = s3_2(audited, f"{AB} c@2/e0 d@3/e0 e@4/e0")
    assert (audit.verdict, audit.fork_offset) == (Verdict.FORKED, 2)
    (fork,) = (found for found in findings_of(audit) if found.code == "KL-503")
    evidence = dict(fork.evidence)
    assert (evidence["side1"], evidence["side1.records"], evidence["side1.leaderEpochs"]) == (
        "broker 0", "3", "0",
    )  # fmt: skip
    assert (evidence["side2"], evidence["side2.records"], evidence["side2.leaderEpochs"]) == (
        "brokers 1 and 2", "2", "2",
    )  # fmt: skip
    assert (evidence["side1.knownCommitted"], evidence["side2.knownCommitted"]) == ("0", "2")
    assert ranking(audit) == [1, 2, 0]
    assert lost(audit, 1) == lost(audit, 2) == (3, 0, 0, "clean")
    assert audit.elections[0].lost.only_if_unclean == 3
    assert lost(audit, 0) == (2, 2, 0, "unclean")
    assert cuts(audit, 1) == cuts(audit, 2) == {0: 2}
    assert cuts(audit, 0) == {1: 2, 2: 2}
    assert "KL-513" not in codes(audit)


def test_s3_2_b_retries_lengthen_the_losing_side(audited: Audited) -> None:
    audit = s3_2(audited, f"{AB} c*4@2/e0 d*4@6/e0 e*4@10/e0")
    assert (audit.verdict, audit.fork_offset) == (Verdict.FORKED, 2)
    assert lost(audit, 1) == (12, 0, 0, "clean")
    (alone,) = (each for each in findings_of(audit) if each.code == "KL-520")
    assert (alone.first_offset, alone.next_offset, alone.records_at_risk) == (2, 14, 12)


def test_s3_2_d_resynchronised_copies_agree(audited: Audited) -> None:
    audit = s3_2(audited, f"{AB} f@2/e2 g@3/e2", epochs="0:0 2:2")
    assert audit.verdict is Verdict.CONSISTENT
    assert codes(audit) == {"KL-501"}


def test_s3_2_e_an_elected_leader_that_wrote_nothing_is_not_a_fork(audited: Audited) -> None:
    audit = s3_2(audited, f"{AB} f@2/e2 g@3/e2", epochs="0:0 2:2 3:4")
    assert audit.verdict is Verdict.CONSISTENT
    assert codes(audit) == {"KL-408", "KL-501"}
    assert cuts(audit, 1) == {}


def test_s4_1_zone_of_a_follower_isolated(audited: Audited) -> None:
    ahead = held(f"{AB} c@2/e1", "0:0 1:2", 3)
    audit = audited(ahead, ahead, held(AB, "0:0", 2))
    assert audit.verdict is Verdict.LAGGING
    assert lost(audit, 2) == (1, 1, 0, "unclean")


def test_s4_2_leader_and_controller_isolated_together(audited: Audited) -> None:
    won = held(f"{AB} f@2/e2", "0:0 2:2", 3)
    audit = audited(held(f"{AB} c@2/e0 d@3/e0", "0:0", 2), won, won)
    assert (audit.verdict, audit.fork_offset) == (Verdict.FORKED, 2)
    assert lost(audit, 1) == lost(audit, 2) == (2, 0, 0, "clean")
    assert cuts(audit, 1) == {0: 2}
    assert lost(audit, 0) == (1, 1, 0, "unclean")


def test_s5_1_a_crash_before_replication_is_undetermined(audited: Audited) -> None:
    audit = audited(held(f"{AB} c@2/e0", "0:0", 2), held(AB, "0:0", 2))
    assert audit.verdict is Verdict.LAGGING
    assert lost(audit, 0) == (0, 0, 0, "clean")
    assert lost(audit, 1) == (1, 0, 1, "undetermined")


def test_s5_1_b_a_leader_that_wrote_nothing_supersedes_the_tail(audited: Audited) -> None:
    audit = audited(held(f"{AB} c@2/e0", "0:0", 2), held(AB, "0:0 1:2", 2))
    assert audit.verdict is Verdict.PENDING_TRUNCATION
    assert {"KL-504", "KL-408"} <= codes(audit)
    assert cuts(audit, 1) == {0: 2}
    assert lost(audit, 1) == (1, 0, 0, "clean")
    assert {each.candidate.broker_id: each.lost.only_if_unclean for each in audit.elections}[1] == 1


def test_s5_1_c_the_new_leader_wrote(audited: Audited) -> None:
    audit = audited(held(f"{AB} c@2/e0", "0:0", 2), held(f"{AB} d@2/e1", "0:0 1:2", 3))
    assert (audit.verdict, audit.fork_offset) == (Verdict.FORKED, 2)
    assert lost(audit, 1) == (1, 0, 0, "clean")
    assert lost(audit, 0) == (1, 1, 0, "unclean")


def test_s5_2_a_only_one_replica_has_the_committed_record(audited: Audited) -> None:
    audit = audited(held(f"{AB} c@2/e1", "0:0 1:2", 3), held(AB, "0:0", 2))
    assert lost(audit, 0) == (0, 0, 0, "clean")
    assert lost(audit, 1) == (1, 1, 0, "unclean")


def test_s5_2_b_an_unclean_election_shows(audited: Audited) -> None:
    audit = audited(held(f"{AB} c@2/e1", "0:0 1:2", 3), held(AB, "0:0 2:2", 2))
    assert {"KL-504", "KL-514", "KL-520"} <= codes(audit)
    (outcome,) = next(each for each in audit.elections if each.candidate.broker_id == 1).followers
    (only,) = outcome.following.rounds
    assert (only.asked, only.answer, only.truncated_to) == (1, (0, 2), 2)


def test_s5_2_c_both_branches_hold_committed_records(audited: Audited) -> None:
    audit = audited(held(f"{AB} c@2/e1", "0:0 1:2", 3), held(f"{AB} d@2/e2", "0:0 2:2", 3))
    assert {"KL-503", "KL-513", "KL-514", "KL-903"} <= codes(audit)
    assert lost(audit, 0) == lost(audit, 1) == (1, 1, 0, "unclean")
    assert ranking(audit) == [1, 0]


def test_h3_followers_that_cut_the_same_records_are_not_counted_twice(audited: Audited) -> None:
    audit = audited(
        *(replica(" ".join(f"r{o}@{o}/e0" for o in range(end)), epochs="0:0", high_watermark=hw)
          for end, hw in ((9, 6), (8, 6), (6, 5)))
    )  # fmt: skip
    assert cuts(audit, 1) == {0: 8}
    assert lost(audit, 1)[:3] == (1, 0, 1)
    assert cuts(audit, 2) == {0: 6, 1: 6}
    assert lost(audit, 2)[0] == 3


def test_h4_a_record_written_twice_is_not_a_fork(audited: Audited) -> None:
    won = held(f"{AB} m@2/e0 m@3/e1", "0:0 1:3", 4)
    audit = audited(held(f"{AB} m@2/e0", "0:0", 2), won, won)
    assert audit.verdict is Verdict.LAGGING
    assert "KL-502" in codes(audit)


def test_m3_a_lost_epoch_file_leaves_divergence_that_nobody_notices(audited: Audited) -> None:
    audit = audited(held("x@0/e2", "4:1", 0), held("y@0/e1", "1:0 3:1", 0))
    (outcome,) = next(each for each in audit.elections if each.candidate.broker_id == 0).followers
    assert outcome.silent_divergence == 0
    assert not outcome.is_cut


def test_m5_what_retention_removed_from_the_leader_is_not_a_loss(audited: Audited) -> None:
    audit = audited(replica("10-19/e3", epochs="3:10", base_offset=10), held("0-9/e1", "1:0", 0))
    assert lost(audit, 0)[0] == 0
    assert cuts(audit, 0) == {}
    assert "KL-512" in codes(audit)


def test_m6_a_batch_goes_as_a_whole(audited: Audited) -> None:
    audit = audited(held("0-9/e0", "0:0", 10), held("0-9/e0 10-14/e0", "0:0", 15))
    assert cuts(audit, 0) == {1: 10}
    assert lost(audit, 0) == (5, 5, 0, "unclean")


def test_m7_compaction_on_one_side_is_not_a_fork(audited: Audited) -> None:
    audit = audited(held("0-9/e0[0,4,9]", "0:0", 10), held("0-9/e0", "0:0", 10))
    assert audit.verdict is Verdict.CONSISTENT
    assert "KL-509" in codes(audit)
    assert cuts(audit, 0) == cuts(audit, 1) == {}


def test_m8_a_target_inside_a_batch_takes_the_whole_batch(audited: Audited) -> None:
    audit = audited(held("0-9/e0 12-13/e1", "0:0 1:12", 0), held("0-9/e0 10-14/e0", "0:0", 0))
    (outcome,) = next(each for each in audit.elections if each.candidate.broker_id == 0).followers
    assert (outcome.truncation_offset, outcome.kept_until) == (12, 10)
    assert outcome.records_cut == 5


def test_m9_only_the_greatest_leader_epoch_supersedes(audited: Audited) -> None:
    audit = audited(held("x@0/e2", "2:0", 1), held("", "4:0", 0), held("x@0/e2", "2:0 7:1", 1))
    assert audit.verdict is Verdict.LAGGING
    found = [(each.code, each.directory) for each in findings_of(audit)]
    about = {code: [d.replica_name for c, d in found if c == code and d] for code, _ in found}
    assert about["KL-502"] == ["broker 1"]
    assert about["KL-408"] == ["broker 1", "broker 2"]
    assert codes(audit).isdisjoint({"KL-503", "KL-504", "KL-514"})
    assert lost(audit, 0)[3] == lost(audit, 2)[3] == "clean"
    assert lost(audit, 1) == (1, 1, 0, "unclean")


@pytest.mark.parametrize("ids", [("AAAAAAAAAAEAAAAAAAAABQ", "AAAAAAAAAAEAAAAAAAAABg")])
def test_different_topic_ids_are_not_compared(audited: Audited, ids: tuple[str, str]) -> None:
    audit = audited(*(replica(AB, high_watermark=2, topic_id=topic_id) for topic_id in ids))
    assert audit.verdict is Verdict.UNDECIDABLE
    assert "KL-009" in codes(audit)
    assert audit.elections == ()


def test_a_three_way_fork_names_each_side(audited: Audited) -> None:
    audit = audited(
        held(f"{AB} c@2/e0", "0:0", 2),
        held(f"{AB} d@2/e1", "0:0 1:2", 2),
        held(f"{AB} e@2/e2", "0:0 2:2", 2),
    )
    (fork,) = (found for found in findings_of(audit) if found.code == "KL-503")
    assert dict(fork.evidence)["side3"] == "broker 2"
    assert audit.fork_offset == 2
    assert lost(audit, 2)[0] == 2
