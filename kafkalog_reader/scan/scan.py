"""Iterates over the batches of a segment, with a policy that says how.

A ``Scan`` yields runs of batches and the unreadable regions between them. It chooses how to
read: a window at a time (``BatchChain``), inside the kernel if nobody needs the bytes
(``ColumnScan``), and after damage by a search (``Resynchronisation``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from kafkalog_reader.format.batch_fields import MAGIC
from kafkalog_reader.format.offset_limits import MAX_OFFSET
from kafkalog_reader.io.names import shown
from kafkalog_reader.io.progress import Progress, no_progress
from kafkalog_reader.io.window import WINDOW_SIZE
from kafkalog_reader.scan.batch_chain import BatchChain
from kafkalog_reader.scan.batch_run import BatchRun
from kafkalog_reader.scan.column_scan import ColumnScan
from kafkalog_reader.scan.resynchronisation import Resynchronisation
from kafkalog_reader.scan.scan_end import ScanEnd
from kafkalog_reader.scan.unreadable_region import UnreadableRegion
from kafkalog_reader.scan.unscanned_batches import UnscannedBatches

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from kafkalog_reader.io.read_context import ReadContext
    from kafkalog_reader.io.segment_files import SegmentFiles

_FIRST_READ: Final = 16 << 10
"""Bytes of a window after damage, where more damage may follow soon."""
_ATTEMPTS: Final = 2
"""How often a segment is read inside the kernel: each time ends at cold pages and at markers."""

Found = BatchRun | UnreadableRegion | UnscannedBatches


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanPolicy:
    """How a scan reads.

    Attributes:
        tolerant: continue after damage. A batch with a wrong CRC is a batch as long as its length
            leads to the next one and hides none; otherwise an unreadable region begins with it.
            A scan that is not tolerant follows the lengths, and its first region is its last.
        check_crc: if False, ``crc_computed`` of a run is the stored CRC, and lengths are trusted.
        keep_bytes: if False, runs of plain batches have an empty buffer: see ``ColumnScan``.
        offer_windows: yield the bytes of each window before they are scanned, for a decoder that
            reads them in one pass and says how far it got with ``Scan.pass_over``.
        window_size: bytes held at once, unless one batch is larger.
    """

    tolerant: bool = True
    check_crc: bool = True
    keep_bytes: bool = True
    offer_windows: bool = False
    window_size: int = WINDOW_SIZE


TOLERANT: Final = ScanPolicy()
HEADERS: Final = ScanPolicy(check_crc=False)
CHAIN: Final = ScanPolicy(tolerant=False)
CHAIN_OF_HEADERS: Final = ScanPolicy(tolerant=False, check_crc=False)


class Scan:
    """Iterates over the batches of a segment, and over unreadable regions between them.

    Args:
        segment: the segment; the path of a file is enough where the policy is not tolerant.
        policy: how to read.
        start, stop: a part of it, from a batch border on; ``stop`` None is the end of the file, in
            a tolerant scan as it was when the segment was listed.
        progress: receives the bytes read.

    Attributes:
        next_offset: one past the last batch's last offset; None before the first batch.
        end_position: the first byte that belongs to no batch: where the first unreadable region
            begins, or the end.

    Raises:
        UnreadableFileError: the file cannot be opened or read.
    """

    def __init__(
        self,
        segment: SegmentFiles | str,
        policy: ScanPolicy = TOLERANT,
        start: int = 0,
        stop: int | None = None,
        *,
        progress: Progress = no_progress,
        context: ReadContext,
    ) -> None:
        self.next_offset: int | None = None
        self.end_position = start
        self._segment = segment
        self._path = segment if isinstance(segment, str) else segment.path("log")
        self._policy = policy
        self._start = start
        self._stop = stop
        self._progress = progress
        self._context = context
        self._chain: BatchChain | None = None
        self._resynchronisation: Resynchronisation | None = None

    @property
    def given_up(self) -> int:
        """Damaged batches since the last region that were not searched, to limit the work."""
        return 0 if self._resynchronisation is None else self._resynchronisation.given_up

    def pass_over(self, stop: int, last_offset: int) -> None:
        """Leave batches that were offered out of the runs that follow.

        Args:
            stop: where in the offered window the next batch begins.
            last_offset: of the last batch left out.
        """
        assert self._chain is not None
        self._chain.pass_over(stop, last_offset)
        self._reached(last_offset)

    def runs(self) -> Iterator[BatchRun]:
        """Only the batches."""
        return (found for found in self if isinstance(found, BatchRun))

    def __iter__(self) -> Iterator[Found]:
        """Yield what is found, in file order."""
        if not self._policy.tolerant:
            return self._one_chain()
        assert not isinstance(self._segment, str)
        return self._chains_and_regions(self._segment)

    def _one_chain(self) -> Iterator[Found]:
        chain = self._chain = BatchChain(
            self._path,
            self._start,
            self._stop,
            check_crc=self._policy.check_crc,
            offer_windows=self._policy.offer_windows,
            progress=self._progress,
            window_size=self._policy.window_size,
            context=self._context,
        )
        for found in chain:
            self.end_position = chain.end_position
            self._note(found)
            yield found
        self.end_position = chain.end_position
        if chain.end is not ScanEnd.COMPLETE:
            yield UnreadableRegion(
                file=shown(self._path),
                start=chain.end_position,
                stop=chain.stop,
                first_offset=chain.next_offset,
                next_offset=None,
                end=chain.end,
                problem=chain.problem,
                magic=chain.magic,
            )

    def _chains_and_regions(self, segment: SegmentFiles) -> Iterator[Found]:
        stop = (segment.log_size or 0) if self._stop is None else self._stop
        resynchronisation = self._resynchronisation = Resynchronisation(
            segment, self._start, stop, context=self._context
        )
        is_damaged, position = False, self._start
        try:
            if self._policy.check_crc and not self._policy.keep_bytes:
                for run in self._sound_runs(stop):
                    self._note(run)
                    yield run
                    end = int(run.position[-1]) + int(run.size_in_bytes[-1])
                    self._progress(end - position)
                    position = end
                self.end_position = position
            while position < stop:
                chain = self._chain_from(position, stop, is_damaged=is_damaged)
                region = yield from self._up_to_region(chain)
                if not is_damaged:
                    self.end_position = chain.end_position if region is None else region.start
                if region is None:
                    return
                is_damaged = True
                yield region
                if not region.goes_on:
                    return
                resynchronisation.go_on_at(region.stop)
                position = region.stop
        finally:
            resynchronisation.close()

    def _chain_from(self, position: int, stop: int, *, is_damaged: bool) -> BatchChain:
        assert self._resynchronisation is not None
        self._chain = BatchChain(
            self._path,
            position,
            stop,
            check_crc=self._policy.check_crc,
            offer_windows=self._policy.offer_windows,
            lowest_offset=self._resynchronisation.lowest_offset(),
            progress=self._progress,
            window_size=self._policy.window_size,
            context=self._context,
            first_read=_FIRST_READ if is_damaged else self._policy.window_size,
            large=self._resynchronisation.large,
        )
        return self._chain

    def _up_to_region(self, chain: BatchChain) -> Generator[Found, None, UnreadableRegion | None]:
        """Yield the batches of a chain; return the unreadable region after them, if any."""
        resynchronisation = self._resynchronisation
        assert resynchronisation is not None
        for found in chain:
            hidden = None
            if self._policy.check_crc and isinstance(found, BatchRun):
                hidden = resynchronisation.hiding_batch(found)
            if hidden is None or not isinstance(found, BatchRun):
                self._note(found)
                yield found
                continue
            number, following = hidden
            if number:
                before = found.taken(slice(0, number))
                self._note(before)
                yield before
            return resynchronisation.region_of_batch(found, number, following)
        return None if chain.end is ScanEnd.COMPLETE else resynchronisation.region_of_end(chain)

    def _sound_runs(self, stop: int) -> Iterator[BatchRun]:
        """Yield batches that can be read without keeping their bytes, up to the first damage.

        If a batch is not plain, one window is read the usual way: the next may be plain again.
        """
        position, attempts = self._start, _ATTEMPTS
        while position < stop:
            start = position
            if attempts:
                columns = ColumnScan(self._path, start, stop, context=self._context)
                for run in columns:
                    position = columns.end_position
                    yield run
                attempts = _ATTEMPTS if position > start else attempts - 1
                start = position
            windows = BatchChain(
                self._path,
                position,
                stop,
                window_size=self._policy.window_size,
                context=self._context,
            )
            for run in windows.runs():
                if not (run.all_valid and run.summary.least_magic == MAGIC):
                    return
                position = windows.end_position
                yield run
                if attempts:
                    break
            if position == start:
                return

    def _note(self, found: BatchRun | UnscannedBatches) -> None:
        if isinstance(found, BatchRun) and found.count:
            self._reached(int(found.last_offset[-1]))

    def _reached(self, last_offset: int) -> None:
        self.next_offset = min(last_offset, MAX_OFFSET - 1) + 1
        if self._resynchronisation is not None:
            self._resynchronisation.next_offset = self.next_offset
