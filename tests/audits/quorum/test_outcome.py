"""Who can be elected, what is cut and what is lost, by Raft's rules and not by our own output."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fixtures.builder import data_batch
from kafkalog_reader.audits.quorum.commitment import Commitment
from kafkalog_reader.audits.quorum.outcome import Verdict
from kafkalog_reader.format.record import Record
from tests.audits.quorum.controllers import (
    audited,
    created,
    winners,
    write_controllers,
)

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


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


@pytest.mark.parametrize(
    ("value", "verdict"),
    [
        pytest.param(b"\x01\x14\x00\x00", Verdict.ELECTABLE, id="NoOpRecord"),
        pytest.param(created(1, 3), Verdict.MAY_LOSE, id="TopicRecord"),
    ],
)
def test_a_record_of_an_idle_controller_is_no_loss(
    tmp_path: Path, value: bytes, verdict: Verdict
) -> None:
    """A leader writes one every 500 ms. The disk of node 3 is new: it may have held the record."""
    root = write_controllers(tmp_path, {1: "111", 2: "111", 3: ""})
    batch = data_batch(3, [Record(offset_delta=0, value=value)], leader_epoch=1)
    (log,) = root.glob("broker-1/__cluster_metadata-0/*.log")
    log.write_bytes(log.read_bytes() + batch.build())
    assert audited(root).verdict is verdict


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


def test_a_leader_that_has_forgotten_is_needed_by_a_majority(tmp_path: Path) -> None:
    """As in state 14 of seed 1: 4.4.0 elects it once quorum-state of the others is gone."""
    write_controllers(tmp_path / "all", {1: "11", 3: "111"}, without=(3,), leaders={1: (3, 1)})
    audit = audited(tmp_path / "all")
    assert [each.node_id for each in audit.needed_but_stop] == [3]
    assert not audit.is_clean
    write_controllers(tmp_path / "none", {1: "11", 3: "111"}, without=(3,))
    assert audited(tmp_path / "none").is_clean


def _damaged(root: Path, node: int, offset: int) -> None:
    """Flip a bit of the record at an offset; its batch begins with the offset."""
    (log,) = root.glob(f"*-{node}/__cluster_metadata-0/*.log")
    content = bytearray(log.read_bytes())
    content[content.index(offset.to_bytes(8, "big")) + 65] ^= 1
    log.write_bytes(content)


def test_what_a_start_cuts_off_after_damage_is_lost(tmp_path: Path) -> None:
    """A controller opens its log as after a crash, and ends it at the first bad batch."""
    write_controllers(tmp_path, {1: "11111"}, voters=(1,))
    _damaged(tmp_path, 1, 2)
    audit = audited(tmp_path)
    (tail,) = audit.cut_tails
    assert (tail.copy.node_id, tail.first_offset, tail.next_offset) == (1, 2, 5)
    assert audit.verdict is Verdict.MAY_LOSE


def test_what_another_copy_holds_is_not_lost_after_damage(tmp_path: Path) -> None:
    write_controllers(tmp_path, {1: "11111", 2: "11111", 3: "111"})
    _damaged(tmp_path, 1, 2)
    audit = audited(tmp_path)
    assert audit.cut_tails == ()
    assert [lost.next_offset for each in audit.outcomes for lost in each.lost if each.can_win]


def test_voters_that_agree_are_a_majority_against_one_that_contradicts(tmp_path: Path) -> None:
    """Raft: with equal offset and leader epoch, a follower keeps what it has."""
    write_controllers(tmp_path / "all", {1: "1111", 2: "1111", 3: "111"})
    log = next((tmp_path / "all").glob("broker-2/*/*.log"))
    other = next(write_controllers(tmp_path / "other", {2: "1211"}).glob("broker-2/*/*.log"))
    content, size = other.read_bytes(), log.stat().st_size // 4
    batch = bytearray(content[size : 2 * size])
    batch[12:16] = (1).to_bytes(4, "big")  # its leader epoch, which no checksum covers
    log.write_bytes(content[:size] + bytes(batch) + content[2 * size :])
    audit = audited(tmp_path / "all")
    assert audit.verdict is Verdict.CONTRADICTED
    assert [each.node_id for each in audit.agreeing] == [1, 3]


@pytest.mark.parametrize(
    ("logs", "source"),
    [
        pytest.param({1: "11", 2: "11", 3: "11", 9: "111"}, 9, id="all voters are older"),
        pytest.param({9: "111"}, 9, id="no voter is left"),
        pytest.param({1: "111", 2: "111", 3: "11", 9: "111"}, None, id="voters have it all"),
    ],
)
def test_voters_get_the_copy_that_reaches_further_than_theirs(
    tmp_path: Path, logs: Mapping[int, str], source: int | None
) -> None:
    found = audited(write_controllers(tmp_path, logs)).source
    assert (None if found is None else found.node_id) == source
