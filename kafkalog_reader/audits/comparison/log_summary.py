"""A summary of one replica that was read, besides the batches that are compared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kafkalog_reader.audits.comparison.verdict import is_damage

if TYPE_CHECKING:
    from kafkalog_reader.audits.log.batch_place import Regression
    from kafkalog_reader.audits.log.batch_stream import BatchStream
    from kafkalog_reader.errors import LogPosition
    from kafkalog_reader.scan.unreadable_region import UnreadableRegion


@dataclass(frozen=True, slots=True, kw_only=True)
class LogSummary:
    """The places of one log that findings report.

    Attributes:
        stops: stretches in which no batch could be read.
        regressions: the first of the ``regression_count`` batches at which offsets decrease.
        unexplained_falls: the number of these that no restored base offset explains.
        unknown_codecs: place, codec and magic of the first of the ``unknown_codec_count`` batches
            whose codec no consumer can decompress.
        last_timestamp: timestamp of the last batch in milliseconds; None without batches.
    """

    stops: tuple[UnreadableRegion, ...]
    regressions: tuple[Regression, ...]
    regression_count: int
    unexplained_falls: int
    unknown_codecs: tuple[tuple[LogPosition, int, int], ...]
    unknown_codec_count: int
    batches: int
    size_in_bytes: int
    last_timestamp: int | None = None


def spoilt(stream: BatchStream) -> int:
    """The number of places at which a log is damaged, besides wrong checksums."""
    return stream.restored + sum(map(is_damage, stream.stops))


def log_summary(stream: BatchStream) -> LogSummary:
    """Summarize a stream that was read to its end."""
    return LogSummary(
        stops=tuple(stream.stops),
        regressions=tuple(stream.falls.first),
        regression_count=stream.falls.count,
        unexplained_falls=stream.falls.unexplained,
        unknown_codecs=tuple(stream.unknown_codecs.first),
        unknown_codec_count=stream.unknown_codecs.count,
        batches=stream.batches,
        size_in_bytes=stream.size_in_bytes,
        last_timestamp=stream.last_batch_timestamp,
    )
