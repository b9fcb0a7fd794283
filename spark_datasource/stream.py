"""Structured Streaming: ``spark.readStream.format("kafkalog")`` over log directories that grow.

Offsets are those of Spark's Kafka source: ``{"orders": {"0": 23}}``. Of each partition one copy is
read, as long as it exists. Source: Spark 4.0, KafkaMicroBatchStream.
"""

from __future__ import annotations

import logging
import math
import time
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

from pyspark.sql.datasource import DataSourceStreamReader

from kafkalog_reader.errors import DataLossError, KafkaLogError, UsageError
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.io.partition_directory import segments
from kafkalog_reader.io.read_context import ReadContext
from kafkalog_reader.io.remote_part import with_remote
from kafkalog_reader.scan.damage import Damage
from kafkalog_reader.scan.expected_end import ExpectedEnds
from kafkalog_reader.scan.log_tail import scan_tail
from kafkalog_reader.tables.asked_offsets import (
    LogBounds,
    asked_of,
    bounds_of,
    first_offset,
    warn_of_no_high_watermark,
)
from kafkalog_reader.tables.chosen_replicas import chosen_replicas
from kafkalog_reader.tables.log_unit import log_units
from kafkalog_reader.tables.request import ReadRequest, Until
from kafkalog_reader.tables.selection import check_selection, without_metadata
from spark_datasource.errors import for_spark
from spark_datasource.offset_range import check_named
from spark_datasource.option_names import warn_of_unused
from spark_datasource.planning import PackedUnits, cut
from spark_datasource.reader import read_units
from spark_datasource.shipped import Shipped
from spark_datasource.stale_copies import StaleCopies
from spark_datasource.topic_partitions import EARLIEST

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import pyarrow as pa
    from pyspark.sql.datasource import InputPartition

    from kafkalog_reader.io.directories import PartitionDirectory
    from kafkalog_reader.tables.request import TopicPartition
    from kafkalog_reader.tables.table import Unit
    from spark_datasource.options import StreamOptions

try:
    from pyspark.sql.streaming.datasource import (
        ReadAllAvailable,
        ReadLimit,
        ReadMaxBytes,
        ReadMaxRows,
        ReadMinRows,
        SupportsTriggerAvailableNow,
    )
except ImportError:  # Spark 4.0 and 4.1: a trigger reads all new records

    class SupportsTriggerAvailableNow:  # type: ignore[no-redef]  # Spark has none
        """Stands where later releases have one."""


HAS_LIMITS: Final = hasattr(SupportsTriggerAvailableNow, "prepareForTriggerAvailableNow")
"""Whether Spark asks for limits: since 4.2."""
logger = logging.getLogger(__name__)

_CHEAPEST: Final = "offset"

JsonOffsets = dict[str, dict[str, int]]
Offsets = dict["TopicPartition", int]


