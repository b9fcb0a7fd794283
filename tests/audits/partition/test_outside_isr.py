"""Which in-sync replicas were not supplied, by the metadata log."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from fixtures.builder import cluster, replica
from fixtures.builder.metadata_log import PartitionState, metadata_log
from kafkalog_reader.audits.election.unseen import UnseenRole
from kafkalog_reader.audits.partition.outside_isr import InSyncReplicas
from kafkalog_reader.audits.partition.partition_unit import partition_units
from kafkalog_reader.audits.partition.unit_audit import audit_unit
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.tables.request import ReadRequest

if TYPE_CHECKING:
    from pathlib import Path

    from fixtures.builder.replica import Replica

AB = "a@0/e0 b@1/e0"
OF_T = ReadRequest(topics=frozenset({"t"}))


def not_supplied(root: Path) -> tuple[int, ...]:
    evidence = discover([str(root)])
    ((_, copies),) = evidence.topic_partitions(OF_T)
    return InSyncReplicas(evidence).not_supplied(copies)


def written(
    root: Path,
    in_sync: tuple[int, ...],
    *,
    eligible: tuple[int, ...] = (),
    copies: dict[int, Replica] | None = None,
    leader_epoch: int = 1,
) -> Path:
    """Brokers 0 and 1 have copies; broker 2 was not supplied."""
    state = PartitionState(
        replicas=(0, 1, 2),
        in_sync=in_sync,
        eligible=eligible,
        leader=in_sync[0] if in_sync else -1,
        leader_epoch=leader_epoch,
    )
    sound = replica(AB, high_watermark=2)
    held = {0: sound, 1: sound} if copies is None else copies
    cluster(root, {node: [each] for node, each in held.items()} | {100: [metadata_log([state])]})
    return root


def test_the_isr_is_named_where_every_copy_is_outside(tmp_path: Path) -> None:
    assert not_supplied(written(tmp_path / "isr", (2,))) == (2,)
    # without an in-sync replica, the eligible leader replicas have every committed record (KIP-966)
    assert not_supplied(written(tmp_path / "elr", (), eligible=(2,))) == (2,)


def test_one_copy_in_sync_has_every_committed_record(tmp_path: Path) -> None:
    assert not_supplied(written(tmp_path / "leader", (2, 1))) == ()
    assert not_supplied(written(tmp_path / "all", (0, 1))) == ()


def test_an_unknown_isr_names_nobody(tmp_path: Path) -> None:
    assert not_supplied(written(tmp_path / "none", ())) == ()
    root = written(tmp_path / "log", (2,))
    shutil.rmtree(root / "broker-100")
    assert not_supplied(root) == ()


def test_a_metadata_log_older_than_a_copy_proves_nothing(tmp_path: Path) -> None:
    newer = replica("a@0/e0 b@1/e2", high_watermark=2)
    copies = {0: replica(AB, high_watermark=2), 1: newer}
    assert not_supplied(written(tmp_path / "batch", (2,), copies=copies)) == ()


def test_an_epoch_that_the_copy_no_longer_has_is_newer_too(tmp_path: Path) -> None:
    """Broker 1 was elected with epoch 2 and had nothing written to it."""
    root = written(tmp_path / "entry", (2,))
    (root / "broker-1" / "t-0" / "leader-epoch-checkpoint").write_text("0\n2\n0 0\n2 2\n")
    assert not_supplied(root) == ()
    (root / "broker-1" / "t-0" / "leader-epoch-checkpoint").write_text("0\n2\n0 0\n2 9\n")
    assert not_supplied(root) == (2,)  # the log never reached offset 9


def test_the_audit_says_the_same(tmp_path: Path) -> None:
    for name, in_sync in (("outside", (2,)), ("inside", (1, 2))):
        root = written(tmp_path / name, in_sync)
        asked = ReadRequest(topics=frozenset({"t"}))
        (unit,) = partition_units(discover([str(root)]), asked)
        unseen = audit_unit(unit, asked).unseen
        is_outside = unseen is not None and unseen.role is UnseenRole.ALL_IN_SYNC
        assert bool(not_supplied(root)) is is_outside is (name == "outside")


def test_the_metadata_log_is_not_about_itself(tmp_path: Path) -> None:
    evidence = discover([str(written(tmp_path / "it", (2,)))])
    asked = ReadRequest(topics=frozenset({"__cluster_metadata"}))
    ((_, copies),) = evidence.topic_partitions(asked)
    assert InSyncReplicas(evidence).not_supplied(copies) == ()
