"""The ``cluster_metadata`` table: each record of the metadata log and its snapshots, as JSON.

Source: Kafka 4.4, MetadataRecordSerde; the JSON is that of the generated JsonConverter classes.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Final

from kafkalog_reader.format.messages.decoder import MessageError
from kafkalog_reader.format.messages.json_form import as_json
from kafkalog_reader.format.messages.records import decode_framed, unknown_type
from kafkalog_reader.format.messages.schema import Family
from kafkalog_reader.io.names import METADATA_TOPIC
from kafkalog_reader.io.progress import Progress, no_progress
from kafkalog_reader.tables.internal_topic import log_request, plain_rows, record_schema
from kafkalog_reader.tables.metadata_history import MetadataUnit, metadata_units
from kafkalog_reader.tables.record_rows import read_slice
from kafkalog_reader.tables.rows import build_from_dicts
from kafkalog_reader.tables.schemas.metadata import CLUSTER_METADATA
from kafkalog_reader.tables.table import Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import pyarrow as pa

    from kafkalog_reader.io.evidence import Evidence
    from kafkalog_reader.tables.request import ReadRequest
    from kafkalog_reader.tables.table import Column

_AS_STORED: Final = (
    "clusterId", "brokerId", "offset", "leaderEpoch", "timestamp", "controlType", "value",
)  # fmt: skip
_PARTITION: Final = 0


class ClusterMetadataTable(Table[MetadataUnit]):
    """One row for each record: first those of the snapshots, then those of the log."""

    name: ClassVar[str] = "cluster_metadata"
    doc: ClassVar[str] = "one row per record of the metadata log and its snapshots, as JSON"
    columns: ClassVar[tuple[Column, ...]] = CLUSTER_METADATA

    def units(self, evidence: Evidence, request: ReadRequest) -> Iterator[MetadataUnit]:
        """One unit for each cluster: the best copy of its metadata log."""
        if not request.selects(METADATA_TOPIC, _PARTITION):
            return
        yield from metadata_units(evidence, request)

    def read(
        self, unit: MetadataUnit, request: ReadRequest, progress: Progress = no_progress
    ) -> Iterator[pa.RecordBatch]:
        """Yield the records of a copy.

        Raises:
            LocatedError: damage, in mode ``FAILFAST``; the records before it are yielded first.
            UnreadableFileError: a file cannot be opened or read.
        """
        log = replace(log_request(request, METADATA_TOPIC), include_control_records=True)
        columns = record_schema(_AS_STORED)
        schema = self.projected(request)
        for end_offset, segment_slice in unit.slices:
            for rows in read_slice(segment_slice, columns, log, log.damage, progress):
                found = [
                    record | _decoded(record) | {"snapshotEndOffset": end_offset}
                    for record in plain_rows(rows)
                ]
                yield build_from_dicts(schema, found)


def _decoded(record: Mapping[str, Any]) -> dict[str, Any]:
    """The decoded value, with its bytes if the JSON does not have all of them."""
    if record["controlType"] is not None:
        return {}
    try:
        decoded = decode_framed(Family.METADATA, record["value"] or b"")
    except MessageError as error:
        return {"problem": str(error)}
    row: dict[str, Any] = {"type": decoded.type, "version": decoded.version}
    if decoded.message is None:
        return row | {"problem": unknown_type(decoded.type)}
    shown = as_json(decoded.message, decoded.version, decoded.fields)
    row |= {"typeName": decoded.message.name, "json": json.dumps(shown, separators=(",", ":"))}
    return row if decoded.unknown_tags else row | {"value": None}
