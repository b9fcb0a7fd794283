"""Which copies are of an earlier moment, because brokers ran while they were copied one by one.

Every node of a KRaft cluster appends to its copy of the metadata log twice a second, and flushes
it. So its last timestamp is the moment of which the files of that node are, whatever the file times
say. A copy that ends where others go on is complete as of its moment if the first record that it
lacks was written then or later. A broker that lost power lost older records: its metadata log goes
on. Before release 3.3 idle controllers append nothing, and only file times can show it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from kafkalog_reader.errors import LocatedError
from kafkalog_reader.io.names import METADATA_TOPIC
from kafkalog_reader.io.partition_directory import segments
from kafkalog_reader.scan.damage import Damage, Mode
from kafkalog_reader.scan.log_tail import scan_tail
from kafkalog_reader.scan.scan import CHAIN_OF_HEADERS, Scan
from kafkalog_reader.tables.log_unit import slices_of
from kafkalog_reader.tables.record_rows import read_slice
from kafkalog_reader.tables.records import RecordsTable
from kafkalog_reader.tables.request import ReadRequest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kafkalog_reader.audits.comparison.committed import History
    from kafkalog_reader.audits.log.replica import Replica
    from kafkalog_reader.io.directories import PartitionDirectory
    from kafkalog_reader.io.evidence import Evidence

MAX_APART_MS: Final = 30_000
"""Between the moments of two copies: one that is older may as well be of a restored disk."""
_ONE_COPY_MS: Final = 5_000
"""How long it may take to copy one node, whose partitions come before or after its metadata."""
_IDLE_MS: Final = 500
"""Moments of nodes that stopped together differ by that: ``metadata.max.idle.interval.ms``."""
_METADATA: Final = ReadRequest(topics=frozenset({METADATA_TOPIC}))
_COLUMNS: Final = ("timestamp",)

Moments = dict[tuple[str | None, int], int]
"""By cluster id and node id, the last timestamp of the metadata log, in milliseconds."""


def metadata_moments(evidence: Evidence) -> Moments:
    """The moment of each node, of clusters whose nodes ran while they were copied one by one.

    A node that was shut down cleanly did not run.
    """
    found: Moments = {}
    for copy in evidence.partition_directories(_METADATA):
        root = copy.log_directory
        if not copy.is_replica or root.broker_id is None or root.clean_shutdown:
            continue
        moment = _last_timestamp(copy)
        if moment is not None:
            found[root.cluster_id, root.broker_id] = moment
    spans = {cluster: _span(cluster, found) for cluster, _ in found}
    return {place: moment for place, moment in found.items() if spans[place[0]] > _IDLE_MS}


def _span(cluster_id: str | None, moments: Moments) -> int:
    of_cluster = [moment for (cluster, _), moment in moments.items() if cluster == cluster_id]
    return max(of_cluster) - min(of_cluster)


def _last_timestamp(copy: PartitionDirectory) -> int | None:
    try:
        tail = scan_tail(copy)
        if tail.last_position is None:
            return None
        last = [each for each in segments(copy) if each.log_size is not None][-1]
        scan = Scan(
            last,
            CHAIN_OF_HEADERS,
            tail.last_position,
            tail.end_position,
            context=copy.context,
        )
        return max((int(np.max(run.max_timestamp)) for run in scan.runs()), default=None)
    except LocatedError:  # has its own finding
        return None


def copied_earlier(histories: Mapping[Replica, History], moments: Moments) -> frozenset[Replica]:
    """The copies that lack only what was written after their moment, shortly before the longest's.

    Args:
        histories: of the copies of one partition.
        moments: see ``metadata_moments``.
    """
    if not moments or not histories:
        return frozenset()
    longest = max(histories, key=lambda each: histories[each].log_end_offset)
    end, latest = histories[longest].log_end_offset, moment_of(longest, moments)
    found = set()
    for replica, history in histories.items():
        moment = moment_of(replica, moments)
        if latest is None or moment is None or history.log_end_offset >= end:
            continue
        if latest <= moment:
            continue
        lacks_from = _timestamp_at(longest.directory, history.log_end_offset)
        if lacks_from is not None and is_after_copy(lacks_from, moment):
            found.add(replica)
    return frozenset(found)


def moment_of(replica: Replica, moments: Moments) -> int | None:
    """The moment of a copy, if its node ran while it was copied, and not long before the others."""
    root = replica.directory.log_directory
    return None if root.broker_id is None else node_moment(root.cluster_id, root.broker_id, moments)


def node_moment(cluster_id: str | None, node_id: int, moments: Moments) -> int | None:
    """The same of a node."""
    moment = moments.get((cluster_id, node_id))
    latest = max(
        (each for (cluster, _), each in moments.items() if cluster == cluster_id), default=0
    )
    return moment if moment is not None and latest - moment <= MAX_APART_MS else None


def is_after_copy(timestamp: int, moment: int) -> bool:
    """Whether something was written when a node of some moment may have been copied already."""
    return timestamp >= moment - _ONE_COPY_MS


def _timestamp_at(directory: PartitionDirectory, offset: int) -> int | None:
    """The timestamp of the first record from an offset on, in milliseconds."""
    request = ReadRequest(columns=_COLUMNS, from_offset=offset, include_control_records=True)
    schema = RecordsTable().projected(request)
    try:
        for part in slices_of(directory, request):
            for rows in read_slice(part, schema, request, Damage(Mode.FAILFAST)):
                for stamp in rows["timestamp"].cast("int64").to_pylist():
                    return None if stamp is None else int(stamp) // 1000
    except LocatedError:  # has its own finding
        return None
    return None
