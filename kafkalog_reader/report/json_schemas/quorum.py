"""What ``kafkalog quorum`` prints."""

from __future__ import annotations

from kafkalog_reader.audits.quorum.commitment import Commitment
from kafkalog_reader.audits.quorum.lost_records import MAX_CHANGES
from kafkalog_reader.audits.quorum.outcome import Verdict
from kafkalog_reader.audits.quorum.voter_set import VoterSource
from kafkalog_reader.report.json_schemas.parts import (
    BOOLEAN,
    DIALECT,
    INTEGER,
    TEXT,
    Schema,
    list_of,
    object_of,
    or_null,
    typed,
)
from kafkalog_reader.report.quorum_json import QUORUM_SCHEMA_VERSION


def quorum_schema() -> Schema:
    """One line that ``kafkalog quorum --format json`` prints: the quorum of a cluster."""
    names = list_of(or_null(INTEGER))
    lost = {
        **typed(INTEGER, "firstOffset", "nextOffset"),
        "commitment": {"enum": [each.value for each in Commitment]},
        "copies": list_of(TEXT),
        "types": list_of(object_of({"type": TEXT, "records": INTEGER})),
        "changes": list_of(object_of({"offset": INTEGER, "text": TEXT})),
    }
    cut = {"nodeId": or_null(INTEGER), **typed(INTEGER, "logEndOffset", "truncationOffset")}
    election = {
        "nodeId": or_null(INTEGER),
        "canWin": BOOLEAN,
        "votes": names,
        "votesNeeded": INTEGER,
        "cut": list_of(object_of(cut)),
        "lost": list_of(object_of(lost)),
    }
    state = {
        **typed(INTEGER, "version", "leaderEpoch"),
        **typed(or_null(INTEGER), "leaderId", "votedId"),
        "votedDirectoryId": or_null(TEXT),
    }
    topic = {"topic": TEXT, "topicId": TEXT, "brokers": list_of(INTEGER)}
    copy = {
        "name": TEXT,
        "nodeId": or_null(INTEGER),
        "directoryId": or_null(TEXT),
        "path": TEXT,
        "isVoter": BOOLEAN,
        "refusal": or_null(TEXT),
        "isMissing": BOOLEAN,
        "namedAsLeaderBy": names,
        "damage": or_null(TEXT),
        "snapshotProblem": or_null(TEXT),
        "loadsLess": BOOLEAN,
        "misplaced": or_null(TEXT),
        "mustNotLead": or_null(list_of(object_of(topic))),
        "neverNamed": or_null(list_of(object_of(topic))),
        "wentBack": or_null(TEXT),
        **typed(INTEGER, "logStartOffset", "logEndOffset", "lastLeaderEpoch"),
        **typed(or_null(INTEGER), "snapshotEndOffset", "snapshotLeaderEpoch"),
        "kraftVersion": INTEGER,
        "voters": or_null(list_of(INTEGER)),
        "quorumState": or_null(object_of(state)),
    }
    voter = {
        "nodeId": INTEGER,
        "directoryId": or_null(TEXT),
        "endpoints": list_of(TEXT),
        "isSupplied": BOOLEAN,
    }
    parting = {
        "copies": list_of(TEXT),
        "offset": INTEGER,
        **typed(BOOLEAN, "isFork", "isConflict", "isCompared"),
    }
    tail = {"nodeId": or_null(INTEGER), **typed(INTEGER, "firstOffset", "nextOffset")}
    sources = [each.value for each in VoterSource]
    return {
        "$schema": DIALECT,
        "title": "kafkalog quorum --format json",
        "description": "One object per cluster, one per line. Offset ranges are half-open; of the "
        f"changes of a range, the first {MAX_CHANGES:,} are described.",
        **object_of(
            {
                "schemaVersion": {"const": QUORUM_SCHEMA_VERSION},
                "clusterId": or_null(TEXT),
                "verdict": {"enum": [each.value for each in Verdict]},
                "majority": or_null(INTEGER),
                "votersSource": {"enum": [*sources, None]},
                "votersOffset": or_null(INTEGER),
                "voters": list_of(object_of(voter)),
                **typed(or_null(INTEGER), "committedBelow", "notCommittedFrom"),
                "votersWithUnknownLog": INTEGER,
                "lostEnd": or_null(TEXT),
                "copies": list_of(object_of(copy)),
                "unread": list_of(object_of(typed(TEXT, "path", "problem"))),
                "partings": list_of(object_of(parting)),
                "cutTails": list_of(object_of(tail)),
                "elections": list_of(object_of(election)),
                **typed(names, "startFirst", "neededButStop"),
                "steps": list_of(object_of({"text": TEXT, "commands": list_of(TEXT)})),
            }
        ),
    }
