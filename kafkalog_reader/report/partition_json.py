"""A partition as one JSON object: the whole audit, under stable names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kafkalog_reader.audits.catalogue.rule import SEVERITIES
from kafkalog_reader.audits.comparison.compared_replicas import NotCompared
from kafkalog_reader.audits.partition.group_outcomes import groups_affected
from kafkalog_reader.audits.partition.torn_records import torn_records
from kafkalog_reader.audits.tables.elections import standing_columns
from kafkalog_reader.audits.tables.findings import finding_row
from kafkalog_reader.audits.tables.group_elections import group_columns
from kafkalog_reader.audits.tables.partitions import partition_row
from kafkalog_reader.errors import LocatedError
from kafkalog_reader.io.names import shown
from kafkalog_reader.report.advice_text import not_known
from kafkalog_reader.report.advised_actions import actions_of
from kafkalog_reader.tables.identity import identity_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kafkalog_reader.audits.comparison.committed import CommitCount
    from kafkalog_reader.audits.election.candidate import Candidate
    from kafkalog_reader.audits.election.candidates import Election
    from kafkalog_reader.audits.election.election_loss import LostRange
    from kafkalog_reader.audits.election.membership import PartitionMembership
    from kafkalog_reader.audits.integrity.finding import Finding
    from kafkalog_reader.audits.log.leader_epoch_cache import LeaderEpochCache
    from kafkalog_reader.audits.log.replica import Replica
    from kafkalog_reader.audits.partition.partition_audit import PartitionAudit
    from kafkalog_reader.audits.partition.replica_audit import ReplicaAudit
    from kafkalog_reader.audits.recovery.recovery import Recovery

SCHEMA_VERSION: Final = 1
"""Incremented when a name is removed or changes its meaning, but not for new names."""


def partition_object(audit: PartitionAudit, found: Sequence[Finding]) -> dict[str, Any]:
    """The object; names are those of the tables, offsets half-open."""
    row = partition_row(audit)
    del row["lastStableOffset"]  # requires reading the log again, which only the table does
    return {
        "schemaVersion": SCHEMA_VERSION,
        **row,
        "replicas": [
            *(_replica(audit, replica) for replica in audit.replicas),
            *(
                _replica(alone, alone.replicas[0]) | {"setAside": alone.reason}
                for alone in audit.set_aside
            ),
        ],
        "comparedVerdict": None if audit.compared_verdict is None else audit.compared_verdict.value,
        "reason": audit.reason or None,
        "quick": audit.compared_from is not None,
        "comparedFrom": audit.compared_from,
        "rules": [rule.value for rule in audit.rules],
        "membership": _membership(audit.membership),
        "notKnown": list(not_known(audit)),
        "ranges": _ranges(audit),
        "differences": _differences(audit),
        "lostAtStart": _lost_at_start(audit),
        "mergedLog": _merged_log(audit),
        "elections": [_election(audit, election) for election in audit.elections],
        "actions": [
            {
                "action": action.code,
                "text": action.text,
                "commands": list(action.commands),
                "findings": list(action.codes),
            }
            for action in actions_of(audit, found, severities=SEVERITIES)
        ],
        "findings": [finding_row(audit, each) for each in found],
    }


def _replica(audit: PartitionAudit, replica: ReplicaAudit) -> dict[str, Any]:
    files, history = replica.files, replica.history
    bounds = None if isinstance(audit.comparison, NotCompared) else replica.bounds
    return {
        **identity_of(replica.directory),
        "name": replica.name,
        "topicId": files.topic_id,
        "cleanShutdown": replica.directory.log_directory.clean_shutdown,
        "logStartOffset": history.log_start_offset,
        "logEndOffset": history.log_end_offset,
        "checkpointedHighWatermark": files.checkpointed_high_watermark,
        "highWatermarkLow": history.high_watermark_low if bounds is None else bounds.known,
        "highWatermarkHigh": None if bounds is None else bounds.possible,
        "supersededAt": None if bounds is None else bounds.superseded,
        "lastLeaderEpoch": history.last_leader_epoch,
        "leaderEpochs": [
            {
                "leaderEpoch": interval.leader_epoch,
                "firstOffset": interval.first_offset,
                "nextOffset": interval.next_offset,
            }
            for interval in history.lineage.intervals
        ],
        "leaderEpochCheckpoint": [
            {"leaderEpoch": entry.leader_epoch, "startOffset": entry.start_offset}
            for entry in files.epoch_entries or ()
        ],
        "batches": replica.summary.batches,
        "sizeInBytes": replica.files.size_in_bytes,
        "start": _start(replica.start),
        "setAside": None,
    }


def _start(recovery: Recovery | LocatedError | None) -> dict[str, Any] | None:
    """What the next start does; None if it was not predicted."""
    if recovery is None:
        return None
    if isinstance(recovery, LocatedError):
        return {"outcome": None, "reason": str(recovery)}
    log = None if recovery.loaded is None else recovery.loaded.log
    return {
        "outcome": recovery.outcome.value,
        "reason": recovery.reason or None,
        "logStartOffset": None if log is None else log.log_start_offset,
        "logEndOffsetAfterStart": recovery.log_end_offset_after_start,
        "recordsCut": recovery.records_cut,
        "maxCutInDamagedBatches": recovery.max_cut_in_damaged_batches,
        "maxCutInTornBatch": recovery.max_cut_in_torn_batch,
        "bytesCut": recovery.bytes_cut,
        "leaderEpochCheckpoint": None if log is None else _entries(log.cache),
    }


def _entries(cache: LeaderEpochCache) -> list[dict[str, int]]:
    return [
        {"leaderEpoch": entry.leader_epoch, "startOffset": entry.start_offset}
        for entry in cache.entries
    ]


def _membership(membership: PartitionMembership | None) -> dict[str, Any] | None:
    if membership is None:
        return None
    return {
        "leader": membership.leader,
        "leaderEpoch": membership.leader_epoch,
        "partitionEpoch": membership.partition_epoch,
        "replicas": list(membership.replicas),
        "isr": list(membership.isr),
        "elr": list(membership.elr),
        "lastKnownElr": list(membership.last_known_elr),
        "topicId": membership.topic_id,
        "source": shown(membership.source),
        "sourceOffset": membership.source_offset,
    }


def _names(replicas: Sequence[Replica | Candidate]) -> list[str]:
    return [replica.name for replica in replicas]


def _ranges(audit: PartitionAudit) -> list[dict[str, Any]]:
    if isinstance(audit.comparison, NotCompared):
        return []
    return [
        {
            "replicas": _names(branch.replicas),
            "firstOffset": branch.first_offset,
            "nextOffset": branch.next_offset,
            "leaderEpochs": sorted({interval.leader_epoch for interval in branch.intervals}),
            "batches": branch.batches,
            "records": branch.records,
            "controlRecords": branch.control_records,
            "sizeInBytes": branch.size_in_bytes,
            "isFork": branch.is_fork,
        }
        for branch in audit.comparison.branches()
        if branch.batches
    ]


def _differences(audit: PartitionAudit) -> list[dict[str, Any]]:
    if isinstance(audit.comparison, NotCompared):
        return []
    return [
        {
            "kind": difference.kind.value,
            "firstOffset": difference.first_offset,
            "nextOffset": difference.next_offset,
            "batches": difference.batches,
            "records": difference.records,
            "copies": [_names(side) for side in difference.contents],
            "absentOn": _names(difference.absent),
            "damagedOn": _names(difference.damaged),
        }
        for difference in audit.comparison.differences
    ]


def _lost_at_start(audit: PartitionAudit) -> dict[str, Any] | None:
    """The whole records of a torn batch that starts cut, whoever leads."""
    torn = torn_records(audit)
    if torn is None:
        return None
    return {
        "replicas": [each.name for each in torn.holders],
        "firstOffset": torn.first_offset,
        "nextOffset": torn.next_offset,
        **lost_object(torn.records),
    }


def _merged_log(audit: PartitionAudit) -> dict[str, Any] | None:
    """What one log of all copies would hold, where that is more than any of them keeps."""
    if audit.merge is None:
        return None
    return {
        "readableOffsets": audit.merge.readable_offsets,
        "gainedOffsets": audit.merge.gained_offsets,
        "correctedBatches": audit.merge.corrected_batches,
        "lostRanges": [
            {"firstOffset": first, "nextOffset": following} for first, following in audit.merge.lost
        ],
    }


def _election(audit: PartitionAudit, election: Election) -> dict[str, Any]:
    return {
        "rank": election.rank,
        "candidate": election.candidate.name,
        "candidateBrokerId": election.candidate.broker_id,
        "electionKind": election.kind.value,
        "cleanByMembership": election.clean_by_membership,
        **standing_columns(audit.membership, election.candidate.broker_id),
        "groups": [group_columns(outcome) for outcome in groups_affected(audit, election)],
        "leaderEpoch": election.leader_epoch,
        "absentFollowers": _names(election.absent),
        **lost_object(election.lost),
        "keptApartRecords": election.kept_apart.total,
        "keptApartCommittedRecords": election.kept_apart.known,
        "keptApartPossiblyCommittedRecords": election.kept_apart.possible,
        "cutTransactions": list(election.candidate.cut_transactions),
        "lostRanges": [_lost_range(each) for each in election.lost_ranges],
        "keptApartRanges": [_lost_range(each) for each in election.apart_ranges],
        "followers": [
            {
                "follower": outcome.follower.name,
                "followerBrokerId": outcome.follower.broker_id,
                "followerLogEndOffset": outcome.log_end_offset,
                "truncationOffset": outcome.truncation_offset,
                "keptUntil": outcome.kept_until,
                "recordsCutAtStart": outcome.follower.records_cut_at_start,
                "rule": outcome.rule.value,
                "otherRules": [
                    {"rule": rule.value, "truncationOffset": offset}
                    for rule, offset in outcome.otherwise
                ],
                "rounds": len(outcome.following.rounds),
                "explained": [
                    {
                        "asked": each.asked,
                        "answer": None
                        if each.answer is None
                        else {
                            "leaderEpoch": each.answer.leader_epoch,
                            "nextOffset": each.answer.next_offset,
                        },
                        "truncatedTo": each.truncated_to,
                        "followerCache": _entries(each.cache_before),
                    }
                    for each in outcome.following.rounds
                ],
                "outcome": outcome.following.outcome.value,
                "recordsCut": outcome.records_cut,
                "silentDivergence": outcome.silent_divergence,
                "needlessTruncation": outcome.is_needless,
            }
            for outcome in election.followers
        ],
    }


def _lost_range(lost: LostRange) -> dict[str, Any]:
    return {
        "replicas": _names(lost.replicas),
        "firstOffset": lost.first_offset,
        "nextOffset": lost.next_offset,
        **lost_object(lost.records),
    }


def lost_object(count: CommitCount) -> dict[str, int]:
    """Lost records, by how certain it is that they were committed."""
    return {
        "lostRecords": count.total,
        "lostCommittedRecords": count.known,
        "lostPossiblyCommittedRecords": count.possible,
        "lostCommittedOnlyIfUnclean": count.only_if_unclean,
        "lostUncommittedRecords": count.uncommitted,
        "maxLostInDamagedBatches": count.damaged,
        "maxLostCommittedInDamagedBatches": count.damaged_known,
        "maxLostPossiblyCommittedInDamagedBatches": count.damaged_possible,
    }
