"""What ``kafkalog plan`` prints."""

from __future__ import annotations

from kafkalog_reader.report.json_schemas.parts import (
    BOOLEAN,
    DIALECT,
    INTEGER,
    LOST,
    TEXT,
    Schema,
    list_of,
    object_of,
    or_null,
    typed,
)
from kafkalog_reader.report.plan_json import PLAN_SCHEMA_VERSION


def plan_schema() -> Schema:
    """What ``kafkalog plan --format json`` prints: one procedure for all partitions."""
    lost = object_of(LOST)
    named = object_of({"topic": TEXT, "partition": INTEGER})
    lost_range = {
        "brokers": list_of(INTEGER),
        **typed(INTEGER, "firstOffset", "nextOffset"),
        "records": lost,
    }
    start = {
        "brokerId": INTEGER,
        "outcome": TEXT,
        **typed(INTEGER, "firstOffset", "nextOffset", "records", "sizeInBytes"),
        **typed(INTEGER, "maxInDamagedBatches", "maxInTornBatch"),
        "reason": or_null(TEXT),
    }
    choice = {
        "topic": TEXT,
        **typed(INTEGER, "partition", "leader"),
        **typed(
            list_of(INTEGER),
            "mayLead",
            "mustNotLead",
            "silentDivergence",
            "notSupplied",
            "withoutFolder",
            "inSyncNotSupplied",
            "retentionIfStartedLater",
        ),
        "electable": or_null(list_of(INTEGER)),
        "personMustChoose": BOOLEAN,
        "lost": lost,
        "lostRanges": list_of(object_of(lost_range)),
        "alternatives": list_of(
            object_of({"leader": INTEGER, "lost": lost, "neverInSync": list_of(INTEGER)})
        ),
        "starts": list_of(object_of(start)),
    }
    election = {
        **typed(TEXT, "type", "file"),
        "partitions": list_of(named),
        "commands": list_of(TEXT),
    }
    reassigned = {
        "topic": TEXT,
        "partition": INTEGER,
        "replicas": list_of(INTEGER),
    }
    reassignment = {"file": TEXT, "partitions": list_of(object_of(reassigned))}
    step = {
        "step": INTEGER,
        **typed(TEXT, "kind", "title"),
        **typed(list_of(TEXT), "texts", "commands"),
        "brokers": list_of(INTEGER),
        "checks": list_of(object_of({"command": TEXT, "expected": list_of(TEXT)})),
        "election": or_null(object_of(election)),
        "reassignment": or_null(object_of(reassignment)),
        "files": list_of(object_of(typed(TEXT, "path", "content"))),
        "lost": list_of(object_of({"topic": TEXT, "partition": INTEGER, **lost_range})),
    }
    replaced = {"topic": TEXT, **typed(INTEGER, "partition", "brokerId", "byBrokerId")}
    lost_already = {
        "topic": TEXT,
        **typed(INTEGER, "partition", "firstOffset"),
        "nextOffset": or_null(INTEGER),
        **typed(BOOLEAN, "isCommitted", "mayBeElsewhere"),
    }
    deleted = {
        "topic": TEXT,
        "partition": INTEGER,
        **typed(list_of(INTEGER), "markedOn", "liveOn"),
    }
    before = {"text": TEXT, **typed(list_of(TEXT), "partitions", "commands", "codes")}
    return {
        "$schema": DIALECT,
        "title": "kafkalog plan --format json",
        "description": "One object. Offset ranges are half-open.",
        **object_of(
            {
                "schemaVersion": {"const": PLAN_SCHEMA_VERSION},
                "nothingToDo": BOOLEAN,
                "brokers": list_of(INTEGER),
                "lost": lost,
                "lostAlready": list_of(object_of(lost_already)),
                "deleted": list_of(object_of(deleted)),
                "startOrder": list_of(list_of(INTEGER)),
                "replacedCopies": list_of(object_of(replaced)),
                "partitions": list_of(object_of(choice)),
                "unanswered": list_of(
                    object_of(
                        {
                            **typed(TEXT, "partition", "reason"),
                            "outcome": or_null(TEXT),
                            "commands": list_of(TEXT),
                        }
                    )
                ),
                "findings": list_of(
                    object_of(
                        typed(TEXT, "code", "severity", "message")
                        | typed(or_null(TEXT), "partition", "logDirectory")
                    )
                ),
                "before": list_of(object_of(before)),
                "steps": list_of(object_of(step)),
            }
        ),
    }
