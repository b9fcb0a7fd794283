"""The first segments of a log from which retention deletes nothing: only a loss removes them.

Elsewhere an index below the first log is what a crash leaves while retention deletes segments.
Source: Kafka 4.4, UnifiedLog.deleteOldSegments, maybeIncrementLogStartOffset: without a limit of
time and size only DeleteRecords moves the log start, which is checkpointed then; without ``delete``
in cleanup.policy (Partition.deleteRecordsOnLeader) nothing does, except a leader's later start.
"""

from __future__ import annotations

import posixpath
from dataclasses import replace
from typing import TYPE_CHECKING

from kafkalog_reader.audits.catalogue.actions import LOOK_FOR_A_COPY
from kafkalog_reader.audits.catalogue.index_rules import ORPHAN_INDEX
from kafkalog_reader.audits.catalogue.input_rules import HOSTILE_NAME
from kafkalog_reader.audits.catalogue.log_rules import SEGMENT_MISSING
from kafkalog_reader.audits.integrity.finding import finding
from kafkalog_reader.errors import LocatedError
from kafkalog_reader.format.broker_words import joined_names
from kafkalog_reader.format.offset_words import offsets_are
from kafkalog_reader.io.checkpoints import checkpointed_offsets
from kafkalog_reader.io.names import LOG_START_CHECKPOINT, parse_segment_file_name
from kafkalog_reader.io.partition_directory import readable_segments
from kafkalog_reader.tables.lost_start import ALWAYS_COMPACTED, ONLY_CLEANED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from kafkalog_reader.audits.integrity.finding import Finding
    from kafkalog_reader.audits.log.replica import Replica
    from kafkalog_reader.audits.partition.partition_audit import PartitionAudit
    from kafkalog_reader.audits.partition.replica_audit import ReplicaAudit
    from kafkalog_reader.io.directories import PartitionDirectory


def with_lost_starts(audit: PartitionAudit, found: Sequence[Finding]) -> Iterator[Finding]:
    """The findings; indexes below the first log of a topic that keeps all are a lost beginning.

    So is what another copy has there. The logs of groups and transactions begin at 0 in any case:
    their policy is never changed, as that of another topic may have been.
    """
    first = {each.files.directory: first_base(each.files) for each in audit.everyone}
    if not audit.kept_because:
        yield from _perhaps_lost(audit, found, first)
        return
    reported: set[PartitionDirectory] = set()
    for each in found:
        offsets = _before_first(each, first)
        if each.directory is None or offsets is None:
            yield each
        elif each.directory not in reported:  # the indexes come in order
            reported.add(each.directory)
            yield finding(
                SEGMENT_MISSING,
                f"{each.file}: its .log is missing, and nothing deletes segments of a topic that "
                f"{audit.kept_because}: {offsets_are(*offsets)} missing{_except_compacted(audit)}",
                directory=each.directory,
                file=each.file,
                offsets=offsets,
                lookalikes=(),
                evidence={"traces": posixpath.basename(each.file or "")},
            )
    for replica, others in lacking_starts(audit):
        if replica.directory not in reported:
            reported.add(replica.directory)
            start = min(other.log_start for other in others)
            yield finding(
                SEGMENT_MISSING,
                f"{replica.name}: its log begins at offset {replica.log_start:,}, and "
                f"{joined_names(others)} {'has' if len(others) == 1 else 'have'} earlier records "
                f"of a topic that {audit.kept_because}, from which retention deletes nothing",
                directory=replica.directory,
                offsets=(start, replica.log_start),
                confidence="likely",
                evidence={"logStartOffset": replica.log_start, "copies": joined_names(others)},
            )
    for replica in audit.everyone:
        if replica.directory not in reported:
            yield from _late_start(audit, replica, first.get(replica.directory))


def _late_start(
    audit: PartitionAudit, replica: ReplicaAudit, base: int | None
) -> Iterator[Finding]:
    """A log start above 0, if only the log cleaner can have removed what was below it.

    A follower adopts the log start of a leader that lost its first segment, and checkpoints it. So
    for a topic that was only ever compacted no checkpoint explains it.
    """
    start = replica.log_start
    if start and audit.topics is not None and audit.topics.was_only_compacted(replica.files):
        because = f"its log start is offset {start:,}, and {ONLY_CLEANED}"
    elif base and audit.topic in ALWAYS_COMPACTED and not _is_start_moved(replica, base):
        start = base
        because = (
            f"the first segment begins at offset {base:,}, and nothing deletes segments of "
            f"{audit.topic}, which is only compacted"
        )
    else:
        return
    yield finding(
        SEGMENT_MISSING,
        f"{replica.name}: {because}: {offsets_are(0, start)} missing, except what compaction had "
        f"removed{_still_there(replica, start)}",
        directory=replica.directory,
        offsets=(0, start),
        confidence="likely",
        lookalikes=(),
        evidence={"logStartOffset": start},
    )


