"""Shows every round of every election: the follower's request, the leader's answer, both caches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkalog_reader.audits.election.follow import elected
from kafkalog_reader.report.spans import Line, Span, Style, wrapped

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kafkalog_reader.audits.election.follower_outcome import FollowerOutcome
    from kafkalog_reader.audits.log.leader_epoch_cache import LeaderEpochCache
    from kafkalog_reader.audits.partition.partition_audit import PartitionAudit


def explain_lines(audit: PartitionAudit, columns: int) -> Iterator[Line]:
    """The lines of ``--explain``, best candidate first."""
    for replica in audit.replicas:
        reason = getattr(replica.start, "reason", "")
        if reason:
            yield ()
            yield from wrapped(f"start of {replica.name}: {reason}", columns, indent=2)
    for election in audit.elections:
        yield ()
        leader = election.candidate.log
        assert leader is not None
        cache = elected(leader, election.leader_epoch).cache
        name = election.candidate.name
        yield (
            Span("  "),
            Span(f"{name} leads", Style.STRONG),
            Span(
                f" with leader epoch {election.leader_epoch} from offset "
                f"{leader.log_end_offset:,}; its epochs {cache_text(cache)}"
            ),
        )
        for outcome in election.followers:
            yield from _following(outcome, cache, columns)
        for absent in election.absent:
            yield (Span(f"    {absent.name} does not come up"),)


def cache_text(cache: LeaderEpochCache) -> str:
    """Leader epochs with their start offsets, such as ``0:0 2:2``; or ``(none)``."""
    entries = (f"{entry.leader_epoch}:{entry.start_offset}" for entry in cache.entries)
    return " ".join(entries) or "(none)"


def _following(
    outcome: FollowerOutcome,
    leaders: LeaderEpochCache,
    columns: int,
) -> Iterator[Line]:
    follower = outcome.follower.log
    assert follower is not None
    name = outcome.follower.name
    yield from wrapped(
        f"{name} follows: log end {outcome.log_end_offset:,}, epochs {cache_text(follower.cache)}, "
        f"rule {outcome.rule.value}",
        columns,
        indent=4,
    )
    for number, each in enumerate(outcome.following.rounds, 1):
        answer = "undefined"
        if each.answer is not None:
            answer = f"epoch {each.answer.leader_epoch} ends at {each.answer.next_offset:,}"
        yield from wrapped(
            f"round {number}: asks for epoch {each.asked}; {answer}; truncates to "
            f"{each.truncated_to:,} [follower {cache_text(each.cache_before)} | leader "
            f"{cache_text(leaders)}]",
            columns,
            indent=6,
        )
    end = outcome.following
    yield from wrapped(
        f"{end.outcome.value}: truncation offset {end.truncation_offset:,}, epochs "
        f"{cache_text(end.follower.cache)}",
        columns,
        indent=6,
    )
    for rule, offset in outcome.otherwise:
        yield from wrapped(
            f"by the rule {rule.value} it would truncate to {offset:,}", columns, indent=6
        )
