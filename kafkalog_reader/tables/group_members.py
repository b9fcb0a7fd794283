"""The ``group_members`` table: each member of a group, what it subscribes to and what it has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

from kafkalog_reader.io.names import OFFSETS_TOPIC
from kafkalog_reader.io.progress import Progress, no_progress
from kafkalog_reader.tables.classic_members import classic_members
from kafkalog_reader.tables.group_records import (
    CLASSIC,
    GroupRecord,
    newest_group_records,
)
from kafkalog_reader.tables.group_state import MEMBER_RECORDS, group_states, member_state
from kafkalog_reader.tables.internal_topic import selects_all, selects_any
from kafkalog_reader.tables.internal_topic_table import InternalTopicTable
from kafkalog_reader.tables.rows import build_from_dicts
from kafkalog_reader.tables.schemas.groups import GROUP_MEMBERS
from kafkalog_reader.tables.topic_names import topic_names

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import pyarrow as pa

    from kafkalog_reader.tables.internal_topic_table import InternalTopicUnit
    from kafkalog_reader.tables.request import ReadRequest
    from kafkalog_reader.tables.table import Column

_ASSIGNED: Final = ("assignedPartitions", "topicPartitions")
"""Names of the same field since Kafka 3.6 and before."""
_TASKS: Final = ("activeTasks", "standbyTasks", "warmupTasks")


class GroupMembersTable(InternalTopicTable):
    """One row for each member, and one for each record of a member that cannot be read."""

    name: ClassVar[str] = "group_members"
    doc: ClassVar[str] = "one row per member of a group: client, subscription, assignment"
    columns: ClassVar[tuple[Column, ...]] = GROUP_MEMBERS
    log_topic: ClassVar[str] = OFFSETS_TOPIC

    def read(
        self, unit: InternalTopicUnit, request: ReadRequest, progress: Progress = no_progress
    ) -> Iterator[pa.RecordBatch]:
        """Yield one record batch with the members of a partition's groups.

        Topics and partitions select the members that subscribe to one of these topics, or have or
        are to have one of these partitions.

        Raises:
            LocatedError: damage, in mode ``FAILFAST``.
            UnreadableFileError: a file cannot be opened or read.
        """
        records = list(newest_group_records(unit, request, progress))
        names: Mapping[str, str] = {}
        if any(each.member_id is not None for each in records):
            names = topic_names(unit.evidence)
        rows = []
        for (group_id, kind), group in sorted(group_states(records).items()):
            if kind == CLASSIC:
                found = classic_members(group.records["GroupMetadata"])
            else:
                found = [
                    _member(kind, member_id, group.members[member_id], names)
                    for member_id in sorted(group.members)
                ]
            rows += [
                {"groupId": group_id, "type": kind, **row}
                for row in found
                if _is_selected(row, request)
            ]
        rows += [
            {**each.row, "groupId": each.group_id, "type": each.kind, "memberId": each.member_id}
            for each in records
            if not each.is_readable and each.member_id is not None
        ]
        yield build_from_dicts(self.projected(request), rows)


def _member(
    kind: str, member_id: str, records: Mapping[str, GroupRecord], names: Mapping[str, str]
) -> dict[str, Any]:
    """The row of a member that the group's coordinator assigns."""
    metadata = next((records[name] for name in MEMBER_RECORDS if name in records), None)
    shown = metadata or next(iter(records.values()))
    fields: Mapping[str, Any] = (metadata.fields if metadata else None) or {}
    current = _fields(records, "CurrentMemberAssignment")
    target = _fields(records, "TargetAssignmentMember")
    classic = fields.get("classicMemberMetadata") or {}
    return {
        **shown.row,
        "memberId": member_id,
        "instanceId": fields.get("instanceId"),
        "clientId": fields.get("clientId"),
        "clientHost": fields.get("clientHost"),
        "rackId": fields.get("rackId"),
        "subscribedTopics": fields.get("subscribedTopicNames"),
        "subscribedTopicRegex": fields.get("subscribedTopicRegex") or None,
        "assignment": _tasks(current) or _partitions(current, names, *_ASSIGNED),
        "pendingRevocation": _tasks(current, "PendingRevocation")
        or _partitions(current, names, "partitionsPendingRevocation"),
        "targetAssignment": _tasks(target) or _partitions(target, names, "topicPartitions"),
        "assignor": fields.get("serverAssignor"),
        "memberEpoch": current.get("memberEpoch"),
        "memberState": member_state(kind, current.get("state")),
        "rebalanceTimeoutMs": fields.get("rebalanceTimeoutMs"),
        "sessionTimeoutMs": classic.get("sessionTimeoutMs"),
    }


def _fields(records: Mapping[str, GroupRecord], ending: str) -> Mapping[str, Any]:
    found = (each.fields for name, each in records.items() if name.endswith(ending))
    return next(found, None) or {}


def _partitions(
    fields: Mapping[str, Any], names: Mapping[str, str], *fields_of_partitions: str
) -> list[str] | None:
    """Partitions by topic id; an id whose topic is not in the paths stands for its name."""
    field = next((each for each in fields_of_partitions if each in fields), None)
    if field is None:
        return None
    topics: Iterable[Mapping[str, Any]] = fields[field]
    found = [
        (names.get(each["topicId"], each["topicId"]), number)
        for each in topics
        for number in each["partitions"]
    ]
    return [f"{topic}-{number}" for topic, number in sorted(found)]


def _tasks(fields: Mapping[str, Any], ending: str = "") -> list[str] | None:
    """Tasks of Kafka Streams, such as ``0_3``; standby and warm-up tasks say so."""
    if _TASKS[0] + ending not in fields:
        return None
    found = []
    for name in _TASKS:
        role = "" if name == _TASKS[0] else f" ({name.removesuffix('Tasks')})"
        tasks: Sequence[Mapping[str, Any]] = fields[name + ending]
        found += [
            f"{each['subtopologyId']}_{number}{role}"
            for each in tasks
            for number in each["partitions"]
        ]
    return found


def _is_selected(row: Mapping[str, Any], request: ReadRequest) -> bool:
    if selects_all(request) or selects_any(request, row["subscribedTopics"] or ()):
        return True
    partitions = [*(row["assignment"] or ()), *(row.get("targetAssignment") or ())]
    found = (each.rpartition("-") for each in partitions)
    return any(
        number.isdecimal() and request.selects(topic, int(number)) for topic, _, number in found
    )
