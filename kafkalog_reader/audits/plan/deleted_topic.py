"""Partitions of topics that are being deleted: nobody elects a leader of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kafkalog_reader.audits.partition.partition_audit import PartitionAudit


@dataclass(frozen=True, slots=True, kw_only=True)
class DeletedPartition:
    """A partition that the next starts delete.

    Attributes:
        marked_on: brokers with a folder that is marked for deletion.
        live_on: brokers with a live copy.
    """

    topic: str
    partition: int
    marked_on: tuple[int, ...]
    live_on: tuple[int, ...]

    @property
    def name(self) -> str:
        return f"{self.topic}-{self.partition}"

    @property
    def brokers(self) -> frozenset[int]:
        return frozenset({*self.marked_on, *self.live_on})


def deleted_partition(audit: PartitionAudit) -> DeletedPartition | None:
    """The partition, if its topic is being deleted."""
    if not audit.deleting:
        return None
    marked = {each.log_directory.broker_id for each in audit.deleting}
    live = {each.broker_id for each in audit.everyone}
    return DeletedPartition(
        topic=audit.topic or "",
        partition=audit.partition or 0,
        marked_on=tuple(sorted(each for each in marked if each is not None)),
        live_on=tuple(sorted(each for each in live if each is not None)),
    )
