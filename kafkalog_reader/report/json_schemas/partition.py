"""What ``replica-diff`` prints."""

from __future__ import annotations

from typing import Final

from kafkalog_reader.audits.tables.findings import FindingsTable
from kafkalog_reader.audits.tables.partitions import PartitionsTable
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
    row_of,
    typed,
)
from kafkalog_reader.report.partition_json import SCHEMA_VERSION
from kafkalog_reader.tables.schemas.audits import GROUP_OUTCOME
from kafkalog_reader.tables.schemas.identity import IDENTITY

_ONLY_WITH_RECORDS: Final[dict[str, Schema]] = {
    "records": list_of({"type": "object"}),
    "recordsAreAll": BOOLEAN,
}
"""Keys that the option ``--records`` adds."""
_EPOCH_ENTRIES: Final = list_of(object_of(typed(INTEGER, "leaderEpoch", "startOffset")))
_MEMBERSHIP: Final = object_of(
    {
        **typed(or_null(INTEGER), "leader", "leaderEpoch", "partitionEpoch"),
        **typed(list_of(INTEGER), "replicas", "isr", "elr", "lastKnownElr"),
        **typed(or_null(TEXT), "topicId", "source"),
        "sourceOffset": or_null(INTEGER),
    }
)
_RANGE: Final = object_of(
    {
        "replicas": list_of(TEXT),
        **typed(INTEGER, "firstOffset", "nextOffset"),
        "leaderEpochs": list_of(or_null(INTEGER)),
        **typed(or_null(INTEGER), "batches", "records", "controlRecords", "sizeInBytes"),
        "isFork": BOOLEAN,
    }
)
_DIFFERENCE: Final = object_of(
    {
        "kind": TEXT,
        **typed(INTEGER, "firstOffset", "nextOffset"),
        **typed(or_null(INTEGER), "batches", "records"),
        "copies": list_of(list_of(TEXT)),
        **typed(list_of(TEXT), "absentOn", "damagedOn"),
    }
)
_ACTION: Final = object_of(
    {"action": TEXT, "text": TEXT, "commands": list_of(TEXT), "findings": list_of(TEXT)}
)
_ROUND: Final = object_of(
    {
        "asked": or_null(INTEGER),
        "answer": or_null(object_of(typed(INTEGER, "leaderEpoch", "nextOffset"))),
        "truncatedTo": or_null(INTEGER),
        "followerCache": _EPOCH_ENTRIES,
    }
)
_FOLLOWER: Final = object_of(
    {
        "follower": TEXT,
        "followerBrokerId": or_null(INTEGER),
        "followerLogEndOffset": INTEGER,
        **typed(or_null(INTEGER), "truncationOffset", "keptUntil", "recordsCutAtStart"),
        "rule": TEXT,
        "otherRules": list_of(object_of({"rule": TEXT, "truncationOffset": or_null(INTEGER)})),
        "rounds": INTEGER,
        "explained": list_of(_ROUND),
        "outcome": TEXT,
        "recordsCut": or_null(INTEGER),
        "silentDivergence": or_null(INTEGER),
        "needlessTruncation": BOOLEAN,
    }
)
_LOST_RANGE: Final = object_of(
    {"replicas": list_of(TEXT), **typed(INTEGER, "firstOffset", "nextOffset"), **LOST}
)
_MERGED_LOG: Final = object_of(
    {
        **typed(INTEGER, "readableOffsets", "gainedOffsets", "correctedBatches"),
        "lostRanges": list_of(object_of(typed(INTEGER, "firstOffset", "nextOffset"))),
    }
)
_ELECTION: Final = object_of(
    {
        "rank": INTEGER,
        "candidate": TEXT,
        "candidateBrokerId": or_null(INTEGER),
        "electionKind": TEXT,
        "cleanByMembership": or_null(BOOLEAN),
        **typed(or_null(BOOLEAN), "inIsr", "inElr", "controllerWouldElect", "needsUnclean"),
        "groups": list_of(row_of(GROUP_OUTCOME)),
        "leaderEpoch": or_null(INTEGER),
        "absentFollowers": list_of(TEXT),
        **LOST,
        **typed(
            INTEGER,
            "keptApartRecords",
            "keptApartCommittedRecords",
            "keptApartPossiblyCommittedRecords",
        ),
        "cutTransactions": list_of(INTEGER),
        **typed(list_of(_LOST_RANGE), "lostRanges", "keptApartRanges"),
        "followers": list_of(_FOLLOWER),
    }
)


def partition_schema() -> Schema:
    """One line that ``replica-diff --format json`` prints: a partition with all its replicas."""
    partition = row_of(c for c in PartitionsTable.columns if c.name != "lastStableOffset")
    return {
        "$schema": DIALECT,
        "title": "replica-diff --format json",
        "description": "One object per partition, one per line. Offset ranges are half-open.",
        **_merged(
            partition,
            schemaVersion={"const": SCHEMA_VERSION},
            replicas=list_of(_replica()),
            comparedVerdict=or_null(TEXT),
            reason=or_null(TEXT),
            quick=BOOLEAN,
            comparedFrom=or_null(INTEGER),
            rules=list_of(TEXT),
            membership=or_null(_MEMBERSHIP),
            notKnown=list_of(TEXT),
            ranges=list_of(_RANGE),
            differences=list_of(_DIFFERENCE),
            lostAtStart=or_null(_LOST_RANGE),
            mergedLog=or_null(_MERGED_LOG),
            elections=list_of(_ELECTION),
            actions=list_of(_ACTION),
            findings=list_of(row_of(FindingsTable.columns)),
            **_ONLY_WITH_RECORDS,
        ),
    }


def _merged(row: Schema, **more: Schema) -> Schema:
    return object_of({**row["properties"], **more}, optional=_ONLY_WITH_RECORDS)


def _replica() -> Schema:
    identity = row_of(IDENTITY)["properties"]
    counts = (
        "logStartOffset",
        "logEndOffsetAfterStart",
        "recordsCut",
        "maxCutInDamagedBatches",
        "maxCutInTornBatch",
        "bytesCut",
    )
    start = object_of(
        {
            **typed(or_null(TEXT), "outcome", "reason"),
            **typed(or_null(INTEGER), *counts),
            "leaderEpochCheckpoint": or_null(_EPOCH_ENTRIES),
        },
        optional=(*counts, "leaderEpochCheckpoint"),
    )
    return object_of(
        {
            **identity,
            "name": TEXT,
            "topicId": or_null(TEXT),
            "cleanShutdown": or_null(BOOLEAN),
            **typed(INTEGER, "logStartOffset", "logEndOffset"),
            **typed(
                or_null(INTEGER),
                "checkpointedHighWatermark",
                "highWatermarkLow",
                "highWatermarkHigh",
                "supersededAt",
                "lastLeaderEpoch",
            ),
            "leaderEpochs": list_of(
                object_of(
                    {
                        "leaderEpoch": or_null(INTEGER),
                        **typed(INTEGER, "firstOffset", "nextOffset"),
                    }
                )
            ),
            "leaderEpochCheckpoint": _EPOCH_ENTRIES,
            **typed(INTEGER, "batches", "sizeInBytes"),
            "start": or_null(start),
            "setAside": or_null(TEXT),
        }
    )
