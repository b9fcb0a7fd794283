"""The ``share_groups`` table: where share groups stand, as the share coordinator would load it.

Source: Kafka 4.4, ShareCoordinatorShard.replay, handleShareSnapshot, handleShareUpdate, merge.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Final

from kafkalog_reader.format.messages.decoder import MessageError
from kafkalog_reader.format.messages.records import (
    DecodedMessage,
    decode_key,
    decode_value,
    unknown_type,
)
from kafkalog_reader.format.messages.schema import Family
from kafkalog_reader.io.names import SHARE_GROUP_STATE_TOPIC
from kafkalog_reader.io.progress import Progress, no_progress
from kafkalog_reader.tables.internal_record import place_of, unreadable, value_version
from kafkalog_reader.tables.internal_topic import selects_all
from kafkalog_reader.tables.internal_topic_table import InternalTopicTable
from kafkalog_reader.tables.rows import build_from_dicts
from kafkalog_reader.tables.schemas.share_groups import SHARE_GROUPS
from kafkalog_reader.tables.share_batches import StateBatch, combined
from kafkalog_reader.tables.topic_names import topic_names
from kafkalog_reader.tables.unset_fields import UNSET, number_or_none, time_or_none

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import pyarrow as pa

    from kafkalog_reader.tables.internal_topic_table import InternalTopicUnit
    from kafkalog_reader.tables.request import ReadRequest
    from kafkalog_reader.tables.table import Column

_SNAPSHOT: Final = 0
_BATCHES_KEPT: Final = 10_000
_Key = tuple[str, str, int]
"""Group, topic id, partition."""


class ShareGroupsTable(InternalTopicTable):
    """One row for each share group and partition, and one for each record that cannot be read."""

    name: ClassVar[str] = "share_groups"
    doc: ClassVar[str] = "one row per share group and partition: start offset, delivery states"
    columns: ClassVar[tuple[Column, ...]] = SHARE_GROUPS
    log_topic: ClassVar[str] = SHARE_GROUP_STATE_TOPIC

    def read(
        self, unit: InternalTopicUnit, request: ReadRequest, progress: Progress = no_progress
    ) -> Iterator[pa.RecordBatch]:
        """Yield one record batch with the share partitions of a partition of the state topic.

        Raises:
            LocatedError: damage, in mode ``FAILFAST``.
            UnreadableFileError: a file cannot be opened or read.
        """
        states: dict[_Key, _ShareState] = {}
        wrong: list[dict[str, Any]] = []
        for record in self.records(unit, request, progress):
            _apply(record, states, wrong)
        names: Mapping[str, str] = topic_names(unit.evidence) if states else {}
        rows_found = []
        for (group_id, topic_id, partition), state in sorted(states.items()):
            topic = names.get(topic_id)
            if selects_all(request) or request.selects(topic, partition):
                place = {"groupId": group_id, "topicId": topic_id, "partition": partition}
                rows_found.append({**place, "topic": topic, **state.columns()})
        yield build_from_dicts(self.projected(request), rows_found + wrong)


@dataclass
class _ShareState:
    """One share partition: a snapshot, and what updates changed since.

    Attributes:
        limit: number of batches above which they are combined, so that memory stays bounded.
    """

    place: dict[str, Any]
    fields: dict[str, Any]
    batches: list[StateBatch] = field(default_factory=list)
    updates: int = 0
    limit: int = _BATCHES_KEPT

    def take(self, place: dict[str, Any], fields: Mapping[str, Any]) -> None:
        """Apply an update: a value of −1 changes nothing."""
        changed = {
            name: fields[name]
            for name in ("startOffset", "leaderEpoch", "deliveryCompleteCount")
            if fields.get(name, UNSET) != UNSET
        }
        self.fields |= changed
        self.place = place
        self.updates += 1
        self.batches += _batches(fields)
        if len(self.batches) > self.limit:
            self.batches = combined(self.batches, self.fields["startOffset"])
            self.limit = 2 * len(self.batches) + _BATCHES_KEPT

    def columns(self) -> dict[str, Any]:
        """The columns of the table."""
        fields = self.fields
        return {
            **self.place,
            "startOffset": number_or_none(fields["startOffset"]),
            "deliveryCompleteCount": number_or_none(fields.get("deliveryCompleteCount")),
            "batches": [
                {
                    "firstOffset": each.first_offset,
                    "lastOffset": each.last_offset,
                    "deliveryState": each.state_name,
                    "deliveryCount": each.delivery_count,
                }
                for each in combined(self.batches, fields["startOffset"])
            ],
            "leaderEpoch": number_or_none(fields["leaderEpoch"]),
            "stateEpoch": number_or_none(fields.get("stateEpoch")),
            "snapshotEpoch": fields["snapshotEpoch"],
            "createTime": _time(fields.get("createTimestamp")),
            "writeTime": _time(fields.get("writeTimestamp")),
            "updates": self.updates,
        }


def _apply(
    record: Mapping[str, Any], states: dict[_Key, _ShareState], wrong: list[dict[str, Any]]
) -> None:
    place = place_of(record, "statePartition")
    key, decoded, problem = _decoded(record)
    if key is None or problem:
        wrong.append(place | unreadable(record, problem) | value_version(record))
        return
    of = (key.fields["groupId"], key.fields["topicId"], key.fields["partition"])
    if decoded is None:
        if key.type == _SNAPSHOT:
            states.pop(of, None)
        return
    place["valueVersion"] = decoded.version
    place["unknownTags"] = decoded.unknown_tags
    if key.type == _SNAPSHOT or of not in states:
        states[of] = _ShareState(place, dict(decoded.fields), _batches(decoded.fields))
    else:
        states[of].take(place, decoded.fields)


def _decoded(
    record: Mapping[str, Any],
) -> tuple[DecodedMessage | None, DecodedMessage | None, str]:
    """Key, value, and why they cannot be read; the value of a tombstone is None."""
    value = record["value"]
    try:
        key = decode_key(Family.SHARE, record["key"] or b"")
        decoded = None if value is None else decode_value(Family.SHARE, key.type, value)
    except MessageError as error:
        return None, None, str(error)
    return key, decoded, unknown_type(key.type) if key.message is None else ""


def _batches(fields: Mapping[str, Any]) -> list[StateBatch]:
    return [
        StateBatch(
            each["firstOffset"], each["lastOffset"], each["deliveryState"], each["deliveryCount"]
        )
        for each in fields["stateBatches"]
    ]


def _time(milliseconds: int | None) -> int | None:
    """Here 0 is not set, either."""
    return time_or_none(milliseconds or UNSET)
