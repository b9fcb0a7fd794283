"""Requests for the logs of internal topics, whose records name other topics."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from kafkalog_reader.tables.request import ReadRequest
from kafkalog_reader.tables.schemas.records import RECORDS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable


def log_request(request: ReadRequest, topic: str) -> ReadRequest:
    """The request for the log of an internal topic.

    It has no topics or partitions of ``request``, because these select what the records name.
    """
    return ReadRequest(
        topics=frozenset({topic}),
        brokers=request.brokers,
        replica="best",
        include_control_records=False,
        mode=request.mode,
        fail_on_data_loss=request.fail_on_data_loss,
        max_partition_bytes=request.max_partition_bytes,
        hidden=request.hidden,
    )


def selects_all(request: ReadRequest) -> bool:
    """Whether the request selects no topics or partitions, so that every row is requested."""
    optional = (request.topics, request.partitions, request.topic_pattern, request.assigned)
    return not request.excluded_topics and all(each is None for each in optional)


def selects_any(request: ReadRequest, topics: Iterable[str]) -> bool:
    """Whether the request selects one of the topics, whichever partitions it selects."""
    if selects_all(request):
        return True
    assigned = request.assigned and {topic for topic, _ in request.assigned}
    by_topic = replace(request, partitions=None, assigned=None)
    return any(
        (assigned is None or topic in assigned) and by_topic.selects(topic, None)
        for topic in topics
    )


def record_schema(columns: Collection[str]) -> pa.Schema:
    """The schema of some columns of the table ``records``."""
    return pa.schema([(each.name, each.type) for each in RECORDS if each.name in columns])


def plain_rows(rows: pa.RecordBatch | pa.Table) -> list[dict[str, Any]]:
    """Rows as dicts; timestamps are microseconds, because not every one fits a datetime."""
    fields = [
        field.with_type(pa.int64()) if pa.types.is_timestamp(field.type) else field
        for field in rows.schema
    ]
    plain: list[dict[str, Any]] = rows.cast(pa.schema(fields)).to_pylist()
    return plain
