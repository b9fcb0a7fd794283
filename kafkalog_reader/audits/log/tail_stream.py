"""The quick look: only the ends of the logs are read, from where they may differ."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from kafkalog_reader.audits.log.batch_stream import BatchStream
from kafkalog_reader.audits.log.lineage import declared_lineage, lineage_fork
from kafkalog_reader.errors import LocatedError
from kafkalog_reader.scan.log_tail import batch_starts_at, scan_tail
from kafkalog_reader.scan.resynchronisation import ResynchronisedScan
from kafkalog_reader.scan.sparse_index import SparseIndex

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kafkalog_reader.audits.log.replica import Replica
    from kafkalog_reader.io.evidence import PartitionDirectory, SegmentFiles


class TailStream(BatchStream):
    """A cursor that begins in the middle of a segment, where its offset index says so."""

    def _scan(self, segment: SegmentFiles) -> ResynchronisedScan:
        return ResynchronisedScan(
            segment,
            self._start_of(segment),
            progress=self._progress,
            window_size=self._window_size,
            follow_links=self._follow_links,
        )

    def _start_of(self, segment: SegmentFiles) -> int:
        """A batch border at or below the log start; 0 where the index leads to none."""
        if segment.offset_index_size is None:
            return 0
        try:
            with SparseIndex(segment, follow_links=self._follow_links) as index:
                number = index.last_below_offset(self._log_start_offset)
                position = 0 if number < 0 else index[number][1]
        except LocatedError:
            return 0
        if position and batch_starts_at(segment, position, follow_links=self._follow_links):
            return position
        return 0


def tail_end(directory: PartitionDirectory) -> int:
    """Where the log ends, by its last segment alone.

    Raises:
        UnreadableFileError: a file cannot be opened or read.
    """
    return scan_tail(directory).next_offset


def first_compared(replicas: Sequence[Replica]) -> int:
    """The offset from which a quick look compares content.

    Below the shortest log and below the first offset at which the epoch checkpoints disagree, and
    one offset before, so that a batch is seen that should be the same. Everything is compared where
    a file cannot be read: reading it again reports why.
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
