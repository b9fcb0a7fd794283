"""Units of work made of whole segments, small ones packed together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkalog_reader.errors import LocatedError
from kafkalog_reader.io.partition_directory import segments
from kafkalog_reader.io.remote_part import with_remote
from kafkalog_reader.scan.damage import Damage
from kafkalog_reader.scan.segment_slice import SegmentSlice
from kafkalog_reader.tables.log_unit import LogUnit, packed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kafkalog_reader.io.directories import PartitionDirectory
    from kafkalog_reader.io.evidence import Evidence
    from kafkalog_reader.tables.request import ReadRequest


def segment_units(
    evidence: Evidence, request: ReadRequest, *, live_only: bool
) -> Iterator[LogUnit]:
    """Yield the requested segments, packed towards ``max_partition_bytes``.

    Args:
        evidence: what was supplied.
        request: the topics, partitions and brokers; its mode says what to do with a directory that
            cannot be listed.
        live_only: leave out segments that are deleted, being cleaned or being swapped in, and
            directories that are not replicas.
    """

    def found() -> Iterator[SegmentSlice]:
        supplied = evidence if live_only else with_remote(evidence)
        for directory in supplied.partition_directories(request):
            if live_only and not directory.is_replica:
                continue
            try:
                yield from whole_segments(directory, live_only=live_only)
            except LocatedError as error:
                Damage(request.mode).left_out(error)

    return packed(found(), request.max_partition_bytes)


def whole_segments(directory: PartitionDirectory, *, live_only: bool) -> tuple[SegmentSlice, ...]:
    """The segments of one partition directory, also those without a log.

    Raises:
        UnreadableFileError: the directory cannot be listed.
    """
    found = segments(directory, live_only=live_only)
    live = [s.base_offset for s in found if s.suffix in (None, "swap") and s.log_size is not None]
    last = max(live, default=0)
    return tuple(
        SegmentSlice.whole(
            directory,
            segment,
            is_log_end=segment.suffix is not None or segment.base_offset == last,
        )
        for segment in found
    )
