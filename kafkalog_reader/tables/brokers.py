"""The ``brokers`` table: the newest registration of each broker with the controllers.

Source: Kafka 4.4, ClusterDelta, BrokerRegistration.
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
from kafkalog_reader.tables.schemas.metadata import BROKERS
from kafkalog_reader.tables.table import Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import pyarrow as pa

    from kafkalog_reader.format.messages.decoder import Value
    from kafkalog_reader.io.evidence import Evidence
    from kafkalog_reader.tables.request import ReadRequest
    from kafkalog_reader.tables.table import Column

_STARTED: Final = 1
_UNCHANGED: Final = 0
"""Of the flags in BrokerRegistrationChangeRecord."""


class BrokersTable(Table[MetadataUnit]):
    """One row for each broker that ever registered, as far as the metadata log reaches back."""

    name: ClassVar[str] = "brokers"
    doc: ClassVar[str] = "one row per broker: its newest registration, fenced or not, endpoints"
    columns: ClassVar[tuple[Column, ...]] = BROKERS
    selects_directories: ClassVar[bool] = False

    def units(self, evidence: Evidence, request: ReadRequest) -> Iterator[MetadataUnit]:
        """One unit for each cluster: the best copy of its metadata log."""
        yield from metadata_units(evidence, request)

    def read(
        self, unit: MetadataUnit, request: ReadRequest, progress: Progress = no_progress
    ) -> Iterator[pa.RecordBatch]:
        """Yield one record batch with the brokers of a cluster, by node id.

        Raises:
            LocatedError: damage, in mode ``FAILFAST``.
            UnreadableFileError: a file cannot be opened or read.
        """
        brokers: dict[int, dict[str, Any]] = {}
        for record in metadata_history(unit, request, progress):
            _apply(record, brokers)
        rows = [brokers[node_id] for node_id in sorted(brokers)]
        yield build_from_dicts(self.projected(request), rows)


def _apply(record: MetadataRecord, brokers: dict[int, dict[str, Any]]) -> None:
    fields = record.fields
    match record.name:
        case "RegisterBrokerRecord":
            brokers[fields["brokerId"]] = _registered(record)
            return
        case "UnregisterBrokerRecord":
            node_id, change = fields["brokerId"], {"isRegistered": False}
        case "FenceBrokerRecord":
            node_id, change = fields["id"], {"isFenced": True}
        case "UnfenceBrokerRecord":
            node_id, change = fields["id"], {"isFenced": False}
        case "BrokerRegistrationChangeRecord":
            node_id, change = fields["brokerId"], _change(fields)
        case _:
            return
    if (known := brokers.get(node_id)) is not None:
        known |= change
        known |= {"offset": record.place["offset"], "timestamp": record.place["timestamp"]}


def _registered(record: MetadataRecord) -> dict[str, Any]:
    fields = record.fields
    return {
        **record.place,
        "nodeId": fields["brokerId"],
        "isRegistered": True,
        "isFenced": fields["fenced"],
        "isInControlledShutdown": fields["inControlledShutdown"],
        "brokerEpoch": fields["brokerEpoch"],
        "incarnationId": fields["incarnationId"],
        "rack": fields["rack"],
        "endpoints": [
            f"{each['name']}://{each['host']}:{each['port']}" for each in fields["endPoints"]
        ],
        "logDirectories": list(fields.get("logDirs") or ()),
        "cordonedLogDirectories": list(fields.get("cordonedLogDirs") or ()),
        "registrationOffset": record.place["offset"],
        "registrationTime": record.place["timestamp"],
    }


def _change(fields: Mapping[str, Value]) -> dict[str, Any]:
    change: dict[str, Any] = {}
    if fields["fenced"] != _UNCHANGED:
        change["isFenced"] = fields["fenced"] == _STARTED
    if fields.get("inControlledShutdown", _UNCHANGED) != _UNCHANGED:
        change["isInControlledShutdown"] = fields["inControlledShutdown"] == _STARTED
    if fields.get("logDirs"):
        change["logDirectories"] = list(fields["logDirs"])
    if fields.get("cordonedLogDirs") is not None:
        change["cordonedLogDirectories"] = list(fields["cordonedLogDirs"])
    return change
