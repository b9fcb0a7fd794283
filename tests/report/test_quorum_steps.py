"""What a person does to get a leader of the controllers again."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from kafkalog_reader.audits.quorum.outcome import audit_quorum
from kafkalog_reader.audits.quorum.voter_set import Voter, VoterSet, VoterSource
from kafkalog_reader.report.quorum_steps import quorum_steps
from tests.audits.quorum.controllers import audited, write_controllers

if TYPE_CHECKING:
    from pathlib import Path

VOTERS = VoterSet(
    voters=tuple(
        Voter(node_id=node, endpoints=(f"CONTROLLER://10.0.0.{node}:9093",)) for node in (1, 2, 3)
    ),
    source=VoterSource.RECORD,
)


@pytest.mark.parametrize(
    ("logs", "started", "asked"),
    [
        pytest.param({3: "1111"}, "Start node 3 and the new controller", 3, id="voters_lost"),
        pytest.param({9: "1111"}, "Start nodes 1 and 2, and nothing else", 1, id="all_lost"),
        pytest.param({1: "", 2: "111", 3: "11"}, "Start nodes 2 and 3", 2, id="new_disk"),
    ],
)
def test_a_controller_that_runs_is_asked_for_the_leader(
    tmp_path: Path, logs: dict[int, str], started: str, asked: int
) -> None:
    """kafka-metadata-quorum.sh of 4.2.0 fails after a minute if nobody is at its address."""
    quorum = audited(write_controllers(tmp_path, logs)).quorum
    copies = tuple(replace(each, voters=VOTERS) for each in quorum.copies)
    audit = audit_quorum(replace(quorum, voters=VOTERS, copies=copies))
    (step,) = [each for each in quorum_steps(audit) if each.text.startswith(started)]
    (command,) = step.commands
    assert f"--bootstrap-controller 10.0.0.{asked}:9093 " in command
