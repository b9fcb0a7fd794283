"""A cursor over the record batches of one replica, in windows of columns.

It also collects the lineage, the places where scans stopped, and offsets that fall.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import zip_longest
from typing import TYPE_CHECKING

import numpy as np

from kafkalog_reader.audits.log.batch_place import BatchPlace
from kafkalog_reader.audits.log.first_message import offset_inside_first
from kafkalog_reader.audits.log.lineage import LineageBuilder
from kafkalog_reader.audits.log.offset_falls import OffsetFalls
from kafkalog_reader.audits.log.read_segment import ReadSegment
from kafkalog_reader.audits.log.retry_duplicates import RetryWatch
from kafkalog_reader.audits.log.unknown_codecs import UnknownCodecs
from kafkalog_reader.errors import LogPosition, UnreadableFileError
from kafkalog_reader.format.batch_fields import (
    CONTROL_BIT,
    DELETE_HORIZON_BIT,
    TRANSACTIONAL_BIT,
)
from kafkalog_reader.io.names import shown
from kafkalog_reader.io.partition_directory import segments
from kafkalog_reader.io.progress import no_progress
from kafkalog_reader.scan.batch_run import BatchRun
from kafkalog_reader.scan.scan import Scan, ScanPolicy
from kafkalog_reader.scan.scan_end import ScanEnd
from kafkalog_reader.scan.unreadable_region import UnreadableRegion

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from kafkalog_reader.audits.log.replica import Replica
    from kafkalog_reader.io.directories import PartitionDirectory
    from kafkalog_reader.io.progress import Progress
    from kafkalog_reader.io.segment_files import SegmentFiles
    from kafkalog_reader.scan.segment_slice import SegmentSlice


class BatchStream:
    """A cursor over the batches of a replica that reach above its log start, in file order.

    Args:
        directory: the replica.
        log_start_offset: batches that end below it are skipped.
        window_size: bytes in memory, unless one batch is larger.
        columns_only: whether bytes are not needed for comparison, see ``ColumnScan``.
        progress: receives the number of bytes read.

    Attributes:
        run, index: the columns of the current window, and the current batch in it.
        read_segments: results for the segments that were read completely, by the path of the log
            file.
        next_offset: one past the last batch that was loaded; the log end once ``ended``.
        unsearched: number of damaged batches in the last loaded segment that were not searched for
            sound ones inside them, because of a limit on work.
        last_batch_timestamp: of the last batch, in milliseconds; None without batches.
        restored: number of batches whose base offset, which no checksum covers, was corrected.
        falls: batches that begin below the end of the one before.
        unknown_codecs: batches that no consumer can decompress.
        stops: stretches in which no batch could be read.
    """

    def __init__(
        self,
        directory: PartitionDirectory,
        log_start_offset: int = 0,
        *,
        window_size: int = 8 << 20,
        columns_only: bool = False,
        progress: Progress = no_progress,
    ) -> None:
        self.lineage = LineageBuilder()
        self.retries = RetryWatch()
        self.stops: list[UnreadableRegion] = []
        self.unsearched = 0
        self.falls = OffsetFalls()
        self.restored = 0
        self.unknown_codecs = UnknownCodecs()
        self.read_segments: dict[str, ReadSegment] = {}
        self.shows_cleaning = self.has_transactions = False
        self.first_offset: int | None = None
        self.last_batch_timestamp: int | None = None
        self.next_offset = 0
        self.size_in_bytes = 0
        self.batches = 0
        self.path = ""
        self.ended = False
        self._log_start_offset = log_start_offset
        self._policy = ScanPolicy(keep_bytes=not columns_only, window_size=window_size)
        self._progress = progress
        self._directory = directory
        self._segment: SegmentFiles
        self.context = directory.context
        self._segments = self._listed(directory)
        self._runs = self._load_segments()
        self._expected = 0
        self._restored_at = -1
        self.run: BatchRun
        self.crc_valid: NDArray[np.bool_]
        self.index = 0
        self._next_run()

    def _listed(self, directory: PartitionDirectory) -> list[SegmentFiles]:
        """The segments. A directory that cannot be listed is a problem, not an empty log."""
        try:
            return [s for s in segments(directory) if s.log_size is not None]
        except UnreadableFileError as error:
            self.stops.append(
                UnreadableRegion(
                    file=error.where.file,
                    start=0,
                    stop=0,
                    first_offset=None,
                    next_offset=None,
                    end=ScanEnd.REFUSED,
                    problem=error.problem,
                )
            )
            return []

    @property
    def base_offset(self) -> int:
        return int(self.run.base_offset[self.index])

    @property
    def last_offset(self) -> int:
        return int(self.run.last_offset[self.index])

    @property
    def leader_epoch(self) -> int:
        return int(self.run.leader_epoch[self.index])

    @property
    def expected_offset(self) -> int:
        """The base offset of the current batch in a log without gaps."""
        return int(self.run.last_offset[self.index - 1]) + 1 if self.index else self._expected

    @property
    def records(self) -> int:
        """Number of records in the current batch, as ``held_records`` counts them."""
        return int(self.run.held_records(slice(self.index, self.index + 1))[0])

    @property
    def is_intact(self) -> bool:
        """Whether the checksum of the current batch is valid."""
        return bool(self.crc_valid[self.index])

    @property
    def segment_slice(self) -> SegmentSlice:
        """The whole segment of the current window."""
        from kafkalog_reader.scan.segment_slice import SegmentSlice  # slow to import

        return SegmentSlice(
            directory=self._directory,
            segment=self._segment,
            start=0,
            stop=self._segment.log_size or 0,
            from_offset=self._segment.base_offset,
            to_offset=None,
            is_log_end=False,
        )

    @property
    def batch(self) -> memoryview:
        """The bytes of the current batch, valid until the cursor moves."""
        return self.bytes_of(1)

    def bytes_of(self, count: int, ahead: int = 0) -> memoryview:
        """The bytes of ``count`` batches of this window, counted from the current one."""
        run, first = self.run, self.index + ahead
        last = first + count - 1
        start = int(run.position[first]) - run.window_position
        stop = int(run.position[last]) + int(run.size_in_bytes[last]) - run.window_position
        return run.buffer[start:stop]

    def place(self, ahead: int = 0, intact_on: tuple[Replica, ...] = ()) -> BatchPlace:
        """The place of a batch in this window, counted from the current one."""
        run, index = self.run, self.index + ahead
        base_offset = int(run.base_offset[index])
        return BatchPlace(
            where=LogPosition(self.path, int(run.position[index]), base_offset),
            size_in_bytes=int(run.size_in_bytes[index]),
            next_offset=int(run.last_offset[index]) + 1,
            leader_epoch=int(run.leader_epoch[index]),
            records=int(run.held_records(slice(index, index + 1))[0]),
            crc=int(run.crc[index]),
            crc_computed=int(run.crc_computed[index]),
            magic=int(run.magic[index]),
            is_control=bool(int(run.attributes[index]) & CONTROL_BIT),
            intact_on=intact_on,
        )

    @property
    def left_in_window(self) -> int:
        return self.run.count - self.index

    def advance(self, count: int) -> None:
        """Move on by ``count`` batches, at most to the end of this window."""
        if self.step(count):
            self.load()

    def step(self, count: int) -> bool:
        """Move on inside this window; return whether ``load`` must follow."""
        self.index += count
        return self.index >= self.run.count

    def load(self) -> None:
        """Load the next window; streams of different replicas may do so at the same time."""
        self._next_run()

    @property
    def may_have_open_transaction(self) -> bool:
        """Whether a transaction may be open at the end."""
        return self.has_transactions

    @property
    def is_restored(self) -> bool:
        """Whether the base offset of the current batch was corrected."""
        return self._restored_at == self.index

    def restore(self, base_offset: int) -> None:
        """Correct the base offset of the current batch, without changing its bytes."""
        run, index = self.run, self.index
        stored_next = int(run.last_offset[index]) + 1
        run.move(index, base_offset)
        if index + 1 == run.count:
            known = 0 if self.next_offset == stored_next else self.next_offset
            self.next_offset = max(known, int(run.last_offset[index]) + 1)
        self.restored += 1
        self._restored_at = index
        for at in range(index, min(index + 2, run.count)):
            before = self.expected_offset if at == index else int(run.last_offset[index]) + 1
            self.falls.explain(at, is_explained=bool(run.base_offset[at] >= before))

    def hidden(self, offset: int) -> bool:
        """Whether an offset is after damage that ended the scan of its segment."""
        return any(
            stop.next_offset is not None and (stop.where.offset or 0) <= offset < stop.next_offset
            for stop in self.stops
        )

    def _next_run(self) -> None:
        self._restored_at = -1
        if self.batches:
            self._expected = int(self.run.last_offset[-1]) + 1
        for run in self._runs:
            self._learn(run)
            last = run.last_offset
            if run.is_row and last[0] >= self._log_start_offset:
                self.run, self.index, self.crc_valid = run, 0, run.crc_valid
                return
            reaching = (last >= self._log_start_offset) | (last < 0)  # negative offsets are wrong
            below = int(np.argmax(reaching))
            if reaching[below]:
                self.run, self.index = run, below
                self.crc_valid = run.crc_valid
                return
            self.run = run
            self._expected = int(run.last_offset[-1]) + 1
        self.ended = True
        if self._segments:  # an empty last segment shows where the log ends
            self.next_offset = max(self.next_offset, self._segments[-1].base_offset)

    def _learn(self, run: BatchRun) -> None:
        if self.batches == 0:
            self.first_offset = int(run.base_offset[0])
        self.falls.look(run, self.path, self.next_offset if self.batches else None)
        self.retries.look(run, self._segment.path("log"))
        self.last_batch_timestamp = int(run.max_timestamp[-1])
        attributes = run.summary.attributes
        self.unknown_codecs.look(run, self.path)
        self.has_transactions |= attributes & TRANSACTIONAL_BIT != 0
        self.shows_cleaning |= attributes & DELETE_HORIZON_BIT != 0
        if not (self.shows_cleaning or run.is_row):
            self.shows_cleaning = bool((run.records_count < run.last_offset_delta + 1).any())
        starts = run.leader_epoch_starts
        for start, stop in zip(starts, [*starts[1:], run.count], strict=True):
            self.lineage.add(
                int(run.leader_epoch[start]),
                int(run.base_offset[start]),
                int(run.last_offset[stop - 1]) + 1,
            )
        self.batches += run.count
        self.size_in_bytes += run.summary.size_in_bytes
        self.next_offset = max(self.next_offset, int(run.last_offset[-1]) + 1)

    def _load_segments(self) -> Iterator[BatchRun]:
        following = (segment.base_offset for segment in self._segments[1:])
        for segment, next_base in zip_longest(self._segments, following):
            if next_base is not None and (
                next_base <= self._log_start_offset or self._passes_by(segment)
            ):
                self._progress(segment.log_size or 0)
                continue
            yield from self._load_segment(segment, next_base)

    def _passes_by(self, segment: SegmentFiles) -> bool:
        """Whether a segment is skipped; the last one never is, because it shows the log end."""
        return False

    def _start_of(self, segment: SegmentFiles) -> int:
        """The position at which reading of a segment begins: a batch border."""
        return 0

    def _load_segment(self, segment: SegmentFiles, next_base: int | None) -> Iterator[BatchRun]:
        path = segment.path("log")
        self.path = shown(path)
        self._segment = segment
        self._expected = segment.base_offset
        self.next_offset = max(self.next_offset, segment.base_offset)
        self.shows_cleaning = False
        self.unsearched = 0
        read = ReadSegment(segment.base_offset, segment.log_size or 0)
        try:
            scan = Scan(
                segment,
                self._policy,
                self._start_of(segment),
                progress=self._progress,
                context=self.context,
            )
            for found in scan:
                if isinstance(found, UnreadableRegion):
                    self._stop_at(found, next_base)
                    read.add_damage(self.stops[-1], self.next_offset)
                elif isinstance(found, BatchRun) and found.count:
                    self._begin_after_damage(found)
                    read.add(found)
                    yield found
            self.read_segments[path] = read
            self.unsearched = scan.given_up
        except UnreadableFileError as error:  # the rest of the log is still read
            position = error.where.position or 0
            self.stops.append(
                UnreadableRegion(
                    file=self.path,
                    start=position,
                    stop=max(position, segment.log_size or 0),
                    first_offset=self.next_offset,
                    next_offset=next_base,
                    end=ScanEnd.REFUSED,
                    problem=error.problem,
                )
            )

    def _begin_after_damage(self, run: BatchRun) -> None:
        """Find where compressed messages after damage begin: only their last offset is stored."""
        position = int(run.position[0])
        if not self.stops or self.stops[-1].stop != position or self.stops[-1].file != self.path:
            return
        first = offset_inside_first(run, self.path)
        if first is not None and first > run.base_offset[0]:
            run.begin_first_at(first)
            self.stops[-1] = replace(self.stops[-1], next_offset=first)

    def _stop_at(self, region: UnreadableRegion, next_base: int | None) -> None:
        self.stops.append(
            replace(
                region,
                first_offset=self.next_offset,
                next_offset=next_base if region.next_offset is None else region.next_offset,
            )
        )
