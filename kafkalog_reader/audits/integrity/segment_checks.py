"""Checks of one segment that need nothing but its batches, one after another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

import numpy as np

from kafkalog_reader.audits.catalogue.batch_rules import (
    OVERSIZED_BATCH,
    TIMESTAMP_IMPLAUSIBLE,
)
from kafkalog_reader.audits.integrity.first_place import FirstPlace
from kafkalog_reader.format.layout import utc_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from kafkalog_reader.audits.integrity.compaction_findings import CompactedKeys
    from kafkalog_reader.audits.integrity.file_checks import FileChecks
    from kafkalog_reader.audits.integrity.finding import Finding
    from kafkalog_reader.audits.log.replica import Replica
    from kafkalog_reader.io.segment_files import SegmentFiles
    from kafkalog_reader.scan.batch_run import BatchRun

_DAY_MS: Final = 24 * 3600 * 1000
_NO_TIMESTAMP: Final = -1
_LATEST: Final = np.iinfo(np.int64).max
_FIRST_PLAUSIBLE_MS: Final = 1_293_840_000_000
"""2011, Kafka's first year: a file with an older time was copied without its time."""


class SegmentCheck(Protocol):
    """Checks every batch of one segment, in file order."""

    def look(self, run: BatchRun) -> None:
        """Check the batches of one window, while it is valid."""

    def findings(self) -> Iterator[Finding]:
        """Yield the findings, after all batches."""


def segment_checks(
    replica: Replica, segment: SegmentFiles, checks: FileChecks, keys: CompactedKeys
) -> tuple[SegmentCheck, ...]:
    """The requested checks of one segment; ``keys`` are those of the whole replica."""
    made: list[SegmentCheck] = [TimestampCheck(replica, segment)]
    if checks.max_message_bytes is not None:
        made.append(BatchSizeCheck(replica, segment, checks.max_message_bytes))
    if checks.deep:
        from kafkalog_reader.audits.integrity.payload_findings import PayloadCheck  # decodes

        made.append(PayloadCheck(replica, segment, keys))
    return tuple(made)


class _HeaderCheck:
    """Notes the first batch with a problem, and how many there are."""

    def __init__(self, replica: Replica, segment: SegmentFiles, code: str, value_name: str) -> None:
        self._replica = replica
        self._file = replica.segment_file(segment)
        self._code = code
        self._value_name = value_name
        self._first: FirstPlace | None = None
        self._value = 0

    def note(self, run: BatchRun, found: NDArray[np.bool_], values: NDArray[np.int64]) -> None:
        """Count the batches found; keep place and value of the first."""
        count = int(np.count_nonzero(found))
        if not count:
            return
        if self._first is None:
            row = int(np.argmax(found))
            self._value = int(values[row])
            self._first = FirstPlace.of(run, row, {self._value_name: self._value})
        self._first.count += count

    def reported(self, problem: Callable[[int], str], **evidence: object) -> Iterator[Finding]:
        """Yield the finding, if there is one; ``problem`` makes its text of the value."""
        if self._first is None:
            return
        self._first.evidence |= evidence
        yield self._first.finding(
            self._code,
            self._replica,
            self._file,
            f"{self._file} position {self._first.position:,}: {problem(self._value)}",
        )


class TimestampCheck:
    """KL-113 by headers alone: a timestamp that blocks retention, or that Kafka never stores."""

    def __init__(self, replica: Replica, segment: SegmentFiles) -> None:
        self._kept = _HeaderCheck(replica, segment, TIMESTAMP_IMPLAUSIBLE, "maxTimestamp")
        copied_at = int(segment.modified_at * 1000)
        self._copied_at = copied_at if copied_at >= _FIRST_PLAUSIBLE_MS else None

    def look(self, run: BatchRun) -> None:
        """See ``SegmentCheck``."""
        latest = _LATEST if self._copied_at is None else self._copied_at + _DAY_MS
        found = run.summary
        if found.least_timestamp >= _NO_TIMESTAMP and found.greatest_timestamp <= latest:
            return
        wrong = (run.max_timestamp < _NO_TIMESTAMP) | (run.max_timestamp > latest)
        self._kept.note(run, wrong & run.crc_valid & (run.magic > 0), run.max_timestamp)

    def findings(self) -> Iterator[Finding]:
        """See ``SegmentCheck``."""
        yield from self._kept.reported(self._problem, fileModifiedAt=self._copied_at)

    def _problem(self, timestamp: int) -> str:
        text = f"the greatest timestamp is {timestamp} ({utc_text(timestamp)})"
        if timestamp < _NO_TIMESTAMP or self._copied_at is None:
            return f"{text}: negative"
        return f"{text}: more than a day after the file's time"


class BatchSizeCheck:
    """KL-116: batches that the topic's configuration would refuse today."""

    def __init__(self, replica: Replica, segment: SegmentFiles, largest: int) -> None:
        self._kept = _HeaderCheck(replica, segment, OVERSIZED_BATCH, "sizeInBytes")
        self._largest = largest

    def look(self, run: BatchRun) -> None:
        """See ``SegmentCheck``."""
        sizes = run.size_in_bytes.astype(np.int64)
        self._kept.note(run, sizes > self._largest, sizes)

    def findings(self) -> Iterator[Finding]:
        """See ``SegmentCheck``."""
        yield from self._kept.reported(
            lambda size: f"{size} bytes, and max.message.bytes is {self._largest}",
            maxMessageBytes=self._largest,
        )
