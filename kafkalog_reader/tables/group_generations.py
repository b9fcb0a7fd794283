"""The ``group_generations`` table: every rebalance of a group that is still on disk."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, ClassVar, Final

from kafkalog_reader.io.names import OFFSETS_TOPIC
from kafkalog_reader.io.progress import Progress, no_progress
from kafkalog_reader.tables.group_records import (
    CLASSIC,
    GroupRecord,
    group_records,
)
from kafkalog_reader.tables.group_state import (
    EPOCH_RECORDS,
    MEMBER_RECORDS,
    classic_columns,
    subscribed_topics,
)
from kafkalog_reader.tables.internal_topic import selects_any
from kafkalog_reader.tables.internal_topic_table import InternalTopicTable
from kafkalog_reader.tables.rows import build_from_dicts
from kafkalog_reader.tables.schemas.groups import GROUP_GENERATIONS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import pyarrow as pa

    from kafkalog_reader.tables.internal_topic_table import InternalTopicUnit
    from kafkalog_reader.tables.request import ReadRequest
    from kafkalog_reader.tables.table import Column

_ROWS_AT_ONCE: Final = 4096

_Group = tuple[str | None, str | None]
"""Id and kind."""


class GroupGenerationsTable(InternalTopicTable):
    """One row for each record that says in which generation a group is, in the log's order."""

    name: ClassVar[str] = "group_generations"
    doc: ClassVar[str] = "one row per rebalance of a group still on disk: who joined, who left"
    columns: ClassVar[tuple[Column, ...]] = GROUP_GENERATIONS
    log_topic: ClassVar[str] = OFFSETS_TOPIC

    def read(
        self, unit: InternalTopicUnit, request: ReadRequest, progress: Progress = no_progress
    ) -> Iterator[pa.RecordBatch]:
        """Yield the rebalances; topics select those whose members subscribe to one of them.

        Raises:
            LocatedError: damage, in mode ``FAILFAST``.
            UnreadableFileError: a file cannot be opened or read.
        """
        schema = self.projected(request)
        history = _History()
        rows = []
        for record in group_records(unit, request, progress):
            row, topics = history.of(record)
            if row is not None and selects_any(request, topics):
                rows.append(row)
            if len(rows) == _ROWS_AT_ONCE:
                yield build_from_dicts(schema, rows)
                rows = []
        yield build_from_dicts(schema, rows)


class _History:
    """The members of each group as records have been read so far."""

    def __init__(self) -> None:
        self._shown: dict[_Group, tuple[int | None, set[str]]] = {}
        self._members: defaultdict[_Group, dict[str, set[str]]] = defaultdict(dict)

    def of(self, record: GroupRecord) -> tuple[dict[str, Any] | None, set[str]]:
        """The row of a record, None if it has none; and the topics of the group's members."""
        group = (record.group_id, record.kind)
        if record.name in MEMBER_RECORDS and record.member_id is not None:
            self._take_member(group, record)
        if record.name not in EPOCH_RECORDS:
            return None, set()
        row: dict[str, Any] = {**record.row, "groupId": record.group_id, "type": record.kind}
        if not record.is_readable:
            return row, set()
        columns, members = self._columns(record, group)
        before_generation, before = self._shown.get(group, (None, set()))
        if record.is_tombstone:
            change = "removed"
            self._shown.pop(group, None)
        else:
            generation = columns["generation"]
            change = "updated" if generation == before_generation else "rebalanced"
            change = change if members else "empty"
            self._shown[group] = generation, set(members)
        row |= {
            **columns,
            "change": change,
            "members": sorted(members),
            "joined": sorted(set(members) - before),
            "left": sorted(before - set(members)),
        }
        return row, set().union(*members.values())

    def _take_member(self, group: _Group, record: GroupRecord) -> None:
        assert record.member_id is not None
        if record.fields is None:
            self._members[group].pop(record.member_id, None)
        else:
            topics = record.fields.get("subscribedTopicNames") or ()
            self._members[group][record.member_id] = set(topics)

    def _columns(
        self, record: GroupRecord, group: _Group
    ) -> tuple[dict[str, Any], Mapping[str, set[str]]]:
        """Columns of the group, and its members with their topics."""
        fields = record.fields
        if fields is None:
            return {}, {}
        if record.kind == CLASSIC:
            topics = set(subscribed_topics(fields) or ())
            members = {each["memberId"]: topics for each in fields["members"] or ()}
            return classic_columns(fields), members
        columns = {"generation": fields["epoch"], "protocolType": record.kind}
        return columns, self._members[group]
