"""Findings about several replicas of one partition: which lag, and where they diverge."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.catalogue.actions import (
    FORBID_UNCLEAN_ELECTION,
    LEAVE_ASIDE,
    LET_BEST_LEAD,
    MOVE_COPY_ASIDE,
)
from kafkalog_reader.audits.catalogue.input_rules import (
    LIMIT_REACHED,
    TOPIC_ID_MISMATCH,
)
from kafkalog_reader.audits.catalogue.log_rules import (
    EPOCH_ENTRY_WITHOUT_RECORDS,
)
from kafkalog_reader.audits.catalogue.replica_rules import (
    COMMITTED_CONFLICT,
    COMMITTED_RECORDS_MISSING,
    DAMAGED_COPY,
    FORKED,
    LAGGING_REPLICA,
    LEGACY_DIVERGENCE,
    NO_COMMON_RANGE,
    REPLICAS_AGREE,
    RETENTION_SKEW,
)
from kafkalog_reader.audits.comparison.committed import CommitCount
from kafkalog_reader.audits.comparison.compared_replicas import Comparison, NotCompared
from kafkalog_reader.audits.comparison.verdict import Verdict
from kafkalog_reader.audits.election.election_loss import committed_records
from kafkalog_reader.audits.integrity.file_repair import move_aside
from kafkalog_reader.audits.integrity.finding import Finding, finding
from kafkalog_reader.audits.integrity.refused_file import actions_of_refusal
from kafkalog_reader.audits.log.record_count import behind_text, records_text, start_adds_text
from kafkalog_reader.audits.partition.copy_findings import copy_findings
from kafkalog_reader.audits.partition.difference_findings import difference_findings
from kafkalog_reader.audits.partition.election_findings import election_findings
from kafkalog_reader.audits.partition.lag_severity import (
    committed_lost_by,
    is_being_added,
    lag_severity,
)
from kafkalog_reader.audits.partition.lineage_findings import lineage_findings
from kafkalog_reader.audits.partition.lost_start import lacking_starts
from kafkalog_reader.format.broker_words import joined_names
from kafkalog_reader.format.offset_words import offsets_are, offsets_words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kafkalog_reader.audits.comparison.branch import Branch
    from kafkalog_reader.audits.comparison.missing_committed import MissingCommitted
    from kafkalog_reader.audits.partition.partition_audit import PartitionAudit

_LAG_ACTIONS: Final = {
    "H": (FORBID_UNCLEAN_ELECTION, LET_BEST_LEAD),
    "M": (LET_BEST_LEAD,),
}
_UNLESS_HOT: Final = (
    "; unless this broker ran while it was copied, and was copied before the others"
)


def replica_findings(audit: PartitionAudit) -> Iterator[Finding]:
    """Yield the findings of the comparison; none if the replicas could not be compared."""
    if audit.misnamed:  # KL-014, KL-119, KL-419
        return
    if isinstance(audit.comparison, NotCompared):
        ids = {replica.name: replica.files.topic_id for replica in audit.replicas}
        if not audit.unknown_copies:
            yield finding(TOPIC_ID_MISMATCH, audit.reason, evidence=dict(ids))
        for directory in audit.unknown_copies:
            yield finding(
                TOPIC_ID_MISMATCH,
                audit.reason,
                directory=directory,
                evidence=dict(ids),
                actions=(MOVE_COPY_ASIDE,),
            )
        return
    if audit.verdict is Verdict.UNDECIDABLE:
        return
    yield from _set_aside(audit)
    yield from _outdated(audit)
    yield from _empty_epochs(audit)
    if len(audit.replicas) < 2:
        return
    yield from difference_findings(audit, audit.comparison.differences)
    if left_out := audit.comparison.differences_left_out:
        yield finding(
            LIMIT_REACHED,
            f"{left_out:,} further ranges in which copies differ are not listed",
            evidence={"ranges": left_out},
        )
    yield from _agreement(audit)
    yield from _lagging(audit)
    if audit.is_metadata:  # other rules for truncation and elections
        return
    yield from _forked(audit)
    yield from lineage_findings(audit)
    yield from _missing(audit)
    yield from copy_findings(audit)
    yield from election_findings(audit)


def _missing(audit: PartitionAudit) -> Iterator[Finding]:
    """Committed records that no supplied copy holds, so that nothing here restores them."""
    missing = audit.missing
    if missing is None:
        return
    first, following = missing.first_offset, missing.next_offset
    yield finding(
        COMMITTED_RECORDS_MISSING,
        missing_text(audit, missing, offsets_words(first, following)),
        confidence="proven" if missing.is_proven else "possible",
        offsets=(first, following),
        evidence={
            "highWatermark": following,
            "logEndOffset": first,
            "by": joined_names(missing.replicas),
        },
        records_at_risk=following - first,
        committed="known" if missing.is_proven else "possible",
        lookalikes=() if missing.is_proven else None,
    )


def missing_text(audit: PartitionAudit, missing: MissingCommitted, offsets: str) -> str:
    """Who shows that records were committed which no copy has; ``offsets`` begins the sentence."""
    first, following = missing.first_offset, missing.next_offset
    is_one = len(missing.replicas) == 1
    they_ran = "it ran while it was" if is_one else "they ran while they were"
    innocent = (
        ""
        if missing.is_proven
        else f" (if {they_ran} copied, the checkpoint may be newer than the log: copy again)"
    )
    were, them = ("was", "it") if following - first == 1 else ("were", "them")
    kept = audit.readable_after_end
    whole = (
        f"; of a torn batch, kafkalog salvage keeps {offsets_words(*kept)}"
        if kept[0] < kept[1]
        else ""
    )
    return (
        f"{offsets} {were} committed according to the high-watermark "
        f"{'checkpoint' if is_one else 'checkpoints'} of {joined_names(missing.replicas)}, but no "
        f"supplied copy has {them}{innocent}{whole}"
    )


def _set_aside(audit: PartitionAudit) -> Iterator[Finding]:
    """Copies whose content is unknown, while the others allow a verdict without them."""
    for alone in audit.set_aside:
        (replica,) = alone.replicas
        others = joined_names(audit.replicas)
        yield finding(
            DAMAGED_COPY,
            f"{alone.reason}; {replica.name} is set aside, {others} are compared without it",
            directory=replica.directory,
            evidence={
                "damaged": replica.name,
                "compared": others,
                "batches": replica.summary.batches,
            },
            actions=actions_of_refusal(alone.reason),
        )


def _outdated(audit: PartitionAudit) -> Iterator[Finding]:
    """Copies of a deleted topic: the ones of the topic that exists are compared without them."""
    current = {each.files.topic_id for each in audit.replicas} - {None}
    for alone in audit.outdated:
        (replica,) = alone.replicas
        root, name = posixpath.split(replica.directory.path.rstrip("/"))
        is_copied_again = replica.broker_id in audit.to_copy_again
        yield finding(
            TOPIC_ID_MISMATCH,
            f"{replica.name} has a copy of a deleted topic of this name (topic id "
            f"{replica.files.topic_id}); by the metadata log, the topic that exists is that of "
            f"{joined_names(audit.replicas)} (topic id {', '.join(map(str, current))})",
            severity="M",
            directory=replica.directory,
            evidence={each.name: each.files.topic_id for each in (*audit.replicas, replica)},
            actions=(MOVE_COPY_ASIDE if is_copied_again else LEAVE_ASIDE,),
            repairs=(move_aside(root, name),) if is_copied_again else (),
        )


def _empty_epochs(audit: PartitionAudit) -> Iterator[Finding]:
    for replica in audit.replicas:
        latest = replica.files.cache.latest
        is_clipped = latest not in (replica.files.epoch_entries or ())
        if latest is None or is_clipped:
            continue
        last = replica.history.last_leader_epoch
        has_records = last is not None and last >= latest.leader_epoch  # KL-407, or KL-406
        if latest.start_offset == replica.log_end and not has_records:
            yield finding(
                EPOCH_ENTRY_WITHOUT_RECORDS,
                f"{replica.name}: leader epoch {latest.leader_epoch} begins at the log end "
                f"{latest.start_offset:,}: elected, nothing written yet",
                directory=replica.directory,
                offsets=(latest.start_offset, latest.start_offset),
                evidence={"leaderEpoch": latest.leader_epoch},
            )


def _agreement(audit: PartitionAudit) -> Iterator[Finding]:
    assert isinstance(audit.comparison, Comparison)
    everyone = audit.comparison.replicas
    starts = {replica.log_start for replica in audit.replicas}
    common = [b for b in audit.comparison.branches() if b.replicas == everyone and b.batches]
    if audit.relation is Verdict.CONSISTENT and common:
        yield finding(
            REPLICAS_AGREE,
            f"{offsets_are(common[0].first_offset, common[-1].next_offset)} equal on "
            f"{joined_names(everyone)}",
            offsets=(common[0].first_offset, common[-1].next_offset),
            evidence={
                "batches": sum(branch.batches for branch in common),
                "records": sum(branch.records for branch in common),
                "bytes": sum(branch.size_in_bytes for branch in common),
            },
        )
    if len(starts) > 1 and not any(lacking_starts(audit)):
        yield finding(
            RETENTION_SKEW,
            f"log starts differ: {min(starts)} to {max(starts)}",
            offsets=(min(starts), max(starts)),
        )
    yield from _nothing_common(audit)


def _nothing_common(audit: PartitionAudit) -> Iterator[Finding]:
    """A log that ends at or before the start of another, unless both end there.

    A follower that begins at a tiered offset (KIP-1023) may be empty and lack nothing.
    """
    first_end = min(replica.log_end for replica in audit.replicas)
    last_start = max(replica.log_start for replica in audit.replicas)
    first_start = min(replica.log_start for replica in audit.replicas)
    last_end = max(replica.log_end for replica in audit.replicas)
    if first_end <= last_start and first_start < last_start and first_end < last_end:
        yield finding(
            NO_COMMON_RANGE,
            f"one log ends at {first_end:,}, and another begins at {last_start:,}",
            offsets=(first_end, last_start),
        )


def _lagging(audit: PartitionAudit) -> Iterator[Finding]:
    """A replica whose log is a prefix of another's, which will not be truncated itself."""
    assert isinstance(audit.comparison, Comparison)
    for replica in audit.replicas:
        longer = [
            branch
            for branch in audit.comparison.branches()
            if replica.files not in branch.replicas
            and branch.first_offset >= replica.log_end
            and branch.batches
            and not _is_superseded(audit, branch)
        ]
        forks = any(
            other != replica.files
            and audit.comparison.content_fork(replica.files, other) is not None
            for other in audit.comparison.replicas
        )
        if not longer or forks or replica.bounds.superseded is not None:
            continue
        holders = [audit.of(each) for branch in longer for each in branch.replicas]
        start = min(holder.log_start for holder in holders)
        if replica.log_start < start and replica.log_end <= start:
            continue  # nothing in common: KL-512
        end = max(branch.next_offset for branch in longer)
        behind = sum(branch.records for branch in longer)
        lost = committed_lost_by(audit, replica)
        loses = f"; if elected, it loses {records_text(lost)} known committed" if lost else ""
        loses += start_adds_text(behind, lost)
        severity = lag_severity(audit, replica)
        may_be_hot = severity == "H" and replica.directory.log_directory.clean_shutdown is False
        unless = _UNLESS_HOT if may_be_hot else ""
        if added := is_being_added(audit, replica):
            unless = "; a reassignment in flight adds it, and it goes on copying once it runs"
        yield finding(
            LAGGING_REPLICA,
            f"{replica.name} {behind_text(behind)} (ends at {replica.log_end:,}, the longest log "
            f"at {end:,}){loses}{unless}",
            severity=severity,
            actions=_LAG_ACTIONS.get(severity),
            directory=replica.directory,
            offsets=(replica.log_end, end),
            evidence={
                "offsets": end - replica.log_end,
                "records": behind,
                "committedLostIfElected": lost,
                **({"isBeingAdded": True} if added else {}),
            },
        )


