"""The ``partition_states`` table: the controller's state of each partition, over time.

Source: Kafka 4.4, PartitionRegistration.merge, TopicDelta, TopicsDelta.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

from kafkalog_reader.io.progress import Progress, no_progress
from kafkalog_reader.tables.metadata_history import (
    MetadataRecord,
    MetadataUnit,
    metadata_history,
    metadata_units,
)
from kafkalog_reader.tables.rows import build_from_dicts
from kafkalog_reader.tables.schemas.metadata import PARTITION_STATES
from kafkalog_reader.tables.table import Table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    import pyarrow as pa

    from kafkalog_reader.format.messages.decoder import Value
    from kafkalog_reader.io.evidence import Evidence
    from kafkalog_reader.tables.request import ReadRequest
    from kafkalog_reader.tables.table import Column

_NO_LEADER_CHANGE: Final = -2
"""Of ``PartitionChangeRecord.leader``."""
_NO_RECOVERY_CHANGE: Final = -1
"""Of ``PartitionChangeRecord.leaderRecoveryState``."""
_RECOVERING: Final = 1
_LISTS: Final = (
    "replicas", "isr", "eligibleLeaderReplicas", "lastKnownElr", "addingReplicas",
    "removingReplicas", "directories",
)  # fmt: skip
_STATE: Final = ("leader", "leaderEpoch", "partitionEpoch", "isRecovering", *_LISTS)
_ROWS_AT_ONCE: Final = 16_384


class PartitionStatesTable(Table[MetadataUnit]):
    """One row for each state of a partition; the current states come last."""

    name: ClassVar[str] = "partition_states"
    doc: ClassVar[str] = "one row per state of a partition: leader, epochs, ISR, ELR, replicas"
    columns: ClassVar[tuple[Column, ...]] = PARTITION_STATES
    selects_directories: ClassVar[bool] = False

    def units(self, evidence: Evidence, request: ReadRequest) -> Iterator[MetadataUnit]:
        """One unit for each cluster: the best copy of its metadata log."""
        yield from metadata_units(evidence, request)

    def read(
        self, unit: MetadataUnit, request: ReadRequest, progress: Progress = no_progress
    ) -> Iterator[pa.RecordBatch]:
        """Yield the states, in the order in which they end.

        Raises:
            LocatedError: damage, in mode ``FAILFAST``.
            UnreadableFileError: a file cannot be opened or read.
        """
        schema = self.projected(request)
        rows = []
        for row in _states(metadata_history(unit, request, progress)):
            if request.selects(row["topic"], row["partition"]):
                rows.append(row)
            if len(rows) == _ROWS_AT_ONCE:
                yield build_from_dicts(schema, rows)
                rows = []
        yield build_from_dicts(schema, rows)


def _states(history: Iterable[MetadataRecord]) -> Iterator[dict[str, Any]]:
    """Yield each state once the next one has replaced it, and at the end the current ones."""
    current: dict[str, dict[int, dict[str, Any]]] = {}
    names: dict[str, str] = {}
    for record in history:
        if record.name == "TopicRecord":
            names[record.fields["topicId"]] = record.fields["name"]
        for topic_id, number, change, state in _changes(record, current, names):
            partitions = current.setdefault(topic_id, {})
            if (replaced := partitions.pop(number, None)) is not None:
                end = {"endOffset": record.place["offset"], "endTime": record.place["timestamp"]}
                yield replaced | end
            row = {
                **record.place, "topic": names.get(topic_id), "topicId": topic_id,
                "partition": number, "change": change, **state,
            }  # fmt: skip
            if change == "removed":
                yield row
            else:
                partitions[number] = row
    for partitions in current.values():
        yield from partitions.values()


def _changes(
    record: MetadataRecord,
    current: Mapping[str, Mapping[int, dict[str, Any]]],
    names: Mapping[str, str],
) -> Iterator[tuple[str, int, str, dict[str, Any]]]:
    """Yield (topic id, partition, kind of change, new state) for each partition that changes."""
    fields = record.fields
    match record.name:
        case "PartitionRecord":
            yield fields["topicId"], fields["partitionId"], "created", _created(fields)
        case "PartitionChangeRecord":
            topic_id, number = fields["topicId"], fields["partitionId"]
            known = current.get(topic_id, {}).get(number, {})
            yield topic_id, number, "changed", _changed(known, fields)
        case "RemoveTopicRecord":
            for number in list(current.get(fields["topicId"], ())):
                yield fields["topicId"], number, "removed", {}
        case "ClearElrRecord":
            for topic_id, partitions in current.items():
                if fields["topicName"] in ("", names.get(topic_id)):
                    for number, known in list(partitions.items()):
                        if known["eligibleLeaderReplicas"] or known["lastKnownElr"]:
                            none: dict[str, Any] = {
                                "eligibleLeaderReplicas": [],
                                "lastKnownElr": [],
                            }
                            yield topic_id, number, "elrCleared", _state_of(known) | none
        case _:
            pass


def _created(fields: Mapping[str, Value]) -> dict[str, Any]:
    return {
        "leader": fields["leader"],
        "leaderEpoch": fields["leaderEpoch"],
        "partitionEpoch": fields["partitionEpoch"],
        "isRecovering": fields["leaderRecoveryState"] == _RECOVERING,
        **{name: list(fields.get(name) or ()) for name in _LISTS},
    }


def _changed(known: Mapping[str, Any], change: Mapping[str, Value]) -> dict[str, Any]:
    """The state after a change, null where it is unknown.

    Setting the leader, even to the same broker, raises the leader epoch.
    """
    state = _state_of(known)
    sets_leader = change["leader"] != _NO_LEADER_CHANGE
    if sets_leader:
        state["leader"] = change["leader"]
    for name, rises in (("leaderEpoch", sets_leader), ("partitionEpoch", True)):
        if state[name] is not None:
            state[name] += rises
    if change["leaderRecoveryState"] != _NO_RECOVERY_CHANGE:
        state["isRecovering"] = change["leaderRecoveryState"] == _RECOVERING
    for name in _LISTS:
        if change.get(name) is not None:
            state[name] = list(change[name])
    return state


def _state_of(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: row.get(name) for name in _STATE}
