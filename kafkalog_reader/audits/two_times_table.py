"""The table ``divergence`` for two times of one broker, with what neither copy has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kafkalog_reader.audits.comparison.compared_replicas import NotCompared
from kafkalog_reader.audits.comparison.verdict import is_damage
from kafkalog_reader.audits.tables.divergence import DivergenceTable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from kafkalog_reader.audits.partition.partition_audit import PartitionAudit
    from kafkalog_reader.audits.partition.replica_audit import ReplicaAudit

    Range = tuple[int, int]

_SEVERAL: Final = 2
DAMAGED: Final = "damaged"
HIDDEN: Final = "hidden"
LOST_END: Final = "lostEnd"
"""Offsets below a high watermark that are above the end of both copies."""


class TwoTimesTable(DivergenceTable):
    """Also has rows about damage that no copy repairs, and about committed records of neither.

    Copies with the same damage are equal for ``divergence``.

    Args:
        new: the broker id of the newer copy. What is damaged only in the older one is no change.
    """

    def __init__(self, new: int) -> None:
        self._new = new

    def rows_of(self, audit: PartitionAudit) -> list[dict[str, Any]]:
        """The rows of one partition, those of ``divergence`` first."""
        rows = super().rows_of(audit)
        if isinstance(audit.comparison, NotCompared) or len(audit.replicas) < _SEVERAL:
            return rows
        known = [(r["firstOffset"], r["nextOffset"]) for r in rows if r["kind"] == HIDDEN]
        return [
            *rows,
            *self._damaged(audit, DAMAGED, _damaged_alone),
            *(
                row
                for row in self._damaged(audit, HIDDEN, _hidden)
                if not _meets((row["firstOffset"], row["nextOffset"]), known)
            ),
            *self._lost_end(audit),
        ]

    def _damaged(
        self, audit: PartitionAudit, kind: str, of: Callable[[ReplicaAudit], Iterator[Range]]
    ) -> Iterator[dict[str, Any]]:
        by_broker = {each.broker_id: [*of(each)] for each in audit.replicas}
        own = by_broker.pop(self._new, [])
        for each in _joined(own):
            others = [broker for broker, ranges in by_broker.items() if _meets(each, ranges)]
            brokers = [self._new, *others]
            yield _row(audit, kind, *each) | {"damagedBrokers": brokers, "absentBrokers": brokers}

    def _lost_end(self, audit: PartitionAudit) -> Iterator[dict[str, Any]]:
        missing = audit.missing
        if missing is not None:
            yield _row(audit, LOST_END, missing.first_offset, missing.next_offset) | {
                "brokers": [each.broker_id for each in missing.replicas]
            }


def _row(audit: PartitionAudit, kind: str, first: int, following: int) -> dict[str, Any]:
    nothing = dict.fromkeys(column.name for column in DivergenceTable.columns)
    return nothing | {
        "clusterId": audit.cluster_id, "topic": audit.topic, "partition": audit.partition,
        "kind": kind, "firstOffset": first, "nextOffset": following, "brokers": [],
        "replicas": [], "absentBrokers": [], "damagedBrokers": [], "leaderEpochs": [],
    }  # fmt: skip


def _damaged_alone(replica: ReplicaAudit) -> Iterator[Range]:
    """Offsets of batches with a wrong checksum that no copy has intact."""
    rows = replica.damaged.rows()
    for first, following, number in zip(
        rows.first_offset.tolist(), rows.next_offset.tolist(), rows.intact_on.tolist(), strict=True
    ):
        if not replica.damaged.holders[number]:
            yield max(first, replica.log_start), following


def _hidden(replica: ReplicaAudit) -> Iterator[Range]:
    """Offsets before a sound batch where damage hides what was there."""
    for stop in replica.summary.stops:
        if is_damage(stop) and stop.next_offset is not None:
            first = replica.log_start if stop.first_offset is None else stop.first_offset
            yield max(first, replica.log_start), stop.next_offset


def _meets(one: Range, others: Iterable[Range]) -> bool:
    return any(first < one[1] and one[0] < following for first, following in others)


def _joined(ranges: Iterable[Range]) -> Iterator[Range]:
    """The ranges by offset; those that touch become one."""
    ordered = sorted(each for each in ranges if each[0] < each[1])
    if not ordered:
        return
    first, following = ordered[0]
    for low, high in ordered[1:]:
        if low > following:
            yield first, following
            first, following = low, high
        following = max(following, high)
    yield first, following
