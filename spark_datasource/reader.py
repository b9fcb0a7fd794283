"""Read one table: planned once on the driver, run by tasks on executors."""

from __future__ import annotations

import logging
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Final

from pyspark.sql.datasource import DataSourceReader

from kafkalog_reader import registry
from kafkalog_reader.audits.partition.outside_isr import note_absent, note_not_in_sync
from kafkalog_reader.errors import KafkaLogError, LimitReachedError, LocatedError
from kafkalog_reader.io.discovery import discover, discover_arguments
from kafkalog_reader.io.path_argument import parse_path_arguments
from kafkalog_reader.io.progress import ReadMetrics
from kafkalog_reader.io.read_context import ReadContext
from kafkalog_reader.io.remote_part import with_remote
from kafkalog_reader.report.hidden_text import hidden_lines
from kafkalog_reader.salvage.past_damage import advise
from kafkalog_reader.scan.damage import Mode
from kafkalog_reader.scan.hidden_records import HiddenRecords
from kafkalog_reader.tables.selection import check_selection, without_metadata
from spark_datasource.clusters import COLUMN, check_told_apart, of_cluster
from spark_datasource.errors import for_spark
from spark_datasource.gathering import gathered
from spark_datasource.known_plans import KnownPlans, Planned
from spark_datasource.metrics import reported
from spark_datasource.offset_range import check_named
from spark_datasource.option_names import warn_of_unused
from spark_datasource.planning import PackedUnits, plan
from spark_datasource.shipped import Shipped

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa
    from pyspark.sql.datasource import InputPartition

    from kafkalog_reader.io.evidence import Evidence
    from kafkalog_reader.io.path_argument import PathArgument
    from kafkalog_reader.tables.request import ReadRequest, TopicPartition
    from kafkalog_reader.tables.table import AnyTable
    from spark_datasource.options import SourceOptions

logger = logging.getLogger(__name__)

_PLANNED_FROM_SELECTED: Final = frozenset({"batches", "gaps", "records"})
"""Tables that are planned from the selected partition directories and their log directories."""
_known_plans: Final = KnownPlans()


class KafkaLogReader(Shipped, DataSourceReader):
    """Plans and reads; holds plain values only, because Spark pickles it to every task."""

    def __init__(self, options: SourceOptions, columns: tuple[str, ...]) -> None:
        self.options = options
        self.columns = columns
        self.request = request_of(options, columns)

    def partitions(self) -> Sequence[InputPartition]:
        """Look at the directories and cut the work; runs once a query, on the driver.

        Raises:
            KafkaLogError: the paths hold no Kafka logs, or not the requested ones.
        """
        options = self.options
        table = registry.table(options.table)
        warn_of_unused(options.unused)
        try:
            context = ReadContext(follow_links=options.follow_links)
            arguments = list(parse_path_arguments(options.paths, context))
            if (
                options.table not in _PLANNED_FROM_SELECTED
                or options.follow_links  # what a link leads to is in a folder not looked at
                or any(argument.sources for argument in arguments)
            ):
                return self._planned(table, arguments, context).tasks
            question = (
                arguments, options.table, options.named, options.min_partitions,
                options.cluster_id, COLUMN in self.columns,
                _for_planning(options.request), _for_planning(self.request),
            )  # fmt: skip
            return _known_plans.planned(question, lambda: self._planned(table, arguments, context))
        except KafkaLogError as error:
            raise _with_advice(error, options) from None

    def _planned(
        self, table: AnyTable, arguments: Sequence[PathArgument], context: ReadContext
    ) -> Planned:
        options = self.options
        evidence = of_cluster(discover_arguments(arguments, context), options.cluster_id)
        check_selection(evidence, options.request, selects_directories=table.selects_directories)
        asked, request = options.request, self.request
        if options.table == "records":  # what may be filtered is what the options select
            asked = without_metadata(evidence, asked)
            request = replace(request, excluded_topics=asked.excluded_topics)
        check_told_apart(with_remote(evidence), table, replace(asked, columns=self.columns))
        check_named(options.named, _topic_partitions(evidence, asked))
        tasks = plan(table, evidence, request, options.min_partitions)
        if not tasks and self.request == request_of(options, self.columns):
            logger.warning("no rows: %s", _why_nothing(options))
        _warn_of_not_supplied(table, evidence, asked)
        return Planned(tasks, _looked_at(evidence, request))

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Yield the rows of one task as record batches of exactly the declared schema.

        Raises:
            KafkaLogError: damage, unless the reading mode skips it.
        """
        yield from read_task(self.options, partition, self.request, self.columns)


def request_of(options: SourceOptions, columns: tuple[str, ...]) -> ReadRequest:
    """What is asked of a table, for these columns.

    A batch of no columns has no length unless it had columns before: a cheap one is read then.
    """
    table = registry.table(options.table)
    return replace(options.request, columns=columns or (_cheapest(table),))


def read_task(
    options: SourceOptions,
    partition: InputPartition,
    request: ReadRequest,
    columns: tuple[str, ...],
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of one task as record batches of exactly these columns.

    Raises:
        KafkaLogError: damage, unless the reading mode skips it.
    """
    if isinstance(partition, PackedUnits):  # else ``partitions`` found nothing to read
        for rows in _read_units(options, partition, request):
            yield rows if columns else rows.select([])


