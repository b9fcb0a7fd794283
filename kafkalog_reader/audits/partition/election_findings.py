"""Findings about elections held in thought: who loses least, and what following leaves behind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.catalogue.checkpoint_rules import (
    LOG_START_BEYOND_END,
)
from kafkalog_reader.audits.catalogue.election_rules import (
    CLEAN_LEADER_AVAILABLE,
    EVERY_LEADER_LOSES_COMMITTED,
    LEAST_LOSS_LEADER,
)
from kafkalog_reader.audits.catalogue.log_rules import (
    END_WILL_BE_MISREAD,
    START_WILL_CUT,
    START_WILL_EXPIRE,
    START_WILL_SET_ASIDE,
)
from kafkalog_reader.audits.catalogue.producer_rules import (
    TRUNCATION_CUTS_TRANSACTION,
)
from kafkalog_reader.audits.catalogue.replica_rules import (
    FOLLOWER_MAY_LOOP,
    NEEDLESS_TRUNCATION,
    TRUNCATION_LEAVES_DIVERGENCE,
)
from kafkalog_reader.audits.comparison.difference import DifferenceKind
from kafkalog_reader.audits.comparison.verdict import Verdict
from kafkalog_reader.audits.election.candidates import ElectionKind
from kafkalog_reader.audits.election.follow import Outcome as Ending
from kafkalog_reader.audits.integrity.finding import Finding, finding
from kafkalog_reader.audits.log.record_count import records_text
from kafkalog_reader.audits.recovery.outcome import Outcome
from kafkalog_reader.errors import LocatedError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kafkalog_reader.audits.election.candidates import Election
    from kafkalog_reader.audits.election.follower_outcome import FollowerOutcome
    from kafkalog_reader.audits.partition.partition_audit import PartitionAudit


_START_CODES: Final = {
    Outcome.CUT: START_WILL_CUT,
    Outcome.HIDDEN: END_WILL_BE_MISREAD,
    Outcome.EMPTIED: LOG_START_BEYOND_END,
    Outcome.STRAY: START_WILL_SET_ASIDE,
    Outcome.EXPIRED: START_WILL_EXPIRE,
}


def election_findings(audit: PartitionAudit) -> Iterator[Finding]:
    """Yield what the elections of a partition show; nothing where none could be held."""
    if not audit.checked and audit.compared_from is None:
        yield from _starts(audit)
    if not audit.elections:
        return
    for election in sorted(audit.elections, key=lambda each: each.candidate):
        yield from _transactions(audit, election)
        for outcome in election.followers:
            yield from _following(audit, election, outcome)
    if audit.verdict is not Verdict.CONSISTENT:
        yield from _ranking(audit)


def _starts(audit: PartitionAudit) -> Iterator[Finding]:
    """What the next starts take away; where files were checked, that is told with its cause."""
    for index, recovery in enumerate(audit.recoveries):
        replica, history = audit.replicas[index], audit.histories[index]
        is_given_whole = replica.directory.log_directory.clean_shutdown is not None
        if isinstance(recovery, LocatedError) or not is_given_whole:
            continue
        code = _START_CODES.get(recovery.outcome)
        if code is None or (recovery.outcome is Outcome.CUT and not recovery.records_cut):
            continue
        after = recovery.log_end_offset_after_start
        keeps_beginning = recovery.outcome in (Outcome.CUT, Outcome.HIDDEN)
        first = after if keeps_beginning else history.log_start_offset
        first = history.log_start_offset if first is None else first
        yield finding(
            code,
            f"{replica.name}: its next start: {recovery.outcome.value} ({recovery.reason})",
            severity="H" if _is_elsewhere(audit, index, first) else "C",
            directory=replica.directory,
            offsets=(first, max(first, history.log_end_offset)),
            records_at_risk=recovery.records_cut,
            bytes_at_risk=recovery.bytes_cut,
        )


def _is_elsewhere(audit: PartitionAudit, index: int, first_offset: int) -> bool:
    """Whether other replicas hold all that this one has from an offset on."""
    assert audit.comparison is not None
    return all(
        len(branch.members) > 1
        for branch in audit.comparison.branches()
        if index in branch.members and branch.batches and branch.next_offset > first_offset
    )


def _transactions(audit: PartitionAudit, election: Election) -> Iterator[Finding]:
    """A leader whose log ends between the first record and the marker of a transaction."""
    candidate, leader = audit.candidates[election.candidate], audit.replicas[election.candidate]
    cut = candidate.cut_transactions
    if not cut or candidate.log is None:
        return
    what = "transaction loses its marker" if len(cut) == 1 else "transactions lose their markers"
    yield finding(
        TRUNCATION_CUTS_TRANSACTION,
        f"with {leader.name} leading, {len(cut):,} {what}: read_committed consumers stop at offset "
        f"{cut[0]}",
        directory=leader.directory,
        offsets=(cut[0], candidate.log.log_end_offset),
        evidence={"leader": leader.name, "transactions": len(cut), "lastStableOffset": cut[0]},
    )


def _following(
    audit: PartitionAudit, election: Election, outcome: FollowerOutcome
) -> Iterator[Finding]:
    leader, follower = audit.replicas[election.candidate], audit.replicas[outcome.follower]
    offset = outcome.silent_divergence
    if offset is not None and not _is_told(audit, offset):
        yield finding(
            TRUNCATION_LEAVES_DIVERGENCE,
            f"with {leader.name} leading, {follower.name} keeps other content from offset "
            f"{offset} on, and no broker will notice",
            directory=follower.directory,
            offsets=(offset, outcome.kept_until),
            evidence=_evidence(audit, election, outcome),
        )
    if outcome.is_needless:
        yield finding(
            NEEDLESS_TRUNCATION,
            f"with {leader.name} leading, {follower.name} cuts to {outcome.truncation_offset} what "
            "the leader has too, and fetches it again",
            directory=follower.directory,
            offsets=(outcome.kept_until, outcome.log_end_offset),
            evidence=_evidence(audit, election, outcome),
        )
    if outcome.following.outcome is Ending.LOOPS:
        yield finding(
            FOLLOWER_MAY_LOOP,
            f"with {leader.name} leading, {follower.name} asks for a leader epoch newer than any "
            "that the leader knows, keeps its log and asks again",
            directory=follower.directory,
            evidence=_evidence(audit, election, outcome),
        )


def _is_told(audit: PartitionAudit, offset: int) -> bool:
    """Whether a conflict or a missing range there, told by itself, is what stays apart."""
    assert audit.comparison is not None
    return not any(
        fork.children[0].first_offset == offset for fork in audit.comparison.forks
    ) and any(
        difference.first_offset == offset
        for difference in audit.comparison.differences
        if difference.kind in (DifferenceKind.CONFLICT, DifferenceKind.MISSING)
    )


def _evidence(
    audit: PartitionAudit, election: Election, outcome: FollowerOutcome
) -> dict[str, object]:
    return {
        "leader": audit.replicas[election.candidate].name,
        "follower": audit.replicas[outcome.follower].name,
        "truncationOffset": outcome.truncation_offset,
        "rounds": len(outcome.following.rounds),
        "rule": outcome.rule.value,
    }


def _ranking(audit: PartitionAudit) -> Iterator[Finding]:
    best = audit.elections[0]
    name = audit.replicas[best.candidate].name
    confidence = "possible" if audit.set_aside else "proven"
    yield finding(
        LEAST_LOSS_LEADER,
        f"{name} loses least: {records_text(best.lost.total)}, {best.lost.known:,} known committed",
        confidence=confidence,
        directory=audit.replicas[best.candidate].directory,
        evidence={
            f"rank{election.rank}": f"{audit.replicas[election.candidate].name}: "
            f"{election.kind.value}, {election.lost.total} lost"
            for election in audit.elections
        },
    )
    clean = [e for e in audit.elections if e.kind is ElectionKind.CLEAN]
    if clean:
        yield finding(
            CLEAN_LEADER_AVAILABLE,
            f"{audit.names([election.candidate for election in clean])} can lead without losing "
            "a record that is or may be committed",
            confidence=confidence,
        )
    else:
        yield finding(
            EVERY_LEADER_LOSES_COMMITTED,
            "whoever leads, records are lost that are or may be committed",
            records_at_risk=best.lost.total,
            committed=best.lost.state,
        )
