"""The greatest leader epoch on any disk may be one that nobody continued."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from fixtures.builder.metadata_log import PartitionState
from fixtures.synthetic.scenario import Held, Scenario, held, scenario
from kafkalog_reader.audits.catalogue.actions import WRITE_EPOCHS
from kafkalog_reader.audits.comparison.verdict import Verdict
from kafkalog_reader.audits.partition.auditor import audit_partition
from kafkalog_reader.audits.partition.newest_leader import newest_leader
from kafkalog_reader.audits.partition.partition_unit import partition_units
from kafkalog_reader.audits.tables.findings import findings_of
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.report.advice_text import advice_lines
from kafkalog_reader.tables.request import ReadRequest

if TYPE_CHECKING:
    from pathlib import Path

    from kafkalog_reader.audits.partition.partition_audit import PartitionAudit

# Broker 1 is elected in epoch 4 before it has x, and is then cut off. Broker 2 is elected in epoch
# 7 and commits x together with broker 0, but writes nothing: its entry 7:1 starts at its log end,
# and its next start removes the entry (replica-divergence.md, section 4.6). All elections were
# clean.
CONTINUED = held("x@0/e2", "2:0", 1)
DEAD = held("y@0/e4", "4:0", 0)
RESTARTED = held("x@0/e2", "2:0", 1)


def audited(root: Path, state: Scenario, *, unclean_epoch: int | None = None) -> PartitionAudit:
    state.write(root)
    (unit,) = (
        each
        for each in partition_units(discover([str(root)]), ReadRequest())
        if each.directories[0].topic == "t"
    )
    membership = unit.membership
    if membership is not None:
        membership = replace(membership, unclean_epoch=unclean_epoch)
    return audit_partition(unit.directories, topics=unit.topics, membership=membership)


def state_of(*replicas: Held, leader: int | None, leader_epoch: int = 7) -> Scenario:
    metadata = None
    if leader is not None:
        metadata = PartitionState(
            replicas=(0, 1, 2), in_sync=(0, 2), leader=leader, leader_epoch=leader_epoch
        )
    return scenario("restarted", "a leader wrote nothing", "", *replicas, metadata=metadata)


def test_the_metadata_names_the_leader_that_no_log_knows(tmp_path: Path) -> None:
    audit = audited(tmp_path, state_of(CONTINUED, DEAD, RESTARTED, leader=2))
    codes = {each.code for each in findings_of(audit)}
    assert "KL-514" not in codes
    assert "KL-522" in codes
    assert [each.bounds.superseded for each in audit.replicas] == [None, 0, None]
    assert audit.elections[0].candidate.broker_id in {0, 2}
    assert audit.elections[-1].candidate.broker_id == 1
    assert audit.elections[0].lost.only_if_unclean == 1


def test_without_metadata_an_unclean_election_is_likely_and_not_proven(tmp_path: Path) -> None:
    audit = audited(tmp_path, state_of(CONTINUED, DEAD, RESTARTED, leader=None))
    found = [each for each in findings_of(audit) if each.code == "KL-514"]
    assert {each.confidence for each in found} == {"likely"}
    assert all("restarted before it wrote" in each.message for each in found)
    assert audit.elections[0].candidate.broker_id in {0, 2}, "what is known to be committed decides"


def test_an_old_metadata_log_proves_nothing(tmp_path: Path) -> None:
    audit = audited(tmp_path, state_of(CONTINUED, DEAD, RESTARTED, leader=0, leader_epoch=2))
    found = [each for each in findings_of(audit) if each.code == "KL-514"]
    assert {each.confidence for each in found} == {"likely"}


def test_committed_on_both_sides_is_proof(tmp_path: Path) -> None:
    """S5.2 C: no clean election lets two branches commit the same offsets."""
    left = held("a@0/e0 b@1/e0 c@2/e1", "0:0 1:2", 3)
    right = held("a@0/e0 b@1/e0 d@2/e2", "0:0 2:2", 3)
    audit = audited(tmp_path, scenario("s", "", "", left, right))
    (found,) = (each for each in findings_of(audit) if each.code == "KL-514")
    assert found.confidence == "proven"


@pytest.mark.parametrize(("unclean", "is_found"), [(None, False), (2, False), (7, True)])
def test_the_metadata_log_shows_an_unclean_election(
    tmp_path: Path, unclean: int | None, is_found: bool
) -> None:
    """Broker 2 leads epoch 7: by a clean election nothing above its log would be committed."""
    old = held("x@0/e2 y@1/e2 z@2/e2", "2:0", 0)
    audit = audited(
        tmp_path,
        state_of(old, old, held("x@0/e2 q@1/e7", "2:0 7:1", 0), leader=2),
        unclean_epoch=unclean,
    )
    found = [each for each in findings_of(audit) if each.code == "KL-514"]
    assert [each.committed for each in found] == (["possible"] * 2 if is_found else [])
    assert audit.replicas[0].bounds.possible == (3 if is_found else 1)


def test_a_named_leader_with_a_shorter_log_will_cut_the_others(tmp_path: Path) -> None:
    longer, leader = held("x@0/e2 y@1/e2", "2:0", 1), held("x@0/e2", "2:0", 1)
    audit = audited(tmp_path, state_of(longer, longer, leader, leader=2))
    assert audit.verdict is Verdict.PENDING_TRUNCATION
    assert newest_leader(audit) is audit.replicas[2]
    assert [each.bounds.superseded for each in audit.replicas] == [1, 1, None]


def test_a_leader_whose_log_lost_its_end_is_no_sign_of_an_unclean_election(tmp_path: Path) -> None:
    """It was elected in epoch 1 at offset 3 and wrote nothing; then its file lost a batch.

    A leader writes the row of its epoch at its log end, so 1:3 is proof without a high watermark
    above the log end, too. A later epoch may have begun after the loss: its start would lower the
    high watermark to the log end, and remove the row.
    """
    follower = held("a@0/e0 b@1/e0 c@2/e0", "0:0", 3)
    cases = ((3, 1, False), (2, 1, False), (0, 1, False), (3, 2, False), (2, 2, True))
    for high_watermark, leader_epoch, expected in cases:
        leader = held("a@0/e0 b@1/e0", "0:0 1:3", high_watermark)
        audit = audited(
            tmp_path / f"{high_watermark}-{leader_epoch}",
            state_of(leader, follower, follower, leader=0, leader_epoch=leader_epoch),
        )
        codes = {each.code for each in findings_of(audit)}
        assert ("KL-514" in codes) == expected, (high_watermark, leader_epoch)


@pytest.mark.parametrize(
    ("epochs", "severity", "is_older"),
    [("0:0", "H", True), ("0:0 1:1", "C", False)],
    ids=["files_before_its_election", "files_of_its_time"],
)
def test_an_old_disk_that_was_put_back_is_no_unclean_election(
    epochs: str, severity: str, is_older: bool, tmp_path: Path
) -> None:
    """Broker 0 led in epoch 1. A leader writes that entry before any record (T13)."""
    follower = held("a@0/e0 b@1/e0 c@2/e0", "0:0", 3)
    leader = held("a@0/e0", epochs, 1)
    audit = audited(tmp_path, state_of(leader, follower, follower, leader=0, leader_epoch=1))
    found = [each for each in findings_of(audit) if each.code == "KL-514"]
    assert [each.severity for each in found] == [severity] * 2
    assert all(("a backup was put back" in each.message) is is_older for each in found)
    assert all(("an unclean election" in each.message) is not is_older for each in found)
    lines = advice_lines(audit, 1000)
    warned = " ".join(span.text for line in lines for span in line)
    assert ("older than the election" in warned) is is_older


@pytest.mark.parametrize(
    ("leader", "mark", "lost", "said"),
    [
        pytest.param(
            ("a@0/e0 b@1/e0", "0:0 1:3", 2), 3, (1, 0), "1 record from there on (1 committed)",
            id="its_own",
        ),
        pytest.param(
            ("a@0/e0 b@1/e0", "0:0 1:3", 3), 1, (0, 1), None, id="it_lost_the_only_one"
        ),
        pytest.param(("a@0/e0", "0:0 1:3", 3), 1, (0, 2), None, id="it_lost_both"),
        pytest.param(
            ("a@0/e0", "0:0 1:3", 2), 1, (0, 1), "1 record from there on", id="it_lost_the_first"
        ),
        pytest.param(
            ("a@0/e0 b@1/e0", "0:0 1:2", 2), 2, (0, 0), "1 record from there on", id="none"
        ),
    ],
)  # fmt: skip
def test_what_a_newer_leader_would_cut_was_committed_as_its_election_says(
    tmp_path: Path, leader: tuple[str, str, int], mark: int, lost: tuple[int, int], said: str | None
) -> None:
    """Only a high watermark of the copy itself proves it: the leader lost what its own names.

    Broker 0 leads in epoch 1. What it lost is no tail that a newer leader never had.
    """
    follower = held("a@0/e0 b@1/e0 c@2/e0", "0:0", mark)
    audit = audited(tmp_path, state_of(held(*leader), follower, follower, leader=0, leader_epoch=1))
    assert audit.verdict is (Verdict.PENDING_TRUNCATION if said else Verdict.LAGGING)
    found = [each for each in findings_of(audit) if each.code == "KL-504"]
    words = f"{said} would be cut if broker 0 led"
    assert [each.message.partition("; ")[2] for each in found] == ([words] * 2 if said else [])
    lacking = next(e.lacking for e in audit.elections if e.candidate.name == "broker 0")
    assert (lacking.known, lacking.possible) == lost


def test_a_metadata_log_that_ends_before_an_election_is_what_is_behind(tmp_path: Path) -> None:
    """Only a controller makes leader epochs: no epoch file is to be written again."""
    silent = held("x@0/e2", "2:0 7:1", 1)
    audit = audited(tmp_path, state_of(CONTINUED, CONTINUED, silent, leader=0, leader_epoch=2))
    found = {each.code: each for each in findings_of(audit)}
    assert "KL-521" not in found
    assert WRITE_EPOCHS not in {action for each in found.values() for action in each.actions}
    evidence = dict(found["KL-526"].evidence)
    assert (evidence["copies"], evidence["leaderEpoch"]) == ("broker 2", "7")
    assert evidence["metadataLeaderEpoch"] == "2"


def test_a_leader_that_lost_its_epoch_is_named_by_metadata_of_that_epoch(tmp_path: Path) -> None:
    """M10: followers of broker 0 ask for epoch 7 for ever."""
    silent = held("x@0/e2", "2:0 7:1", 1)
    audit = audited(tmp_path, state_of(CONTINUED, CONTINUED, silent, leader=0, leader_epoch=7))
    found = {each.code: each for each in findings_of(audit)}
    assert "while broker 0 leads, broker 2 asks it again and again" in found["KL-521"].message
    assert "KL-526" not in found


def test_an_epoch_that_begins_beyond_the_log_end_is_asked_for_by_nobody(tmp_path: Path) -> None:
    """LogLoader#load, Kafka 4.4: the start removes entries from the log end on."""
    silent = held("x@0/e2", "2:0 7:2", 1)
    audit = audited(tmp_path, state_of(CONTINUED, CONTINUED, silent, leader=0, leader_epoch=7))
    assert "KL-521" not in {each.code for each in findings_of(audit)}


@pytest.mark.parametrize(
    ("epochs", "high_watermark", "is_evidence"),
    [
        pytest.param("2:0 7:265", 1, False, id="of-another-partition"),
        pytest.param("2:0 7:1", 1, True, id="elected-at-its-end"),
        pytest.param("2:0 7:2", 2, True, id="elected-before-its-log-lost-its-end"),
    ],
)
def test_a_row_above_every_offset_of_a_copy_is_no_election(
    epochs: str, high_watermark: int, is_evidence: bool, tmp_path: Path
) -> None:
    """A leader epoch begins at the log end of its leader, which a replica has reached."""
    foreign = held("x@0/e2", epochs, high_watermark)
    audit = audited(tmp_path, state_of(CONTINUED, CONTINUED, foreign, leader=0, leader_epoch=2))
    assert audit.is_metadata_older == is_evidence
    assert ("KL-526" in {each.code for each in findings_of(audit)}) == is_evidence