def _read_units(
    options: SourceOptions, partition: PackedUnits, request: ReadRequest
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of one task, and report what it did."""
    table = registry.table(options.table)
    metrics = ReadMetrics()
    try:
        rows = (rows for unit in partition.units for rows in table.read(unit, request, metrics))
        found = gathered(registry.limited(rows, request.limit))
        yield from reported(found, metrics, options.table, options.metrics_path)
    except KafkaLogError as error:
        raise _with_advice(error, options) from None


def _with_advice(error: KafkaLogError, options: SourceOptions) -> KafkaLogError:
    """The error as Spark should show it, and which option reads on."""
    if isinstance(error, LimitReachedError):
        error.advice = "Option maxBatchBytes raises it"
    elif isinstance(error, LocatedError):
        context = ReadContext(follow_links=options.follow_links)
        supplied = partial(discover, options.paths, context)
        advise(error, options.table, options.request, supplied, verb="load")
    return for_spark(error)


def _why_nothing(options: SourceOptions) -> str:
    """What the options select that the paths do not have; filters of a query are not meant."""
    pattern = options.request.topic_pattern
    if pattern is not None:
        return f"option subscribePattern: {pattern!r} matches no topic in the given paths"
    return f"the given paths hold nothing that the options select for table {options.table}"


def _warn_of_not_supplied(table: AnyTable, evidence: Evidence, request: ReadRequest) -> None:
    """Warn of in-sync replicas, and of partitions of named topics, that were not supplied."""
    logs = table.logs_shown(request)
    if request.mode is Mode.DROPMALFORMED or not any(each.topics for each in logs):
        return
    hidden = HiddenRecords()
    note_not_in_sync(hidden, evidence, logs)
    note_absent(hidden, evidence, logs[0])
    for line in hidden_lines(hidden):
        logger.warning("Not known: %s", line)


def _for_planning(request: ReadRequest) -> ReadRequest:
    """The request without what only matters when it is read."""
    return replace(request, columns=None, limit=None)


def _looked_at(evidence: Evidence, request: ReadRequest) -> Iterator[str]:
    """The folders that planning looked at, each once."""
    seen: set[str] = set()
    selected = (each.path for each in evidence.unordered_directories(request))
    roots = (root.path for root in evidence.log_directories)
    for path in chain(evidence.searched, roots, selected):
        if path not in seen:
            seen.add(path)
            yield path


def _topic_partitions(evidence: Evidence, request: ReadRequest) -> Iterator[TopicPartition]:
    for (_, topic, partition), _ in with_remote(evidence).topic_partitions(request):
        if topic is not None and partition is not None:
            yield topic, partition


def _cheapest(table: AnyTable) -> str:
    names = [column.name for column in table.columns]
    return "offset" if "offset" in names else names[0]
