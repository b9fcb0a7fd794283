"""The plan of one partition: followers that need more than a start."""

from __future__ import annotations

import json
import posixpath
import shlex
from typing import TYPE_CHECKING

from fixtures.builder import replica
from fixtures.synthetic import SCENARIOS
from kafkalog_reader.audits.plan.choice import Choice
from kafkalog_reader.audits.plan.choosing import choice_of
from kafkalog_reader.audits.plan.plan import plan_of
from kafkalog_reader.audits.plan.plan_basis import PlanBasis
from kafkalog_reader.report.plan_step import StepKind
from kafkalog_reader.report.plan_steps import plan_steps
from tests.audits.conftest import audit_of

if TYPE_CHECKING:
    from pathlib import Path

    from tests.audits.conftest import Audited


def scenario(root: Path, name: str, wanted: int | None = None) -> Choice:
    choice = choice_of(audit_of(SCENARIOS[name].write(root)), wanted)
    assert isinstance(choice, Choice)
    return choice


def test_a_copy_that_stays_different_keeps_its_records_until_it_is_repaired(
    tmp_path: Path,
) -> None:
    """M3: broker 1 keeps y at the offset where leader 0 has x; 4.4.0 brokers did not change it."""
    choice = scenario(tmp_path, "m3")
    assert choice.apart == (1,)
    (lost,) = choice.lost
    assert (lost.brokers, lost.first_offset, lost.next_offset) == ((1,), 0, 1)
    save, *starts, removed, added = plan_steps(plan_of([choice], PlanBasis(paths=("p",))))
    assert save.kind is StepKind.SAVE
    assert save.commands[0].startswith("kafkalog salvage p --topic t --partition 0 ")
    assert [each.lost for each in starts] == [()] * len(starts)
    assert removed.kind is StepKind.REMOVE
    assert removed.lost == ((choice, lost),)
    assert json.loads(shlex.split(removed.commands[0])[2]) == {
        "version": 1,
        "partitions": [{"topic": "t", "partition": 0, "replicas": [0]}],
    }
    assert added.kind is StepKind.ADD
    assert json.loads(shlex.split(added.commands[0])[2])["partitions"] == [
        {"topic": "t", "partition": 0, "replicas": [0, 1]}
    ]
    assert [each.expected for each in (*removed.checks, *added.checks)] == [
        ("Reassignment of partition t-0 is completed.",)
    ] * 2


def test_what_a_different_copy_truncates_is_lost_when_it_starts(audited: Audited) -> None:
    """Broker 1 lacks offset 1. It cuts offsets 3 and 4 when it follows (seen on 4.4.0)."""
    whole = replica("0-0/e0 1-1/e0 2-2/e0", high_watermark=3)
    gap = replica("0-0/e0 2-2/e0 3-3/e0 4-4/e0", high_watermark=3)
    choice = choice_of(audited(whole, gap))
    assert isinstance(choice, Choice)
    assert (choice.leader, choice.apart) == (0, (1,))
    (lost,) = choice.lost
    assert (lost.brokers, lost.first_offset, lost.next_offset) == ((1,), 3, 5)
    steps = plan_steps(plan_of([choice], PlanBasis(paths=("p",))))
    (losing,) = (each for each in steps if each.lost)
    assert (losing.kind, losing.brokers, losing.lost) == (StepKind.START, (1,), ((choice, lost),))


def test_a_follower_that_refuses_the_leaders_batch_is_moved_aside(tmp_path: Path) -> None:
    """M8 with leader 1: 4.x brokers never got follower 0 in sync."""
    choice = scenario(tmp_path, "m8", wanted=1)
    assert choice.leader == 1
    assert choice.set_aside == {0}
    kinds = [step.kind for step in plan_steps(plan_of([choice], PlanBasis(paths=("p",))))]
    assert kinds.count(StepKind.MOVE_ASIDE) == 1
    assert kinds.index(StepKind.MOVE_ASIDE) < kinds.index(StepKind.START)


