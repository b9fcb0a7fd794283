"""Findings about what only one replica has or lacks, and traces of earlier truncations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkalog_reader.audits.catalogue.input_rules import (
    LIMIT_REACHED,
)
from kafkalog_reader.audits.catalogue.replica_rules import (
    EMPTY_REPLICA,
    LATEST_VALUE_MISMATCH,
    SINGLE_COPY_RANGE,
    TRUNCATION_TRACE,
)
from kafkalog_reader.audits.comparison.compared_replicas import Comparison
from kafkalog_reader.audits.comparison.verdict import Verdict
from kafkalog_reader.audits.election.election_loss import committed_records
from kafkalog_reader.audits.integrity.finding import Finding, finding
from kafkalog_reader.audits.partition.lag_severity import lag_severity
from kafkalog_reader.errors import LocatedError
from kafkalog_reader.format.offset_words import offsets_are
from kafkalog_reader.io.partition_directory import producer_snapshot_offsets, readable_segments

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kafkalog_reader.audits.comparison.branch import Branch
    from kafkalog_reader.audits.log.replica import Replica
    from kafkalog_reader.audits.partition.partition_audit import PartitionAudit


def copy_findings(audit: PartitionAudit) -> Iterator[Finding]:
    """Yield ranges with a single copy, replicas without records, and traces of truncations."""
    yield from _single_copies(audit)
    yield from _empty(audit)
    yield from _traces(audit)
    yield from _keys(audit)


def _single_copies(audit: PartitionAudit) -> Iterator[Finding]:
    """Records that only one replica has, unless they expired on the others."""
    assert isinstance(audit.comparison, Comparison)
    for branch in audit.comparison.branches():
        if len(branch.replicas) != 1 or not branch.records:
            continue
        (replica,) = branch.replicas
        if _has_expired_elsewhere(audit, replica, branch):
            continue
        count = committed_records(branch, audit.candidates)
        yield finding(
            SINGLE_COPY_RANGE,
            f"{offsets_are(branch.first_offset, branch.next_offset)} on {replica.name} only",
            severity=_severity(audit),
            directory=replica.directory,
            offsets=(branch.first_offset, branch.next_offset),
            records_at_risk=branch.records,
            bytes_at_risk=branch.size_in_bytes,
            committed=count.state,
        )


def _severity(audit: PartitionAudit) -> str | None:
    """The severity of a range on one copy only; lower if the others lag and will fetch it."""
    if audit.relation is not Verdict.LAGGING:
        return None
    severities = {lag_severity(audit, replica) for replica in audit.replicas}
    return "H" if "H" in severities else "M"


def _has_expired_elsewhere(audit: PartitionAudit, replica: Replica, branch: Branch) -> bool:
    """Whether the others deleted a range that they had: they hold the records after it."""
    assert isinstance(audit.comparison, Comparison)
    starts = [each.log_start for each in audit.replicas if each.files != replica]
    return branch.next_offset <= min(starts) and any(
        replica in other.replicas and len(other.replicas) > 1 and other.batches
        for other in audit.comparison.branches()
    )


def _empty(audit: PartitionAudit) -> Iterator[Finding]:
    if all(each.history.is_empty for each in audit.replicas):
        return
    most = max(each.log_end for each in audit.replicas if not each.history.is_empty)
    for replica in audit.replicas:
        if replica.history.is_empty and replica.log_end < most:
            yield finding(
                EMPTY_REPLICA,
                f"{replica.name} holds no record, others end at {most}: its election empties them",
                directory=replica.directory,
                evidence={
                    "logStartOffset": replica.log_start,
                    "logEndOffset": replica.log_end,
                    "longestLogEndOffset": most,
                },
            )


def _keys(audit: PartitionAudit) -> Iterator[Finding]:
    """Differences that consumers of a compacted topic would see."""
    if audit.keys.latest:
        first, count = audit.keys.latest[0], len(audit.keys.latest)
        yield finding(
            LATEST_VALUE_MISMATCH,
            f"the last value of {count:,} key{'' if count == 1 else 's'} differs between copies, "
            f"first at offset {first:,}",
            offsets=(first, audit.keys.latest[-1] + 1),
            evidence={"keys": count},
            records_at_risk=count,
        )
    if not audit.keys.is_complete:
        yield finding(
            LIMIT_REACHED,
            "too many records to compare keys: whether compaction explains what copies lack "
            "was not checked",
        )


def _traces(audit: PartitionAudit) -> Iterator[Finding]:
    """Producer snapshots that a follower wrote where it truncated.

    Every start and clean shutdown writes one at the log end, too; here another leader epoch begins
    at that very offset, no other replica has a snapshot there, and it is not the leader of that
    epoch, which truncated nothing. Source: Kafka 4.3, UnifiedLog#rebuildProducerState.
    """
    known = audit.membership
    found: list[set[int]] = []
    for replica in audit.replicas:
        try:
            bases = {segment.base_offset for segment in readable_segments(replica.directory)}
            found.append(set(producer_snapshot_offsets(replica.directory)) - bases)
        except LocatedError:
            found.append(set())
    for index, replica in enumerate(audit.replicas):
        history = replica.history
        elsewhere = set[int]().union(*(found[:index] + found[index + 1 :]))
        led = known.leader_epoch if known and known.leader == replica.broker_id else None
        begun = {
            interval.first_offset
            for interval in history.lineage.intervals[1:]
            if interval.leader_epoch != led
        }
        for offset in sorted(found[index] - elsewhere):
            if offset in begun and offset < history.log_end_offset:
                yield finding(
                    TRUNCATION_TRACE,
                    f"{replica.name}: a producer snapshot at offset {offset:,}, where no segment "
                    "begins and another leader epoch does: the log once ended there, because it "
                    "was truncated, or because the broker started before that epoch",
                    confidence="possible",
                    directory=replica.directory,
                    file=replica.files.file(f"{offset:020d}.snapshot"),
                    offsets=(offset, offset),
                    evidence={"leaderEpoch": history.lineage.epoch_at(offset)},
                )
