"""How much one trigger of a stream reads. Source: Spark 4.0, KafkaMicroBatchStream."""

from __future__ import annotations

import logging
import math
import time
from typing import TYPE_CHECKING, Any, Final

from kafkalog_reader.io.partition_directory import segments
from kafkalog_reader.scan.log_tail import scan_tail

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kafkalog_reader.io.directories import PartitionDirectory
    from kafkalog_reader.tables.request import TopicPartition
    from spark_datasource.options import StreamOptions
    from spark_datasource.stream_offsets import Offsets

try:
    from pyspark.sql.streaming.datasource import (
        ReadAllAvailable,
        ReadLimit,
        ReadMaxBytes,
        ReadMaxRows,
        ReadMinRows,
    )
    from pyspark.sql.streaming.datasource import (
        SupportsTriggerAvailableNow as SupportsTriggerAvailableNow,
    )
except ImportError:  # Spark 4.0 and 4.1: a trigger reads all new records

    class SupportsTriggerAvailableNow:  # type: ignore[no-redef]  # Spark has none
        """Stands where later releases have one."""


HAS_LIMITS: Final = hasattr(SupportsTriggerAvailableNow, "prepareForTriggerAvailableNow")
"""Whether Spark asks for limits: since 4.2."""
logger = logging.getLogger(__name__)


class TriggerLimits:
    """The limits that the options of a stream set, and when the last trigger was."""

    def __init__(self, stream: StreamOptions) -> None:
        self._stream = stream
        self._last_trigger = time.monotonic()

    def warn_of_unused(self) -> None:
        """Say that a release of Spark that asks for no limits uses none."""
        stream = self._stream
        if (stream.max_offsets or stream.max_bytes or stream.min_offsets) and not HAS_LIMITS:
            logger.warning("limits per trigger need Spark 4.2: each trigger reads all new records")

    def default(self) -> Any:  # noqa: ANN401  Spark's type
        """The limit that the options set. Spark takes one: with a maximum, no minimum."""
        if self._stream.max_offsets is not None:
            return ReadMaxRows(self._stream.max_offsets)
        if self._stream.max_bytes is not None:
            return ReadMaxBytes(self._stream.max_bytes)
        if self._stream.min_offsets is not None:
            return ReadMinRows(self._stream.min_offsets)
        return ReadAllAvailable()

    def limited(
        self,
        begun: Offsets,
        ends: Offsets,
        limit: ReadLimit,
        replicas: Mapping[TopicPartition, PartitionDirectory],
        *,
        may_wait: bool,
    ) -> Offsets:
        """Ends within the limit; each partition gets a share in proportion to its backlog.

        Args:
            begun: where the trigger begins.
            ends: where it could end.
            limit: what Spark asks.
            replicas: the copies that are read.
            may_wait: whether another trigger will follow.
        """
        if isinstance(limit, ReadAllAvailable):
            return ends
        spans = {key: max(0, end - begun[key]) for key, end in ends.items()}
        backlog = sum(spans.values())
        if self._stream.min_offsets is not None and may_wait:
            waited = time.monotonic() - self._last_trigger
            if backlog < self._stream.min_offsets and waited < self._stream.max_delay:
                return {key: begun[key] for key in ends}
            self._last_trigger = time.monotonic()
        if isinstance(limit, ReadMaxRows):
            share = limit.max_rows / max(limit.max_rows, backlog)
        elif isinstance(limit, ReadMaxBytes):
            share = limit.max_bytes / max(limit.max_bytes, _bytes_of(spans, replicas))
        else:
            return ends
        return {
            key: min(end, begun[key] + max(1, math.floor(spans[key] * share)))
            for key, end in ends.items()
        }


def _bytes_of(
    spans: Mapping[TopicPartition, int], replicas: Mapping[TopicPartition, PartitionDirectory]
) -> float:
    """Estimated bytes of these offsets in each partition, from the mean of its log."""
    return sum(
        span * _bytes_per_offset(replica)
        for key, replica in replicas.items()
        if (span := spans.get(key))
    )


def _bytes_per_offset(replica: PartitionDirectory) -> float:
    """The mean of a log; zero if nothing is known of its size."""
    sizes = {each.base_offset: each.log_size for each in segments(replica) if each.log_size}
    end = scan_tail(replica).next_offset
    return sum(sizes.values()) / max([1, *(end - base_offset for base_offset in sizes)])
