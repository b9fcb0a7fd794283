"""Checks one replica while its batches are read: headers, indexes, segment borders, epochs.

There is one pass: ``BatchStream`` passes on each window of columns that it loads anyway.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkalog_reader.audits.catalogue.batch_rules import (
    MIXED_MESSAGE_FORMATS,
)
from kafkalog_reader.audits.catalogue.input_rules import (
    LIMIT_REACHED,
    UNREADABLE_FILE,
)
from kafkalog_reader.audits.integrity.aborted_transactions import AbortedTransactionCheck
from kafkalog_reader.audits.integrity.batch_findings import BatchCheck
from kafkalog_reader.audits.integrity.compaction_findings import CompactedKeys
from kafkalog_reader.audits.integrity.file_checks import FileChecks
from kafkalog_reader.audits.integrity.finding import Finding, finding
from kafkalog_reader.audits.integrity.index_file_findings import with_rebuild
from kafkalog_reader.audits.integrity.index_findings import (
    OffsetIndexCheck,
    TimeIndexCheck,
    TransactionIndexCheck,
)
from kafkalog_reader.audits.integrity.kept_by_time import KeptByTime
from kafkalog_reader.audits.integrity.marker_findings import MarkerCheck
from kafkalog_reader.audits.integrity.producer_findings import ProducerCheck
from kafkalog_reader.audits.integrity.refused_file import actions_of_refusal
from kafkalog_reader.audits.integrity.segment_chain_findings import border_findings
from kafkalog_reader.audits.integrity.segment_checks import segment_checks
from kafkalog_reader.audits.integrity.segment_times import is_outside
from kafkalog_reader.audits.integrity.sequence_findings import SequenceCheck
from kafkalog_reader.audits.log.batch_stream import BatchStream
from kafkalog_reader.errors import LocatedError
from kafkalog_reader.format.batch_fields import MAGIC
from kafkalog_reader.io.progress import no_progress

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kafkalog_reader.audits.integrity.segment_checks import SegmentCheck
    from kafkalog_reader.audits.log.replica import Replica
    from kafkalog_reader.io.progress import Progress
    from kafkalog_reader.io.segment_files import SegmentFiles
    from kafkalog_reader.scan.batch_run import BatchRun
    from kafkalog_reader.scan.unreadable_region import UnreadableRegion


class WatchedStream(BatchStream):
    """A cursor over a replica's batches that also checks all of them.

    Attributes:
        found: findings of the segments that were read.
        has_old_magic, has_new_magic: message formats seen so far.
        messages_end: one past the last message of magic 0 or 1; 0 without messages.
    """

    def __init__(
        self,
        replica: Replica,
        checks: FileChecks = FileChecks(),  # noqa: B008  frozen
        *,
        window_size: int = 8 << 20,
        columns_only: bool = False,
        progress: Progress = no_progress,
    ) -> None:
        self.found: list[Finding] = []
        self.has_old_magic = self.has_new_magic = False
        self.messages_end = 0
        self._replica = replica
        self._checks = checks
        self._of_segment: tuple[SegmentCheck, ...] = ()
        self._producers = ProducerCheck(replica)
        self._transactions = AbortedTransactionCheck(replica)
        self._sequences = SequenceCheck(replica)
        self._markers = MarkerCheck(replica)
        self._keys = CompactedKeys(replica)
        # A part of the log does not show how much a segment keeps.
        self._kept = KeptByTime(None if checks.has_time_range else checks.retention)
        self._before: BatchCheck | None = None
        self._check: BatchCheck | None = None
        self._before_last: BatchCheck | None = None
        self._offset_index: OffsetIndexCheck | None = None
        self._time_index: TimeIndexCheck | None = None
        self._transaction_index: TransactionIndexCheck | None = None
        self._stops_seen = 0
        super().__init__(
            replica.directory,
            replica.log_start_offset,
            window_size=window_size,
            columns_only=columns_only and not checks.deep,
            progress=progress,
        )

    def _passes_by(self, segment: SegmentFiles) -> bool:
        outside = is_outside(
            segment,
            self._checks.from_timestamp,
            self._checks.to_timestamp,
            context=self.context,
        )
        if outside:
            self._before = None  # its border is unknown
        return outside

    def _load_segment(self, segment: SegmentFiles, next_base: int | None) -> Iterator[BatchRun]:
        self._stops_seen = first_stop = len(self.stops)
        is_hot = next_base is None and not self._replica.directory.log_directory.clean_shutdown
        self._before_last = self._check
        check = self._check = BatchCheck(self._replica, segment)
        self._producers.begin_segment(segment.base_offset)
        self._transactions.begin_segment(segment.base_offset)
        self._sequences.begin_segment(segment)
        self._markers.begin_segment(segment)
        self._kept.begin_segment(self._replica.segment_file(segment), segment.log_size or 0)
        self._of_segment = segment_checks(self._replica, segment, self._checks, self._keys)
        self._offset_index = self._time_index = self._transaction_index = None
        try:
            self._offset_index = OffsetIndexCheck(self._replica, segment, is_hot=is_hot)
            self._time_index = TimeIndexCheck(self._replica, segment, is_hot=is_hot)
            self._transaction_index = TransactionIndexCheck(self._replica, segment, is_hot=is_hot)
        except LocatedError as error:
            self.found.append(unreadable(self._replica, error))
        yield from super()._load_segment(segment, next_base)
        of_headers = [*check.findings()]
        self.found += of_headers
        reported = {(each.code, each.file, each.position) for each in of_headers}
        for of_segment in self._of_segment:  # records repeat what headers show
            again = of_segment.findings()
            self.found += [e for e in again if (e.code, e.file, e.position) not in reported]
        self.found += search_findings(
            self._replica, segment, self.stops[first_stop:], self.unsearched
        )
        self.has_old_magic |= check.has_old_magic
        self.has_new_magic |= check.has_new_magic
        self._conclude_indexes(segment, check, first_stop, is_closed=next_base is not None)
        self.found += border_findings(self._replica, self._before, check, self.stops[first_stop:])
        self._before = check

    def _learn(self, run: BatchRun) -> None:
        super()._learn(run)
        assert self._check is not None
        if len(self.stops) > self._stops_seen:
            self._stops_seen = len(self.stops)
            self._check.break_chain()
            self._producers.lose_track()
            self._transactions.lose_track()
            self._sequences.lose_track()
            self._markers.lose_track()
        self._check.look(run)
        if run.summary.least_magic < MAGIC:
            is_message = run.magic < MAGIC
            self.messages_end = int(run.last_offset[is_message].max()) + 1
        self._producers.look(run)
        self._transactions.look(run)
        self._sequences.look(run)
        self._markers.look(run)
        self._kept.look(run)
        for of_segment in self._of_segment:
            of_segment.look(run)
        if self._offset_index is not None:
            self._offset_index.look(run)
        if self._time_index is not None:
            self._time_index.look(run)

    def _conclude_indexes(
        self, segment: SegmentFiles, check: BatchCheck, first_stop: int, *, is_closed: bool
    ) -> None:
        stops = self.stops[first_stop:]
        damaged = [(stop.start, stop.stop) for stop in stops]
        before = len(self.found)
        if self._offset_index is not None:
            self.found += self._offset_index.findings(segment.log_size or 0, damaged, check.batches)
        if self._time_index is not None:
            greatest = check.greatest_timestamp
            self.found += self._time_index.findings(
                greatest,
                is_whole=not (stops or check.has_damage),
                is_closed=is_closed,
                log_size=segment.log_size or 0,
                batches=check.batches,
            )
        if len(self.stops) > self._stops_seen:
            self._transactions.end_in_damage()
        if self._transaction_index is not None:
            self.found += self._transaction_index.findings(self._transactions)
        if not (stops or check.has_damage):  # a start that reads it again would cut it there
            self.found[before:] = [
                with_rebuild(each, self._replica.directory, segment) for each in self.found[before:]
            ]

    @property
    def may_have_open_transaction(self) -> bool:
        """Whether a transaction is open at the end, as far as the batches show; or may be."""
        return self.has_transactions and self._transactions.may_be_open

    @property
    def last_timestamp(self) -> int | None:
        """The greatest timestamp in the last segment that has batches, in milliseconds."""
        last = self._check
        if last is not None and last.greatest_timestamp is None:
            last = self._before_last
        return None if last is None else last.greatest_timestamp

    @property
    def listed(self) -> tuple[SegmentFiles, ...]:
        """The segments as they were when reading began."""
        return tuple(self._segments)

    def findings(self) -> Iterator[Finding]:
        """Yield all findings; the stream must be at its end."""
        damaged = bool(self.stops)
        yield from (self._kept.added_to(each, has_damage=damaged) for each in self.found)
        self._producers.conclude(self.next_offset)
        yield from self._producers.found
        yield from self._sequences.findings()
        yield from self._markers.findings()
        yield from self._keys.findings(self.next_offset)
        if self.has_old_magic and self.has_new_magic:
            yield finding(
                MIXED_MESSAGE_FORMATS,
                f"{self._replica.name}: messages of magic 0 or 1 and batches of magic 2: "
                "truncation falls back to the high watermark",
                directory=self._replica.directory,
            )


def search_findings(
    replica: Replica, segment: SegmentFiles, stops: Sequence[UnreadableRegion], unsearched: int
) -> Iterator[Finding]:
    """Yield KL-005 if a limit on work left places of a segment unchecked.

    Args:
        replica: the replica of the segment.
        segment: the segment.
        stops: damage in it.
        unsearched: number of its damaged batches that were not searched for sound ones inside them.
    """
    limited = [stop for stop in stops if stop.given_up]
    count = sum(stop.given_up for stop in limited) + unsearched
    if count:
        file = replica.segment_file(segment)
        yield finding(
            LIMIT_REACHED,
            f"{file}: {count:,} places were not searched completely: they may hold sound batches",
            directory=replica.directory,
            file=file,
            position=limited[0].where.position if limited else None,
            evidence={"places": count},
        )


def unreadable(replica: Replica, error: LocatedError) -> Finding:
    """KL-004 for a file that could not be read."""
    return finding(
        UNREADABLE_FILE,
        f"{error.where}: {error.problem}",
        directory=replica.directory,
        file=replica.file_of(error.where),
        position=error.where.position,
        actions=actions_of_refusal(error.problem),
    )