class KafkaLogStreamReader(Shipped, DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Finds what is new on the driver; its tasks read as those of a batch do."""

    def __init__(self, options: StreamOptions, columns: tuple[str, ...]) -> None:
        self.stream = options
        self.options = options.source
        self.columns = columns
        self.request = replace(options.source.request, columns=columns or (_CHEAPEST,))
        self._kept: dict[TopicPartition, str] = {}
        self._stale = StaleCopies()
        self._target: Offsets | None = None
        self._last_trigger = time.monotonic()

    def initialOffset(self) -> JsonOffsets:  # noqa: N802  Spark's name
        """Where a new query begins: the end of every log, unless the options say otherwise."""
        try:
            replicas = self._replicas()
            check_named(self.options.named, replicas)
            found = {key: self._start_of(key, replica) for key, replica in replicas.items()}
        except KafkaLogError as error:
            raise for_spark(error) from None
        warn_of_unused(self.options.unused)
        stream = self.stream
        if (stream.max_offsets or stream.max_bytes or stream.min_offsets) and not HAS_LIMITS:
            logger.warning("limits per trigger need Spark 4.2: each trigger reads all new records")
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
        try:
            bounds = self._bounds()
            if start is not None:
                self._check_start(from_json(start), bounds)
        except KafkaLogError as error:
            raise for_spark(error) from None
        ends = {key: each.end for key, each in bounds.items()}
        if self._target is not None:
            target = self._target
            ends = {key: min(end, target[key]) for key, end in ends.items() if key in target}
        if start is None or limit is None:
            return as_json(ends)
        begun = {key: each.log_start for key, each in bounds.items()} | from_json(start)
        return as_json(self._limited(begun, ends, limit))

    def getDefaultReadLimit(self) -> Any:  # noqa: N802, ANN401  Spark's name and type
        """The limit that the options set. Spark takes one: with a maximum, no minimum."""
        if self.stream.max_offsets is not None:
            return ReadMaxRows(self.stream.max_offsets)
        if self.stream.max_bytes is not None:
            return ReadMaxBytes(self.stream.max_bytes)
        if self.stream.min_offsets is not None:
            return ReadMinRows(self.stream.min_offsets)
        return ReadAllAvailable()

    def reportLatestOffset(self) -> JsonOffsets | None:  # noqa: N802  Spark's name
        """The current log ends, for the status of the query."""
        try:
            return as_json({key: each.end for key, each in self._bounds().items()})
        except KafkaLogError as error:
            raise for_spark(error) from None

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802  Spark's name
        """Remember the current log ends: the query ends there."""
        try:
            self._target = {key: each.end for key, each in self._bounds().items()}
        except KafkaLogError as error:
            raise for_spark(error) from None

    def partitions(self, start: JsonOffsets, end: JsonOffsets) -> Sequence[InputPartition]:
        """Cut what lies between two offsets; partitions that are new begin at their log start.

        Raises:
            KafkaLogError: records between them are gone, unless ``failOnDataLoss`` is false.
        """
        begun, ended = from_json(start), from_json(end)
        try:
            replicas = self._replicas()
            self._check_selected(ended)  # a checkpoint may end in a trigger that never finished
            self._check_gone(begun.keys() - ended.keys(), begun, ended, replicas)
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
        if isinstance(partition, PackedUnits):
            for rows in read_units(self.options, partition, self.request):
                yield rows if self.columns else rows.select([])

    def _start_of(self, key: TopicPartition, replica: PartitionDirectory) -> int:
        asked = self.stream.start.offsets.get(key, self.stream.start.default)
        request = self.request
        if asked >= 0:
            request = replace(request, starting_offsets={key: asked})
        bounds = bounds_of(replica, request, ExpectedEnds())
        if bounds.start is not None:  # that offset, or the first record of a time
            return max(bounds.start, bounds.log_start)
        return bounds.log_start if asked == EARLIEST else bounds.end

    def _replicas(self) -> dict[TopicPartition, PartitionDirectory]:
        """One copy of each existing partition: the one read before, if it still exists."""
        context = ReadContext(follow_links=self.options.follow_links)
        evidence = with_remote(discover(self.options.paths, context))
        if not self._kept:
            check_selection(evidence, self.request)
            self.request = without_metadata(evidence, self.request)
        found: dict[TopicPartition, PartitionDirectory] = {}
        kept_of: list[tuple[PartitionDirectory, Sequence[PartitionDirectory]]] = []
        new: set[str] = set()
        for (_, topic, partition), copies in evidence.topic_partitions(self.request):
            if topic is None or partition is None:
                continue
            kept = [each for each in copies if each.path == self._kept.get((topic, partition))]
            if kept:
                found[topic, partition] = kept[0]
                kept_of.append((kept[0], copies))
            else:
                new.add(topic)
        self._stale.look(kept_of)
        if new:
            asked = replace(self.request, topics=frozenset(new), assigned=None, topic_pattern=None)
            expected = ExpectedEnds()
            for replica in chosen_replicas(evidence, asked, expected):
                if replica.topic is not None and replica.partition is not None:
                    found.setdefault((replica.topic, replica.partition), replica)
                    if not self._kept:  # later, its broker may not have written one yet
                        warn_of_no_high_watermark(replica, self.request)
                    # Only a warning: a directory that is copied again may still get the records.
                    lost = expected.missing_at_end(replica, scan_tail(replica).next_offset)
                    if lost is not None:
                        Damage(self.request.mode, fail_on_data_loss=False).missing(lost)
        if self.request.assigned is not None:
            found = {key: each for key, each in found.items() if key in self.request.assigned}
        self._kept.update({key: replica.path for key, replica in found.items()})
        return found

    def _bounds(self) -> dict[TopicPartition, LogBounds]:
        asked, expected = self._without_start(), ExpectedEnds()
        return {
            key: bounds_of(replica, asked, expected) for key, replica in self._replicas().items()
        }

    def _without_start(self) -> ReadRequest:
        return replace(self.request, starting_timestamps={}, starting_timestamp=None)

    def _limited(self, begun: Offsets, ends: Offsets, limit: ReadLimit) -> Offsets:
        """Ends within the limit; each partition gets a share in proportion to its backlog."""
        if isinstance(limit, ReadAllAvailable):
            return ends
        spans = {key: max(0, end - begun[key]) for key, end in ends.items()}
        backlog = sum(spans.values())
        if self.stream.min_offsets is not None and self._target is None:
            waited = time.monotonic() - self._last_trigger
            if backlog < self.stream.min_offsets and waited < self.stream.max_delay:
                return {key: begun[key] for key in ends}
            self._last_trigger = time.monotonic()
        if isinstance(limit, ReadMaxRows):
            share = limit.max_rows / max(limit.max_rows, backlog)
        elif isinstance(limit, ReadMaxBytes):
            share = limit.max_bytes / max(limit.max_bytes, self._bytes_of(spans))
        else:
            return ends
        return {
            key: min(end, begun[key] + max(1, math.floor(spans[key] * share)))
            for key, end in ends.items()
        }

    def _bytes_of(self, spans: Mapping[TopicPartition, int]) -> float:
        """Estimated bytes of these offsets in each partition, from the mean of its log."""
        return sum(
            span * _bytes_per_offset(replica)
            for key, replica in self._replicas().items()
            if (span := spans.get(key))
        )

    def _span(
        self, key: TopicPartition, replica: PartitionDirectory, start: int | None, stop: int
    ) -> range:
        """What the log still has of these offsets, which it had when they were found."""
        first, end = first_offset(replica, self.request), scan_tail(replica).next_offset
        if start is not None:
            self._check_first(key, start, first)
            self._check_end(key, start, stop)
            first = max(start, first)
        self._check_end(key, stop, end)
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

    def _check_gone(
        self,
        gone: set[TopicPartition],
        begun: Offsets,
        ended: Offsets,
        replicas: Mapping[TopicPartition, PartitionDirectory],
    ) -> None:
        self._check_selected(begun)
        gone = gone | {key for key in ended if key not in replicas}
        gone = {key for key in gone if self.request.selects(*key)}
        if gone:
            self._lose(f"{_names(gone)}: no copy is left; some data may have been missed")
        for key in sorted(ended.keys() - begun.keys() - gone):
            logger.info("%s-%d is new", *key)

    def _check_start(self, begun: Offsets, bounds: Mapping[TopicPartition, LogBounds]) -> None:
        """Refuse what planning would refuse; what may be lost is only a warning there."""
        may_lose = not self.request.fail_on_data_loss
        if may_lose and any(self.request.selects(*key) for key in begun):
            return
        self._check_gone({*begun} - {*bounds}, begun, {}, {})
        for key in sorted(begun.keys() & bounds.keys()):
            self._check_first(key, begun[key], bounds[key].log_start)
            self._check_end(key, begun[key], bounds[key].end)

    def _check_first(self, key: TopicPartition, start: int, first: int) -> None:
        if start < first:
            self._lose(
                f"{key[0]}-{key[1]}: offsets {start} to {first - 1} were deleted before this query "
                "read them"
            )

    def _check_end(self, key: TopicPartition, start: int, stop: int) -> None:
        if start > stop:
            self._lose(f"{key[0]}-{key[1]}: the log end moved back from offset {start} to {stop}")

    def _check_selected(self, begun: Offsets) -> None:
        """A checkpoint of another query has offsets that this one does not ask for."""
        others = {key for key in begun if not self.request.selects(*key)}
        if not others:
            return
        problem = (
            f"the checkpoint of this query holds offsets of {_names(others)}, which its options do "
            "not select"
        )
        if len(others) == len(begun):
            raise UsageError(f"{problem}: it belongs to another query; use a new checkpoint")
        self._lose(problem, UsageError)

    def _lose(self, problem: str, kind: type[KafkaLogError] = DataLossError) -> None:
        if self.request.fail_on_data_loss:
            raise kind(f"{problem}. failOnDataLoss=false continues with what is left")
        logger.warning("%s", problem)


def _names(keys: Iterable[TopicPartition]) -> str:
    return ", ".join(f"{topic}-{number}" for topic, number in sorted(keys))


def _bytes_per_offset(replica: PartitionDirectory) -> float:
    """The mean of a log; zero if nothing is known of its size."""
    sizes = {each.base_offset: each.log_size for each in segments(replica) if each.log_size}
    end = scan_tail(replica).next_offset
    return sum(sizes.values()) / max([1, *(end - base_offset for base_offset in sizes)])


def as_json(offsets: Offsets) -> JsonOffsets:
    """Offsets as the Kafka source writes them."""
    found: JsonOffsets = {}
    for (topic, partition), offset in sorted(offsets.items()):
        found.setdefault(topic, {})[str(partition)] = offset
    return found


def from_json(offsets: JsonOffsets) -> Offsets:
    """The other way round; from a checkpoint of Spark, which another query may have written.

    Raises:
        UsageError: these are not offsets of topic partitions.
    """
    try:
        return {
            (topic, int(partition)): int(offset)
            for topic, partitions in offsets.items()
            for partition, offset in partitions.items()
        }
    except (AttributeError, TypeError, ValueError):
        problem = (
            "the checkpoint of this query holds offsets of another source: use a new checkpoint"
        )
        raise for_spark(UsageError(problem)) from None
