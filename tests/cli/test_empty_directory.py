"""An empty folder beside the log directories of a cluster with ZooKeeper, such as a new disk.

A broker of 3.9.1 with an empty log directory that started first was still in the in-sync set: it
was elected, and the others cut everything.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from fixtures.synthetic.empty_disk import two_brokers_and_an_empty_disk

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Run


@pytest.fixture
def zookeeper(tmp_path: Path) -> Path:
    return two_brokers_and_an_empty_disk(tmp_path)


def test_its_broker_starts_last(zookeeper: Path, run: Run) -> None:
    answer = run("plan", zookeeper)
    said = " ".join(answer.out.split())
    assert answer.status == 1
    assert said.startswith("Start brokers 2 and 3, then the broker whose log directory is empty.")
    assert "No supplied record is lost then" in said
    first, last = json.loads(run("plan", zookeeper, "--format", "json").out)["steps"]
    assert first["brokers"] == [2, 3]
    assert first["title"].endswith("and no other broker yet")
    assert first["checks"][-1]["command"].endswith("--unavailable-partitions")
    assert (last["kind"], last["brokers"]) == ("startBrokers", [])
    assert f"{zookeeper}/b1 is empty" in last["texts"][0]


@pytest.mark.parametrize("command", ["verify", "plan"])
def test_no_command_calls_that_sound(zookeeper: Path, run: Run, command: str) -> None:
    answer = run(command, zookeeper)
    assert answer.status == 1
    assert "KL-318" in answer.out


def test_a_metadata_log_or_a_node_of_kraft_makes_it_harmless(zookeeper: Path, run: Run) -> None:
    """A node of KRaft does not start with an empty log directory."""
    for number in (2, 3):
        (properties,) = zookeeper.glob(f"*{number}/meta.properties")
        properties.write_text(f"version=1\nnode.id={number}\ncluster.id=c\n")
    assert "KL-318" not in run("verify", zookeeper, "--verbose").out


def test_without_it_the_plan_says_what_brokers_it_does_not_know(zookeeper: Path, run: Run) -> None:
    (zookeeper / "b1").rmdir()
    answer = run("plan", zookeeper)
    said = " ".join(answer.out.split())
    assert answer.status == 0
    assert said.startswith("Nothing to do: start brokers 2 and 3 in any order. No supplied record")
    assert "a broker that was not supplied starts last, once these lead" in said
