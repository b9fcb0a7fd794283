"""How much of a log a timestamp in the future keeps from deletion by time.

Retention deletes whole segments, oldest first, and stops at the first whose greatest timestamp is
not old enough. Source: Kafka 4.3, UnifiedLog.deleteRetentionMsBreachedSegments.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kafkalog_reader.audits.catalogue.batch_rules import TIMESTAMP_IMPLAUSIBLE
from kafkalog_reader.audits.log.record_count import records_text
from kafkalog_reader.format.batch_fields import CONTROL_BIT
from kafkalog_reader.format.layout import utc_text

if TYPE_CHECKING:
    from kafkalog_reader.audits.integrity.finding import Finding
    from kafkalog_reader.audits.recovery.rule import LogConfig
    from kafkalog_reader.scan.batch_run import BatchRun


class KeptByTime:
    """Counts the client records and bytes of each segment, and adds to KL-113 what it keeps."""

    def __init__(self, retention: LogConfig | None) -> None:
        """``retention`` is that of the topic; None: no time deletes its segments."""
        self._retention = retention
        self._files: list[str] = []
        self._sizes: list[int] = []
        self._records: list[int] = []

    def begin_segment(self, file: str, size_in_bytes: int) -> None:
        """Begin the next segment of the log."""
        self._files.append(file)
        self._sizes.append(size_in_bytes)
        self._records.append(0)

    def look(self, run: BatchRun) -> None:
        """Count the records of one window, while it is valid."""
        found = run.summary
        has_control = found.attributes & CONTROL_BIT
        if found.is_full and found.leads_on and not has_control:
            count = int(run.last_offset[-1]) - int(run.base_offset[0]) + 1
        else:
            held = run.held_records(slice(0, run.count))
            count = int(held[(run.attributes & CONTROL_BIT) == 0].sum())
        self._records[-1] += count

    def added_to(self, each: Finding, *, has_damage: bool) -> Finding:
        """The finding; that of a timestamp in the future also says how much it keeps.

        Args:
            each: a finding of the log, which was read to its end.
            has_damage: whether parts of the log could not be read.
        """
        if self._retention is None or each.code != TIMESTAMP_IMPLAUSIBLE:
            return each
        evidence = dict(each.evidence)
        timestamp = int(evidence.get("maxTimestamp", -1))
        if timestamp < 0 or "fileModifiedAt" not in evidence or each.file not in self._files:
            return each
        first = self._files.index(each.file)
        records, size = sum(self._records[first:]), sum(self._sizes[first:])
        kept = f"up to {records_text(records)}{' and damaged ones' if has_damage else ''}"
        until = "where retention.ms applies to the topic, it"
        if self._retention.is_known and self._retention.retention_ms is not None:
            until = f"until {utc_text(timestamp + self._retention.retention_ms)}, it"
        which = " and those after it" if first + 1 < len(self._files) else ""
        return replace(
            each,
            message=f"{each.message}; {until} keeps {kept}, {size:,} bytes, from deletion by "
            f"retention.ms: this segment{which}",
            evidence=(
                *each.evidence,
                ("recordsKept", str(records)),
                ("bytesKept", str(size)),
            ),
        )
