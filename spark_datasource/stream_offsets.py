"""Offsets of a stream, and the JSON form in which Spark keeps them: ``{"orders": {"0": 23}}``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkalog_reader.errors import UsageError
from spark_datasource.errors import for_spark

if TYPE_CHECKING:
    from kafkalog_reader.tables.request import TopicPartition

JsonOffsets = dict[str, dict[str, int]]
Offsets = dict["TopicPartition", int]


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