def _is_superseded(audit: PartitionAudit, branch: Branch) -> bool:
    """Whether a newer leader's history lacks all of a branch."""
    ends = [audit.of(each).bounds.superseded for each in branch.replicas]
    return all(end is not None and end <= branch.first_offset for end in ends)


def side_of(audit: PartitionAudit, branch: Branch) -> tuple[int, int, CommitCount]:
    """Distinct records of one side of a fork, their end offset and how many are committed."""
    count, end, records = CommitCount(), branch.next_offset, 0
    for part in branch.walk():
        if part.batches:
            count += committed_records(part, audit.candidates)
            records += part.records
            end = max(end, part.next_offset)
    return records, end, count


def _forked(audit: PartitionAudit) -> Iterator[Finding]:
    assert isinstance(audit.comparison, Comparison)
    sides_of_forks = [fork.children for fork in audit.comparison.forks]
    if not sides_of_forks and audit.fork_offset is not None and len(audit.comparison.roots) > 1:
        sides_of_forks = [audit.comparison.roots]
    for sides in sides_of_forks:
        yield from _fork(audit, sides)


def _fork(audit: PartitionAudit, sides: tuple[Branch, ...]) -> Iterator[Finding]:
    offset = max(side.first_offset for side in sides)
    evidence: dict[str, object] = {}
    reported, ends, known_sides = [], [], 0
    at_risk = 0
    for number, side in enumerate(sides, 1):
        records, end, count = side_of(audit, side)
        epochs = sorted(
            {interval.leader_epoch for part in side.walk() for interval in part.intervals}
        )
        name = joined_names(side.replicas)
        under = f"under leader epoch {_listed(epochs)}" if epochs else "without leader epochs"
        reported.append(f"{records_text(records)} {under} on {name}{_beyond(side)}")
        evidence[f"side{number}"] = name
        evidence[f"side{number}.records"] = records
        evidence[f"side{number}.leaderEpochs"] = _listed(epochs)
        evidence[f"side{number}.knownCommitted"] = count.known
        evidence[f"side{number}.possiblyCommitted"] = count.possible
        ends.append(end)
        known_sides += bool(count.known)
        at_risk += records
    is_legacy = not any(
        interval for side in sides for part in side.walk() for interval in part.intervals
    )
    below = min(audit.of(each).bounds.known for side in sides for each in side.replicas)
    code = LEGACY_DIVERGENCE if is_legacy and offset < below else FORKED
    yield finding(
        code,
        f"histories diverge at offset {offset:,}: {'; '.join(reported)}",
        offsets=(offset, max(ends)),
        evidence=evidence,
        records_at_risk=at_risk,
        committed="known" if known_sides else "possible",
    )
    if known_sides > 1:
        yield finding(
            COMMITTED_CONFLICT,
            f"both sides of the fork at offset {offset:,} hold committed records: every choice "
            "loses some",
            offsets=(offset, max(ends)),
            evidence=evidence,
            committed="known",
            caused_by=f"{code} at offset {offset}",
        )


def _beyond(side: Branch) -> str:
    """Which of the records of a side not all of its replicas have."""
    parts = [part for part in side.walk() if part.records and part.replicas != side.replicas]
    held = [
        f"{offsets_words(each.first_offset, each.next_offset)} on {joined_names(each.replicas)}"
        for each in parts
    ]
    return f" ({', '.join(held)} only)" if held else ""


def _listed(numbers: list[int]) -> str:
    return ", ".join(map(str, numbers))
