"""The ``divergence`` table: ranges of offsets, and which replicas agree there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

from kafkalog_reader.audits.comparison.compared_replicas import Comparison, NotCompared
from kafkalog_reader.audits.comparison.difference import DifferenceKind
from kafkalog_reader.audits.comparison.verdict import Verdict
from kafkalog_reader.audits.election.election_loss import committed_records
from kafkalog_reader.audits.partition.lost_start import lacking_starts
from kafkalog_reader.audits.tables.audit_table import AuditTable
from kafkalog_reader.format.broker_words import joined_names
from kafkalog_reader.tables.schemas.audits import DIVERGENCE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kafkalog_reader.audits.comparison.branch import Branch
    from kafkalog_reader.audits.comparison.difference import Difference
    from kafkalog_reader.audits.log.replica import Replica
    from kafkalog_reader.audits.partition.partition_audit import PartitionAudit
    from kafkalog_reader.audits.partition.replica_audit import ReplicaAudit
    from kafkalog_reader.tables.table import Column

EQUAL: Final = "equal"
AHEAD: Final = "ahead"
EXPIRED: Final = "expired"
MISSING: Final = "missing"
SUPERSEDED: Final = "superseded"
FORK: Final = "fork"
ALONE: Final = "alone"
NOT_COMPARED: Final = "notCompared"
_KINDS: Final = {
    DifferenceKind.CLEANED: "cleaned",
    DifferenceKind.DAMAGED: "damaged",
    DifferenceKind.HIDDEN: "hidden",
    DifferenceKind.UNCOVERED: "uncovered",
    DifferenceKind.MISSING: MISSING,
    DifferenceKind.CONFLICT: "conflict",
    DifferenceKind.NOT_COMPARED: NOT_COMPARED,
}


class DivergenceTable(AuditTable):
    """One row for each range of offsets that the same replicas hold, or hold differently."""

    name: ClassVar[str] = "divergence"
    doc: ClassVar[str] = "one row per range of offsets: which replicas agree, and why others differ"
    columns: ClassVar[tuple[Column, ...]] = DIVERGENCE

    def rows_of(self, audit: PartitionAudit) -> list[dict[str, Any]]:
        """The rows of one partition; none if it has no records."""
        return divergence_rows(audit)


def divergence_rows(audit: PartitionAudit) -> list[dict[str, Any]]:
    """The rows as dictionaries, by offset; differences follow the range that contains them."""
    if audit.verdict is Verdict.UNDECIDABLE or isinstance(audit.comparison, NotCompared):
        rows = [_unknown(audit, replica) for replica in audit.replicas]
    else:
        rows = [
            _of_branch(audit, branch, kind)
            for root in audit.comparison.roots
            for branch, kind in classified(audit, root)
            if branch.batches
        ]
        rows += [_of_difference(audit, each) for each in audit.comparison.differences]
        rows += [_unknown(alone, alone.replicas[0]) for alone in audit.set_aside]
    rows.sort(key=lambda row: (row["firstOffset"], row["kind"] not in _OF_BRANCHES))
    return rows


_OF_BRANCHES: Final = frozenset({EQUAL, AHEAD, EXPIRED, SUPERSEDED, FORK, ALONE})
_NOTHING: Final = dict.fromkeys(column.name for column in DIVERGENCE)


def classified(audit: PartitionAudit, root: Branch) -> Iterator[tuple[Branch, str]]:
    """Yield every branch of a tree with the kind of its range."""
    assert isinstance(audit.comparison, Comparison)
    overlaps = any(
        other is not root
        and other.first_offset < root.tree_next_offset
        and root.first_offset < other.tree_next_offset
        for other in audit.comparison.roots
    )
    waiting = [(root, overlaps)]
    while waiting:
        branch, is_apart = waiting.pop()
        yield branch, FORK if is_apart else _kind(audit, branch)
        waiting += [(child, is_apart or branch.is_fork) for child in reversed(branch.children)]


def _kind(audit: PartitionAudit, branch: Branch) -> str:
    absent = [each for each in audit.replicas if each.files not in branch.replicas]
    if not absent:
        return EQUAL if len(branch.replicas) > 1 else ALONE
    ends = [audit.of(each).bounds.superseded for each in branch.replicas]
    if all(end is not None and end <= branch.first_offset for end in ends):
        return SUPERSEDED
    if any(replica.log_end <= branch.first_offset for replica in absent):
        return AHEAD
    lost = [replica for replica, _ in lacking_starts(audit)]
    return MISSING if any(replica in lost for replica in absent) else EXPIRED


def _of_branch(audit: PartitionAudit, branch: Branch, kind: str) -> dict[str, Any]:
    row = _scope(audit, branch.replicas) | {
        "firstOffset": branch.first_offset,
        "nextOffset": branch.next_offset,
        "kind": kind,
        "leaderEpochs": sorted({interval.leader_epoch for interval in branch.intervals}),
        "batches": branch.batches,
        "records": branch.records,
        "controlRecords": branch.control_records,
        "sizeInBytes": branch.size_in_bytes,
    }
    if audit.candidates:
        count = committed_records(branch, audit.candidates)
        row |= {
            "committedRecords": count.known,
            "possiblyCommittedRecords": count.possible,
            "recordsCommittedOnlyIfUnclean": count.only_if_unclean,
        }
    return row


def _of_difference(audit: PartitionAudit, difference: Difference) -> dict[str, Any]:
    held = {replica for side in difference.contents for replica in side}
    holders = [each.files for each in audit.replicas if each.files in held]
    return _scope(audit, holders) | {
        "firstOffset": difference.first_offset,
        "nextOffset": difference.next_offset,
        "kind": _KINDS[difference.kind],
        "absentBrokers": [replica.broker_id for replica in difference.absent],
        "damagedBrokers": [replica.broker_id for replica in difference.damaged],
        "batches": difference.batches,
        "records": difference.records,
        "detail": " | ".join(map(joined_names, difference.contents)),
    }


def _unknown(audit: PartitionAudit, replica: ReplicaAudit) -> dict[str, Any]:
    return _scope(audit, [replica.files]) | {
        "firstOffset": replica.log_start,
        "nextOffset": replica.log_end,
        "kind": NOT_COMPARED,
        "detail": audit.reason or None,
    }


def _scope(audit: PartitionAudit, holders: Sequence[Replica]) -> dict[str, Any]:
    return _NOTHING | {
        "clusterId": audit.cluster_id,
        "topic": audit.topic,
        "partition": audit.partition,
        "brokers": [replica.broker_id for replica in holders],
        "replicas": [replica.name for replica in holders],
        "absentBrokers": [
            replica.broker_id for replica in audit.replicas if replica.files not in holders
        ],
        "damagedBrokers": [],
        "leaderEpochs": [],
    }
