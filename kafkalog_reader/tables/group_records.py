"""The records of groups in ``__consumer_offsets``: all but offset commits.

A record of a type that no known release has is ignored by its coordinator; here it is kept. Source:
Kafka 4.4, GroupCoordinatorShard.replay, GroupCoordinatorRecordSerde.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa

from kafkalog_reader.decode.commit_columns import COMMIT_TYPES
from kafkalog_reader.decode.field_columns import FieldColumns
from kafkalog_reader.format.messages.decoder import MessageError
from kafkalog_reader.format.messages.records import decode_key, decode_value, unknown_type
from kafkalog_reader.format.messages.schema import Family
from kafkalog_reader.io.names import OFFSETS_TOPIC
from kafkalog_reader.tables.internal_record import place_of, unreadable, value_version
from kafkalog_reader.tables.internal_topic import log_request, plain_rows, record_schema
from kafkalog_reader.tables.record_rows import read_slice

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kafkalog_reader.format.messages.decoder import Value
    from kafkalog_reader.io.progress import Progress
    from kafkalog_reader.tables.internal_topic_table import InternalTopicUnit
    from kafkalog_reader.tables.request import ReadRequest

CLASSIC: Final = "classic"
SHARE: Final = "share"
STREAMS: Final = "streams"
_KINDS: Final = {
    "ConsumerGroup": "consumer", "ShareGroup": SHARE, "StreamsGroup": STREAMS, "Group": CLASSIC,
}  # fmt: skip
"""Type of a group by how the names of its records begin, as ``kafka-groups`` prints it."""
_TYPE_SIZE: Final = 2
_COLUMNS: Final = ("clusterId", "brokerId", "partition", "offset", "timestamp", "key", "value")
_SCHEMA: Final = record_schema(_COLUMNS)


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupRecord:
    """One record, decoded as far as possible.

    Attributes:
        row: columns that every table of groups has: where the record is, ``recordType``,
            ``valueVersion``, ``unknownTags``, and ``problem`` with ``key`` and ``value`` as stored
            if they cannot be read.
        name: of the record type without ``Key`` and ``Value``, such as ``GroupMetadata``; None if
            no known release has the type.
        group_id, member_id: of the key; None if it has none or cannot be read.
        fields: of the value; None for a tombstone and where there is a problem.
    """

    row: Mapping[str, Any]
    name: str | None = None
    group_id: str | None = None
    member_id: str | None = None
    fields: Mapping[str, Value] | None = None

    @property
    def is_readable(self) -> bool:
        """Whether key and value could be decoded."""
        return "problem" not in self.row

    @property
    def is_tombstone(self) -> bool:
        """Whether it removes what its key names."""
        return self.is_readable and self.fields is None

    @property
    def kind(self) -> str | None:
        """Type of its group: classic, consumer, share or streams."""
        name = self.name or ""
        return next((kind for start, kind in _KINDS.items() if name.startswith(start)), None)


def group_records(
    unit: InternalTopicUnit, request: ReadRequest, progress: Progress
) -> Iterator[GroupRecord]:
    """Yield all records up to ``request.as_of`` that are not offset commits, in their order.

    A key that is too short for a type is left to the table ``group_commits``.

    Raises:
        LocatedError: damage, in mode ``FAILFAST``.
        UnreadableFileError: a file cannot be opened or read.
    """
    return map(_decoded, _stored(unit, request, progress))


def newest_group_records(
    unit: InternalTopicUnit, request: ReadRequest, progress: Progress
) -> Iterator[GroupRecord]:
    """Yield the newest of these records for each key, in their order, without tombstones."""
    newest: dict[bytes, dict[str, Any]] = {}
    for record in _stored(unit, request, progress):
        newest.pop(record["key"], None)
        if record["value"] is not None:
            newest[record["key"]] = record
    return map(_decoded, newest.values())


def _stored(
    unit: InternalTopicUnit, request: ReadRequest, progress: Progress
) -> Iterator[dict[str, Any]]:
    log = log_request(request, OFFSETS_TOPIC)
    for segment_slice in unit.slices:
        for rows in read_slice(segment_slice, _SCHEMA, log, log.damage, progress):
            keys = FieldColumns(rows["key"])
            types = keys.number(_TYPE_SIZE)
            of_groups = keys.fits & ~np.isin(types, COMMIT_TYPES)
            if not of_groups.any():
                continue
            for record in plain_rows(rows.filter(pa.array(of_groups))):
                timestamp = record["timestamp"]
                if request.as_of is None or request.as_of.covers(
                    record["offset"], timestamp and timestamp // 1000
                ):
                    yield record


def _decoded(record: Mapping[str, Any]) -> GroupRecord:
    row = place_of(record, "offsetsPartition")
    row["recordType"] = int.from_bytes(record["key"][:_TYPE_SIZE], signed=True)
    found: dict[str, Any] = {}
    value = record["value"]
    try:
        key = decode_key(Family.GROUP, record["key"])
        if key.message is None:
            return GroupRecord(row=row | unreadable(record, unknown_type(key.type)))
        found = {
            "name": key.message.name.removesuffix("Key"),
            "group_id": key.fields.get("groupId", key.fields.get("group")),
            "member_id": key.fields.get("memberId"),
        }
        if value is not None:
            decoded = decode_value(Family.GROUP, key.type, value)
            found["fields"] = decoded.fields
            row["valueVersion"] = decoded.version
            row["unknownTags"] = decoded.unknown_tags
    except MessageError as error:
        row |= unreadable(record, str(error)) | value_version(record)
    return GroupRecord(row=row, **found)
