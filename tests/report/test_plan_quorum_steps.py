"""A plan says first that the controllers in these files cannot elect a leader."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fixtures import captures
from kafkalog_reader.cli.main import kafkalog
from kafkalog_reader.cli.replica_diff import replica_diff
from kafkalog_reader.cli.run import CLEAN, FOUND, status
from tests.audits.quorum.test_rolled_back import BEHIND, FULL, NEW, OLD, write

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

FORKED = captures.path("s3_2/both-led")
"""Three brokers that must start in order; controller 100 is the only voter."""
HEALED = captures.path("s1/healed")
"""The same, and nothing is wrong."""


def first_lines(capfd: pytest.CaptureFixture[str], *arguments: object) -> str:
    status(kafkalog, [str(each) for each in arguments])
    return " ".join(capfd.readouterr().out.split("\n\n", maxsplit=1)[0].split())


def test_an_order_of_brokers_does_not_reassure_without_a_leader_of_controllers(
    capfd: pytest.CaptureFixture[str],
) -> None:
    brokers = sorted(FORKED.glob("broker-*"))
    assert first_lines(capfd, "plan", *brokers).startswith(
        "NO QUORUM: 0 of 1 voter can start with these files, and it takes 1; supply the log "
        "directories of the controllers, too; if they are lost, do first what kafkalog quorum "
        "says. Then start brokers 1 and 2, then broker 0."
    )
    assert first_lines(capfd, "plan", FORKED).startswith("Start brokers 1 and 2, then broker 0.")


def test_controllers_that_were_not_supplied_come_first_where_nothing_is_to_be_done(
    capfd: pytest.CaptureFixture[str],
) -> None:
    """The same files are left where all controllers are lost: then no broker may start."""
    brokers = sorted(HEALED.glob("broker-*"))
    assert first_lines(capfd, "plan", *brokers) == (
        "NO QUORUM: 0 of 1 voter can start with these files, and it takes 1; supply the log "
        "directories of the controllers, too; if they are lost, do first what kafkalog quorum "
        "says. Then start brokers 0, 1 and 2 in any order. Nothing is lost."
    )
    assert status(kafkalog, ["plan", *map(str, brokers)]) == FOUND
    assert status(kafkalog, ["plan", str(HEALED)]) == CLEAN
    capfd.readouterr()
    assert "voter" not in first_lines(capfd, "plan", HEALED)
    assert "voter" not in first_lines(capfd, "plan", brokers[0])


def test_verify_mentions_that_no_controller_was_supplied(
    capfd: pytest.CaptureFixture[str],
) -> None:
    """They may run elsewhere: that is no finding."""
    said = "No controller of these brokers is in these files."
    brokers = [str(each) for each in sorted(HEALED.glob("broker-*"))]
    assert status(kafkalog, ["verify", *brokers]) == CLEAN
    assert said in capfd.readouterr().out
    for supplied in ([str(HEALED)], brokers[:1]):
        assert status(kafkalog, ["verify", *supplied]) == CLEAN
        assert said not in capfd.readouterr().out


def test_replica_diff_calls_no_metadata_sound_that_cannot_have_a_leader(
    capfd: pytest.CaptureFixture[str],
) -> None:
    status(replica_diff, [str(each) for each in sorted(FORKED.glob("broker-*"))])
    head = " ".join(capfd.readouterr().out.splitlines()[:2])
    assert "too few controllers to elect a leader" in head
    assert "metadata sound" not in head


def test_controllers_that_are_no_brokers_start_as_they_are(
    capfd: pytest.CaptureFixture[str],
) -> None:
    """Controller 100 is no broker."""
    status(kafkalog, ["plan", str(FORKED)])
    said = " ".join(capfd.readouterr().out.split())
    assert "Start the controllers (node 100) and no broker" in said
    assert "process.roles" not in said


def test_nodes_that_are_broker_and_controller_are_named(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path, {1: NEW, 2: OLD, 3: OLD}, {1: FULL, 2: BEHIND, 3: BEHIND})
    status(kafkalog, ["plan", str(tmp_path)])
    said = " ".join(capfd.readouterr().out.split())
    assert (
        "start nodes 1, 2 and 3, which are each broker and controller in one, with "
        "process.roles=controller, "
    ) in said
