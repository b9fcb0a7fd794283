"""What ``kafkalog report --extract`` prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkalog_reader.audits.tables.findings import FindingsTable
from kafkalog_reader.report.json_schemas.partition import partition_schema
from kafkalog_reader.report.json_schemas.parts import (
    DIALECT,
    INTEGER,
    TEXT,
    Schema,
    list_of,
    object_of,
    or_null,
    row_of,
    typed,
)
from kafkalog_reader.report.json_schemas.plan import plan_schema
from kafkalog_reader.report.report_data import REPORT_SCHEMA_VERSION

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kafkalog_reader.tables.table import Column


def report_schema(
    groups: Iterable[Column], transactions: Iterable[Column], timeline: Iterable[Column]
) -> Schema:
    """What ``kafkalog report --extract`` prints: the data of a report.

    Args:
        groups: columns of a partition of a group.
        transactions: columns of an open transaction.
        timeline: columns of a change of a partition.
    """
    partition = {key: value for key, value in partition_schema().items() if key[0] != "$"}
    provenance = {
        **typed(TEXT, "command", "createdAt"),
        "interrupted": or_null(TEXT),
        "logDirectories": list_of(
            object_of(
                {
                    "path": TEXT,
                    "clusterId": or_null(TEXT),
                    "brokerId": or_null(INTEGER),
                    **typed(INTEGER, "files", "sizeInBytes"),
                }
            )
        ),
        "changedWhileRead": list_of(TEXT),
        "files": list_of(
            object_of({"path": TEXT, "sizeInBytes": INTEGER, "sha256": or_null(TEXT)})
        ),
    }
    plan = {key: value for key, value in plan_schema().items() if key[0] != "$"}
    lists = ("groups", "openTransactions", "timeline")
    return {
        "$schema": DIALECT,
        "title": "kafkalog report --extract",
        "description": "One object. Offset ranges are half-open; leftOut counts what is missing in "
        "a list.",
        **object_of(
            {
                "schemaVersion": {"const": REPORT_SCHEMA_VERSION},
                **typed(TEXT, "kafkalogVersion", "verdict"),
                "exitStatus": INTEGER,
                **typed(list_of(TEXT), "summary", "firstSteps"),
                "notKnown": list_of(
                    object_of({"text": TEXT, "partitions": INTEGER, "first": list_of(TEXT)})
                ),
                "directoryFindings": list_of(row_of(FindingsTable.columns)),
                "groups": list_of(row_of(groups)),
                "openTransactions": list_of(row_of(transactions)),
                "timeline": list_of(row_of(timeline)),
                "leftOut": object_of(
                    typed(INTEGER, "partitions", *lists, "files", "notKnown", "plan")
                ),
                "provenance": object_of(provenance),
                "plan": or_null(plan),
                "partitions": list_of(partition),
            }
        ),
    }
