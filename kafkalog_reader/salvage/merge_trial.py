"""Tries whether merging helps a damaged partition, before anybody is advised to do it."""

from __future__ import annotations

import logging
import math
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.catalogue.actions import RESTORE_OLD_SEGMENTS
from kafkalog_reader.audits.comparison.compared_replicas import NotCompared
from kafkalog_reader.audits.comparison.verdict import Verdict
from kafkalog_reader.audits.election.candidates import ElectionKind
from kafkalog_reader.audits.partition.lost_start import lacking_starts
from kafkalog_reader.audits.recovery.outcome import StartOutcome
from kafkalog_reader.audits.recovery.recovery import Recovery
from kafkalog_reader.errors import KafkaLogError
from kafkalog_reader.io.checkpoints import is_without_topic_ids
from kafkalog_reader.salvage.merge import try_merge
from kafkalog_reader.scan.damage import Mode
from kafkalog_reader.tables.request import ReadRequest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kafkalog_reader.audits.integrity.finding import Finding
    from kafkalog_reader.audits.partition.merge_outcome import MergeOutcome
    from kafkalog_reader.audits.partition.partition_audit import PartitionAudit
    from kafkalog_reader.audits.partition.replica_audit import ReplicaAudit

logger = logging.getLogger(__name__)

MAX_BATCHES: Final = 4_000_000
"""Batches of all copies that are tried, about 220 bytes of memory each. No merge is advised for
more."""
MAX_BYTES: Final = 64 << 30
"""Bytes of all copies that are tried: they are read twice more."""
_DAMAGED: Final = (Verdict.DAMAGED_RECOVERABLE, Verdict.DAMAGED_UNRECOVERABLE)


def with_merge_outcome(audit: PartitionAudit, found: Iterable[Finding] = ()) -> PartitionAudit:
    """The audit with what a merge would give, if the best leader lacks records or has damage.

    A merge that ``kafkalog salvage`` would refuse gives nothing. Where a finding has the old
    segments of a damaged new one, they come first.
    """
    if not _needs_merging(audit):
        return audit
    if any(each.repairs and each.actions[0] == RESTORE_OLD_SEGMENTS for each in found):
        return audit
    outcome = _tried(audit)
    if outcome is None:
        return audit
    if outcome.gained_offsets > 0 or _frees_of_damage(audit, outcome):
        return replace(audit, merge=outcome)
    return audit


def _tried(audit: PartitionAudit) -> MergeOutcome | None:
    """The outcome for the most copies that salvage merges; None if it merges none."""
    request = ReadRequest(mode=Mode.PERMISSIVE, log_range_only=True)
    name = f"{audit.topic}-{audit.partition}"
    for copies in _candidates(audit):
        directories = [each.directory for each in copies]
        try:
            outcome = try_merge(name, directories, request)
        except KafkaLogError as error:
            logger.info("%s: no merge of %d copies: %s", name, len(copies), error)
        else:
            paths = {each.path for each in directories}
            others = (each.directory.path for each in audit.everyone)
            return replace(outcome, left_out=tuple(each for each in others if each not in paths))
    return None


def _candidates(audit: PartitionAudit) -> Iterator[Sequence[ReplicaAudit]]:
    """All copies; then, of a compacted log that nowhere forks, without those that end first.

    Compaction goes further on one copy than on another. Where damage hides that, salvage refuses to
    merge them, and a copy that the others reach adds nothing.
    """
    yield audit.everyone
    comparison = audit.comparison
    if isinstance(comparison, NotCompared) or not audit.may_be_compacted or audit.set_aside:
        return
    if comparison.has_content_fork or comparison.has_conflict:
        return
    rest = sorted(audit.replicas, key=lambda each: each.log_end)
    while len(rest) > 1 and rest[0].log_end < rest[-1].log_end:
        rest = rest[1:]
        yield rest


def _frees_of_damage(audit: PartitionAudit, outcome: MergeOutcome) -> bool:
    """Whether a merged log keeps what no start keeps: readable records after damage."""
    if not outcome.readable_offsets:
        return False
    if not audit.is_only_replica:
        return all(_kept_by_start(each) < outcome.readable_offsets for each in audit.everyone)
    (replica,) = audit.everyone
    start = replica.start
    if not isinstance(start, Recovery) or start.outcome is not StartOutcome.CUT:
        return True
    return start.records_cut > 0 or outcome.corrected_batches > 0


def _kept_by_start(replica: ReplicaAudit) -> float:
    """The maximum number of offsets in the log after the next start; infinity if unknown."""
    start = replica.start
    if not isinstance(start, Recovery) or start.log_end_offset_after_start is None:
        return math.inf
    return max(0, start.log_end_offset_after_start - replica.log_start)


def _is_divided(audit: PartitionAudit) -> bool:
    """Whether one copy lost its beginning, and the others lack what is or may be committed."""
    return any(lacking_starts(audit)) and audit.elections[0].kind is not ElectionKind.CLEAN


def _needs_merging(audit: PartitionAudit) -> bool:
    if not (audit.verdict in _DAMAGED or _is_divided(audit)):
        return False
    if audit.is_metadata or audit.compared_from is not None:
        return False
    if all(each.files.topic_id is None for each in audit.everyone) and not all(
        is_without_topic_ids(each.directory) for each in audit.everyone
    ):
        return False  # salvage needs an id for the log that it writes
    if sum(each.files.size_in_bytes for each in audit.everyone) > MAX_BYTES:
        return False
    if sum(each.summary.batches for each in audit.everyone) > MAX_BATCHES:
        return False
    if audit.unseen is not None:
        return False  # their copies come first: they may be intact
    if audit.loses_whoever_leads or audit.verdict is Verdict.DAMAGED_UNRECOVERABLE:
        return True
    best = audit.elections[0]  # what it lacks may be in a copy with a gap, or with other damage
    return bool(best.lacking or best.candidate.damaged)
