"""How a transaction ended in other partitions, by the markers that their logs still have."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kafkalog_reader.decode.control_type import ABORT, COMMIT, control_types
from kafkalog_reader.errors import LocatedError
from kafkalog_reader.format.batch_fields import CONTROL_BIT
from kafkalog_reader.io.names import INTERNAL_TOPICS
from kafkalog_reader.io.progress import no_progress
from kafkalog_reader.scan.damage import Mode
from kafkalog_reader.tables.request import ReadRequest
from kafkalog_reader.tables.segment_batches import SegmentBatches
from kafkalog_reader.tables.segment_unit import whole_segments
from kafkalog_reader.tables.time_index_end import last_timestamp

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from kafkalog_reader.io.directories import Identity, PartitionDirectory
    from kafkalog_reader.io.evidence import Evidence


class Marker(NamedTuple):
    """A commit or abort marker, and where it is; ``time`` is its broker's, in milliseconds."""

    topic: str
    partition: int
    offset: int
    is_commit: bool
    producer_id: int
    producer_epoch: int
    time: int


def sibling_markers(
    evidence: Evidence, identity: Identity, producer_id: int, producer_epoch: int, since: int
) -> Iterator[Marker]:
    """Yield the markers that a producer's transaction has in other partitions of the cluster.

    Every log is read from the segments on that may be as new as the transaction: for the rare
    transaction that hangs.

    Args:
        evidence: where the logs are.
        identity: the cluster and partition of the transaction.
        producer_id: of its batches.
        producer_epoch: of its batches; markers of transactions version 2 have the next one.
        since: its first timestamp, in milliseconds; older markers are of earlier transactions.
    """
    cluster_id = identity[0]
    request = ReadRequest(excluded_topics=INTERNAL_TOPICS)
    for place, replicas in evidence.topic_partitions(request):
        if place == identity or place[0] != cluster_id or place[1] is None:
            continue
        for directory in replicas[:1]:
            try:
                yield from markers_in(directory, (producer_id,), producer_epoch, since)
            except LocatedError:  # has its own finding
                continue


def markers_in(
    directory: PartitionDirectory, producer_ids: Collection[int], producer_epoch: int, since: int
) -> Iterator[Marker]:
    """Yield the markers of some producers in one partition, in log order.

    Args:
        directory: the copy that is read.
        producer_ids: of the markers.
        producer_epoch: the least that a marker has.
        since: the least time that a marker has, in milliseconds.

    Raises:
        LocatedError: a file cannot be read.
    """
    wanted = np.array(sorted(producer_ids), np.int64)
    for segment_slice in whole_segments(directory, live_only=True):
        newest = last_timestamp(segment_slice.segment, context=directory.context)
        if segment_slice.segment.log_size is None or 0 < newest < since:
            continue
        scan = SegmentBatches(
            segment_slice, Mode.DROPMALFORMED, no_progress, check_crc=False, is_end_known=True
        )
        for run in scan:
            rows = np.flatnonzero(
                np.isin(run.producer_id, wanted)
                & (run.producer_epoch >= producer_epoch)
                & (run.attributes & CONTROL_BIT != 0)
                & (run.max_timestamp >= since)
            )
            for row, kind in zip(rows.tolist(), control_types(run, rows).tolist(), strict=True):
                if kind in (ABORT, COMMIT):
                    yield Marker(
                        directory.topic or "", directory.partition or 0,
                        int(run.base_offset[row]), kind == COMMIT, int(run.producer_id[row]),
                        int(run.producer_epoch[row]), int(run.max_timestamp[row]),
                    )  # fmt: skip
