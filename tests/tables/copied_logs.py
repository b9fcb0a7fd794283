"""Copies of one partition on several brokers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkalog_reader.io.discovery import discover
from kafkalog_reader.tables.request import ReadRequest
from tests.tables.logs import batch, write_segment

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from kafkalog_reader.io.directories import PartitionDirectory


def write_replica(
    root: Path, broker: int, epochs: list[int], *, checkpoint: str | None = None
) -> None:
    """Write one record per batch; ``epochs`` are the leader epochs."""
    directory = root / f"broker-{broker}"
    batches = [batch(n, 1, leader_epoch=epoch) for n, epoch in enumerate(epochs)]
    write_segment(directory / "t-0", batches)
    write_properties(directory, broker)
    if checkpoint is not None:
        (directory / "t-0" / "leader-epoch-checkpoint").write_text(checkpoint)


def write_properties(directory: Path, broker: int, cluster: str = "cluster.id=c\n") -> None:
    (directory / "meta.properties").write_text(f"version=1\nnode.id={broker}\n{cluster}")


def copies(root: Path) -> Sequence[PartitionDirectory]:
    """The copies of t-0, by broker."""
    ((_, replicas),) = discover([str(root)]).topic_partitions(ReadRequest())
    return replicas
