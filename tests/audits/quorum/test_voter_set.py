"""Who votes, and how many votes an election takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkalog_reader.audits.quorum.outcome import Verdict
from tests.audits.quorum.controllers import FIVE, audited, winners, write_controllers

if TYPE_CHECKING:
    from pathlib import Path


def test_five_voters_need_three(tmp_path: Path) -> None:
    logs = {1: "1111", 2: "111", 3: "11"}
    assert winners(audited(write_controllers(tmp_path, logs, voters=FIVE))) == {1}
    audit = audited(write_controllers(tmp_path / "two", {1: "1111", 2: "111"}, voters=FIVE))
    assert audit.verdict is Verdict.NO_MAJORITY


def test_a_copy_that_is_not_a_voters_has_no_vote(tmp_path: Path) -> None:
    audit = audited(write_controllers(tmp_path, {1: "11", 2: "11", 9: "1111"}))
    assert winners(audit) == {1, 2}
    assert [each.node_id for each in audit.further] == [9]


def test_without_voters_nothing_is_guessed(tmp_path: Path) -> None:
    audit = audited(write_controllers(tmp_path, {1: "11", 2: "11"}, without=(1, 2)))
    assert audit.verdict is Verdict.UNKNOWN_VOTERS
    assert audit.outcomes == ()
