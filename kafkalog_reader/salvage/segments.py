"""A replica's readable batches as a partition directory that a broker can load.

The receiver decides what becomes of them: the log either returns to the place of its copies and
keeps them, or goes to another cluster.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kafkalog_reader.errors import UnreadableFileError
from kafkalog_reader.format.checkpoint import build_leader_epoch_checkpoint
from kafkalog_reader.format.index_entries import TRANSACTION_INDEX_ENTRY
from kafkalog_reader.format.partition_metadata import PartitionMetadata, build_partition_metadata
from kafkalog_reader.format.producer_snapshot import build_producer_snapshot
from kafkalog_reader.io.names import LEADER_EPOCHS, PARTITION_METADATA, segment_file_name
from kafkalog_reader.io.partition_directory import segments
from kafkalog_reader.io.progress import no_progress
from kafkalog_reader.salvage.counts import record_counts, records_below
from kafkalog_reader.salvage.left_out import NotedDamage
from kafkalog_reader.salvage.parquet import divided
from kafkalog_reader.salvage.receiver import NO_TOPIC_ID
from kafkalog_reader.salvage.segment_file import MAX_INT, SegmentFile
from kafkalog_reader.salvage.standalone_log import StandaloneLog
from kafkalog_reader.salvage.unchanged_log import UnchangedLog
from kafkalog_reader.tables.index_file import read_entries

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from kafkalog_reader.io.directories import PartitionDirectory
    from kafkalog_reader.salvage.manifest import SalvagedPartition
    from kafkalog_reader.salvage.parquet import DoubtfulPart
    from kafkalog_reader.salvage.readable_batches import ReadableBatches, ReadableRun
    from kafkalog_reader.salvage.receiver import Receiver
    from kafkalog_reader.salvage.survey import Survey
    from kafkalog_reader.scan.batch_run import BatchRun
    from kafkalog_reader.scan.damage import Damage


def write_segments(
    salvaged: SalvagedPartition,
    receiver: Receiver,
    source: ReadableBatches,
    found: Survey,
    folder: Path,
    doubtful: DoubtfulPart,
) -> None:
    """Write what can be read of one replica into ``folder``; ``salvaged`` is filled in."""
    copy = LogCopy(salvaged, [salvaged.directory], receiver, found, folder)
    for readable in source.read(no_progress, NotedDamage.silent()):
        rows = divided(readable, source, found, salvaged, doubtful)
        copy.add(readable, rows, readable.segment_slice.segment.base_offset)
    copy.finish()


def learn_lost_aborts(directory: PartitionDirectory, found: Survey, damage: Damage) -> None:
    """If damage hides an abort marker, the transaction index still has its content."""
    for segment in segments(directory):
        if not segment.transaction_index_size:
            continue
        try:
            for _, entries in read_entries(
                segment.path("txnindex"), TRANSACTION_INDEX_ENTRY, no_progress, directory.context
            ):
                known = entries[entries["version"] == 0]
                markers = zip(
                    known["producer_id"].tolist(), known["last_offset"].tolist(), strict=True
                )
                for producer_id, offset in markers:
                    if found.read.lacks(offset):
                        found.outcomes.abort(producer_id, offset)
        except UnreadableFileError as error:
            damage.left_out(error)


class LogCopy:
    """Copies batches into segments, one for one, unless the offsets of a segment span too much.

    Args:
        salvaged: filled in.
        copies: whose batches these are.
        receiver: the cluster that takes the log over.
        found: how transactions ended; later markers are ignored.
        folder: the partition directory.
    """

    def __init__(
        self,
        salvaged: SalvagedPartition,
        copies: Sequence[PartitionDirectory],
        receiver: Receiver,
        found: Survey,
        folder: Path,
    ) -> None:
        found.outcomes.settle()
        self.bases: list[int] = []
        self._salvaged = salvaged
        self._topic_id = receiver.topic_id(salvaged.directory)
        self._log: StandaloneLog | UnchangedLog = (
            UnchangedLog(copies, found.outcomes.lost_aborts)
            if receiver.is_in_place(salvaged.directory)
            else StandaloneLog(receiver.leader_epoch or 0, found.outcomes, salvaged.counts.left_out)
        )
        salvaged.is_in_place = self._log.is_in_place
        self._folder = folder
        self._segment: SegmentFile | None = None
        self._source_base: int | None = None
        self._base_due: int | None = None
        self._keeps_bases = self._log.is_in_place and found.may_be_cleaned

    def add(self, readable: ReadableRun, rows: NDArray[np.intp], source_base: int) -> None:
        """Copy the batches to keep of a run; all belong to one source segment."""
        if source_base != self._source_base:
            self._roll()
            self._source_base = source_base
            self._base_due = source_base if self._keeps_bases else None
        if not len(rows):
            return
        run = readable.run.taken(rows)
        counts = record_counts(readable)[rows]
        is_kept = self._log.kept(run, counts)
        kept = run.taken(np.flatnonzero(is_kept))
        counts = counts[is_kept]
        self._salvaged.records += int(counts.sum())
        self._salvaged.counts.kept.add(kept.count, int(counts.sum()))
        self._salvaged.deleted_records += records_below(
            kept, self._salvaged.log_start, readable.segment_slice
        )
        while kept.count:
            if self._segment is None:
                self._begin_segment(kept)
                assert self._segment is not None
            room = self._segment.room_for(kept.last_offset, kept.size_in_bytes.astype(np.int64))
            if room:
                self._append(kept.taken(slice(0, room)))
                kept = kept.taken(slice(room, None))
            if kept.count:
                self._roll()

    def finish(self) -> None:
        """Close the last segment, and write the small files."""
        self._roll()
        if self._salvaged.offsets.first is not None:
            self._write_small_files()
        self._salvaged.notes.update(self._log.notes())

    def _begin_segment(self, batches: BatchRun) -> None:
        base_offset = self._base_of(batches)
        self._segment = SegmentFile(self._folder, base_offset)
        if self.bases:
            self._write_snapshot(base_offset)
        self.bases.append(base_offset)

    def _base_of(self, batches: BatchRun) -> int:
        """Of the segment that begins with these: where compaction left a gap, as in its source."""
        first, due = int(batches.base_offset[0]), self._base_due
        self._base_due = None
        if due is None or int(batches.last_offset[0]) - due > MAX_INT:
            return first
        reached = -1 if self._salvaged.offsets.last is None else self._salvaged.offsets.last
        return max(due, reached + 1, min(self._salvaged.log_start, first))

    def _append(self, run: BatchRun) -> None:
        assert self._segment is not None
        content = self._log.content(run)
        sizes = run.size_in_bytes.astype(np.int64)
        self._segment.append(content, sizes, run.last_offset, run.max_timestamp)
        self._salvaged.offsets.add(run.base_offset, run.last_offset)

    def _roll(self) -> None:
        if self._segment is not None:
            self._segment.close()
            self._salvaged.files += self._segment.names
        self._segment = None

    def _write_small_files(self) -> None:
        last = self._salvaged.offsets.last
        assert last is not None
        for base, index in self._log.transaction_indexes(self.bases):
            self._write(segment_file_name(base, "txnindex"), index)
        epochs = self._log.leader_epochs(self.bases[0])
        self._write(LEADER_EPOCHS, build_leader_epoch_checkpoint(epochs))
        if self._topic_id != NO_TOPIC_ID:
            metadata = PartitionMetadata(version=0, topic_id=self._topic_id)
            self._write(PARTITION_METADATA, build_partition_metadata(metadata))
        # Without one at the log end a broker would replay the log after a clean stop.
        self._write_snapshot(last + 1)

    def _write_snapshot(self, offset: int) -> None:
        content = build_producer_snapshot(self._log.producers(offset))
        self._write(f"{offset:020d}.snapshot", content)

    def _write(self, name: str, content: bytes) -> None:
        (self._folder / name).write_bytes(content)
        self._salvaged.files.append(name)
