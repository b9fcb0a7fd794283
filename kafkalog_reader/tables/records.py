"""The table ``records``: one row per record."""

from __future__ import annotations

import logging
from itertools import chain
from typing import TYPE_CHECKING, ClassVar

from kafkalog_reader.io.progress import Progress, metrics_of, no_progress
from kafkalog_reader.scan.expected_end import ExpectedEnds
from kafkalog_reader.tables.asked_offsets import asked_of
from kafkalog_reader.tables.chosen_replicas import chosen_replicas
from kafkalog_reader.tables.leftovers import check_leftovers, leftover_units
from kafkalog_reader.tables.log_unit import LogUnit, log_units
from kafkalog_reader.tables.lost_start import with_starts_checked
from kafkalog_reader.tables.record_rows import read_slice
from kafkalog_reader.tables.schemas.records import RECORDS
from kafkalog_reader.tables.table import Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa

    from kafkalog_reader.io.directories import PartitionDirectory
    from kafkalog_reader.io.evidence import Evidence
    from kafkalog_reader.tables.request import ReadRequest
    from kafkalog_reader.tables.table import Column

logger = logging.getLogger(__name__)


class RecordsTable(Table[LogUnit]):
    """Records as Spark's Kafka source shows them, then where each one is stored."""

    name: ClassVar[str] = "records"
    doc: ClassVar[str] = "records, with the columns of Spark's Kafka source first"
    columns: ClassVar[tuple[Column, ...]] = RECORDS

    def logs_shown(self, request: ReadRequest) -> Sequence[ReadRequest]:
        """Those that are selected."""
        return (request,)

    def units(self, evidence: Evidence, request: ReadRequest) -> Iterator[LogUnit]:
        """Byte ranges of segments, split at batch borders; missing records are an error.

        Raises:
            OptionError: leftovers are requested with an option that only a log can answer.
        """
        check_leftovers(request)
        expected = ExpectedEnds()

        def asked(replica: PartitionDirectory) -> ReadRequest:
            return asked_of(replica, request, expected)

        supplied = evidence.allowing(request.max_batch_bytes)
        chosen = with_starts_checked(
            chosen_replicas(supplied, request, expected), supplied, request
        )
        units = log_units(chosen, request, asked, expected)
        return chain(units, leftover_units(supplied, request)) if request.leftovers else units

    def read(
        self, unit: LogUnit, request: ReadRequest, progress: Progress = no_progress
    ) -> Iterator[pa.RecordBatch]:
        """Yield the records of a unit; see ``ReadRequest.mode`` for damage.

        Raises:
            LocatedError: damage, in mode ``FAILFAST``; the records before it are yielded first.
            MissingRecordsError: records that other files prove are not there, in that mode.
            UnreadableFileError: a file cannot be opened or read, or is shorter than when planned.
        """
        schema = self.projected(request)
        damage = request.damage_counted_in(metrics_of(progress))
        for segment_slice in unit.slices:
            yield from read_slice(segment_slice, schema, request, damage, progress)
