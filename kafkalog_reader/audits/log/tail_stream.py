"""Reads only the ends of logs, from where they may differ: ``--quick``."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from kafkalog_reader.audits.log.batch_stream import BatchStream
from kafkalog_reader.audits.log.lineage import declared_lineage, lineage_fork
from kafkalog_reader.errors import LocatedError
from kafkalog_reader.scan.log_tail import batch_starts_at, scan_tail
from kafkalog_reader.scan.sparse_index import SparseIndex

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kafkalog_reader.audits.log.replica import Replica
    from kafkalog_reader.io.directories import PartitionDirectory
    from kafkalog_reader.io.segment_files import SegmentFiles


class TailStream(BatchStream):
    """A cursor that begins in the middle of a segment, at a position from its offset index."""

    def _start_of(self, segment: SegmentFiles) -> int:
        """The position of a batch at or below the log start; 0 if the index has none."""
        if segment.offset_index_size is None:
            return 0
        try:
            with SparseIndex(segment, context=self.context) as index:
                number = index.last_below_offset(self._log_start_offset)
                position = 0 if number < 0 else index[number][1]
        except LocatedError:
            return 0
        if position and batch_starts_at(segment, position, context=self.context):
            return position
        return 0


def tail_end(directory: PartitionDirectory) -> int:
    """The log end, from its last segment alone.

    Raises:
        UnreadableFileError: a file cannot be opened or read.
    """
    return scan_tail(directory).next_offset


def first_compared(replicas: Sequence[Replica]) -> int:
    """The offset from which ``--quick`` compares content.

    It is one offset before the end of the shortest log, or before the first offset at which the
    epoch checkpoints differ, so that one batch is read that should be equal. If a file cannot be
    read, everything is compared, which reports the reason.
    """
    try:
        ends = [scan_tail(replica.directory).next_offset for replica in replicas]
    except LocatedError:
        return 0
    declared = [
        declared_lineage(replica.cache, replica.log_start_offset, end)
        for replica, end in zip(replicas, ends, strict=True)
    ]
    spans = list(zip(replicas, ends, declared, strict=True))
    borders = [end for replica, end, _ in spans if end > replica.log_start_offset]
    for (one, one_end, left), (other, other_end, right) in combinations(spans, 2):
        first = max(one.log_start_offset, other.log_start_offset)
        borders.append(lineage_fork(left, right, first, min(one_end, other_end)).offset)
    return max(0, min(borders, default=0) - 1)
