"""What reading one replica from end to end met, besides the batches that are compared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kafkalog_reader.audits.comparison.verdict import is_damage

if TYPE_CHECKING:
    from kafkalog_reader.audits.log.batch_stream import BatchStream, Regression
    from kafkalog_reader.audits.log.scan_stop import ScanStop
    from kafkalog_reader.errors import LogPosition


@dataclass(frozen=True, slots=True, kw_only=True)
class Scan:
    """The places of a log to report.

    Attributes:
        stops: stretches without a batch that could be read.
        regressions: examples of the ``regression_count`` batches at which offsets fall.
        unexplained_falls: of these, those that a restored base offset does not explain.
        unknown_codecs: examples of the ``unknown_codec_count`` batches that cannot be decompressed.
        last_timestamp: of the last batch, in milliseconds; None without batches.
    """

    stops: tuple[ScanStop, ...]
    regressions: tuple[Regression, ...]
    regression_count: int
    unexplained_falls: int
    unknown_codecs: tuple[tuple[LogPosition, int], ...]
    unknown_codec_count: int
    batches: int
    size_in_bytes: int
    last_timestamp: int | None = None


def spoilt(stream: BatchStream) -> int:
    """Places of a log, besides wrong checksums, at which it is not as it was written."""
    return stream.restored + sum(map(is_damage, stream.stops))


def scan_of(stream: BatchStream) -> Scan:
    """What a stream met, once it is at its end."""
    return Scan(
        stops=tuple(stream.stops),
        regressions=tuple(stream.regressions),
        regression_count=stream.regression_count,
        unexplained_falls=stream.unexplained_falls,
        unknown_codecs=tuple(stream.unknown_codecs),
        unknown_codec_count=stream.unknown_codec_count,
        batches=stream.batches,
        size_in_bytes=stream.size_in_bytes,
        last_timestamp=stream.last_batch_timestamp,
    )
