"""Controllers with small metadata logs: one topic is created per offset."""

from __future__ import annotations

import json
from shutil import rmtree
from typing import TYPE_CHECKING, Any

from fixtures.builder import cluster, data_batch, replica
from fixtures.builder.log_directory import LogDirectory
from fixtures.builder.metadata_log import METADATA_TOPIC_ID, PartitionState, metadata_records
from kafkalog_reader.audits.quorum.outcome import QuorumAudit, audit_quorum
from kafkalog_reader.audits.quorum.quorum import read_quorums
from kafkalog_reader.format.record import Record
from kafkalog_reader.format.uuid import uuid_text
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.io.names import OFFSET_CHECKPOINTS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from kafkalog_reader.audits.quorum.metadata_copy import MetadataCopy

THREE = (1, 2, 3)
FIVE = (1, 2, 3, 4, 5)


def created(epoch: int, offset: int) -> bytes:
    """The record at an offset, which is another one in each leader epoch."""
    state = PartitionState(
        replicas=(1,), in_sync=(1,), leader=1, leader_epoch=0, topic=f"t{epoch}-{offset}",
        topic_id=uuid_text(bytes([1] * 14 + [epoch, offset])),
    )  # fmt: skip
    return next(metadata_records([state]))


def quorum_state(leader: int = -1, epoch: int = 0, voters: Sequence[int] = THREE) -> bytes:
    """``quorum-state`` of kraft.version 0, as in the captures of 4.3.1."""
    content: dict[str, Any] = {
        "clusterId": "", "leaderId": leader, "leaderEpoch": epoch, "votedId": -1,
        "appliedOffset": 0, "currentVoters": [{"voterId": each} for each in voters],
        "data_version": 0,
    }  # fmt: skip
    return json.dumps(content).encode()


def write_controllers(
    root: Path,
    logs: Mapping[int, str],
    *,
    voters: Sequence[int] = THREE,
    leaders: Mapping[int, tuple[int, int]] | None = None,
    without: Sequence[int] = (),
) -> Path:
    """Write the log directories of controllers.

    Args:
        root: of all.
        logs: by node id, the leader epoch of each offset: ``1122``.
        voters: that ``quorum-state`` names.
        leaders: leader and epoch that ``quorum-state`` of a node names.
        without: node ids without ``quorum-state``.
    """
    known = leaders or {}
    nodes = {
        node: replica(
            [
                data_batch(
                    offset,
                    [Record(offset_delta=0, value=created(int(epoch), offset))],
                    leader_epoch=int(epoch),
                )
                for offset, epoch in enumerate(log)
            ],
            topic="__cluster_metadata",
            topic_id=METADATA_TOPIC_ID,
            files={}
            if node in without
            else {"quorum-state": quorum_state(*known.get(node, (-1, 0)), voters=voters)},
        )
        for node, log in logs.items()
    }
    cluster(
        root,
        {
            node: LogDirectory(
                node_id=node, replicas=(each,), files=dict.fromkeys(OFFSET_CHECKPOINTS)
            )
            for node, each in nodes.items()
        },
    )
    return root


def write_combined(root: Path, *, is_whole: bool = True) -> Path:
    """Nodes that are broker and controller in one; only node 3 still has its metadata log."""
    write_controllers(root, dict.fromkeys((1, 2, 3), "112"))
    for path in root.iterdir():
        (path / "t-0").mkdir()
        if is_whole:
            (path / ".lock").touch()
    for node in (1, 2):
        rmtree(root / f"broker-{node}" / "__cluster_metadata-0")
    return root


def audited(root: Path) -> QuorumAudit:
    """The answer about the only cluster."""
    (quorum,) = read_quorums(discover([str(root)]))
    return audit_quorum(quorum)


def copy_of(audit: QuorumAudit, node: int) -> MetadataCopy:
    """The copy of a node."""
    return next(each for each in audit.quorum.copies if each.node_id == node)


def winners(audit: QuorumAudit) -> set[int | None]:
    """Node ids of those that can be elected."""
    return {each.copy.node_id for each in audit.outcomes if each.can_win}