def _still_there(replica: ReplicaAudit, start: int) -> str:
    """Which files hold records below a log start; a text to append."""
    left = [
        posixpath.basename(each.path("log"))
        for each in readable_segments(replica.directory, live_only=False)
        if each.log_size and each.base_offset < start
    ]
    if not left:
        return ""
    more = f" and {len(left) - 1:,} more" if len(left) > 1 else ""
    return f". {left[0]}{more} may still hold records of them: save the file before a start"


def _perhaps_lost(
    audit: PartitionAudit,
    found: Iterable[Finding],
    first: Mapping[PartitionDirectory, int | None],
) -> Iterator[Finding]:
    """The findings; an index below the first log is medium where no retention explains it.

    Retention renames the log and its indexes together, and raises the log start of every copy.
    Source: Kafka 4.4, LocalLog.deleteSegmentFiles.
    """
    for each in found:
        offsets = _before_first(each, first)
        if (
            offsets is None
            or each.directory is None
            or any(
                other.log_start >= offsets[1]
                for other in audit.everyone
                if other.directory != each.directory
            )
            or not _has_entries(each.directory, offsets[0])
        ):
            yield each
            continue
        yield replace(
            each,
            severity="M",
            message=f"{each.message}. Retention renames all files of a segment together: unless "
            f"they were copied while it ran, {offsets_are(*offsets)} lost here",
            first_offset=offsets[0],
            next_offset=offsets[1],
            confidence="possible",
            actions=(LOOK_FOR_A_COPY,),
        )


def _has_entries(directory: PartitionDirectory, base: int) -> bool:
    """Whether indexes of a segment have entries, and no file of it is being deleted."""
    own = [e for e in readable_segments(directory, live_only=False) if e.base_offset == base]
    return not any(each.suffix for each in own) and any(
        each.offset_index_size or each.time_index_size for each in own
    )


def _before_first(
    each: Finding, first: Mapping[PartitionDirectory, int | None]
) -> tuple[int, int] | None:
    """The offsets of an index without a log, up to the first log; None if it is none such."""
    segment = parse_segment_file_name(posixpath.basename(each.file or ""))
    if each.code != ORPHAN_INDEX or segment is None or each.directory is None:
        return None
    base = first.get(each.directory)
    if base is None or segment.base_offset >= base:
        return None
    return segment.base_offset, base


def with_lost_ends(audit: PartitionAudit, found: Iterable[Finding]) -> Iterator[Finding]:
    """The findings; an index without a log is high where no copy reaches its first offset.

    Not where a file that Kafka does not read may be the segment (KL-003).
    """
    found = list(found)
    if any(each.code == HOSTILE_NAME and each.severity == "H" for each in found):
        yield from found
        return
    end = max(each.log_end for each in audit.everyone)
    for each in found:
        segment = parse_segment_file_name(posixpath.basename(each.file or ""))
        if each.code != ORPHAN_INDEX or segment is None or segment.base_offset < end:
            yield each
            continue
        yield replace(
            each,
            severity="H",
            message=f"{each.message}; no supplied copy reaches that offset, and nothing shows how "
            "many records there were",
            actions=(LOOK_FOR_A_COPY,),
        )


def _except_compacted(audit: PartitionAudit) -> str:
    return ", except what compaction had removed" if audit.may_be_compacted else ""


def _is_start_moved(replica: ReplicaAudit, base: int) -> bool:
    """Whether log-start-offset-checkpoint explains where the log begins, or cannot be read."""
    directory = replica.directory
    place = directory.topic or "", directory.partition or 0
    try:
        rows = checkpointed_offsets(directory.log_directory, LOG_START_CHECKPOINT)
    except LocatedError:  # has its own finding
        return True
    return rows.get(place, 0) >= base


def lacking_starts(audit: PartitionAudit) -> Iterator[tuple[ReplicaAudit, list[ReplicaAudit]]]:
    """Copies that lost their beginning, and those that hold records there."""
    for replica in audit.replicas:
        if replica.candidate is None or not replica.candidate.is_start_lost:
            continue
        others = [
            other
            for other in audit.replicas
            if other.log_start < replica.log_start
            and other.candidate is not None
            and other.candidate.records(other.log_start, replica.log_start)
        ]
        if others:
            yield replica, others


def first_base(replica: Replica) -> int | None:
    """Where the first log begins; None if the log start was moved, as DeleteRecords does."""
    logs = [each.base_offset for each in readable_segments(replica.directory) if each.log_size]
    if not logs or replica.log_start_offset > logs[0]:
        return None
    return logs[0]
