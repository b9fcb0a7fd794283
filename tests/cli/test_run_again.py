"""Which paths to leave out is printed as a command: what it prints is about one cluster."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import pytest

from fixtures.builder import cluster, replica
from fixtures.builder.log_directory import CLUSTER_ID

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Run

OTHER = "BAECAwQFBgcICQoLDA0ODw"


def commands(text: str, program: str) -> list[list[str]]:
    """The commands that were printed, in words, without the program."""
    lines = map(str.strip, text.replace("\\\n", " ").splitlines())
    return [shlex.split(line)[len(program.split()) :] for line in lines if line.startswith(program)]


@pytest.mark.parametrize("are_named", [True, False], ids=["named", "found"])
def test_each_cluster_alone_is_a_command(tmp_path: Path, run: Run, *, are_named: bool) -> None:
    (one,) = cluster(tmp_path / "a", {1: replica("a@0/e0")}).values()
    other_topic = replica("x@0/e0", topic_id="BBBBBBBBBBEAAAAAAAAABQ")
    (other,) = cluster(tmp_path / "b", {2: other_topic}, cluster_id=OTHER).values()
    paths = [f"mine={one}", f"mine={other}"] if are_named else [one, other]
    answer = run("verify", *paths)
    assert "KL-008" in answer.out
    again = commands(answer.out, "kafkalog verify")
    assert again == [[str(one)], [str(other)]]
    assert f"# only cluster {CLUSTER_ID}:" in answer.out
    for words in again:
        assert "KL-008" not in run("verify", *words).out


def test_each_copy_of_a_broker_is_compared_alone(tmp_path: Path, run: Run) -> None:
    root = tmp_path / "a"
    cluster(root, {1: replica("a@0/e0 b@1/e0"), 2: replica("a@0/e0 b@1/e0")})
    cluster(tmp_path / "b", {1: replica("a@0/e0")})
    (tmp_path / "b" / "broker-1").rename(root / "broker-1-disk-2")
    for number, each in enumerate(("broker-1", "broker-1-disk-2")):
        properties = root / each / "meta.properties"
        lines = [s for s in properties.read_text().splitlines() if "directory.id" not in s]
        identity = f"directory.id=AAAAAAAAAAEAAAAAAAAAB{'Qg'[number]}"
        properties.write_text("\n".join([*lines, identity, ""]))
    answer = run("verify", root)
    assert "KL-007" in answer.out
    again = commands(answer.out, "replica-diff")
    disks = [root / "broker-1", root / "broker-1-disk-2"]
    expected = [
        [str(disk), str(root / "broker-2"), "--topic", "t", "--partition", "0"] for disk in disks
    ]
    assert sorted(again) == sorted(expected)
