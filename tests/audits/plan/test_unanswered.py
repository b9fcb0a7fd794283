"""Why a partition has no plan, and what to do first."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from fixtures.builder import cluster, replica
from kafkalog_reader.audits.plan.unanswered import (
    failure_of,
    why_all_fail,
    why_not_read,
    why_unanswered,
)
from kafkalog_reader.audits.recovery.outcome import StartOutcome
from kafkalog_reader.audits.tables.findings import findings_of
from kafkalog_reader.errors import LogPosition, UnreadableFileError
from tests.audits.conftest import audit_of

if TYPE_CHECKING:
    from pathlib import Path

    from kafkalog_reader.audits.partition.partition_audit import PartitionAudit

HELD = replica("0-4/e0 5-9/e0", high_watermark=10)


def audit(root: Path, *broken: tuple[int, str, str]) -> PartitionAudit:
    """Brokers 1 and 2 with the same log; some of their files are replaced."""
    cluster(root, {1: HELD, 2: HELD}, clean=(1, 2))
    for broker, name, content in broken:
        (root / f"broker-{broker}" / name).write_text(content)
    return audit_of(root)


def test_sound_copies_have_a_plan(tmp_path: Path) -> None:
    assert why_unanswered(audit(tmp_path), [1, 2], {}) == ""
    assert failure_of(audit(tmp_path)) is None


def test_what_makes_the_audit_undecidable_comes_first(tmp_path: Path) -> None:
    undecided = replace(audit(tmp_path), reason="two topics of one name")
    assert why_unanswered(undecided, [-1, 2, 2], {3: "x"}) == "two topics of one name"


def test_a_copy_of_an_unknown_broker_must_be_named(tmp_path: Path) -> None:
    cluster(tmp_path, {1: HELD, 2: HELD}, clean=(1, 2))
    (tmp_path / "broker-2" / "meta.properties").unlink()
    found = audit_of(tmp_path)
    brokers = [-1 if each.broker_id is None else each.broker_id for each in found.replicas]
    assert sorted(brokers) == [-1, 1]
    why = why_unanswered(found, brokers, {})
    assert why.startswith("the node id of ")
    assert why.endswith(f"is unknown: give it as N={tmp_path}/broker-2")


def test_two_copies_of_one_broker_are_one_too_many(tmp_path: Path) -> None:
    assert why_unanswered(audit(tmp_path), [1, 1], {}) == (
        "broker 1 has two copies and does not start: keep one and move the other away"
    )


def test_a_start_that_cannot_be_predicted_gives_no_plan(tmp_path: Path) -> None:
    found = audit(tmp_path)
    error = UnreadableFileError("Permission denied", LogPosition("0.log"))
    first, second = found.replicas
    unknown = replace(found, replicas=(first, replace(second, start=error)))
    assert why_unanswered(unknown, [1, 2], {}) == (
        "the next start cannot be predicted: 0.log: Permission denied"
    )


def test_a_broker_without_a_copy_that_does_not_start_is_repaired_first(tmp_path: Path) -> None:
    assert why_unanswered(audit(tmp_path), [1, 2], {3: "its disk is full"}) == (
        "broker 3 does not come up: its disk is full. Repair that first, and make the plan again"
    )


@pytest.mark.parametrize("broker", [1, 2])
def test_a_copy_that_only_its_own_file_keeps_down_can_be_planned_without(
    tmp_path: Path, broker: int
) -> None:
    found = audit(tmp_path, (broker, "t-0/leader-epoch-checkpoint", "x"))
    assert why_unanswered(found, [1, 2], {}) == ""
    assert failure_of(found) is StartOutcome.DIRECTORY_OFFLINE


def test_a_log_directory_that_other_files_keep_down_is_repaired_first(tmp_path: Path) -> None:
    found = audit(tmp_path, (2, "recovery-point-offset-checkpoint", "x"))
    why = why_unanswered(found, [1, 2], {})
    assert why.startswith("the log directory of broker 2 does not come up: ")
    assert "recovery-point-offset-checkpoint" in why
    assert why.endswith(". Repair that first, and make the plan again")


def test_a_broker_that_aborts_outweighs_a_directory_that_goes_offline(tmp_path: Path) -> None:
    log = f"t-0/{0:020}.log"
    found = audit(tmp_path, (1, "t-0/leader-epoch-checkpoint", "x"))
    path = tmp_path / "broker-2" / log
    path.write_bytes(path.read_bytes() + bytes(4096))
    found = audit_of(tmp_path)
    outcomes = [each.start.outcome for each in found.replicas]
    assert outcomes == [StartOutcome.DIRECTORY_OFFLINE, StartOutcome.BROKER_ABORTS]
    assert failure_of(found) is StartOutcome.BROKER_ABORTS
    why = why_all_fail(found, [1, 2])
    assert why.startswith("no copy comes up: the log directory of broker 1 does not come up: ")
    assert "; broker 2 does not come up: " in why
    assert why.endswith(". Repair one and make the plan again")


def test_the_only_copy_may_be_moved_where_another_broker_has_one(tmp_path: Path) -> None:
    cluster(tmp_path, {4: HELD}, clean=(4,))
    (tmp_path / "broker-4/t-0/leader-epoch-checkpoint").write_text("x")
    why = why_all_fail(audit_of(tmp_path), [4])
    assert why.startswith("the log directory of broker 4 does not come up: ")
    assert why.endswith("if none has, repair the file")


def test_each_copy_that_was_not_read_is_named_once_with_its_first_problem(tmp_path: Path) -> None:
    found = audit(
        tmp_path, (1, "t-0/leader-epoch-checkpoint", "x"), (2, "t-0/leader-epoch-checkpoint", "x")
    )
    by_broker = {
        broker: [
            each
            for each in findings_of(found)
            if each.directory is not None and each.directory.log_directory.broker_id == broker
        ]
        for broker in (1, 2)
    }
    (one, *others), (two, *_) = by_broker[1], by_broker[2]
    text = why_not_read([one, *others, two, replace(one, directory=None)])
    assert text == (
        f"the copy of broker 1 was not read in full: {one.message}; "
        f"the copy of broker 2 was not read in full: {two.message}; "
        f"a copy was not read in full: {one.message}"
    )
