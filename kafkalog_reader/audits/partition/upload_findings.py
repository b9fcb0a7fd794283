"""Segments whose upload to remote storage (KIP-405) fails, because a producer snapshot is missing.

Source: Kafka 3.9, RemoteLogManager.copyLogSegment and candidateLogSegments, UnifiedLog
(remoteLogEnabledAndRemoteCopyEnabled), LogLoader.recoverSegment.
"""

from __future__ import annotations

import posixpath
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.catalogue.checkpoint_rules import UPLOAD_WITHOUT_SNAPSHOT
from kafkalog_reader.audits.integrity.checkpoint_findings import RECOVERY_POINTS
from kafkalog_reader.audits.integrity.finding import Finding, finding
from kafkalog_reader.errors import KafkaLogError, LocatedError
from kafkalog_reader.format.broker_words import joined_names
from kafkalog_reader.io.checkpoints import checkpointed_offsets, producer_snapshot_path
from kafkalog_reader.io.names import INTERNAL_TOPICS
from kafkalog_reader.io.partition_directory import (
    producer_snapshot_offsets,
    segments,
    snapshots_at_ends,
)
from kafkalog_reader.io.remote_log import log_of
from kafkalog_reader.io.remote_names import parse_remote_folder
from kafkalog_reader.io.remote_segments import remote_segments

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kafkalog_reader.audits.log.replica import Replica
    from kafkalog_reader.audits.partition.partition_audit import PartitionAudit
    from kafkalog_reader.io.directories import PartitionDirectory

_NOT_SUPPLIED: Final = ", unless remote storage, which was not supplied, has them already"
_NO_SNAPSHOTS: Final = "; no .snapshot file is in the folder at all: perhaps they were not copied"


def upload_findings(
    audit: PartitionAudit, remote: Sequence[PartitionDirectory]
) -> Iterator[Finding]:
    """Yield KL-321 for each copy that would not upload a segment if it led; low if another leads.

    Args:
        audit: the copies, and the settings of the topic.
        remote: folders of remote segments of a topic of this name.
    """
    if audit.misnamed or not _uploads(audit):
        return
    lacking = {each.files: [*_lacking(each.files, remote)] for each in audit.everyone}
    whole = [each for each, found in lacking.items() if not found and _is_whole(each)]
    leader = None if audit.membership is None else audit.membership.leader
    leads_whole = any(each.broker_id == leader for each in whole)
    for replica, found in lacking.items():
        if found:
            one = _finding(replica, found, whole, is_known=bool(_own(replica, remote)))
            yield replace(one, severity="L") if leads_whole else one


def _uploads(audit: PartitionAudit) -> bool:
    """Whether leaders upload segments of the topic, by the metadata log."""
    said: Mapping[str, str] = {}
    if audit.topics is not None and audit.topic not in INTERNAL_TOPICS:
        said = audit.topics.configs.get(audit.topic or "", {})
    policy = said.get("cleanup.policy")
    is_compacted = bool(audit.may_be_compacted) if policy is None else "compact" in policy
    return (
        said.get("remote.storage.enable") == "true"
        and said.get("remote.log.copy.disable") != "true"
        and not is_compacted
    )


def _lacking(replica: Replica, remote: Sequence[PartitionDirectory]) -> Iterator[tuple[int, int]]:
    """The base offset and the end of segments that still have to be uploaded, and cannot be."""
    try:
        ends = snapshots_at_ends(replica.directory)
        done = max(replica.log_start_offset, _uploaded_end(replica, _own(replica, remote)))
    except LocatedError:  # others report it
        return
    restored = _restored_from(replica, ends)
    for base, (end, has_snapshot) in ends.items():
        if not has_snapshot and end > done and (restored is None or end < restored):
            yield base, end


def _own(replica: Replica, remote: Sequence[PartitionDirectory]) -> list[PartitionDirectory]:
    """The remote parts that belong to a replica: those with its topic id."""
    names = ((part, parse_remote_folder(part.path)) for part in remote)
    return [part for part, name in names if name and name.topic_id == replica.topic_id]


def _uploaded_end(replica: Replica, remote: Sequence[PartitionDirectory]) -> int:
    """One past the last offset of the replica's lineage in remote storage; 0: nothing."""
    try:
        found = [each for part in remote for each in remote_segments(part)]
    except KafkaLogError:
        return 0
    found.sort(key=lambda each: each.files.base_offset)
    next_offsets = {each.files.path("log"): each.next_offset or 0 for each in found}
    pieces = log_of(found, replica.epoch_entries or ())
    return max(
        (
            next_offsets[each.path("log")] if each.to_offset is None else each.to_offset
            for each in pieces
        ),
        default=0,
    )


def _restored_from(replica: Replica, ends: Mapping[int, tuple[int, bool]]) -> int | None:
    """The first segment that the next start recovers, which writes its snapshot; None: none.

    A start recovers the segment of the recovery point and those above it, unless the broker shut
    down cleanly.
    """
    root, directory = replica.directory.log_directory, replica.directory
    if root.clean_shutdown is not False:
        return None
    try:
        rows = checkpointed_offsets(root, RECOVERY_POINTS)
    except LocatedError:
        return None
    point = rows.get((directory.topic or "", directory.partition or 0))
    if point is None:
        return None
    bases = [*ends, *(end for end, _ in ends.values())]
    return max((base for base in bases if base <= point), default=0)


def _is_whole(replica: Replica) -> bool:
    return replica.directory.only is None and bool(snapshots_at_ends(replica.directory))


def _finding(
    replica: Replica,
    lacking: Sequence[tuple[int, int]],
    whole: Sequence[Replica],
    *,
    is_known: bool,
) -> Finding:
    directory = replica.directory
    base, end = lacking[0]
    closed = snapshots_at_ends(directory)
    waiting = [s for s in segments(directory) if s.base_offset in closed and s.base_offset >= base]
    size = sum(each.log_size or 0 for each in waiting)
    file = replica.segment_file(waiting[0])
    are = "1 segment waits" if len(waiting) == 1 else f"{len(waiting):,} segments wait"
    has_any = bool(producer_snapshot_offsets(directory))
    message = (
        f"{file}: no producer snapshot at offset {end:,}, where the next segment begins: a leader "
        f"tries to upload it again for ever, and {are} for that, {size:,} bytes"
    )
    message += ("" if is_known else _NOT_SUPPLIED) + ("" if has_any else _NO_SNAPSHOTS)
    if whole:
        message += f"; {joined_names(whole)} {'lacks' if len(whole) == 1 else 'lack'} no snapshot"
    return finding(
        UPLOAD_WITHOUT_SNAPSHOT,
        message,
        confidence="proven" if is_known and has_any else "possible",
        directory=directory,
        file=replica.file(posixpath.basename(producer_snapshot_path("", end))),
        offsets=(base, max(end for end, _ in closed.values())),
        evidence={
            "segmentsWaiting": len(waiting),
            "bytesWaiting": size,
            "segmentsWithoutSnapshot": len(lacking),
        },
    )
