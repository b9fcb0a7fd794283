"""The ``group_offsets`` table: where each group stands, as its coordinator would load it.

The commit with the greatest record offset is valid. One in a transaction counts if the transaction
was committed. Source: Kafka 4.4, OffsetMetadataManager.replay and replayEndTransactionMarker.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

import pyarrow as pa
import pyarrow.compute as pc

from kafkalog_reader.errors import (
    CorruptCheckpointError,
    CorruptRecordError,
    LogPosition,
    UnsupportedFormatError,
)
from kafkalog_reader.io.checkpoints import read_leader_epochs
from kafkalog_reader.io.names import OFFSETS_TOPIC, shown
from kafkalog_reader.io.progress import Progress, no_progress
from kafkalog_reader.scan.damage import Damage
from kafkalog_reader.tables.best_replica import best_replica
from kafkalog_reader.tables.commit_moment import CommitMoment
from kafkalog_reader.tables.commit_place import CommittedLog, Place
from kafkalog_reader.tables.current_topics import CurrentTopics
from kafkalog_reader.tables.directory_unit import DirectoryUnit
from kafkalog_reader.tables.group_commits import (
    GroupCommitsTable,
    commit_records,
    commits_in,
)
from kafkalog_reader.tables.internal_topic import plain_rows
from kafkalog_reader.tables.internal_topic_table import InternalTopicTable
from kafkalog_reader.tables.newest_commits import COMMIT_KEY, NewestCommits
from kafkalog_reader.tables.replicas import ReplicasTable
from kafkalog_reader.tables.request import ReadRequest
from kafkalog_reader.tables.rows import build_from_dicts
from kafkalog_reader.tables.schemas.groups import GROUP_OFFSETS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kafkalog_reader.io.directories import PartitionDirectory
    from kafkalog_reader.io.evidence import Evidence
    from kafkalog_reader.tables.internal_topic_table import InternalTopicUnit
    from kafkalog_reader.tables.log_unit import LogUnit
    from kafkalog_reader.tables.table import Column

_OF_COMMIT: Final = (
    "clusterId", "brokerId", *COMMIT_KEY, "topicId", "committedOffset", "committedLeaderEpoch",
    "metadata", "commitTime", "expireTime", "offsetsPartition", "recordOffset",
    "recordTimestamp", "producerId", "isTombstone", "transactionState", "problem",
)  # fmt: skip
_OF_LOG: Final = ("logStartOffset", "highWatermarkLow", "lastStableOffset", "logEndOffset")


class GroupOffsetsTable(InternalTopicTable):
    """One row for each group, topic and partition with a commit that was not removed."""

    name: ClassVar[str] = "group_offsets"
    doc: ClassVar[str] = (
        "one row per group and partition: committed offset, lag, whether it is valid"
    )
    columns: ClassVar[tuple[Column, ...]] = GROUP_OFFSETS
    log_topic: ClassVar[str] = OFFSETS_TOPIC

    def read(
        self, unit: InternalTopicUnit, request: ReadRequest, progress: Progress = no_progress
    ) -> Iterator[pa.RecordBatch]:
        """Yield one record batch with the groups of a partition.

        Raises:
            LocatedError: damage, in mode ``FAILFAST``.
            UnreadableFileError: a file cannot be opened or read.
        """
        schema = self.projected(request)
        current = current_commits(unit, request, progress)
        rows = plain_rows(current)
        if rows and not {"lag", "status", "safeOffset", *_OF_LOG}.isdisjoint(schema.names):
            _add_logs(rows, unit.evidence, request)
        yield build_from_dicts(schema, rows)


def current_commits(unit: LogUnit, request: ReadRequest, progress: Progress) -> pa.Table:
    """The valid commits as of ``request.as_of``, sorted by group, topic and partition.

    Raises:
        LocatedError: damage, in mode ``FAILFAST``.
        UnreadableFileError: a file cannot be opened or read.
    """
    moment = None
    if request.as_of is not None:
        moment = CommitMoment(request.as_of, unit, request, progress)
    asked = ReadRequest(
        columns=_OF_COMMIT,
        topics=request.topics,
        partitions=request.partitions,
        topic_pattern=request.topic_pattern,
        excluded_topics=request.excluded_topics,
        assigned=request.assigned,
        mode=request.mode,
        fail_on_data_loss=request.fail_on_data_loss,
        hidden=request.hidden,
    )
    schema = GroupCommitsTable().projected(asked)
    newest = NewestCommits(schema, asked)
    for records in commit_records(unit, schema, asked, progress):
        if moment is None:
            newest.add_records(records)
        else:
            newest.add(moment.counted(commits_in(records, schema, asked)))
    current = newest.commits()
    for offset, problem in newest.unreadable:
        where = LogPosition(shown(unit.slices[0].directory.path), offset=offset)
        request.damage.hides(CorruptRecordError(problem, where), offset + 1)
    current = current.filter(pc.invert(current["isTombstone"]))
    return current.sort_by([(name, "ascending") for name in COMMIT_KEY])


def _add_logs(rows: list[dict[str, Any]], evidence: Evidence, request: ReadRequest) -> None:
    """Add to each row what is known of the log of its partition."""
    partitions = frozenset((row["topic"], row["partition"]) for row in rows)
    asked = ReadRequest(assigned=partitions, mode=request.mode)
    topics = CurrentTopics(evidence=evidence)
    logs = {
        (cluster, topic, partition): _log(topics.copies(replicas), asked)
        for (cluster, topic, partition), replicas in evidence.topic_partitions(asked)
    }
    for row in rows:
        log = logs.get((row["clusterId"], row["topic"], row["partition"]))
        row |= log or {}
        row["status"], row["safeOffset"] = _status(row, log)
        if log is not None and row["logEndOffset"] is not None:
            row["lag"] = max(row["logEndOffset"] - row["committedOffset"], 0)


def _log(replicas: Sequence[PartitionDirectory], request: ReadRequest) -> dict[str, Any] | None:
    best = best_replica(replicas, Damage(request.mode))
    if best is None:
        return None
    replica_columns = ReadRequest(columns=("topicId", *_OF_LOG), mode=request.mode)
    unit = DirectoryUnit(size_in_bytes=0, directories=(best,))
    (rows,) = ReplicasTable().read(unit, replica_columns)
    row: dict[str, Any] = rows.to_pylist()[0]
    row["logTopicId"] = row.pop("topicId")
    if row["logEndOffset"] is not None:
        row["log"] = CommittedLog(
            log_start=row["logStartOffset"] or 0,
            log_end=row["logEndOffset"],
            epochs=_epochs(best),
        )
    return row


def _epochs(directory: PartitionDirectory) -> Sequence[tuple[int, int]]:
    """The rows of the epoch checkpoint; none if it is missing or cannot be read."""
    try:
        entries = read_leader_epochs(directory.path, context=directory.context)
    except (CorruptCheckpointError, UnsupportedFormatError):
        return ()
    return [(entry.leader_epoch, entry.start_offset) for entry in entries or ()]


def _status(row: dict[str, Any], log: dict[str, Any] | None) -> tuple[str, int | None]:
    """Whether a commit holds, and where its group can go on if it does not."""
    found: CommittedLog | None = None if log is None else log.get("log")
    if log is None or found is None:
        return "no-log", None
    if None not in (row["topicId"], log["logTopicId"]) and row["topicId"] != log["logTopicId"]:
        return "topic-recreated", None
    place = found.place_of(row["committedOffset"], row["committedLeaderEpoch"])
    if place is Place.OK:
        return place.value, None
    return place.value, found.safe_offset(row["committedOffset"], row["committedLeaderEpoch"])
