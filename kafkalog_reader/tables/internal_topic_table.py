"""A table over one of Kafka's internal topics, whose unit is a whole partition."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final

from kafkalog_reader.scan.expected_end import ExpectedEnds
from kafkalog_reader.tables.chosen_replicas import chosen_replicas
from kafkalog_reader.tables.internal_topic import log_request, plain_rows, record_schema
from kafkalog_reader.tables.log_unit import LogUnit, slices_of
from kafkalog_reader.tables.lost_start import with_starts_checked
from kafkalog_reader.tables.record_rows import read_slice
from kafkalog_reader.tables.table import Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kafkalog_reader.io.evidence import Evidence
    from kafkalog_reader.io.progress import Progress
    from kafkalog_reader.tables.request import ReadRequest

_RECORD_COLUMNS: Final = (
    "clusterId", "brokerId", "partition", "offset", "timestamp", "key", "value",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class InternalTopicUnit(LogUnit):
    """The best copy of a partition of an internal topic, and where the other logs are."""

    evidence: Evidence

    def parts(self) -> Sequence[InternalTopicUnit]:
        return (self,)


class InternalTopicTable(Table[InternalTopicUnit]):
    """A table whose rows need all records of a partition: a later record replaces an earlier one.

    Selected topics and partitions are those that the records name.
    """

    log_topic: ClassVar[str]
    """Name of the internal topic."""
    selects_directories: ClassVar[bool] = False

    def logs_shown(self, request: ReadRequest) -> Sequence[ReadRequest]:
        """All partitions of the internal topic."""
        return (log_request(request, self.log_topic),)

    def units(self, evidence: Evidence, request: ReadRequest) -> Iterator[InternalTopicUnit]:
        """One unit for each partition of the internal topic."""
        log = log_request(request, self.log_topic)
        expected = ExpectedEnds()
        chosen = chosen_replicas(evidence, log, expected)
        for directory in with_starts_checked(chosen, evidence, log):
            slices = tuple(slices_of(directory, log, log.damage, expected))
            size = sum(each.stop - each.start for each in slices)
            yield InternalTopicUnit(size_in_bytes=size, slices=slices, evidence=evidence)

    def records(
        self, unit: InternalTopicUnit, request: ReadRequest, progress: Progress
    ) -> Iterator[dict[str, Any]]:
        """Yield the records of a unit up to ``request.as_of``, in their order.

        Each has ``clusterId``, ``brokerId``, ``partition``, ``offset``, ``timestamp`` (microseconds
        or None), ``key`` and ``value``.

        Raises:
            LocatedError: damage, in mode ``FAILFAST``.
            MissingRecordsError: records that other files prove are not there, in that mode.
            UnreadableFileError: a file cannot be opened or read.
        """
        log = log_request(request, self.log_topic)
        columns = record_schema(_RECORD_COLUMNS)
        for segment_slice in unit.slices:
            for rows in read_slice(segment_slice, columns, log, log.damage, progress):
                for record in plain_rows(rows):
                    timestamp = record["timestamp"]
                    if request.as_of is None or request.as_of.covers(
                        record["offset"], timestamp and timestamp // 1000
                    ):
                        yield record
