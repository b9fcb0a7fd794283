"""The ``topic_configs`` table: the settings of topics, brokers and others in the metadata log.

Source: Kafka 4.4, ConfigurationsDelta, ConfigResource.Type.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

from kafkalog_reader.io.progress import Progress, no_progress
from kafkalog_reader.tables.internal_topic import selects_all
from kafkalog_reader.tables.metadata_history import (
    MetadataRecord,
    MetadataUnit,
    metadata_history,
    metadata_units,
)
from kafkalog_reader.tables.rows import build_from_dicts
from kafkalog_reader.tables.schemas.metadata import TOPIC_CONFIGS
from kafkalog_reader.tables.table import Table

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

    from kafkalog_reader.io.evidence import Evidence
    from kafkalog_reader.tables.request import ReadRequest
    from kafkalog_reader.tables.table import Column

_TOPIC: Final = 2
_RESOURCE_TYPES: Final = {
    _TOPIC: "topic", 4: "broker", 8: "brokerLogger", 16: "clientMetrics", 32: "group",
}  # fmt: skip


class TopicConfigsTable(Table[MetadataUnit]):
    """One row for each setting that is in force; resources of topics first."""

    name: ClassVar[str] = "topic_configs"
    doc: ClassVar[str] = "one row per setting of a topic, broker or group in the metadata log"
    columns: ClassVar[tuple[Column, ...]] = TOPIC_CONFIGS
    selects_directories: ClassVar[bool] = False

    def units(self, evidence: Evidence, request: ReadRequest) -> Iterator[MetadataUnit]:
        """One unit for each cluster: the best copy of its metadata log."""
        yield from metadata_units(evidence, request)

    def read(
        self, unit: MetadataUnit, request: ReadRequest, progress: Progress = no_progress
    ) -> Iterator[pa.RecordBatch]:
        """Yield one record batch with the settings, by resource type, resource and name.

        Raises:
            LocatedError: damage, in mode ``FAILFAST``.
            UnreadableFileError: a file cannot be opened or read.
        """
        names: dict[str, str] = {}
        settings: dict[tuple[int, str], dict[str, dict[str, Any]]] = {}
        for record in metadata_history(unit, request, progress):
            _apply(record, names, settings)
        rows = [
            inside[name]
            for resource, inside in sorted(settings.items())
            if _is_selected(resource, request)
            for name in sorted(inside)
        ]
        yield build_from_dicts(self.projected(request), rows)


def _apply(
    record: MetadataRecord,
    names: dict[str, str],
    settings: dict[tuple[int, str], dict[str, dict[str, Any]]],
) -> None:
    fields = record.fields
    match record.name:
        case "TopicRecord":
            names[fields["topicId"]] = fields["name"]
        case "RemoveTopicRecord":
            settings.pop((_TOPIC, names.pop(fields["topicId"], "")), None)
        case "ConfigRecord":
            kind, resource, name = fields["resourceType"], fields["resourceName"], fields["name"]
            inside = settings.setdefault((kind, resource), {})
            inside.pop(name, None)
            if fields["value"] is not None:
                inside[name] = {
                    **record.place,
                    "resourceType": _RESOURCE_TYPES.get(kind, str(kind)),
                    "resource": resource,
                    "name": name,
                    "value": fields["value"],
                }
        case _:
            pass


def _is_selected(resource: tuple[int, str], request: ReadRequest) -> bool:
    """Whether a resource is requested; those that are not topics only if none are selected."""
    kind, name = resource
    return selects_all(request) or (kind == _TOPIC and request.selects(name, None))
