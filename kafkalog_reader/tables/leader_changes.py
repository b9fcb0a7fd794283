"""Who led the metadata quorum: each leader begins its epoch with a control record.

Source: Kafka 4.4, LeaderChangeMessage.json: a version of two bytes, then the id of the leader.
"""

from __future__ import annotations

import struct
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import pyarrow.compute as pc

from kafkalog_reader.io.names import METADATA_TOPIC
from kafkalog_reader.io.progress import no_progress
from kafkalog_reader.tables.chosen_replicas import chosen_replicas
from kafkalog_reader.tables.internal_topic import log_request, plain_rows, record_schema
from kafkalog_reader.tables.log_unit import slices_of
from kafkalog_reader.tables.record_rows import read_slice

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kafkalog_reader.io.evidence import Evidence
    from kafkalog_reader.tables.request import ReadRequest

_LEADER_CHANGE: Final = "LEADER_CHANGE"
_MESSAGE: Final = struct.Struct(">hi")
_SCHEMA: Final = record_schema(
    ("clusterId", "offset", "timestamp", "leaderEpoch", "controlType", "value")
)


def leader_changes(evidence: Evidence, request: ReadRequest) -> Iterator[dict[str, Any]]:
    """Yield the elections of each cluster's metadata quorum, from the best copy of its log.

    Each has ``clusterId``, ``offset``, ``timestamp`` (microseconds or None), ``leaderEpoch`` and
    ``leader``, the node id.

    Raises:
        LocatedError: damage, in mode ``FAILFAST``.
        UnreadableFileError: a file cannot be opened or read.
    """
    log = replace(log_request(request, METADATA_TOPIC), include_control_records=True)
    for directory in chosen_replicas(evidence, log):
        for segment_slice in slices_of(directory, log, log.damage):
            for rows in read_slice(segment_slice, _SCHEMA, log, log.damage, no_progress):
                changes = rows.filter(pc.equal(rows["controlType"], _LEADER_CHANGE))
                for row in plain_rows(changes):
                    value = row.pop("value") or b""
                    if len(value) >= _MESSAGE.size:
                        _version, leader = _MESSAGE.unpack_from(value)
                        yield row | {"leader": leader}
