"""Structured Streaming: ``spark.readStream.format("kafkalog")`` over log directories that grow.

Offsets are those of Spark's Kafka source: ``{"orders": {"0": 23}}``. Of each partition one copy is
read, as long as it exists. Source: Spark 4.0, KafkaMicroBatchStream.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import DataSourceStreamReader

from kafkalog_reader.errors import KafkaLogError
from kafkalog_reader.scan.expected_end import ExpectedEnds
from kafkalog_reader.scan.log_tail import scan_tail
from kafkalog_reader.tables.asked_offsets import LogBounds, asked_of, bounds_of, first_offset
from kafkalog_reader.tables.log_unit import log_units
from kafkalog_reader.tables.request import ReadRequest, Until
from spark_datasource.errors import for_spark
from spark_datasource.followed_copies import FollowedCopies
from spark_datasource.lost_data import LostData
from spark_datasource.offset_range import check_named
from spark_datasource.option_names import warn_of_unused
from spark_datasource.planning import cut
from spark_datasource.quiet_start import QuietStart
from spark_datasource.reader import read_task, request_of
from spark_datasource.shipped import Shipped
from spark_datasource.stream_offsets import JsonOffsets, Offsets, as_json, from_json
from spark_datasource.topic_partitions import EARLIEST
from spark_datasource.trigger_limits import SupportsTriggerAvailableNow, TriggerLimits

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import pyarrow as pa
    from pyspark.sql.datasource import InputPartition

    from kafkalog_reader.io.directories import PartitionDirectory
    from kafkalog_reader.tables.request import TopicPartition
    from kafkalog_reader.tables.table import Unit
    from spark_datasource.options import StreamOptions


class KafkaLogStreamReader(Shipped, DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Finds what is new on the driver; its tasks read as those of a batch do."""

    def __init__(self, options: StreamOptions, columns: tuple[str, ...]) -> None:
        self.stream = options
        self.options = options.source
        self.columns = columns
        self._copies = FollowedCopies(options.source, request_of(options.source, columns))
        self._limits = TriggerLimits(options)
        self._quiet_start = QuietStart(options.source.request.until)
        self._target: Offsets | None = None

    @property
    def request(self) -> ReadRequest:
        """What is read."""
        return self._copies.request

    def initialOffset(self) -> JsonOffsets:  # noqa: N802  Spark's name
        """Where a new query begins: the end of every log, unless the options say otherwise."""
        try:
            replicas = self._copies.find()
            check_named(self.options.named, replicas)
            found = {key: self._start_of(key, replica) for key, replica in replicas.items()}
        except KafkaLogError as error:
            raise for_spark(error) from None
        warn_of_unused(self.options.unused)
        self._limits.warn_of_unused()
        self._quiet_start.begin(found)
        return as_json(found)

    def latestOffset(  # noqa: N802  Spark's name
        self,
        start: JsonOffsets | None = None,
        limit: Any = None,  # noqa: ANN401  none before 4.2
    ) -> JsonOffsets:
        """Where the next trigger ends: never past the last whole batch, nor past ``until``.

        Raises:
            KafkaLogError: records from ``start`` on are gone. Spark writes what this returns into
                the checkpoint, and only then plans: another query would spoil it, and so would a
                disk that is not mounted.
        """
        begun = {} if start is None else from_json(start)
        try:
            replicas = self._copies.find()
            bounds = self._bounds(replicas)
            if start is not None:
                LostData(self.request).check_start(begun, bounds)
        except KafkaLogError as error:
            raise for_spark(error) from None
        ends = {key: each.end for key, each in bounds.items()}
        if self._target is not None:  # a log may have grown until the query began at its end
            ends = {
                key: max(min(ends[key], end), begun.get(key, 0))
                for key, end in self._target.items()
                if key in ends
            }
        may_wait = self._target is None
        self._quiet_start.look(bounds, ends, is_last=not may_wait)
        if start is None or limit is None:
            return as_json(ends)
        begun = {key: each.log_start for key, each in bounds.items()} | begun
        return as_json(self._limits.limited(begun, ends, limit, replicas, may_wait=may_wait))

    def getDefaultReadLimit(self) -> Any:  # noqa: N802, ANN401  Spark's name and type
        """The limit that the options set."""
        return self._limits.default()

    def reportLatestOffset(self) -> JsonOffsets | None:  # noqa: N802  Spark's name
        """The current log ends, for the status of the query."""
        try:
            return as_json(
                {key: each.end for key, each in self._bounds(self._copies.find()).items()}
            )
        except KafkaLogError as error:
            raise for_spark(error) from None

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802  Spark's name
        """Remember the current log ends: the query ends there."""
        try:
            self._target = {
                key: each.end for key, each in self._bounds(self._copies.find()).items()
            }
        except KafkaLogError as error:
            raise for_spark(error) from None

    def partitions(self, start: JsonOffsets, end: JsonOffsets) -> Sequence[InputPartition]:
        """Cut what lies between two offsets; partitions that are new begin at their log start.

        Raises:
            KafkaLogError: records between them are gone, unless ``failOnDataLoss`` is false.
        """
        begun, ended = from_json(start), from_json(end)
        try:
            replicas = self._copies.find()
            lost = LostData(self.request)
            lost.check_selected(ended)  # a checkpoint may end in a trigger that never finished
            lost.check_gone(begun.keys() - ended.keys(), begun, ended, replicas)
            spans = {
                key: self._span(key, replicas[key], begun.get(key), stop)
                for key, stop in ended.items()
                if key in replicas and begun.get(key) != stop
            }
            return cut(
                lambda asked: chain.from_iterable(
                    self._units(replicas[key], key, span, asked) for key, span in spans.items()
                ),
                self._without_start(),
                self.options.min_partitions,
            )
        except KafkaLogError as error:
            raise for_spark(error) from None

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Yield the rows of one task as record batches of exactly the declared schema."""
        yield from read_task(self.options, partition, self.request, self.columns)

    def _start_of(self, key: TopicPartition, replica: PartitionDirectory) -> int:
        asked = self.stream.start.offsets.get(key, self.stream.start.default)
        request = self.request
        if asked >= 0:
            request = replace(request, starting_offsets={key: asked})
        bounds = bounds_of(replica, request, ExpectedEnds())
        if bounds.start is not None:  # that offset, or the first record of a time
            return max(bounds.start, bounds.log_start)
        return bounds.log_start if asked == EARLIEST else bounds.end

    def _bounds(
        self, replicas: Mapping[TopicPartition, PartitionDirectory]
    ) -> dict[TopicPartition, LogBounds]:
        asked, expected = self._without_start(), ExpectedEnds()
        return {key: bounds_of(replica, asked, expected) for key, replica in replicas.items()}

    def _without_start(self) -> ReadRequest:
        return replace(self.request, starting_timestamps={}, starting_timestamp=None)

    def _span(
        self, key: TopicPartition, replica: PartitionDirectory, start: int | None, stop: int
    ) -> range:
        """What the log still has of these offsets, which it had when they were found."""
        first, end = first_offset(replica, self.request), scan_tail(replica).next_offset
        lost = LostData(self.request)
        if start is not None:
            lost.check_first(key, start, first)
            lost.check_end(key, start, stop)
            first = max(start, first)
        lost.check_end(key, stop, end)
        return range(first, min(stop, end))

    def _units(
        self,
        replica: PartitionDirectory,
        key: TopicPartition,
        span: range,
        request: ReadRequest,
    ) -> Iterator[Unit]:
        expected = ExpectedEnds()
        asked = replace(
            request,
            starting_offsets={key: span.start},
            ending_offsets={key: span.stop},
            until=Until.LOG_END,
        )
        if span:
            yield from log_units(
                [replica], asked, lambda each: asked_of(each, asked, expected), expected
            )
