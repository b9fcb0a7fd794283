"""What the tombstones in ``__consumer_offsets`` say of groups that are no longer there.

A coordinator removes the offsets of a group, and the group, by tombstones: when the offsets expire,
and when a client deletes them. Until the cleaner has passed, the commits before them are there too.
Source: Kafka 4.4, OffsetMetadataManager#cleanupExpiredOffsets, #deleteAllOffsets and
GroupCoordinatorService#deleteGroups.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from kafkalog_reader.io.progress import no_progress
from kafkalog_reader.tables.group_commits import GroupCommitsTable
from kafkalog_reader.tables.group_records import group_records
from kafkalog_reader.tables.groups import GroupsTable
from kafkalog_reader.tables.internal_topic import plain_rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kafkalog_reader.io.evidence import Evidence
    from kafkalog_reader.tables.request import ReadRequest

_COLUMNS: Final = (
    "clusterId", "brokerId", "groupId", "topic", "partition", "topicId", "committedOffset",
    "committedLeaderEpoch", "metadata", "commitTime", "isTombstone", "transactionState",
    "offsetsPartition", "recordOffset", "recordTimestamp", "problem",
)  # fmt: skip
_COUNTED: Final = ("none", "committed")
"""States of the transaction of a commit that counts."""


def removed_offsets(
    evidence: Evidence, request: ReadRequest, names: Sequence[str]
) -> Iterator[dict[str, Any]]:
    """Yield the offsets whose newest record is a tombstone, in the order of the tombstones.

    A row has the columns of the last commit before the tombstone, as far as the cleaner kept it;
    ``committedOffset`` is null, ``removedOffset`` has its value, and ``removedTime`` is that of the
    tombstone, in microseconds, ``recordOffset`` its offset.

    Args:
        evidence: what was supplied.
        request: selects topics and partitions of commits, and the moment.
        names: of the groups.

    Raises:
        LocatedError: damage, in mode ``FAILFAST``.
        UnreadableFileError: a file cannot be opened or read.
    """
    table = GroupCommitsTable()
    asked = replace(request, columns=_COLUMNS)
    wanted = pa.array(names, pa.string())
    last: dict[tuple[Any, ...], dict[str, Any]] = {}
    removed: dict[tuple[Any, ...], dict[str, Any]] = {}
    for unit in table.units(evidence, asked):
        for rows in table.read(unit, asked):
            chosen = rows.filter(pc.is_in(rows["groupId"].cast(pa.string()), wanted))
            for row in plain_rows(chosen):
                if row["problem"] or row["transactionState"] not in _COUNTED:
                    continue
                if not _is_covered(request, row["recordOffset"], row["recordTimestamp"]):
                    continue
                key = tuple(row[name] for name in ("clusterId", "groupId", "topic", "partition"))
                if row["isTombstone"]:
                    removed.pop(key, None)
                    before = last.pop(key, None)
                    removed[key] = _removed(row, before)
                else:
                    last[key] = row
                    removed.pop(key, None)
    yield from removed.values()


def _removed(tombstone: dict[str, Any], before: dict[str, Any] | None) -> dict[str, Any]:
    return {
        **(before or tombstone),
        "committedOffset": None,
        "removedOffset": before and before["committedOffset"],
        "removedTime": tombstone["recordTimestamp"],
        "recordOffset": tombstone["recordOffset"],
        "recordTimestamp": tombstone["recordTimestamp"],
    }


def removed_groups(
    evidence: Evidence, request: ReadRequest, names: Sequence[str]
) -> Iterator[dict[str, Any]]:
    """Yield the groups whose own record ends with a tombstone.

    A row has ``clusterId``, ``groupId``, ``type``, ``offsetsPartition``, ``recordOffset`` and
    ``removedTime``, the time of the tombstone in microseconds.

    Args:
        evidence: what was supplied.
        request: has the moment.
        names: of the groups.

    Raises:
        LocatedError: damage, in mode ``FAILFAST``.
        UnreadableFileError: a file cannot be opened or read.
    """
    table = GroupsTable()
    wanted = frozenset(names)
    removed: dict[tuple[Any, str], dict[str, Any]] = {}
    for unit in table.units(evidence, replace(request, columns=None)):
        for record in group_records(unit, request, no_progress):
            if record.group_id not in wanted or record.member_id is not None:
                continue
            key = record.row["clusterId"], record.group_id
            removed.pop(key, None)
            if record.is_tombstone:
                removed[key] = {
                    **record.row, "groupId": record.group_id, "type": record.kind,
                    "removedTime": record.row["recordTimestamp"],
                }  # fmt: skip
    yield from removed.values()


def _is_covered(request: ReadRequest, offset: int, time: int | None) -> bool:
    return request.as_of is None or request.as_of.covers(offset, time and time // 1000)
