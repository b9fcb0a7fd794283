"""How severe a gap inside a log is: what other copies hold, and what compaction may explain."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.catalogue.actions import LOOK_FOR_A_COPY, NOTHING_TO_DO
from kafkalog_reader.audits.catalogue.batch_rules import OFFSET_GAP, OFFSET_REGRESSION
from kafkalog_reader.audits.catalogue.catalogue import codes_with
from kafkalog_reader.audits.catalogue.log_rules import INTERRUPTED_SWAP
from kafkalog_reader.audits.catalogue.role import Role
from kafkalog_reader.audits.comparison.compared_replicas import Comparison, NotCompared
from kafkalog_reader.audits.comparison.difference import DifferenceKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kafkalog_reader.audits.integrity.finding import Finding
    from kafkalog_reader.audits.partition.partition_audit import PartitionAudit
    from kafkalog_reader.audits.partition.replica_audit import ReplicaAudit
    from kafkalog_reader.io.directories import PartitionDirectory

_GAPS: Final = codes_with(Role.GAP)
_LACKING: Final = frozenset({DifferenceKind.MISSING, DifferenceKind.HIDDEN, DifferenceKind.DAMAGED})


def with_others(audit: PartitionAudit, found: Iterable[Finding]) -> Iterator[Finding]:
    """The findings of a set-aside replica; a gap is more severe if the others have the range."""
    assert isinstance(audit.comparison, Comparison)
    whole = [branch for branch in audit.comparison.branches() if branch.is_dense]
    for each in found:
        first, following = each.first_offset, each.next_offset
        is_held = (
            each.code in _GAPS
            and first is not None
            and following is not None
            and any(b.first_offset <= first and following <= b.next_offset for b in whole)
        )
        yield replace(each, severity="H") if is_held and each.severity == "M" else each


def with_peers(audit: PartitionAudit, found: Sequence[Finding]) -> Iterator[Finding]:
    """The findings of single replicas; a gap is more severe if records are missing there.

    A peer may hold them, and then this copy lacks them. If no copy holds them, they are lost,
    unless compaction may explain it.
    """
    replicas = {replica.directory: replica for replica in audit.replicas}
    gaps = [each for each in found if each.code in _GAPS]
    for each in found:
        replica = None if each.directory is None else replicas.get(each.directory)
        if replica is not None and _fills_a_gap(each) and _is_elsewhere(audit, replica, each):
            yield replace(each, severity="I", actions=(NOTHING_TO_DO,), repairs=())
        elif replica is None or each.code not in _GAPS:
            yield each
        elif _is_elsewhere(audit, replica, each):
            yield replace(each, severity="H")
        else:
            yield _lost(replica, each) if _is_lost(audit, each, found, gaps) else each


def _is_elsewhere(audit: PartitionAudit, replica: ReplicaAudit, gap: Finding) -> bool:
    first, following, own = gap.first_offset, gap.next_offset, replica.files
    if isinstance(audit.comparison, NotCompared) or first is None or following is None:
        return False
    return any(
        difference.first_offset <= first
        and following <= difference.next_offset
        and (own in difference.absent or own in difference.damaged)
        for difference in audit.comparison.differences
        if difference.kind in _LACKING
    )


def _is_lost(
    audit: PartitionAudit, gap: Finding, found: Sequence[Finding], gaps: Sequence[Finding]
) -> bool:
    """Whether records were there, no supplied copy holds them, and nothing shows compaction."""
    first, following = gap.first_offset, gap.next_offset
    if gap.caused_by is not None or first is None or following is None:
        return False
    place = f"{gap.code} {gap.file} {gap.position}"
    if any(each.code == OFFSET_REGRESSION and each.caused_by == place for each in found):
        return False  # a wrong base offset, and not a record too few
    lacking = {each.directory for each in gaps if _covers(each, first, following)}
    if any(_fills_a_gap(each) and _covers(each, first, following) for each in found):
        return False
    if any(
        each.directory not in lacking and each.log_start < following and first < each.log_end
        for each in audit.replicas
    ):
        return False
    return not _may_be_compacted(audit, gaps)


def _fills_a_gap(found: Finding) -> bool:
    """Whether it is of a segment marked .deleted that holds the records of a gap."""
    is_deleted = dict(found.evidence).get("outcome") == "deleted"
    return found.code == INTERRUPTED_SWAP and is_deleted and bool(found.repairs)


def _covers(gap: Finding, first: int, following: int) -> bool:
    return (gap.first_offset or 0) <= first and following <= (gap.next_offset or 0)


def _may_be_compacted(audit: PartitionAudit, gaps: Sequence[Finding]) -> bool:
    """Whether the log cleaner may have left the gaps of these replicas.

    A new follower of a compacted topic has no row of the cleaner yet, but many gaps inside its
    segments: where nothing says how the topic is cleaned up, more than one is doubtful.
    """
    if audit.may_be_compacted is not None:
        return audit.may_be_compacted
    inside: Counter[PartitionDirectory | None] = Counter()
    for each in gaps:
        if each.code == OFFSET_GAP:
            inside[each.directory] += int(dict(each.evidence).get("batches", 1))
    return max(inside.values(), default=0) > 1


def _lost(replica: ReplicaAudit, gap: Finding) -> Finding:
    """The gap as a loss: every offset of it may have had a record."""
    assert gap.first_offset is not None
    assert gap.next_offset is not None
    bounds = replica.bounds
    committed = "known" if gap.next_offset <= bounds.known else "possible"
    count = gap.next_offset - gap.first_offset
    return replace(
        gap,
        severity="H",
        message=f"{gap.message}; no supplied copy holds these records, and nothing shows "
        "compaction",
        records_at_risk=count,
        committed=committed,
        actions=(LOOK_FOR_A_COPY, *gap.actions),
    )
