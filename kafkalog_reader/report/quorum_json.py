"""The quorum of a cluster as one JSON object, under stable names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kafkalog_reader.io.names import shown
from kafkalog_reader.report.quorum_step import node_name
from kafkalog_reader.report.quorum_steps import quorum_steps

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kafkalog_reader.audits.quorum.leading_logs import HeldTopic
    from kafkalog_reader.audits.quorum.lost_records import LostRange
    from kafkalog_reader.audits.quorum.metadata_copy import MetadataCopy
    from kafkalog_reader.audits.quorum.outcome import Outcome, QuorumAudit
    from kafkalog_reader.audits.quorum.quorum import Quorum

QUORUM_SCHEMA_VERSION: Final = 1
"""Incremented when a name is removed or changes its meaning, but not for new names."""


def quorum_object(audit: QuorumAudit) -> dict[str, Any]:
    """The object; offset ranges are half-open."""
    quorum = audit.quorum
    voters = quorum.voters
    missing = {each.node_id for each in quorum.missing}
    return {
        "schemaVersion": QUORUM_SCHEMA_VERSION,
        "clusterId": quorum.cluster_id,
        "verdict": audit.verdict.value,
        "majority": None if voters is None else voters.majority,
        "votersSource": None if voters is None else voters.source.value,
        "votersOffset": None if voters is None else voters.offset,
        "voters": [
            {
                "nodeId": each.node_id,
                "directoryId": each.directory_id,
                "endpoints": list(each.endpoints),
                "isSupplied": each.node_id not in missing,
            }
            for each in (() if voters is None else voters.voters)
        ],
        "committedBelow": None if audit.committed is None else audit.committed.low,
        "notCommittedFrom": None if audit.committed is None else audit.committed.high,
        "votersWithUnknownLog": quorum.unknown_votes,
        "lostEnd": quorum.rolled_back.lost_end or None,
        "copies": [_copy(quorum, each) for each in quorum.copies],
        "unread": [
            {"path": shown(each.directory.path), "problem": each.problem} for each in quorum.unread
        ],
        "partings": _partings(quorum),
        "cutTails": [
            {
                "nodeId": each.copy.node_id,
                "firstOffset": each.first_offset,
                "nextOffset": each.next_offset,
            }
            for each in audit.cut_tails
        ],
        "elections": [_outcome(each) for each in audit.outcomes],
        "startFirst": [each.node_id for each in audit.start_first],
        "neededButStop": [each.node_id for each in audit.needed_but_stop],
        "steps": [
            {"text": each.text, "commands": list(each.commands)} for each in quorum_steps(audit)
        ],
    }


def _copy(quorum: Quorum, copy: MetadataCopy) -> dict[str, Any]:
    state = copy.state
    return {
        "name": node_name(copy),
        "nodeId": copy.node_id,
        "directoryId": copy.directory_id,
        "path": shown(copy.directory.path),
        "isVoter": quorum.voter_of(copy) is not None,
        "refusal": copy.refusal or None,
        "isMissing": copy.is_missing,
        "namedAsLeaderBy": [each.node_id for each in quorum.naming_as_leader(copy)],
        "damage": copy.batches.damage or None,
        "snapshotProblem": copy.snapshot_problem or None,
        "loadsLess": bool(copy.lacks),
        "misplaced": copy.batches.misplaced or None,
        "mustNotLead": _topics(quorum.leading.younger, copy),
        "neverNamed": _topics(quorum.leading.contested, copy),
        "wentBack": quorum.rolled_back.nodes.get(copy.node_id),
        "logStartOffset": copy.batches.start or 0,
        "logEndOffset": copy.end.offset,
        "lastLeaderEpoch": copy.end.leader_epoch,
        "snapshotEndOffset": None if copy.snapshot is None else copy.snapshot[0],
        "snapshotLeaderEpoch": None if copy.snapshot is None else copy.snapshot[1],
        "kraftVersion": copy.kraft_version,
        "voters": None if copy.voters is None else list(copy.voters.node_ids),
        "quorumState": None if state is None else {
            "version": state.version,
            "leaderEpoch": state.leader_epoch,
            "leaderId": state.leader_id,
            "votedId": state.voted_id,
            "votedDirectoryId": state.voted_directory_id,
        },
    }  # fmt: skip


def _topics(
    found: Mapping[str, Sequence[HeldTopic]], copy: MetadataCopy
) -> list[dict[str, Any]] | None:
    topics = found.get(copy.directory.path)
    return (
        None
        if topics is None
        else [
            {"topic": each.topic, "topicId": each.topic_id, "brokers": list(each.brokers)}
            for each in topics
        ]
    )


def _partings(quorum: Quorum) -> list[dict[str, Any]]:
    return [
        {
            "copies": [node_name(one), node_name(other)],
            "offset": parting.offset,
            "isFork": parting.is_fork,
            "isConflict": parting.is_conflict,
            "isCompared": parting.is_compared,
        }
        for at, one in enumerate(quorum.copies)
        for other in quorum.copies[at + 1 :]
        for parting in (quorum.parting(one, other),)
    ]


def _outcome(outcome: Outcome) -> dict[str, Any]:
    return {
        "nodeId": outcome.copy.node_id,
        "canWin": outcome.can_win,
        "votes": [each.node_id for each in outcome.votes],
        "votesNeeded": outcome.votes_needed,
        "cut": [
            {
                "nodeId": copy.node_id,
                "logEndOffset": copy.end.offset,
                "truncationOffset": offset,
            }
            for copy, offset in outcome.cut
        ],
        "lost": [_lost(each) for each in outcome.lost],
    }


def _lost(lost: LostRange) -> dict[str, Any]:
    return {
        "firstOffset": lost.first_offset,
        "nextOffset": lost.next_offset,
        "commitment": lost.commitment.value,
        "copies": [node_name(each) for each in lost.holders],
        "types": [{"type": name, "records": count} for name, count in sorted(lost.records.items())],
        "changes": [{"offset": offset, "text": text} for offset, text in lost.changes],
    }
