"""What ``replica-diff`` and the report say of groups, by states that real consumers were in."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from fixtures.builder import Replica, cluster, replica
from kafkalog_reader.audits.partition.commit import Commit
from kafkalog_reader.report.group_text import group_lines
from tests.audits.conftest import audit_of

if TYPE_CHECKING:
    from pathlib import Path

AHEAD = replica("a@0/e0 b@1/e0 c@2/e0 d@3/e0", high_watermark=4)
BEHIND = replica("a@0/e0 b@1/e0", high_watermark=2)
FORKED = replica("a@0/e0 x@1/e1 y@2/e1", high_watermark=1)


def commit(group: str, offset: int, leader_epoch: int = -1) -> Commit:
    return Commit(
        group=group, offset=offset, leader_epoch=leader_epoch, topic_id=None, offsets_partition=0
    )


def lines(root: Path, replicas: dict[int, Replica], *commits: Commit) -> list[str]:
    cluster(root, replicas)
    audit = replace(audit_of(root), commits=commits)
    return ["".join(span.text for span in line).strip() for line in group_lines(audit, 400)]


def test_a_group_that_is_reset(tmp_path: Path) -> None:
    assert lines(tmp_path, {0: AHEAD, 1: BEHIND}, commit("billing", 4)) == [
        "GROUPS: if broker 1 leads, group billing (at 4) is reset: skips nothing "
        "(auto.offset.reset=latest, the default) or re-reads 2 records (earliest); offset 2 avoids "
        "that"
    ]


def test_groups_that_detect_the_truncation(tmp_path: Path) -> None:
    found = lines(
        tmp_path,
        {0: AHEAD, 1: BEHIND},
        *(commit(name, 4, 0) for name in "edcba"),
        commit("f", 3, 0),
    )
    assert found == [
        "GROUPS: if broker 1 leads, groups a, b, c and 3 more (at 3 to 4) go on at 2 by the leader "
        "epoch: skip nothing"
    ]


def test_a_group_that_notices_nothing(tmp_path: Path) -> None:
    """The best copy is the forked one, with the newer leader epoch."""
    assert lines(tmp_path, {0: AHEAD, 1: FORKED}, commit("billing", 3, 1)) == [
        "GROUPS: if broker 0 leads, group billing (at 3) notices nothing: skips 2 records; offset "
        "1 avoids that"
    ]


def test_leaders_that_do_the_same_share_a_line(tmp_path: Path) -> None:
    (line,) = lines(tmp_path, {0: AHEAD, 1: BEHIND, 2: BEHIND}, commit("billing", 4, 0))
    assert line.startswith("GROUPS: if brokers 1 and 2 lead, group billing (at 4) goes on at 2")


def test_a_group_that_keeps_its_place_has_no_line(tmp_path: Path) -> None:
    assert lines(tmp_path, {0: AHEAD, 1: BEHIND}, commit("billing", 2, 0), commit("feed", 1)) == []


def test_what_expired_on_the_best_copy_does_not_depend_on_the_leader(tmp_path: Path) -> None:
    later = replica("5-9/e0 10-12/e0", high_watermark=13, log_start=5)
    shorter = replica("5-9/e0", high_watermark=10, log_start=5)
    assert lines(tmp_path, {0: later, 1: shorter}, commit("old", 2)) == []


def test_only_some_of_many_lines_are_shown(tmp_path: Path) -> None:
    log = replica("0-9/e0 10-19/e0", high_watermark=20)
    other = replica("0-9/e0 a@10/e1 b@11/e1 c@12/e1 d@13/e1 e@14/e1 f@15/e1 g@16/e1 h@17/e1")
    commits = [commit(f"g{offset}", offset, 1) for offset in range(12, 19)]
    found = lines(tmp_path, {0: log, 1: other}, *commits)
    assert len(found) == 5
    assert "skips 8 records" in found[0], "the most records come first"
    assert found[-1] == "... 3 more: see the table group_elections"


def test_a_hostile_name_is_escaped(tmp_path: Path) -> None:
    (line,) = lines(tmp_path, {0: AHEAD, 1: BEHIND}, commit("\x1b[31mred", 4))
    assert "\x1b" not in line
