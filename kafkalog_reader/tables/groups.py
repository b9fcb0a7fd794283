"""The ``groups`` table: each group, as its coordinator would load it.

A group that only commits offsets has no record of its own; the coordinator makes it an empty
classic group. Source: Kafka 4.4, OffsetMetadataManager.replay, GroupMetadataManager.replay.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, ClassVar

from kafkalog_reader.io.names import OFFSETS_TOPIC
from kafkalog_reader.io.progress import Progress, no_progress
from kafkalog_reader.tables.group_offsets import current_commits
from kafkalog_reader.tables.group_records import (
    CLASSIC,
    newest_group_records,
)
from kafkalog_reader.tables.group_state import group_states
from kafkalog_reader.tables.internal_topic import selects_any
from kafkalog_reader.tables.internal_topic_table import InternalTopicTable
from kafkalog_reader.tables.rows import build_from_dicts
from kafkalog_reader.tables.schemas.groups import GROUPS

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

    from kafkalog_reader.tables.internal_topic_table import InternalTopicUnit
    from kafkalog_reader.tables.request import ReadRequest
    from kafkalog_reader.tables.table import Column


class GroupsTable(InternalTopicTable):
    """One row for each group, and one for each record of groups that cannot be read."""

    name: ClassVar[str] = "groups"
    doc: ClassVar[str] = "one row per group: type, state, members, generation, assignor"
    columns: ClassVar[tuple[Column, ...]] = GROUPS
    log_topic: ClassVar[str] = OFFSETS_TOPIC

    def read(
        self, unit: InternalTopicUnit, request: ReadRequest, progress: Progress = no_progress
    ) -> Iterator[pa.RecordBatch]:
        """Yield one record batch with the groups of a partition, by name.

        Topics and partitions select the groups that subscribe to one of these topics or have
        committed an offset of one.

        Raises:
            LocatedError: damage, in mode ``FAILFAST``.
            UnreadableFileError: a file cannot be opened or read.
        """
        records = list(newest_group_records(unit, request, progress))
        commits = _commits(unit, request, progress)
        rows = []
        states = group_states(records)
        for (group_id, kind), group in states.items():
            own = commits.get(group_id, [])
            row: dict[str, Any] = {
                **group.newest.row, "groupId": group_id, "type": kind, **group.columns(),
                "committedPartitions": len(own),
            }  # fmt: skip
            if own or selects_any(request, row["subscribedTopics"] or ()):
                rows.append(row)
        known = {group_id for group_id, _ in states}
        for group_id, own in commits.items():
            if group_id not in known:
                rows.append(_of_commits(group_id, own))
        rows.sort(key=lambda row: row["groupId"])
        rows += [
            {**each.row, "groupId": each.group_id, "type": each.kind}
            for each in records
            if not each.is_readable and each.member_id is None
        ]
        yield build_from_dicts(self.projected(request), rows)


def _commits(
    unit: InternalTopicUnit, request: ReadRequest, progress: Progress
) -> dict[str, list[dict[str, Any]]]:
    """The selected commits of each group."""
    found = defaultdict(list)
    columns = ["clusterId", "brokerId", "groupId", "offsetsPartition"]
    for commit in current_commits(unit, request, progress).select(columns).to_pylist():
        found[commit["groupId"]].append(commit)
    return found


def _of_commits(group_id: str, commits: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        **commits[0], "groupId": group_id, "type": CLASSIC, "state": "Empty", "members": 0,
        "protocolType": "", "subscribedTopics": [], "committedPartitions": len(commits),
    }  # fmt: skip
