"""Who can be elected, what is cut and what is lost, by Raft's rules and not by our own output."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kafkalog_reader.audits.quorum.commitment import Commitment
from kafkalog_reader.audits.quorum.outcome import QuorumAudit, Verdict
from tests.audits.quorum.controllers import audited, copy_of, write_controllers

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

FIVE = (1, 2, 3, 4, 5)


def winners(audit: QuorumAudit) -> set[int | None]:
    return {each.copy.node_id for each in audit.outcomes if each.can_win}


@pytest.mark.parametrize(
    ("logs", "elected"),
    [
        pytest.param({1: "111", 2: "111", 3: "111"}, {1, 2, 3}, id="equal logs: anybody"),
        pytest.param({1: "1111", 2: "111", 3: "111"}, {1, 2, 3}, id="two laggards are a majority"),
        pytest.param({1: "1111", 2: "1111", 3: "111"}, {1, 2}, id="one laggard gets no vote"),
        pytest.param({1: "11111", 2: "112", 3: "112"}, {2, 3}, id="the last epoch comes first"),
        pytest.param({1: "1111", 2: "112"}, {2}, id="only the vote of a log that ends no later"),
        pytest.param({1: "1111"}, set(), id="one of three is no majority"),
    ],
)
def test_a_majority_elects_whose_log_reaches_as_far_as_theirs(
    tmp_path: Path, logs: Mapping[int, str], elected: set[int]
) -> None:
    assert winners(audited(write_controllers(tmp_path, logs))) == elected


def test_five_voters_need_three(tmp_path: Path) -> None:
    logs = {1: "1111", 2: "111", 3: "11"}
    assert winners(audited(write_controllers(tmp_path, logs, voters=FIVE))) == {1}
    audit = audited(write_controllers(tmp_path / "two", {1: "1111", 2: "111"}, voters=FIVE))
    assert audit.verdict is Verdict.NO_MAJORITY


def test_a_follower_is_cut_where_it_parts_from_the_leader(tmp_path: Path) -> None:
    audit = audited(write_controllers(tmp_path, {1: "11111", 2: "1122", 3: "1122"}))
    outcome = next(each for each in audit.outcomes if each.copy.node_id == 2)
    assert [(copy.node_id, offset) for copy, offset in outcome.cut] == [(1, 2)]
    (lost,) = outcome.lost
    assert (lost.first_offset, lost.next_offset) == (2, 5)
    assert lost.commitment is Commitment.NOT  # a leader was elected without them
    assert [text for _, text in lost.changes] == [f"topic t1-{at} created" for at in (2, 3, 4)]
    assert audit.verdict is Verdict.ELECTABLE


def test_a_new_disk_lets_a_laggard_win_who_loses_committed_records(tmp_path: Path) -> None:
    """Voter 3 may have acknowledged what 1 and 3 alone had: now 2 and 3 elect 2."""
    audit = audited(write_controllers(tmp_path, {1: "1111", 2: "11", 3: ""}))
    assert winners(audit) == {1, 2}
    assert audit.verdict is Verdict.MAY_LOSE
    lost = next(each for each in audit.outcomes if each.copy.node_id == 2).lost
    assert [(each.first_offset, each.next_offset) for each in lost] == [(2, 4)]
    assert lost[0].commitment is Commitment.POSSIBLY
    assert {each.node_id for each in audit.start_first} == {1, 2}


def test_two_of_three_hold_everything_that_is_committed(tmp_path: Path) -> None:
    audit = audited(write_controllers(tmp_path, {1: "1111", 2: "11"}))
    assert audit.verdict is Verdict.ELECTABLE
    assert winners(audit) == {1}
    committed = audit.committed
    assert committed is not None
    assert (committed.low, committed.high) == (2, 4)


def test_what_one_of_three_alone_holds_is_not_committed(tmp_path: Path) -> None:
    audit = audited(write_controllers(tmp_path, {1: "1111", 2: "11", 3: "111"}))
    committed = audit.committed
    assert committed is not None
    assert (committed.low, committed.high) == (3, 3)


def test_copies_with_different_records_of_one_epoch_contradict_each_other(tmp_path: Path) -> None:
    every = write_controllers(tmp_path / "all", {1: "1111", 2: "1111", 3: "1111"})
    log = next(every.glob("broker-2/*/*.log"))
    other = next(write_controllers(tmp_path / "other", {2: "1211"}).glob("broker-2/*/*.log"))
    content = other.read_bytes()
    size = len(content) // 4  # four batches of one size
    batch = bytearray(content[size : 2 * size])
    batch[12:16] = (1).to_bytes(4, "big")  # its leader epoch, which no checksum covers
    log.write_bytes(content[:size] + bytes(batch) + content[2 * size :])
    audit = audited(every)
    assert audit.verdict is Verdict.CONTRADICTED
    parting = audit.quorum.parting(copy_of(audit, 1), copy_of(audit, 2))
    assert (parting.offset, parting.is_conflict) == (1, True)


def test_a_start_cuts_the_log_at_the_first_bad_batch(tmp_path: Path) -> None:
    write_controllers(tmp_path, {1: "1111", 2: "1111", 3: "1111"})
    log = next(tmp_path.glob("broker-1/*/*.log"))
    content = bytearray(log.read_bytes())
    content[-1] ^= 1
    log.write_bytes(content)
    copy = copy_of(audited(tmp_path), 1)
    assert copy.end == (1, 3)
    assert "wrong CRC" in copy.batches.damage


def test_the_leader_that_others_name_stops_when_it_has_forgotten(tmp_path: Path) -> None:
    write_controllers(tmp_path, {1: "11", 2: "", 3: "11"}, leaders={1: (2, 1), 3: (2, 1)})
    audit = audited(tmp_path)
    names = audit.quorum.naming_as_leader(copy_of(audit, 2))
    assert [each.node_id for each in names] == [1, 3]
    assert audit.quorum.naming_as_leader(copy_of(audit, 1)) == ()


def test_a_leader_that_has_forgotten_is_needed_by_a_majority(tmp_path: Path) -> None:
    """As in state 14 of seed 1: 4.4.0 elects it once quorum-state of the others is gone."""
    write_controllers(tmp_path / "all", {1: "11", 3: "111"}, without=(3,), leaders={1: (3, 1)})
    audit = audited(tmp_path / "all")
    assert [each.node_id for each in audit.needed_but_stop] == [3]
    assert not audit.is_clean
    write_controllers(tmp_path / "none", {1: "11", 3: "111"}, without=(3,))
    assert audited(tmp_path / "none").is_clean


def test_a_leader_that_remembers_does_not_stop(tmp_path: Path) -> None:
    leaders = dict.fromkeys((1, 2, 3), (2, 1))
    audit = audited(write_controllers(tmp_path, {1: "11", 2: "11", 3: "11"}, leaders=leaders))
    assert audit.quorum.naming_as_leader(copy_of(audit, 2)) == ()


def test_a_log_directory_without_a_metadata_log_is_that_of_an_empty_voter(tmp_path: Path) -> None:
    write_controllers(tmp_path, {1: "11", 2: "11", 3: "11"})
    for each in (tmp_path / "broker-3/__cluster_metadata-0").iterdir():
        each.unlink()
    (tmp_path / "broker-3/__cluster_metadata-0").rmdir()
    audit = audited(tmp_path)
    assert copy_of(audit, 3).is_missing
    assert copy_of(audit, 3).end == (0, 0)
    assert winners(audit) == {1, 2}


def test_a_copy_that_is_not_a_voters_has_no_vote(tmp_path: Path) -> None:
    audit = audited(write_controllers(tmp_path, {1: "11", 2: "11", 9: "1111"}))
    assert winners(audit) == {1, 2}
    assert [each.node_id for each in audit.further] == [9]


@pytest.mark.parametrize(
    ("logs", "voters", "commitment"),
    [
        pytest.param({1: "11", 9: "1111"}, (1,), Commitment.COMMITTED, id="one voter commits"),
        pytest.param(
            {1: "11", 2: "11", 3: "11", 9: "1111"}, (1, 2, 3), Commitment.POSSIBLY,
            id="a leader had it, and lost it",
        ),
        pytest.param(
            {1: "112", 2: "112", 3: "112", 9: "1111"}, (1, 2, 3), Commitment.NOT,
            id="a later leader was elected without it",
        ),
    ],
)  # fmt: skip
def test_what_a_broker_holds_beyond_all_voters_was_on_a_leader(
    tmp_path: Path, logs: Mapping[int, str], voters: tuple[int, ...], commitment: Commitment
) -> None:
    """Brokers copy the log from its leader only: KafkaRaftClient, observers."""
    audit = audited(write_controllers(tmp_path, logs, voters=voters))
    outcome = next(each for each in audit.outcomes if each.copy.node_id == 1)
    assert {each.commitment for each in outcome.lost} == {commitment}
    may_lose = commitment is not Commitment.NOT
    assert audit.verdict is (Verdict.MAY_LOSE if may_lose else Verdict.ELECTABLE)


def test_without_voters_nothing_is_guessed(tmp_path: Path) -> None:
    audit = audited(write_controllers(tmp_path, {1: "11", 2: "11"}, without=(1, 2)))
    assert audit.verdict is Verdict.UNKNOWN_VOTERS
    assert audit.outcomes == ()
