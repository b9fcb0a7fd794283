"""The data source ``kafkalog``: any table of kafkalog_reader as a DataFrame."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final, NoReturn

from pyspark.sql.datasource import DataSource, DataSourceReader

from kafkalog_reader import registry
from kafkalog_reader.errors import KafkaLogError, UsageError
from spark_datasource.catalog_table import (
    created_options,
    is_being_created,
    stored_options,
    with_options,
)
from spark_datasource.errors import for_spark, is_worker
from spark_datasource.options import SourceOptions, parse_options, parse_stream_options
from spark_datasource.projection import projected_columns, spark_schema
from spark_datasource.reader import KafkaLogReader
from spark_datasource.shipped import Shipped

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql.types import StructType

    from spark_datasource.stream import KafkaLogStreamReader

_PUSHDOWN_WORKER: Final = "pyspark.sql.worker.data_source_pushdown_filters"
_READ_ONLY: Final = "kafkalog only reads: write to another format, such as parquet"


class KafkaLogDataSource(Shipped, DataSource):
    """Kafka's log directories, read from disk, without a broker.

    ``spark.read.format("kafkalog").load(paths)`` shows what Spark's Kafka source shows; the option
    ``table`` names another table.
    """

    @classmethod
    def name(cls) -> str:
        """What ``format`` takes."""
        return "kafkalog"

    def schema(self) -> StructType:
        """The columns that the options ask for; Spark does not call it under ``.schema(...)``.

        Raises:
            UsageError: an option that makes no sense.
        """
        try:
            created = is_being_created(self.options)
            given = created_options(self.options) if created else self.options
            options = _parsed(given)
            schema = spark_schema(registry.table(options.table), options.columns)
        except KafkaLogError as error:
            raise for_spark(error) from None
        if not created:
            return schema
        kept = {name: "" if name in options.unused else value for name, value in given.items()}
        return with_options(schema, kept, options.paths)

    def streamReader(self, schema: StructType) -> KafkaLogStreamReader:  # noqa: N802  Spark's name
        """A reader of directories that grow.

        Raises:
            UsageError: an option or a column that makes no sense. In a worker of Spark, the reader
                that is returned raises it.
        """
        from spark_datasource.refused_stream import RefusedStreamReader
        from spark_datasource.stream import KafkaLogStreamReader

        try:
            options = parse_stream_options(stored_options(schema, self.options))
            columns = projected_columns(registry.table(options.source.table), schema)
            _check_agreement(options.source, columns)
        except KafkaLogError as error:
            refused = for_spark(error)
            if is_worker():
                return RefusedStreamReader(refused)
            raise refused from None
        return KafkaLogStreamReader(options, columns)

    def reader(self, schema: StructType) -> KafkaLogReader:
        """A reader of the columns in this schema: the table's, or what the user made of them.

        Raises:
            UsageError: an option or a column that makes no sense.
        """
        try:
            options = parse_options(stored_options(schema, self.options))
            columns = projected_columns(registry.table(options.table), schema)
            _check_agreement(options, columns)
        except KafkaLogError as error:
            raise for_spark(error) from None
        if _scans_have_plans_of_their_own() and _is_pushdown_worker():
            # Spark refuses a reader that takes filters unless
            # spark.sql.python.filterPushdown.enabled is set, which only this worker shows.
            from spark_datasource.pushdown import FilteringReader

            return FilteringReader(options, columns)
        return KafkaLogReader(options, columns)

    def writer(self, schema: StructType, overwrite: bool) -> NoReturn:
        """Refuse to write: log directories are evidence.

        Raises:
            UsageError: always.
        """
        raise for_spark(UsageError(_READ_ONLY))

    def streamWriter(self, schema: StructType, overwrite: bool) -> NoReturn:  # noqa: N802
        """Refuse to write: log directories are evidence.

        Raises:
            UsageError: always.
        """
        raise for_spark(UsageError(_READ_ONLY))


def _parsed(given: Mapping[str, str]) -> SourceOptions:
    """The options of a batch; or those of a stream, where only a stream could have them."""
    try:
        return parse_options(given)
    except UsageError:
        try:
            return parse_stream_options(given).source
        except UsageError:
            pass
        raise


def _scans_have_plans_of_their_own() -> bool:
    """Whether a filter stays in the scan that it was pushed to.

    Up to Spark 4.3.0 all scans of one ``load()`` share one pushed plan: the filter of one decides
    what the others read. SPARK-58551 repairs it and adds ``pushLimit`` in the same change.
    """
    return hasattr(DataSourceReader, "pushLimit")


def _is_pushdown_worker() -> bool:
    main = getattr(sys.modules.get("__main__"), "__spec__", None)
    return _PUSHDOWN_WORKER in sys.modules or (main is not None and main.name == _PUSHDOWN_WORKER)


def _check_agreement(options: SourceOptions, columns: tuple[str, ...]) -> None:
    everything = tuple(column.name for column in registry.table(options.table).columns)
    if options.has_columns and columns != (options.columns or everything):
        raise UsageError("option columns and .schema(...) name different columns: give one of them")
