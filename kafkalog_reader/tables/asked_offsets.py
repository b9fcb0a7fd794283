"""The offsets requested of one replica, where they depend on its own log.

Timestamps, the high watermark, ``last`` and ``read_committed`` become offsets here, while the work
is planned.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import pyarrow as pa

from kafkalog_reader.errors import OptionError
from kafkalog_reader.io.checkpoints import checkpointed_offsets
from kafkalog_reader.io.names import shown
from kafkalog_reader.io.partition_directory import segments
from kafkalog_reader.scan.damage import Damage, Mode
from kafkalog_reader.scan.expected_end import ExpectedEnds
from kafkalog_reader.scan.log_tail import scan_tail
from kafkalog_reader.tables.log_unit import log_start_offset, slices_of
from kafkalog_reader.tables.open_transactions import stable_up_to
from kafkalog_reader.tables.record_rows import read_slice
from kafkalog_reader.tables.request import READ_COMMITTED, ReadRequest, Until
from kafkalog_reader.tables.time_index_end import last_timestamp

if TYPE_CHECKING:
    from kafkalog_reader.io.directories import PartitionDirectory

logger = logging.getLogger(__name__)

_COMMITTED: Final = ("replication-offset-checkpoint", "cleaner-offset-checkpoint")
"""The cleaner stops at the last stable offset, so the high watermark is not below its own."""
EARLIEST_TIMESTAMP: Final = -2
"""Means the log start, not a time."""
LATEST_TIMESTAMP: Final = -1
"""Means the end of the log for this reader, not a time."""
_OFFSET: Final = pa.schema([pa.field("offset", pa.int64())])


def asked_of(
    replica: PartitionDirectory, request: ReadRequest, expected: ExpectedEnds
) -> ReadRequest:
    """The request, with the offsets that depend on the replica's own log.

    Args:
        replica: what is read.
        request: the request for all replicas.
        expected: where logs must reach.

    Raises:
        OptionError: this log does not have the starting or ending offset.
        KafkaLogError: damage in the stretch that must be read, in mode ``FAILFAST``.
    """
    return _AskedOffsets(replica, request, expected).bounded()


class LogBounds(NamedTuple):
    """Offsets of one log for one reader.

    Attributes:
        log_start: the first offset to read: the log start, or where the files begin if what lies
            below it is read too.
        start: the requested one, if any.
        end: where the log ends for this reader.
    """

    log_start: int
    start: int | None
    end: int


def bounds_of(
    replica: PartitionDirectory, request: ReadRequest, expected: ExpectedEnds
) -> LogBounds:
    """Where reading this replica starts and ends.

    Raises:
        OptionError: this log does not have the starting or ending offset.
        KafkaLogError: damage in the stretch that must be read, in mode ``FAILFAST``.
    """
    return _AskedOffsets(replica, request, expected).bounds()


def first_offset(replica: PartitionDirectory, request: ReadRequest) -> int:
    """The first offset to read of this replica, as ``log_start`` of ``LogBounds``."""
    return _AskedOffsets(replica, request, ExpectedEnds()).first


def warn_of_no_high_watermark(replica: PartitionDirectory, request: ReadRequest) -> None:
    """Warn where reading ends at the high watermark, and no file of this copy has one."""
    _AskedOffsets(replica, request, ExpectedEnds()).warn_of_no_high_watermark()


class _AskedOffsets:
    def __init__(
        self, replica: PartitionDirectory, request: ReadRequest, expected: ExpectedEnds
    ) -> None:
        self._replica = replica
        self._request = request
        self._expected = expected
        self._key = (replica.topic or "", -1 if replica.partition is None else replica.partition)
        self._end: int | None = None

    def bounded(self) -> ReadRequest:
        """The request with all bounds of the log replaced by offsets."""
        request = self._request
        if request.isolation == READ_COMMITTED or request.until is not Until.LOG_END:
            self._check_log_end()  # reading will end before the end of the log
            self.warn_of_no_high_watermark()
            request = self._until(request)
        if self._asks_for_bounds():
            stop = self._stop(request)
            start, end = self._asked_start(stop), self._asked_end(stop)
            if start is not None or end is not None:
                self._check(start, end, stop)
            if start is not None:
                request = replace(request, from_offset=max(start, request.from_offset or 0))
            if end is not None:
                request = _ending_at(request, end)
        if request.last is None:
            return request
        return replace(request, from_offset=self._first_of_the_last(request, request.last))

    def bounds(self) -> LogBounds:
        """Where the log starts and ends, and where reading it does."""
        request = self._request
        if request.isolation == READ_COMMITTED or request.until is not Until.LOG_END:
            request = self._until(request)
        end = self._stop(request)
        start = self._asked_start(end)
        if start is not None:
            self._check(start, None, end)
        return LogBounds(self.first, start, end)

    def _asks_for_bounds(self) -> bool:
        """Whether the end of the log matters; finding it means reading a file."""
        request = self._request
        return (
            self._key in request.starting_offsets
            or self._key in request.ending_offsets
            or self._start_time is not None
            or self._end_time is not None
        )

    @property
    def _start_time(self) -> int | None:
        request = self._request
        return request.starting_timestamps.get(self._key, request.starting_timestamp)

    @property
    def _end_time(self) -> int | None:
        request = self._request
        return request.ending_timestamps.get(self._key, request.ending_timestamp)

    @property
    def _log_end(self) -> int:
        if self._end is None:
            self._end = scan_tail(self._replica).next_offset
        return self._end

    @property
    def _log_start(self) -> int:
        return log_start_offset(self._replica, self._first_base)

    @property
    def _first_base(self) -> int:
        found = [each.base_offset for each in segments(self._replica) if each.log_size is not None]
        return min(found, default=0)

    @property
    def first(self) -> int:
        """The first offset to read."""
        return self._log_start if self._request.log_range_only else self._first_base

    def _stop(self, request: ReadRequest) -> int:
        """Where the log ends for this reader."""
        return self._log_end if request.to_offset is None else min(self._log_end, request.to_offset)

    def _until(self, request: ReadRequest) -> ReadRequest:
        committed = self._log_end
        if request.until is not Until.LOG_END:
            committed = self._high_watermark()
            request = _ending_at(request, committed)
        if request.isolation != READ_COMMITTED and request.until is not Until.LAST_STABLE_OFFSET:
            return request
        stable = stable_up_to(self._replica, committed, request.mode)
        if stable is not None:
            return _ending_at(request, stable)
        logger.warning(
            "%s: the last stable offset is hidden by damage: records of open transactions are "
            "left out, others above it may be shown",
            shown(self._replica.path),
        )
        return request

    def _high_watermark(self) -> int:
        """The offset up to which the files of this copy prove records committed."""
        return min(max([self._log_start, *self._committed()]), self._log_end)

    def _committed(self) -> list[int]:
        root = self._replica.log_directory
        rows = (checkpointed_offsets(root, name).get(self._key) for name in _COMMITTED)
        return [row for row in rows if row is not None]

    def warn_of_no_high_watermark(self) -> None:
        if (
            self._request.until is not Until.LOG_END
            and not self._committed()
            and self._log_start < self._log_end
        ):
            logger.warning(
                "%s: replication-offset-checkpoint has no high watermark of %s, so none of its "
                "records is known to be committed and read; until=logEnd reads all",
                shown(self._replica.path), self._name,
            )  # fmt: skip

    def _asked_start(self, stop: int) -> int | None:
        request = self._request
        time = self._start_time
        if time is None:
            return request.starting_offsets.get(self._key)
        found = self._offset_at(time, stop)
        if found is None and not request.starts_at_end:
            raise OptionError(
                self._start_option,
                f"{self._name} has no record at or after {time} (milliseconds); "
                "startingOffsetsByTimestampStrategy=latest starts at the end instead",
            )
        return stop if found is None else found

    def _asked_end(self, stop: int) -> int | None:
        time = self._end_time
        if time is None:
            return self._request.ending_offsets.get(self._key)
        return self._offset_at(time, stop)

    @property
    def _start_option(self) -> str:
        request = self._request
        if self._key in request.starting_timestamps:
            return "startingOffsetsByTimestamp"
        return "startingOffsets" if request.starting_timestamp is None else "startingTimestamp"

    @property
    def _name(self) -> str:
        topic, partition = self._key
        return f"{shown(topic)}-{partition}"

    def _check(self, start: int | None, end: int | None, stop: int) -> None:
        """Compare the bounds with each other and with the log.

        Source: Spark 4.0, KafkaOffsetReaderBase#getOffsetRangesFromUnresolvedOffsets, whose
        assertion fails in a task.
        """
        first = self.first
        begin, option = (first, "endingOffsets") if start is None else (start, self._start_option)
        if end is not None and begin > end:
            raise OptionError(
                option, f"{self._name} would start at {begin}, above its ending offset {end}"
            )
        if end is None and begin > stop:  # only possible if a start was requested
            raise OptionError(option, f"{self._name}: {begin} is beyond the end of the log, {stop}")
        if self._key in self._request.starting_offsets and begin < first:
            start_of = "log start" if self._request.log_range_only else "first segment"
            self._lose(option, f"{self._name}: {begin} is below the {start_of}, {first}")
        if start is not None and start > stop:
            self._lose(option, f"{self._name}: {begin} is beyond the end of the log, {stop}")
        if end is not None and end > stop:
            self._lose("endingOffsets", f"{self._name}: {end} is beyond the end of the log, {stop}")

    def _lose(self, option: str, problem: str) -> None:
        """Report requested records that are missing, as an error or a warning."""
        if self._request.fail_on_data_loss:
            raise OptionError(option, f"{problem}. failOnDataLoss=false reads the rest")
        logger.warning("option %s: %s", option, problem)

    def _offset_at(self, time: int, stop: int) -> int | None:
        """The offset of the first record at or after a time, below ``stop``; control records count.

        Source: Kafka 4.0, UnifiedLog#fetchOffsetByTimestamp; ListOffsetsRequest for -1 and -2.
        """
        if time == LATEST_TIMESTAMP:
            return stop
        if time == EARLIEST_TIMESTAMP:
            return self.first
        request = self._request
        asked = ReadRequest(
            from_timestamp=time, to_offset=stop, log_range_only=request.log_range_only,
            mode=request.mode,
        )  # fmt: skip
        context = self._replica.context
        for segment_slice in slices_of(self._replica, asked):
            newest = last_timestamp(segment_slice.segment, context=context)
            if not segment_slice.is_log_end and 0 < newest < time:
                continue
            for rows in read_slice(segment_slice, _OFFSET, asked, Damage(asked.mode)):
                if rows.num_rows:
                    return int(rows.column(0)[0].as_py())
        return None

    def _check_log_end(self) -> None:
        self._expected.prepare(self._replica.log_directory)
        offsets = self._request.offsets_of(self._replica.topic, self._replica.partition)
        error = self._expected.missing_at_end(self._replica, self._log_end, offsets)
        if error is not None:
            end = self._expected.of_log(self._replica)
            self._request.damage.missing(error, None if end is None else end.next_offset)

    def _first_of_the_last(self, request: ReadRequest, count: int) -> int:
        """The offset from which ``count`` records follow, or the start if there are fewer."""
        replica = self._replica
        lower, upper = request.offsets_of(replica.topic, replica.partition)
        end = self._log_end if upper is None else min(self._log_end, upper)
        found = [each.base_offset for each in segments(replica) if each.log_size is not None]
        lower = max(lower, min(found, default=0))
        if count == 0:
            return max(lower, end)
        asked = replace(request, last=None, mode=Mode.DROPMALFORMED)
        reach = count
        while True:
            start = max(lower, end - reach)
            offsets = [
                rows.column(0).to_numpy()
                for segment_slice in slices_of(replica, replace(asked, from_offset=start))
                for rows in read_slice(segment_slice, _OFFSET, asked, Damage(asked.mode))
            ]
            records = np.unique(np.concatenate([np.empty(0, np.int64), *offsets]))
            if len(records) >= count:
                return int(records[-count])
            if start <= lower:
                return lower
            reach *= 8  # compacted, or full of what is left out


def _ending_at(request: ReadRequest, offset: int) -> ReadRequest:
    known = request.to_offset
    return replace(request, to_offset=offset if known is None else min(known, offset))
