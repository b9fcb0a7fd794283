"""The ``group_commits`` table: every offset commit that is still in ``__consumer_offsets``."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kafkalog_reader.decode.arrow_arrays import fixed_width
from kafkalog_reader.decode.commit_columns import commit_columns
from kafkalog_reader.io.names import OFFSETS_TOPIC
from kafkalog_reader.io.progress import Progress, no_progress
from kafkalog_reader.scan.expected_end import ExpectedEnds
from kafkalog_reader.tables.chosen_replicas import chosen_replicas
from kafkalog_reader.tables.internal_topic import log_request, record_schema, selects_all
from kafkalog_reader.tables.log_unit import LogUnit, log_units
from kafkalog_reader.tables.lost_start import with_starts_checked
from kafkalog_reader.tables.record_rows import read_slice
from kafkalog_reader.tables.rows import microseconds
from kafkalog_reader.tables.schemas.groups import GROUP_COMMITS
from kafkalog_reader.tables.table import Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kafkalog_reader.io.evidence import Evidence
    from kafkalog_reader.tables.request import ReadRequest
    from kafkalog_reader.tables.table import Column

NO_TIME: Final = -1
"""In ``expireTimestamp``: the retention of the group decides."""

_LEAST: Final = -(2**31)
"""Of an int32."""
_OF_RECORDS: Final = {
    "clusterId": "clusterId",
    "brokerId": "brokerId",
    "isTransactional": "isTransactional",
    "transactionState": "transactionState",
    "producerId": "producerId",
    "offsetsPartition": "partition",
    "recordOffset": "offset",
    "recordTimestamp": "timestamp",
}
"""Columns that the record has, by their names here."""


class GroupCommitsTable(Table[LogUnit]):
    """One row for each commit and each tombstone of a commit, in the order of the log."""

    name: ClassVar[str] = "group_commits"
    doc: ClassVar[str] = "one row per offset commit of a consumer group that is still on disk"
    columns: ClassVar[tuple[Column, ...]] = GROUP_COMMITS
    selects_directories: ClassVar[bool] = False

    def logs_shown(self, request: ReadRequest) -> Sequence[ReadRequest]:
        """All partitions of ``__consumer_offsets``."""
        return (log_request(request, OFFSETS_TOPIC),)

    def units(self, evidence: Evidence, request: ReadRequest) -> Iterator[LogUnit]:
        """Parts of the best copy of each partition of ``__consumer_offsets``."""
        log = log_request(request, OFFSETS_TOPIC)
        expected = ExpectedEnds()
        chosen = with_starts_checked(chosen_replicas(evidence, log, expected), evidence, log)
        return log_units(chosen, log, expected=expected)

    def read(
        self, unit: LogUnit, request: ReadRequest, progress: Progress = no_progress
    ) -> Iterator[pa.RecordBatch]:
        """Yield the commits of the selected topic partitions; see ``ReadRequest.mode`` for damage.

        Raises:
            LocatedError: damage, in mode ``FAILFAST``; the commits before it are yielded first.
            MissingRecordsError: records that other files prove are not there, in that mode.
            UnreadableFileError: a file cannot be opened or read.
        """
        schema = self.projected(request)
        for records in commit_records(unit, schema, request, progress):
            found = commits_in(records, schema, request)
            if found.num_rows:
                yield found


def commit_records(
    unit: LogUnit, schema: pa.Schema, request: ReadRequest, progress: Progress
) -> Iterator[pa.RecordBatch]:
    """Yield the records of a part of ``__consumer_offsets``, with what ``schema`` needs of them.

    Raises:
        LocatedError: damage, in mode ``FAILFAST``; the records before it are yielded first.
        UnreadableFileError: a file cannot be opened or read.
    """
    log = log_request(request, OFFSETS_TOPIC)
    names = {_OF_RECORDS[name] for name in schema.names if name in _OF_RECORDS}
    records = record_schema({*names, "key", "value"})
    for segment_slice in unit.slices:
        yield from read_slice(segment_slice, records, log, log.damage, progress)


def commits_in(rows: pa.RecordBatch, schema: pa.Schema, request: ReadRequest) -> pa.RecordBatch:
    """The offset commits of selected topic partitions among records, in their order."""
    commits = commit_columns(rows["key"], rows["value"])
    if not selects_all(request):
        commits = commits.filter(_selected(commits, request))
    which = _array(commits["row"])
    columns = []
    for field in schema:
        if field.name in _OF_RECORDS:
            column = rows[_OF_RECORDS[field.name]]
            if len(which) < len(rows):  # else each record is a commit, and they are in order
                column = column.take(which)
        elif field.name == "isTombstone":
            is_sound = pc.is_null(commits["problem"])
            column = _array(pc.and_(pc.is_null(commits["committedOffset"]), is_sound))
        elif field.name in ("commitTime", "expireTime"):
            column = _time(commits[field.name.removesuffix("Time") + "Timestamp"], field.type)
        else:
            column = _array(commits[field.name])
        columns.append(column)
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _selected(commits: pa.Table, request: ReadRequest) -> pa.Array:
    """Which commits are of selected topic partitions; records that cannot be read always are."""
    topics = _array(commits["topic"]).dictionary_encode()
    codes = topics.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    partitions = _array(commits["partition"]).fill_null(0).to_numpy(zero_copy_only=False)
    above_least = partitions.astype(np.int64) - _LEAST  # a damaged commit may be of partition -1
    pairs, which = np.unique((codes << 32) + above_least, return_inverse=True)
    names = topics.dictionary.to_pylist()
    selected = [
        pair < 0 or request.selects(names[pair >> 32], (pair & 0xFFFFFFFF) + _LEAST)
        for pair in pairs.tolist()
    ]
    return pa.array(np.array(selected, np.bool_)[which])


def _time(milliseconds: pa.ChunkedArray, kind: pa.DataType) -> pa.Array:
    column = _array(milliseconds)
    known = column.fill_null(0).to_numpy(zero_copy_only=False)
    is_null = column.is_null().to_numpy(zero_copy_only=False) | (known == NO_TIME)
    return fixed_width(microseconds(known), kind, is_null)


def _array(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
