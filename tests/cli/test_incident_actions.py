"""The commands beside what `verify` says to do."""

from __future__ import annotations

from kafkalog_reader.audits.catalogue.actions import FORBID_UNCLEAN_ELECTION, LET_BEST_LEAD
from kafkalog_reader.audits.integrity.finding import Finding
from kafkalog_reader.cli.incident import Incident
from kafkalog_reader.cli.incident_actions import commands_of, first_actions
from kafkalog_reader.io.evidence import LogDirectory, PartitionDirectory

FREEZE = "unclean.leader.election.enable=false"


def forked(topic: str, *, meta_version: int | None = None) -> Incident:
    root = LogDirectory(path="/mnt/b1", broker_id=1, meta_version=meta_version)
    directory = PartitionDirectory(
        path=f"/mnt/b1/{topic}-0", log_directory=root, topic=topic, partition=0
    )
    found = Finding(
        code="KL-503", severity="H", message="they part", directory=directory,
        actions=(FORBID_UNCLEAN_ELECTION, LET_BEST_LEAD),
    )  # fmt: skip
    return Incident(f"{topic}-0", found, (found,), topic)


def test_each_topic_is_frozen_once_by_running_brokers_or_controllers() -> None:
    found = [forked("a b"), forked("c"), forked("c")]
    commands = commands_of(first_actions(found), found)
    calls = [each for each in commands if not each.startswith("#")]
    assert [("'a b'" in each, "controller" in each) for each in calls] == [
        (True, False), (True, True), (False, False), (False, True),
    ]  # fmt: skip
    assert all(each.endswith(f"--add-config {FREEZE}") for each in calls)


def test_without_kraft_the_brokers_files_forbid_unclean_elections() -> None:
    found = [forked("t", meta_version=0)]
    *_, last = commands_of(first_actions(found), found)
    assert last.startswith("# while no broker runs: ")
    assert FREEZE in last


def test_commands_of_an_action_that_is_not_named_are_left_out() -> None:
    assert commands_of([LET_BEST_LEAD], [forked("t")]) == []
