"""``read``: a DataFrame whose columns and filters are options, so that nothing else is read.

Spark tells a Python source neither which columns a query needs nor, up to 4.3, its filters.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from kafkalog_reader.errors import UsageError
from spark_datasource.source import KafkaLogDataSource
from spark_datasource.topic_partitions import parse_assign

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pyspark.sql import DataFrame, SparkSession

    from kafkalog_reader.tables.request import TopicPartition


@dataclass(frozen=True, slots=True)
class LogRead:
    """What will be read; every method returns a new one.

    Attributes:
        spark: the session.
        options: those of ``format("kafkalog")``.
    """

    spark: SparkSession
    options: Mapping[str, str]

    def select(self, *columns: str) -> LogRead:
        """Read only these columns, in this order."""
        return self.option("columns", ",".join(columns))

    def where(
        self,
        *,
        topic: str | Iterable[str] | None = None,
        partition: int | Iterable[int] | None = None,
        from_offset: int | None = None,
        to_offset: int | None = None,
        from_time: object = None,
        to_time: object = None,
    ) -> LogRead:
        """Read only these rows.

        Args:
            topic: one topic or several; replaces those chosen before, and their offsets.
            partition: of these topics, or of those chosen before, one partition or several.
            from_offset: of each of these partitions, the first offset to read.
            to_offset: of each of these partitions, the first offset left out.
            from_time: only records with this timestamp or a later one: milliseconds or ISO 8601.
            to_time: only records with an earlier timestamp.

        Raises:
            UsageError: partitions without a topic, or offsets without a partition.
        """
        found = self
        topics = [topic] if isinstance(topic, str) else list(topic or ())
        numbers = [partition] if isinstance(partition, int) else list(partition or ())
        if partition is not None and topic is None:
            topics = found._topics()
            if not topics:
                raise UsageError(
                    "where(partition=...) needs a topic: where(topic='t', partition=0)"
                )
        if topics:
            found = found._choosing(topics, None if partition is None else numbers)
        for name, offset in (("startingOffsets", from_offset), ("endingOffsets", to_offset)):
            if offset is None:
                continue
            assigned = found._assigned()
            if not assigned:
                raise UsageError(
                    "where(from_offset=..., to_offset=...) needs a topic and a partition: each "
                    "partition has its own offsets"
                )
            offsets: dict[str, dict[str, int]] = {}
            for each, number in sorted(assigned):
                offsets.setdefault(each, {})[str(number)] = offset
            found = found.option(name, json.dumps(offsets))
        for name, time in (("fromTime", from_time), ("toTime", to_time)):
            if time is not None:
                found = found.option(name, time)
        return found

    def option(self, name: str, value: object) -> LogRead:
        """Set any option of ``format("kafkalog")``."""
        text = str(value).lower() if isinstance(value, bool) else str(value)
        kept = {key: old for key, old in self.options.items() if key.lower() != name.lower()}
        return replace(self, options=kept | {name: text})

    def to_df(self) -> DataFrame:
        """The DataFrame.

        Raises:
            KafkaLogError: an option or a column that makes no sense; nothing was started yet.
        """
        KafkaLogDataSource(dict(self.options)).schema()
        return self.spark.read.format("kafkalog").options(**self.options).load()

    def _given(self, name: str) -> str:
        return next((old for key, old in self.options.items() if key.lower() == name.lower()), "")

    def _assigned(self) -> frozenset[TopicPartition]:
        assigned = self._given("assign")
        return parse_assign(assigned) if assigned else frozenset()

    def _topics(self) -> list[str]:
        subscribed = [each.strip() for each in self._given("subscribe").split(",")]
        return sorted({topic for topic, _ in self._assigned()} | {*subscribed} - {""})

    def _choosing(self, topics: list[str], partitions: list[int] | None) -> LogRead:
        replaced = ("subscribe", "subscribepattern", "assign")
        offsets = ("startingoffsets", "endingoffsets")  # JSON names topics, a word does not
        kept = {
            name: each
            for name, each in self.options.items()
            if name.lower() not in replaced
            and not (name.lower() in offsets and each.lstrip().startswith("{"))
        }
        found = replace(self, options=kept)
        if partitions is None:
            return found.option("subscribe", ",".join(topics))
        return found.option("assign", json.dumps(dict.fromkeys(topics, partitions)))


def read(spark: SparkSession, paths: str | Iterable[str], **options: Any) -> LogRead:  # noqa: ANN401
    """Begin a read of log directories, with options as for ``format("kafkalog")``.

    ``read(spark, "/mnt/b*/kafka-logs").where(topic="t").select("offset", "value").to_df()``
    """
    given = [paths] if isinstance(paths, str) else list(paths)
    found = LogRead(spark, {"paths": json.dumps([str(path) for path in given])})
    for name, value in options.items():
        found = found.option(name, value)
    return found