def test_a_leader_that_forgot_an_epoch_is_named_before_it_starts(audited: Audited) -> None:
    forgot = replica("0-7/e0 8-11/e2 12-14/e8", epochs="0:0 2:8", high_watermark=15)
    empty = replica("", epochs="", high_watermark=0)
    choice = choice_of(audited(forgot, empty, clean=(0, 1)))
    assert isinstance(choice, Choice)
    assert (choice.leader, choice.refetching) == (0, (1,))
    steps = plan_steps(plan_of([choice], PlanBasis(paths=("p",))))
    kinds = [each.kind for each in steps]
    at = kinds.index(StepKind.WRITE_FILE)
    assert kinds[at + 1] is StepKind.START
    (file,) = steps[at].files
    assert file.path.endswith("/t-0/leader-epoch-checkpoint")
    assert file.content == "0\n3\n0 0\n2 8\n8 12\n"
    folder = shlex.split(steps[at].commands[0])[2]
    assert not folder.startswith(posixpath.dirname(posixpath.dirname(file.path)) + "/")
    printf, *words = shlex.split(steps[at].commands[-1])
    assert (printf, words) == (
        "printf", ["%s\\n", "0", "3", "0 0", "2 8", "8 12", ">", file.path],
    )  # fmt: skip


def test_equal_copies_want_nothing(audited: Audited) -> None:
    choice = choice_of(audited(replica("a@0/e0"), replica("a@0/e0")))
    assert isinstance(choice, Choice)
    assert not choice.others
    assert not plan_of([choice], PlanBasis(paths=("p",))).has_work


def test_a_chosen_leader_that_lacks_an_offset_costs_the_copies_that_have_it(
    audited: Audited,
) -> None:
    """Their copies are replaced one after another; replacing the second one loses the record."""
    whole = replica("0-0/e0 1-1/e0 2-3/e1", high_watermark=4)
    audit = audited(whole, whole, replica("0-0/e0 2-3/e1", high_watermark=4))
    best = choice_of(audit)
    assert isinstance(best, Choice)
    assert (best.equals, best.apart) == (frozenset({0, 1}), (2,))
    assert not best.lost
    choice = choice_of(audit, 2)
    assert isinstance(choice, Choice)
    (lost,) = choice.lost
    assert (lost.brokers, lost.first_offset, lost.next_offset) == ((0, 1), 1, 2)
    assert lost.records.known == 1
    save, *steps = plan_steps(plan_of([choice], PlanBasis(paths=("p",))))
    assert save.kind is StepKind.SAVE
    assert "--replica broker:0 --from-offset 1" in save.commands[0]
    (gone,) = [step for step in steps if step.lost]
    assert (gone.kind, gone.brokers) == (StepKind.REMOVE, (1,))


def test_an_outvoted_copy_is_moved_aside_before_its_broker_starts(audited: Audited) -> None:
    """It is longer and has another record at offset 1; a follower would keep that for ever."""
    held = ["a@0/e0 b@1/e0", "a@0/e0 b@1/e0", "a@0/e0 X@1/e0 c@2/e0"]
    choice = choice_of(audited(*(replica(log, high_watermark=2) for log in held)))
    assert isinstance(choice, Choice)
    assert choice.equals == {0, 1}
    assert choice.set_aside == {2}
    assert not choice.apart
    assert [(each.brokers, each.first_offset, each.next_offset) for each in choice.lost] == [
        ((2,), 1, 2),
        ((2,), 2, 3),
    ]
    steps = [*plan_steps(plan_of([choice], PlanBasis(paths=("p",))))]
    kinds = [step.kind for step in steps]
    assert StepKind.REMOVE not in kinds
    (aside,) = (step for step in steps if step.kind is StepKind.MOVE_ASIDE)
    assert aside.brokers == (2,)
    assert aside.texts[0].startswith("More copies, or more in-sync replicas, hold other records")
    assert kinds.index(StepKind.SAVE) < kinds.index(StepKind.MOVE_ASIDE)
    assert kinds.index(StepKind.MOVE_ASIDE) < kinds.index(StepKind.START)


def test_a_copy_that_a_person_chose_is_not_moved_aside(audited: Audited) -> None:
    held = ["a@0/e0 b@1/e0", "a@0/e0 b@1/e0", "a@0/e0 X@1/e0 c@2/e0"]
    choice = choice_of(audited(*(replica(log, high_watermark=2) for log in held)), 2)
    assert isinstance(choice, Choice)
    assert (choice.leader, choice.set_aside) == (2, frozenset())
