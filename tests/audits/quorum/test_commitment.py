"""Which metadata records are committed, by Raft's rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kafkalog_reader.audits.quorum.commitment import Commitment
from kafkalog_reader.audits.quorum.outcome import Verdict
from tests.audits.quorum.controllers import audited, winners, write_controllers

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


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
