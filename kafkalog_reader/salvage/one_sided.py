"""The records that only some replicas of a partition hold: read from one that has them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import pyarrow as pa

from kafkalog_reader.audits.comparison.compared_replicas import NotCompared
from kafkalog_reader.audits.comparison.difference import DifferenceKind
from kafkalog_reader.audits.tables.divergence import AHEAD, FORK, SUPERSEDED, classified
from kafkalog_reader.format.broker_words import joined_names
from kafkalog_reader.scan.damage import Damage, Mode
from kafkalog_reader.tables.log_unit import slices_of
from kafkalog_reader.tables.record_rows import read_slice
from kafkalog_reader.tables.request import ReadRequest
from kafkalog_reader.tables.schemas.records import RECORDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kafkalog_reader.audits.log.replica import Replica
    from kafkalog_reader.audits.partition.partition_audit import PartitionAudit
    from kafkalog_reader.io.progress import Progress

_READ: Final = (
    "topic", "partition", "offset", "timestamp", "timestampType", "key", "value", "headers",
    "leaderEpoch", "isControl", "controlType",
)  # fmt: skip
_TYPES: Final = {column.name: column.type for column in RECORDS}
_INPUT: Final = pa.schema([(name, _TYPES[name]) for name in _READ])
SCHEMA: Final = pa.schema(
    [
        ("clusterId", pa.string()),
        *((name, _TYPES[name]) for name in _READ),
        ("side", pa.string()),
        ("brokers", pa.list_(pa.int32())),
    ]
)
"""As the table ``records``; ``side`` names the replicas that hold the record."""
_ONE_SIDE: Final = frozenset({DifferenceKind.MISSING, DifferenceKind.CONFLICT})


@dataclass(frozen=True, slots=True, kw_only=True)
class OneSidedRange:
    """Offsets [first, next) that exactly these replicas hold."""

    replicas: tuple[Replica, ...]
    first_offset: int
    next_offset: int


def one_sided_ranges(audit: PartitionAudit) -> tuple[OneSidedRange, ...]:
    """By offset; without differences that retention or compaction explains."""
    if isinstance(audit.comparison, NotCompared) or len(audit.replicas) < 2:
        return ()
    found = [
        OneSidedRange(
            replicas=branch.replicas,
            first_offset=branch.first_offset,
            next_offset=branch.next_offset,
        )
        for root in audit.comparison.roots
        for branch, kind in classified(audit, root)
        if branch.batches and kind in (AHEAD, FORK, SUPERSEDED)
    ]
    found += [
        OneSidedRange(
            replicas=side,
            first_offset=difference.first_offset,
            next_offset=difference.next_offset,
        )
        for difference in audit.comparison.differences
        if difference.kind in _ONE_SIDE
        for side in difference.contents
    ]
    order = audit.comparison.order
    return tuple(sorted(found, key=lambda each: (each.first_offset, order(each.replicas))))


def one_sided_records(audit: PartitionAudit, progress: Progress) -> Iterator[pa.RecordBatch]:
    """Yield the records with the columns of ``SCHEMA``, range by range; damage is left out.

    Raises:
        UnreadableFileError: a directory cannot be listed, or a file cannot be read.
    """
    request = ReadRequest(columns=_READ, mode=Mode.PERMISSIVE)
    for each in one_sided_ranges(audit):
        directory = each.replicas[0].directory
        asked = replace(request, from_offset=each.first_offset, to_offset=each.next_offset)
        side = joined_names(each.replicas)
        brokers = [replica.broker_id for replica in each.replicas]
        for segment_slice in slices_of(directory, asked):
            for rows in read_slice(segment_slice, _INPUT, asked, Damage(asked.mode), progress):
                if rows.num_rows:
                    yield _with_side(rows, audit.cluster_id, side, brokers)


def _with_side(
    rows: pa.RecordBatch, cluster_id: str | None, side: str, brokers: list[int | None]
) -> pa.RecordBatch:
    count = rows.num_rows
    columns = [
        pa.repeat(pa.scalar(cluster_id, pa.string()), count),
        *rows.columns,
        pa.repeat(pa.scalar(side, pa.string()), count),
        pa.array([brokers] * count, pa.list_(pa.int32())),
    ]
    return pa.RecordBatch.from_arrays(columns, schema=SCHEMA)
