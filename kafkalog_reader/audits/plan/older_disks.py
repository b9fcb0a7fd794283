"""Brokers whose copy is older than the others': of a running broker, or maybe of an old disk.

Without a metadata log nothing shows when a broker last ran. One that stopped an hour before the
others and one that was restored from an hour ago have the same files.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kafkalog_reader.audits.partition.partition_audit import PartitionAudit

MIN_AGE_MS: Final = 30_000
"""Between the newest records of brokers: logs that get few records differ by less than that."""


@dataclass(frozen=True, slots=True)
class OlderDisk:
    """A broker that is behind, and the newest timestamps, in milliseconds since 1970 UTC."""

    newest: int
    newest_of_others: int


class NewestRecords:
    """Collects the newest timestamp of each broker over all partitions, and who is behind."""

    def __init__(self) -> None:
        self._newest: dict[int, int] = {}
        self._behind: set[int] = set()
        self._running: set[int] = set()

    def add(self, audit: PartitionAudit) -> None:
        """Take the copies of one partition."""
        end = max((each.log_end for each in audit.replicas), default=0)
        for each in audit.replicas:
            if each.broker_id is None:
                continue
            if each.log_end < end:
                self._behind.add(each.broker_id)
                if each.ran_while_copied:
                    self._running.add(each.broker_id)
            timestamp = each.summary.last_timestamp
            if timestamp is not None:
                known = self._newest.get(each.broker_id, timestamp)
                self._newest[each.broker_id] = max(known, timestamp)

    def running(self) -> tuple[int, ...]:
        """The brokers that are behind because they ran while they were copied."""
        return tuple(sorted(self._running))

    def older_disks(self) -> Mapping[int, OlderDisk]:
        """The brokers that are behind and whose newest record every other one exceeds."""
        found = {}
        for broker in sorted(self._behind & self._newest.keys()):
            others = [newest for other, newest in self._newest.items() if other != broker]
            if others and min(others) - self._newest[broker] >= MIN_AGE_MS:
                found[broker] = OlderDisk(self._newest[broker], min(others))
        return found
