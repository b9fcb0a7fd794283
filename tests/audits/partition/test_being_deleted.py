"""A topic that is deleted while a broker is down: what brokers 1 and 2 mark, broker 3 still has.

Kafka 2.8.2 with ZooKeeper, brokers 1 and 2 killed 10 seconds after kafka-topics.sh --delete, all
three started again: the election of broker 3 failed (InvalidTopicException: The topic is being
deleted), and its copy was gone when all brokers ran.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from fixtures.builder import cluster, replica
from kafkalog_reader.audits.catalogue.actions import KEEP_DELETED_FOLDER
from kafkalog_reader.audits.integrity.file_repair import Move
from kafkalog_reader.audits.tables.findings import FindingsTable, audited
from kafkalog_reader.audits.tables.root_units import RootUnit
from kafkalog_reader.cli.plan import plan_command
from kafkalog_reader.cli.replica_diff import replica_diff
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.tables.request import ReadRequest

if TYPE_CHECKING:
    from pathlib import Path

    from kafkalog_reader.audits.integrity.finding import Finding

MARKED = f"recr-0.{'0' * 32}-delete"
OLD, NEW = "a@0/e0 b@1/e0", "a@0/e0 b@1/e0 c@2/e1 d@3/e1"


def state(root: Path, marked: str = NEW, live: str = OLD, *, zookeeper: bool = True) -> Path:
    """Brokers 1 and 2 marked recr-0, broker 3 has a live copy; all have t-0."""
    other = replica(OLD, topic="t", high_watermark=2)
    folder = replica(marked, topic="recr", directory=MARKED, recovery_point=None)
    kept = replica(live, topic="recr", high_watermark=2)
    cluster(root, {1: [other, folder], 2: [other, folder], 3: [other, kept]})
    for each in root.glob("*/meta.properties") if zookeeper else ():
        number = each.parent.name.rpartition("-")[2]
        each.write_text(f"version=0\nbroker.id={number}\ncluster.id=c\n")
    return root


def medium(root: Path) -> list[Finding]:
    """KL-010 of recr-0."""
    request = ReadRequest()
    return [
        each
        for unit in FindingsTable().units(discover([str(root)]), request)
        if not isinstance(unit, RootUnit)
        for _, found in audited(unit, request)
        for each in found
        if each.code == "KL-010"
    ]


def test_marked_folders_that_are_newer_show_that_the_topic_is_being_deleted(tmp_path: Path) -> None:
    (found,) = medium(state(tmp_path))
    assert (found.severity, found.confidence) == ("M", "likely")
    assert found.actions == (KEEP_DELETED_FOLDER,)
    assert "brokers 1 and 2 have marked their folders of it (-delete)" in found.message
    assert "the copy of broker 3 is deleted once all brokers of the topic run" in found.message
    assert "end at offset 4:" in found.message
    roots = [tmp_path / f"broker-{number}" for number in (1, 2)]
    assert found.repairs == tuple(
        Move(path=str(root / MARKED), target=str(tmp_path / "aside" / root.name / MARKED))
        for root in roots
    )


@pytest.mark.parametrize(
    ("marked", "live", "zookeeper"),
    [
        pytest.param(OLD, NEW, True, id="moved_to_the_broker_that_leads_now"),
        pytest.param(OLD, OLD, True, id="nothing_shows_which_is_newer"),
        pytest.param(NEW, "x@0/e0 y@1/e0", True, id="a_topic_that_was_created_again"),
        pytest.param(NEW, OLD, False, id="kraft_sets_the_live_copy_aside"),
    ],
)
def test_it_is_not_being_deleted(tmp_path: Path, marked: str, live: str, zookeeper: bool) -> None:
    assert medium(state(tmp_path, marked, live, zookeeper=zookeeper)) == []


def test_a_plan_elects_no_leader_of_it(tmp_path: Path) -> None:
    """kafka-leader-election.sh fails, and no describe ever shows a leader."""
    root = str(state(tmp_path))
    answer = CliRunner().invoke(plan_command, [root, "--format", "json"], standalone_mode=False)
    assert answer.return_value == 1
    document = json.loads(answer.stdout)
    assert document["deleted"] == [
        {"topic": "recr", "partition": 0, "markedOn": [1, 2], "liveOn": [3]}
    ]
    assert document["brokers"] == [1, 2, 3]
    assert "recr" not in json.dumps([document["steps"], document["partitions"]])
    text = " ".join(CliRunner().invoke(plan_command, [root]).stdout.split())
    assert "The topic recr is being deleted: brokers 1 and 2 marked it (-delete)" in text
    script = CliRunner().invoke(plan_command, [root, "--format", "script"]).stdout
    assert "The topic recr is being deleted" in script
    assert "go_on 'Is that deletion wanted" in script


def test_a_plan_of_that_topic_alone_says_so(tmp_path: Path) -> None:
    root = str(state(tmp_path))
    answer = CliRunner().invoke(plan_command, [root, "--topic", "recr"], standalone_mode=False)
    assert answer.return_value == 1
    assert answer.stdout.startswith("The topic recr is being deleted")


def test_no_copy_of_it_is_ranked(tmp_path: Path) -> None:
    said = CliRunner().invoke(replica_diff, [str(state(tmp_path)), "--topic", "recr"]).stdout
    assert "KL-010 MEDIUM the topic is being deleted" in " ".join(said.split())
    assert "elect" not in said


def test_the_copies_of_a_moved_partition_are_elected_as_ever(tmp_path: Path) -> None:
    root = str(state(tmp_path, OLD, NEW))
    document = json.loads(CliRunner().invoke(plan_command, [root, "--format", "json"]).stdout)
    assert document["deleted"] == []
    assert {each["topic"]: each["leader"] for each in document["partitions"]}["recr"] == 3


def test_zookeeper_names_the_deletions_that_no_file_shows(tmp_path: Path) -> None:
    """/admin/delete_topics has them until every copy is gone (TopicDeletionManager)."""
    other = replica(OLD, topic="t", high_watermark=2)
    longer = replica(NEW, topic="t", high_watermark=2)
    cluster(tmp_path, {1: longer, 2: other})
    for number in (1, 2):
        properties = tmp_path / f"broker-{number}" / "meta.properties"
        properties.write_text(f"version=0\nbroker.id={number}\ncluster.id=c\n")
    document = json.loads(
        CliRunner().invoke(plan_command, [str(tmp_path), "--format", "json"]).stdout
    )
    (step,) = [each for each in document["steps"] if each["kind"] == "startZooKeeper"]
    checks = {each["command"]: each["expected"] for each in step["checks"]}
    (expected,) = checks["zookeeper-shell.sh ZOOKEEPER:2181 ls /admin/delete_topics"]
    assert expected.startswith("[], or ")
