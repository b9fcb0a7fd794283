"""JSON Schema (draft 2020-12) of what ``--format json`` prints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from kafkalog_reader.audits.change import ChangeKind
from kafkalog_reader.audits.quorum.commitment import Commitment
from kafkalog_reader.audits.quorum.lost_records import MAX_CHANGES
from kafkalog_reader.audits.quorum.outcome import Verdict
from kafkalog_reader.audits.quorum.voter_set import VoterSource
from kafkalog_reader.audits.tables.findings import FindingsTable
from kafkalog_reader.audits.tables.partitions import PartitionsTable
from kafkalog_reader.report.partition_json import SCHEMA_VERSION
from kafkalog_reader.report.plan_json import PLAN_SCHEMA_VERSION
from kafkalog_reader.report.quorum_json import QUORUM_SCHEMA_VERSION
from kafkalog_reader.report.report_data import REPORT_SCHEMA_VERSION
from kafkalog_reader.tables.replicas import ReplicasTable
from kafkalog_reader.tables.schemas.audits import GROUP_OUTCOME
from kafkalog_reader.tables.schemas.identity import IDENTITY

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kafkalog_reader.tables.table import AnyTable, Column

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
Schema = dict[str, Any]

_BOOLEAN: Final[Schema] = {"type": "boolean"}
_INTEGER: Final[Schema] = {"type": "integer"}
_TEXT: Final[Schema] = {"type": "string"}


def table_schema(table: AnyTable) -> Schema:
    """One line that ``kafkalog table NAME --format json`` prints with all columns."""
    return {
        "$schema": DIALECT,
        "title": f"kafkalog table {table.name} --format json",
        "description": f"{table.doc}. One object per line; --columns omits keys.",
        **_row(table.columns),
    }


def partition_schema() -> Schema:
    """One line that ``replica-diff --format json`` prints: a partition with all its replicas."""
    partition = _row(c for c in PartitionsTable.columns if c.name != "lastStableOffset")
    return {
        "$schema": DIALECT,
        "title": "replica-diff --format json",
        "description": "One object per partition, one per line. Offset ranges are half-open.",
        **_merged(
            partition,
            schemaVersion={"const": SCHEMA_VERSION},
            replicas=_list(_replica()),
            comparedVerdict=_or_null(_TEXT),
            reason=_or_null(_TEXT),
            quick=_BOOLEAN,
            comparedFrom=_or_null(_INTEGER),
            rules=_list(_TEXT),
            membership=_or_null(_MEMBERSHIP),
            notKnown=_list(_TEXT),
            ranges=_list(_RANGE),
            differences=_list(_DIFFERENCE),
            elections=_list(_ELECTION),
            actions=_list(_ACTION),
            findings=_list(_row(FindingsTable.columns)),
            **_ONLY_WITH_RECORDS,
        ),
    }


def plan_schema() -> Schema:
    """What ``kafkalog plan --format json`` prints: one procedure for all partitions."""
    lost = _object(_LOST)
    named = _object({"topic": _TEXT, "partition": _INTEGER})
    lost_range = {
        "brokers": _list(_INTEGER),
        **_named(_INTEGER, "firstOffset", "nextOffset"),
        "records": lost,
    }
    start = {
        "brokerId": _INTEGER,
        "outcome": _TEXT,
        **_named(_INTEGER, "firstOffset", "nextOffset", "records", "sizeInBytes"),
        **_named(_INTEGER, "maxInDamagedBatches", "maxInTornBatch"),
        "reason": _or_null(_TEXT),
    }
    choice = {
        "topic": _TEXT,
        **_named(_INTEGER, "partition", "leader"),
        **_named(
            _list(_INTEGER),
            "mayLead",
            "mustNotLead",
            "silentDivergence",
            "notSupplied",
            "withoutFolder",
            "inSyncNotSupplied",
            "retentionIfStartedLater",
        ),
        "electable": _or_null(_list(_INTEGER)),
        "personMustChoose": _BOOLEAN,
        "lost": lost,
        "lostRanges": _list(_object(lost_range)),
        "alternatives": _list(
            _object({"leader": _INTEGER, "lost": lost, "neverInSync": _list(_INTEGER)})
        ),
        "starts": _list(_object(start)),
    }
    election = {
        **_named(_TEXT, "type", "file"),
        "partitions": _list(named),
        "commands": _list(_TEXT),
    }
    reassigned = {
        "topic": _TEXT,
        "partition": _INTEGER,
        "replicas": _list(_INTEGER),
    }
    reassignment = {"file": _TEXT, "partitions": _list(_object(reassigned))}
    step = {
        "step": _INTEGER,
        **_named(_TEXT, "kind", "title"),
        **_named(_list(_TEXT), "texts", "commands"),
        "brokers": _list(_INTEGER),
        "checks": _list(_object({"command": _TEXT, "expected": _list(_TEXT)})),
        "election": _or_null(_object(election)),
        "reassignment": _or_null(_object(reassignment)),
        "file": _or_null(_object(_named(_TEXT, "path", "content"))),
        "lost": _list(_object({"topic": _TEXT, "partition": _INTEGER, **lost_range})),
    }
    replaced = {"topic": _TEXT, **_named(_INTEGER, "partition", "brokerId", "byBrokerId")}
    return {
        "$schema": DIALECT,
        "title": "kafkalog plan --format json",
        "description": "One object. Offset ranges are half-open.",
        **_object(
            {
                "schemaVersion": {"const": PLAN_SCHEMA_VERSION},
                "nothingToDo": _BOOLEAN,
                "brokers": _list(_INTEGER),
                "lost": lost,
                "startOrder": _list(_list(_INTEGER)),
                "replacedCopies": _list(_object(replaced)),
                "partitions": _list(_object(choice)),
                "unanswered": _list(
                    _object({**_named(_TEXT, "partition", "reason"), "outcome": _or_null(_TEXT)})
                ),
                "findings": _list(
                    _object(
                        _named(_TEXT, "code", "severity", "message")
                        | _named(_or_null(_TEXT), "partition", "logDirectory")
                    )
                ),
                "steps": _list(_object(step)),
            }
        ),
    }


def quorum_schema() -> Schema:
    """One line that ``kafkalog quorum --format json`` prints: the quorum of a cluster."""
    names = _list(_or_null(_INTEGER))
    lost = {
        **_named(_INTEGER, "firstOffset", "nextOffset"),
        "commitment": {"enum": [each.value for each in Commitment]},
        "copies": _list(_TEXT),
        "types": _list(_object({"type": _TEXT, "records": _INTEGER})),
        "changes": _list(_object({"offset": _INTEGER, "text": _TEXT})),
    }
    cut = {"nodeId": _or_null(_INTEGER), **_named(_INTEGER, "logEndOffset", "truncationOffset")}
    election = {
        "nodeId": _or_null(_INTEGER),
        "canWin": _BOOLEAN,
        "votes": names,
        "votesNeeded": _INTEGER,
        "cut": _list(_object(cut)),
        "lost": _list(_object(lost)),
    }
    state = {
        **_named(_INTEGER, "version", "leaderEpoch"),
        **_named(_or_null(_INTEGER), "leaderId", "votedId"),
        "votedDirectoryId": _or_null(_TEXT),
    }
    copy = {
        "name": _TEXT,
        "nodeId": _or_null(_INTEGER),
        "directoryId": _or_null(_TEXT),
        "path": _TEXT,
        "isVoter": _BOOLEAN,
        "refusal": _or_null(_TEXT),
        "isMissing": _BOOLEAN,
        "namedAsLeaderBy": names,
        "damage": _or_null(_TEXT),
        **_named(_INTEGER, "logStartOffset", "logEndOffset", "lastLeaderEpoch"),
        **_named(_or_null(_INTEGER), "snapshotEndOffset", "snapshotLeaderEpoch"),
        "kraftVersion": _INTEGER,
        "voters": _or_null(_list(_INTEGER)),
        "quorumState": _or_null(_object(state)),
    }
    voter = {
        "nodeId": _INTEGER,
        "directoryId": _or_null(_TEXT),
        "endpoints": _list(_TEXT),
        "isSupplied": _BOOLEAN,
    }
    parting = {
        "copies": _list(_TEXT),
        "offset": _INTEGER,
        **_named(_BOOLEAN, "isFork", "isConflict", "isCompared"),
    }
    sources = [each.value for each in VoterSource]
    return {
        "$schema": DIALECT,
        "title": "kafkalog quorum --format json",
        "description": "One object per cluster, one per line. Offset ranges are half-open; of the "
        f"changes of a range, the first {MAX_CHANGES:,} are described.",
        **_object(
            {
                "schemaVersion": {"const": QUORUM_SCHEMA_VERSION},
                "clusterId": _or_null(_TEXT),
                "verdict": {"enum": [each.value for each in Verdict]},
                "majority": _or_null(_INTEGER),
                "votersSource": {"enum": [*sources, None]},
                "votersOffset": _or_null(_INTEGER),
                "voters": _list(_object(voter)),
                **_named(_or_null(_INTEGER), "committedBelow", "notCommittedFrom"),
                "votersWithUnknownLog": _INTEGER,
                "copies": _list(_object(copy)),
                "unread": _list(_object(_named(_TEXT, "path", "problem"))),
                "partings": _list(_object(parting)),
                "elections": _list(_object(election)),
                **_named(names, "startFirst", "neededButStop"),
                "steps": _list(_object({"text": _TEXT, "commands": _list(_TEXT)})),
            }
        ),
    }


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
        **_named(_TEXT, "command", "createdAt"),
        "interrupted": _or_null(_TEXT),
        "logDirectories": _list(
            _object(
                {
                    "path": _TEXT,
                    "clusterId": _or_null(_TEXT),
                    "brokerId": _or_null(_INTEGER),
                    **_named(_INTEGER, "files", "sizeInBytes"),
                }
            )
        ),
        "changedWhileRead": _list(_TEXT),
        "files": _list(
            _object({"path": _TEXT, "sizeInBytes": _INTEGER, "sha256": _or_null(_TEXT)})
        ),
    }
    lists = ("groups", "openTransactions", "timeline")
    return {
        "$schema": DIALECT,
        "title": "kafkalog report --extract",
        "description": "One object. Offset ranges are half-open; leftOut counts what is missing in "
        "a list.",
        **_object(
            {
                "schemaVersion": {"const": REPORT_SCHEMA_VERSION},
                **_named(_TEXT, "kafkalogVersion", "verdict"),
                "exitStatus": _INTEGER,
                **_named(_list(_TEXT), "summary", "firstSteps"),
                "notKnown": _list(
                    _object({"text": _TEXT, "partitions": _INTEGER, "first": _list(_TEXT)})
                ),
                "directoryFindings": _list(_row(FindingsTable.columns)),
                "groups": _list(_row(groups)),
                "openTransactions": _list(_row(transactions)),
                "timeline": _list(_row(timeline)),
                "leftOut": _object(_named(_INTEGER, "partitions", *lists, "files", "notKnown")),
                "provenance": _object(provenance),
                "partitions": _list(partition),
            }
        ),
    }


def changes_schema() -> Schema:
    """One line that ``kafkalog changes --format json`` prints: a range of offsets."""
    return {
        "$schema": DIALECT,
        "title": "kafkalog changes --format json",
        "description": "One object per range of offsets, one per line. Offsets are half-open.",
        **_object(
            {
                "topic": _TEXT,
                "partition": _INTEGER,
                "kind": {"enum": [kind.value for kind in ChangeKind]},
                **_named(_or_null(_INTEGER), "firstOffset", "nextOffset", "records"),
                "detail": _or_null(_TEXT),
            }
        ),
    }


def group_schema(by: str, key: Iterable[str]) -> Schema:
    """One line that ``kafkalog ls --by`` prints as JSON: sums over the replicas of a group.

    Args:
        by: ``topic`` or ``broker``.
        key: columns of the table ``replicas`` that the replicas of a group have in common.
    """
    columns = {column.name: column for column in ReplicasTable.columns}
    sums = ("segments", "sizeInBytes", "filesSizeInBytes")
    return {
        "$schema": DIALECT,
        "title": f"kafkalog ls --by {by} --format json",
        "description": f"One object per {by}, one per line. Totals leave out what could not be "
        "read.",
        **_object(
            {
                **_row(columns[name] for name in key)["properties"],
                **_named(_INTEGER, "partitions", "brokers", "replicas", *sums),
            }
        ),
    }


def command_schema(command: str, what: str, columns: Iterable[Column]) -> Schema:
    """One line that a command prints with ``--format json``."""
    return {
        "$schema": DIALECT,
        "title": f"kafkalog {command} --format json",
        "description": f"{what}. One object per line.",
        **_row(columns),
    }


def _row(columns: Iterable[Column]) -> Schema:
    properties: dict[str, Schema] = {}
    for column in columns:
        about = f"{column.doc} [{column.unit}]" if column.unit else column.doc
        properties[column.name] = _or_null(_of_type(column.type)) | {"description": about}
    return _object(properties)


def _of_type(kind: pa.DataType) -> Schema:
    if pa.types.is_list(kind):
        return _list(_or_null(_of_type(kind.value_type)))
    if pa.types.is_struct(kind):
        return _object({field.name: _or_null(_of_type(field.type)) for field in kind})
    if pa.types.is_floating(kind):
        return {"type": "number"}
    if pa.types.is_integer(kind):
        return _INTEGER
    if pa.types.is_boolean(kind):
        return _BOOLEAN
    return _TEXT  # binary values according to --render, timestamps as ISO 8601 in UTC


def _object(properties: dict[str, Schema], *, optional: Iterable[str] = ()) -> Schema:
    left_out = set(optional)
    return {
        "type": "object",
        "properties": properties,
        "required": [name for name in properties if name not in left_out],
        "additionalProperties": False,
    }


def _list(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def _or_null(schema: Schema) -> Schema:
    kind = schema.get("type")
    if isinstance(kind, str):
        return {**schema, "type": [kind, "null"]}
    return {"anyOf": [schema, {"type": "null"}]}


def _merged(row: Schema, **more: Schema) -> Schema:
    return _object({**row["properties"], **more}, optional=_ONLY_WITH_RECORDS)


def _named(types: Schema, *names: str) -> dict[str, Schema]:
    return dict.fromkeys(names, types)


_ONLY_WITH_RECORDS: Final[dict[str, Schema]] = {
    "records": _list({"type": "object"}),
    "recordsAreAll": _BOOLEAN,
}
"""Keys that the option ``--records`` adds."""
_LOST: Final = _named(
    _INTEGER,
    "lostRecords",
    "lostCommittedRecords",
    "lostPossiblyCommittedRecords",
    "lostCommittedOnlyIfUnclean",
    "lostUncommittedRecords",
    "maxLostInDamagedBatches",
    "maxLostCommittedInDamagedBatches",
)
_EPOCH_ENTRIES: Final = _list(_object(_named(_INTEGER, "leaderEpoch", "startOffset")))
_MEMBERSHIP: Final = _object(
    {
        **_named(_or_null(_INTEGER), "leader", "leaderEpoch", "partitionEpoch"),
        **_named(_list(_INTEGER), "replicas", "isr", "elr", "lastKnownElr"),
        **_named(_or_null(_TEXT), "topicId", "source"),
        "sourceOffset": _or_null(_INTEGER),
    }
)
_RANGE: Final = _object(
    {
        "replicas": _list(_TEXT),
        **_named(_INTEGER, "firstOffset", "nextOffset"),
        "leaderEpochs": _list(_or_null(_INTEGER)),
        **_named(_or_null(_INTEGER), "batches", "records", "controlRecords", "sizeInBytes"),
        "isFork": _BOOLEAN,
    }
)
_DIFFERENCE: Final = _object(
    {
        "kind": _TEXT,
        **_named(_INTEGER, "firstOffset", "nextOffset"),
        **_named(_or_null(_INTEGER), "batches", "records"),
        "copies": _list(_list(_TEXT)),
        **_named(_list(_TEXT), "absentOn", "damagedOn"),
    }
)
_ACTION: Final = _object(
    {"action": _TEXT, "text": _TEXT, "commands": _list(_TEXT), "findings": _list(_TEXT)}
)
_ROUND: Final = _object(
    {
        "asked": _or_null(_INTEGER),
        "answer": _or_null(_object(_named(_INTEGER, "leaderEpoch", "nextOffset"))),
        "truncatedTo": _or_null(_INTEGER),
        "followerCache": _EPOCH_ENTRIES,
    }
)
_FOLLOWER: Final = _object(
    {
        "follower": _TEXT,
        "followerBrokerId": _or_null(_INTEGER),
        "followerLogEndOffset": _INTEGER,
        **_named(_or_null(_INTEGER), "truncationOffset", "keptUntil", "recordsCutAtStart"),
        "rule": _TEXT,
        "otherRules": _list(_object({"rule": _TEXT, "truncationOffset": _or_null(_INTEGER)})),
        "rounds": _INTEGER,
        "explained": _list(_ROUND),
        "outcome": _TEXT,
        "recordsCut": _or_null(_INTEGER),
        "silentDivergence": _or_null(_INTEGER),
        "needlessTruncation": _BOOLEAN,
    }
)
_LOST_RANGE: Final = _object(
    {"replicas": _list(_TEXT), **_named(_INTEGER, "firstOffset", "nextOffset"), **_LOST}
)
_ELECTION: Final = _object(
    {
        "rank": _INTEGER,
        "candidate": _TEXT,
        "candidateBrokerId": _or_null(_INTEGER),
        "electionKind": _TEXT,
        "cleanByMembership": _or_null(_BOOLEAN),
        **_named(_or_null(_BOOLEAN), "inIsr", "inElr", "controllerWouldElect", "needsUnclean"),
        "groups": _list(_row(GROUP_OUTCOME)),
        "leaderEpoch": _or_null(_INTEGER),
        "absentFollowers": _list(_TEXT),
        **_LOST,
        **_named(
            _INTEGER,
            "keptApartRecords",
            "keptApartCommittedRecords",
            "keptApartPossiblyCommittedRecords",
        ),
        "cutTransactions": _list(_INTEGER),
        **_named(_list(_LOST_RANGE), "lostRanges", "keptApartRanges"),
        "followers": _list(_FOLLOWER),
    }
)


def _replica() -> Schema:
    identity = _row(IDENTITY)["properties"]
    counts = (
        "logStartOffset",
        "logEndOffsetAfterStart",
        "recordsCut",
        "maxCutInDamagedBatches",
        "maxCutInTornBatch",
        "bytesCut",
    )
    start = _object(
        {
            **_named(_or_null(_TEXT), "outcome", "reason"),
            **_named(_or_null(_INTEGER), *counts),
            "leaderEpochCheckpoint": _or_null(_EPOCH_ENTRIES),
        },
        optional=(*counts, "leaderEpochCheckpoint"),
    )
    return _object(
        {
            **identity,
            "name": _TEXT,
            "topicId": _or_null(_TEXT),
            "cleanShutdown": _or_null(_BOOLEAN),
            **_named(_INTEGER, "logStartOffset", "logEndOffset"),
            **_named(
                _or_null(_INTEGER),
                "checkpointedHighWatermark",
                "highWatermarkLow",
                "highWatermarkHigh",
                "supersededAt",
                "lastLeaderEpoch",
            ),
            "leaderEpochs": _list(
                _object(
                    {
                        "leaderEpoch": _or_null(_INTEGER),
                        **_named(_INTEGER, "firstOffset", "nextOffset"),
                    }
                )
            ),
            "leaderEpochCheckpoint": _EPOCH_ENTRIES,
            **_named(_INTEGER, "batches", "sizeInBytes"),
            "start": _or_null(start),
            "setAside": _or_null(_TEXT),
        }
    )
