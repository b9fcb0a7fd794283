"""Findings about simulated elections: who loses least, and which differences remain."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.catalogue.actions import COMPARE_REPLICAS
from kafkalog_reader.audits.catalogue.catalogue import CATALOGUE
from kafkalog_reader.audits.catalogue.election_rules import (
    CLEAN_LEADER_AVAILABLE,
    EVERY_LEADER_LOSES_COMMITTED,
    LEAST_LOSS_LEADER,
)
from kafkalog_reader.audits.catalogue.replica_rules import (
    NEEDLESS_TRUNCATION,
    TRUNCATION_LEAVES_DIVERGENCE,
)
from kafkalog_reader.audits.catalogue.transaction_rules import (
    TRUNCATION_CUTS_TRANSACTION,
)
from kafkalog_reader.audits.comparison.compared_replicas import Comparison
from kafkalog_reader.audits.comparison.difference import DifferenceKind
from kafkalog_reader.audits.comparison.verdict import Verdict
from kafkalog_reader.audits.election.candidates import ElectionKind
from kafkalog_reader.audits.integrity.finding import Finding, finding
from kafkalog_reader.audits.log.record_count import records_text
from kafkalog_reader.audits.partition.lost_start import lacking_starts
from kafkalog_reader.audits.recovery.recovery import Recovery
from kafkalog_reader.format.broker_words import joined_ids, joined_names

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kafkalog_reader.audits.election.candidates import Election
    from kafkalog_reader.audits.election.follower_outcome import FollowerOutcome
    from kafkalog_reader.audits.partition.partition_audit import PartitionAudit


_REPORTED: Final = frozenset(
    {DifferenceKind.CONFLICT, DifferenceKind.MISSING, DifferenceKind.UNCOVERED}
)
"""Differences that have findings of their own."""


def election_findings(audit: PartitionAudit) -> Iterator[Finding]:
    """Yield what the elections of a partition show; nothing if none could be simulated."""
    if not audit.elections:
        return
    for election in _in_order(audit):
        yield from _transactions(audit, election)
        for outcome in election.followers:
            yield from _following(audit, election, outcome)
    if audit.verdict is not Verdict.CONSISTENT:
        yield from _ranking(audit)


def _in_order(audit: PartitionAudit) -> list[Election]:
    """The elections in the order of the replicas."""
    return sorted(audit.elections, key=lambda each: audit.candidates.index(each.candidate))


def _transactions(audit: PartitionAudit, election: Election) -> Iterator[Finding]:
    """A leader whose log ends between the first record and the marker of a transaction."""
    leader = election.candidate
    cut = leader.cut_transactions
    if not cut or leader.log is None:
        return
    # only an unclean election elects it; or its log goes on, and with it the transaction
    is_harmless = leader.is_member is False or audit.of(leader.replica).ran_while_copied
    what = "transaction loses its marker" if len(cut) == 1 else "transactions lose their markers"
    yield finding(
        TRUNCATION_CUTS_TRANSACTION,
        f"with {leader.name} leading, {len(cut):,} {what}: read_committed consumers stop at offset "
        f"{cut[0]:,}",
        severity="M" if is_harmless else None,
        directory=leader.replica.directory,
        offsets=(cut[0], leader.log.log_end_offset),
        evidence={"leader": leader.name, "transactions": len(cut), "lastStableOffset": cut[0]},
    )


def _following(
    audit: PartitionAudit, election: Election, outcome: FollowerOutcome
) -> Iterator[Finding]:
    leader, follower = election.candidate, outcome.follower
    offset = outcome.silent_divergence
    if offset is not None and not _is_reported(audit, offset):
        yield finding(
            TRUNCATION_LEAVES_DIVERGENCE,
            f"with {leader.name} leading, {follower.name} keeps other content from offset "
            f"{offset:,} on, and no broker will notice",
            directory=follower.replica.directory,
            offsets=(offset, outcome.kept_until),
            evidence=_evidence(election, outcome),
        )
    if outcome.is_needless:
        yield finding(
            NEEDLESS_TRUNCATION,
            f"with {leader.name} leading, {follower.name} removes records from offset "
            f"{outcome.truncation_offset:,} on that the leader has, too, and fetches them again",
            directory=follower.replica.directory,
            offsets=(outcome.kept_until, outcome.log_end_offset),
            evidence=_evidence(election, outcome),
        )


def _is_reported(audit: PartitionAudit, offset: int) -> bool:
    """Whether the difference there is a conflict or missing range that has its own finding."""
    assert isinstance(audit.comparison, Comparison)
    return not any(
        fork.children[0].first_offset == offset for fork in audit.comparison.forks
    ) and any(
        difference.first_offset == offset
        for difference in audit.comparison.differences
        if difference.kind in _REPORTED
    )


def _evidence(election: Election, outcome: FollowerOutcome) -> dict[str, object]:
    return {
        "leader": election.candidate.name,
        "follower": outcome.follower.name,
        "truncationOffset": outcome.truncation_offset,
        "rounds": len(outcome.following.rounds),
        "rule": outcome.rule.value,
    }


def _ranking(audit: PartitionAudit) -> Iterator[Finding]:
    best = audit.elections[0]
    name = best.candidate.name
    confidence = "possible" if audit.set_aside else "proven"
    alike = [e.candidate for e in audit.elections if e.lacking == best.lacking]
    who = f"{name} loses" if len(alike) == 1 else f"{joined_names(alike)} lose"
    how = "least" if len(alike) < len(audit.elections) else "the same, whoever leads"
    less = [e.candidate for e in audit.elections if e.lacking.total < best.lacking.total]
    if less:
        how = "least of what was committed, without an unclean election"
    lost = "no record"
    if best.lacking.total:
        lost = f"{records_text(best.lacking.total)}, {best.lacking.known:,} known committed"
    yield finding(
        LEAST_LOSS_LEADER,
        f"{who} {how}: {lost}",
        confidence=confidence,
        directory=best.candidate.replica.directory,
        evidence={
            f"rank{election.rank}": f"{election.candidate.name}: "
            f"{election.kind.value}, {election.lacking.total} lost"
            for election in audit.elections
        },
    )
    clean = [e for e in audit.elections if e.kind is ElectionKind.CLEAN]
    unseen = "" if audit.unseen is None else joined_ids(audit.unseen.brokers)
    if clean:
        bound = f"; only supplied copies are counted, and {unseen} may hold more" if unseen else ""
        yield finding(
            CLEAN_LEADER_AVAILABLE,
            f"{joined_names(election.candidate for election in clean)} can lead without losing "
            f"a record that is or may be committed{bound}",
            confidence="possible" if unseen else confidence,
        )
    elif not any(
        isinstance(e.start, Recovery) and e.start.is_down_by_others for e in audit.replicas
    ):
        # otherwise what stops them has findings, and nothing is lost once they come up
        who, bound = "whoever leads", ""
        if unseen:
            who, bound = "whichever supplied copy leads", f"; {unseen} may hold them"
        may_merge = not unseen and (
            audit.relation is Verdict.DAMAGED_RECOVERABLE or any(lacking_starts(audit))
        )
        if may_merge:
            who, bound = (
                f"with the copies as they are, {who}",
                "; a log merged of them may have all",
            )
        yield finding(
            EVERY_LEADER_LOSES_COMMITTED,
            f"{who}, records are lost that are or may be committed{bound}",
            actions=(COMPARE_REPLICAS, *CATALOGUE[EVERY_LEADER_LOSES_COMMITTED].actions)
            if may_merge
            else None,
            records_at_risk=best.lacking.total,
            committed=best.lacking.state,
        )
