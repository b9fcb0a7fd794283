"""The commands beside what `verify` says to do."""

from __future__ import annotations

from dataclasses import replace

from kafkalog_reader.audits.catalogue.actions import (
    FORBID_UNCLEAN_ELECTION,
    LET_BEST_LEAD,
    RENAME_FOLDER,
)
from kafkalog_reader.audits.integrity.finding import Finding
from kafkalog_reader.cli.incident import Incident, IncidentKind
from kafkalog_reader.cli.incident_actions import brokers_of, commands_of, first_actions
from kafkalog_reader.io.directories import LogDirectory, PartitionDirectory

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


def test_each_topic_is_frozen_once_by_its_running_brokers() -> None:
    """Of stopped brokers, `kafkalog plan` has the step."""
    found = [forked("a b"), forked("c"), forked("c")]
    commands = commands_of(first_actions(found), found)
    assert commands[::2] == ["# while brokers run:"] * 2
    calls = commands[1::2]
    assert ["'a b'" in each for each in calls] == [True, False]
    assert all(each.startswith("kafka-configs.sh --bootstrap-server ") for each in calls)
    assert all(each.endswith(f"--add-config {FREEZE}") for each in calls)


def test_the_tool_of_older_releases_asks_zookeeper() -> None:
    found = [forked("t", meta_version=0)]
    first, _ = commands_of(first_actions(found), found)
    assert "--zookeeper" in first


def test_commands_of_an_action_that_is_not_named_are_left_out() -> None:
    assert commands_of([LET_BEST_LEAD], [forked("t")]) == []


def test_a_broker_is_named_once_whether_a_finding_is_about_it_or_one_of_its_disks() -> None:
    """KL-310 is about a broker where no folder is, and about a disk where a -stray one is."""
    actions = (RENAME_FOLDER,)
    root = LogDirectory(path="/mnt/b1/data1", broker_id=1, disk="data1")
    place = PartitionDirectory(path=f"{root.path}/t-0", log_directory=root, topic="t", partition=0)
    of_disk = Finding(code="KL-310", severity="H", message="gone", directory=place, actions=actions)
    of_brokers = replace(of_disk, directory=None, evidence=(("brokers", "1, 2"),))
    kind = IncidentKind(
        tuple(Incident("t-0", each, (each,), "t") for each in (of_disk, of_brokers))
    )
    assert brokers_of(kind, RENAME_FOLDER) == {"where": "brokers 1 and 2", "are_several": True}
