"""The state of a partition's replicas in the cluster metadata."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kafkalog_reader.audits.election.membership import (
    NO_LEADER,
    PartitionMembership,
    Standing,
    in_sync,
    is_member,
    named_leader,
    standing,
)
from tests.audits.bare_replica import bare, history

REPLICAS = (bare(4, epochs="0:0"), bare(5, epochs="0:0 2:6"), bare(6))
HISTORIES = dict(zip(REPLICAS, [history((0, 0, 6)), history((0, 0, 6), (2, 6, 9)), history()],
                     strict=True))  # fmt: skip


def membership(
    isr: tuple[int, ...],
    *,
    leader_epoch: int = 2,
    leader: int = 5,
    elr: tuple[int, ...] = (),
    last_known: tuple[int, ...] = (),
) -> PartitionMembership:
    return PartitionMembership(
        leader=leader, leader_epoch=leader_epoch, partition_epoch=0, replicas=(4, 5, 6), isr=isr,
        elr=elr, last_known_elr=last_known, topic_id="", source="", source_offset=0,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("known", "elected", "unclean"),
    [
        pytest.param(membership((4,), elr=(5,)), {4}, {6}, id="elr_beside_an_isr"),
        pytest.param(membership((), elr=(5, 6)), {5, 6}, {4}, id="only_elr"),
        pytest.param(membership((), last_known=(6,)), {6}, {4, 5}, id="last_known_leader"),
        pytest.param(membership((), last_known=(5, 6)), set(), {4, 5, 6}, id="several_last_known"),
        pytest.param(membership((), elr=(5,), last_known=(6,)), {5}, {4, 6}, id="elr_comes_first"),
        pytest.param(membership(()), set(), {4, 5, 6}, id="nobody"),
    ],
)
def test_whom_the_controller_elects(
    known: PartitionMembership, elected: set[int], unclean: set[int]
) -> None:
    """By kafka-on-disk-format.md, the controller's choice (PartitionChangeBuilder)."""
    standings = {broker: standing(known, broker) for broker in known.replicas}
    assert {b for b, each in standings.items() if each.controller_would_elect} == elected
    assert {b for b, each in standings.items() if each.needs_unclean} == unclean


@pytest.mark.parametrize(
    ("directories", "found"),
    [
        pytest.param((), None, id="before_3.7"),
        pytest.param(("A" * 22, "B" * 21 + "A", "C" * 21 + "A"), "B" * 21 + "A", id="of_5"),
        pytest.param(("B" * 21 + "A", "A" * 22, "C" * 21 + "A"), None, id="unassigned"),
        pytest.param(("B" * 21 + "A", "A" * 21 + "Q", "C" * 21 + "A"), None, id="lost"),
        pytest.param(("B" * 21 + "A", "A" * 21 + "g", "C" * 21 + "A"), None, id="migrating"),
    ],
)
def test_the_log_directory_of_a_replica(directories: tuple[str, ...], found: str | None) -> None:
    """KIP-858: one id for each replica; the numbers 0 to 2 say that no directory is known."""
    known = replace(membership((4, 5, 6)), directories=directories)
    assert known.directory_of(5) == found
    assert known.directory_of(7) is None


def test_nothing_is_known_without_metadata_or_node_id() -> None:
    assert standing(None, 4) == standing(membership((4,)), None) == Standing()


def test_the_in_sync_replicas_are_those_that_the_isr_names_in_its_order() -> None:
    assert in_sync(REPLICAS, membership((6, 4))) == (REPLICAS[2], REPLICAS[0])


@pytest.mark.parametrize(
    "known",
    [
        pytest.param(None, id="no_metadata"),
        pytest.param(membership(()), id="no_isr"),
        pytest.param(membership((5, 7)), id="one_was_not_supplied"),
        pytest.param(membership((5,), leader_epoch=1), id="older_than_the_logs"),
    ],
)
def test_otherwise_who_is_in_sync_is_not_known(known: PartitionMembership | None) -> None:
    assert in_sync(REPLICAS, known) is None


@pytest.mark.parametrize(
    ("leader_epoch", "leader", "named"),
    [(3, 4, REPLICAS[0]), (2, 4, None), (1, 4, None), (3, 7, None), (3, NO_LEADER, None)],
    ids=["newer", "as_new", "older", "not_supplied", "no_leader"],
)
def test_a_leader_is_named_only_by_an_epoch_newer_than_all_logs(
    leader_epoch: int, leader: int, named: object
) -> None:
    known = membership((4,), leader_epoch=leader_epoch, leader=leader)
    assert named_leader(HISTORIES, known) == named


def test_without_metadata_nobody_is_named() -> None:
    assert named_leader(HISTORIES, None) is None


def test_in_sync_and_eligible_replicas_may_lead_cleanly() -> None:
    """KIP-966: without an in-sync replica the eligible leader replicas may lead."""
    known = membership((4,), elr=(5,))
    assert [is_member(known, broker_id) for broker_id in (4, 5, 6)] == [True, True, False]
    assert is_member(None, 4) is None
    assert is_member(known, None) is None


@pytest.mark.parametrize(("leader_epoch", "named"), [(-1, None), (0, REPLICAS[1])])
def test_logs_without_leader_epochs_are_older_than_any(leader_epoch: int, named: object) -> None:
    """Kafka's first leader epoch is 0, and -1 is none."""
    empty = dict.fromkeys(REPLICAS, history())
    known = membership((5,), leader_epoch=leader_epoch)
    assert named_leader(empty, known) == named
    assert in_sync((bare(5), bare(6)), known) == (bare(5),)
