"""Where copies of the metadata log part, and whom they name as leader."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkalog_reader.audits.quorum.outcome import Verdict
from kafkalog_reader.audits.quorum.quorum import read_quorums
from kafkalog_reader.io.discovery import discover
from tests.audits.quorum.controllers import (
    audited,
    copy_of,
    winners,
    write_combined,
    write_controllers,
)

if TYPE_CHECKING:
    from pathlib import Path


def test_copies_with_different_records_of_one_epoch_contradict_each_other(tmp_path: Path) -> None:
    every = write_controllers(tmp_path / "all", {1: "1111", 2: "1111", 3: "1111"})
    log = next(every.glob("broker-2/*/*.log"))
    other = next(write_controllers(tmp_path / "other", {2: "1211"}).glob("broker-2/*/*.log"))
    content = other.read_bytes()
    size = len(content) // 4  # four batches of one size
    batch = bytearray(content[size : 2 * size])
    batch[12:16] = (1).to_bytes(4, "big")  # its leader epoch, which no checksum covers
    log.write_bytes(content[:size] + bytes(batch) + content[2 * size :])
    audit = audited(every)
    assert audit.verdict is Verdict.CONTRADICTED
    parting = audit.quorum.parting(copy_of(audit, 1), copy_of(audit, 2))
    assert (parting.offset, parting.is_conflict) == (1, True)


def test_the_leader_that_others_name_stops_when_it_has_forgotten(tmp_path: Path) -> None:
    write_controllers(tmp_path, {1: "11", 2: "", 3: "11"}, leaders={1: (2, 1), 3: (2, 1)})
    audit = audited(tmp_path)
    names = audit.quorum.naming_as_leader(copy_of(audit, 2))
    assert [each.node_id for each in names] == [1, 3]
    assert audit.quorum.naming_as_leader(copy_of(audit, 1)) == ()


def test_a_leader_that_remembers_does_not_stop(tmp_path: Path) -> None:
    leaders = dict.fromkeys((1, 2, 3), (2, 1))
    audit = audited(write_controllers(tmp_path, {1: "11", 2: "11", 3: "11"}, leaders=leaders))
    assert audit.quorum.naming_as_leader(copy_of(audit, 2)) == ()


def test_a_node_without_a_metadata_log_has_one_vote_whatever_its_disks(tmp_path: Path) -> None:
    """Node 1 was formatted anew with two log directories: one of them is its metadata.log.dir."""
    write_controllers(tmp_path, {2: "112", 3: "11"})
    for disk in ("data1", "data2"):
        folder = tmp_path / "node-1" / disk
        folder.mkdir(parents=True)
        properties = (tmp_path / "broker-2" / "meta.properties").read_text()
        (folder / "meta.properties").write_text(properties.replace("node.id=2", "node.id=1"))
        (folder / "replication-offset-checkpoint").write_text("0\n0\n")
    audit = audited(tmp_path)
    assert [each.node_id for each in audit.quorum.copies] == [1, 2, 3]
    assert [len(each.votes) for each in audit.outcomes] == [3, 2, 1]
    assert {each.node_id for each in audit.start_first} == {2, 3}


def test_a_majority_without_a_metadata_log_elects_a_leader_with_an_empty_one(
    tmp_path: Path,
) -> None:
    """Brokers 1 and 2 of 3.3.2 did so before node 3 started, and deleted every partition."""
    audit = audited(write_combined(tmp_path))
    assert audit.verdict is Verdict.MAY_LOSE
    assert audit.is_unsafe
    assert {each.node_id for each in audit.start_first} == {3, 1}


def test_part_of_a_log_directory_does_not_show_that_the_metadata_log_is_gone(
    tmp_path: Path,
) -> None:
    audit = audited(write_combined(tmp_path, is_whole=False))
    assert audit.verdict is Verdict.NO_MAJORITY


def test_a_wrong_cluster_id_makes_no_second_quorum(tmp_path: Path) -> None:
    """The log of node 3 begins with the batches of the others: no two clusters write the same."""
    write_controllers(tmp_path, {1: "111", 2: "111", 3: "11"})
    properties = tmp_path / "broker-3" / "meta.properties"
    lines = properties.read_text().splitlines()
    changed = ["cluster.id=other" if each.startswith("cluster.id=") else each for each in lines]
    properties.write_text("\n".join(changed))
    audit = audited(tmp_path)
    assert winners(audit) == {1, 2}
    assert "cluster.id in its meta.properties is other" in copy_of(audit, 3).refusal


def test_logs_without_a_common_batch_are_of_two_clusters(tmp_path: Path) -> None:
    write_controllers(tmp_path / "a", {1: "11"})
    write_controllers(tmp_path / "b", {1: "22"})
    properties = tmp_path / "b" / "broker-1" / "meta.properties"
    lines = properties.read_text().splitlines()
    changed = ["cluster.id=other" if each.startswith("cluster.id=") else each for each in lines]
    properties.write_text("\n".join(changed))
    assert len([*read_quorums(discover([str(tmp_path)]))]) == 2
