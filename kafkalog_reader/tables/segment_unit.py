"""Units of work made of whole segments, small ones packed together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from kafkalog_reader.errors import LocatedError
from kafkalog_reader.io.partition_directory import segments
from kafkalog_reader.scan.damage import Damage
from kafkalog_reader.tables.table import Unit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kafkalog_reader.io.evidence import Evidence, PartitionDirectory, SegmentFiles
    from kafkalog_reader.tables.request import ReadRequest

MAX_PIECES: Final = 1000
"""Segments in one unit: a worker's task stays small to ship even where all of them are empty."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmentPiece:
    """One segment of one partition directory.

    ``is_last``: nothing follows it, so that a torn end is the end of the log and no damage.
    """

    directory: PartitionDirectory
    segment: SegmentFiles
    is_last: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmentUnit(Unit):
    """Segments that one worker reads one after another."""

    pieces: tuple[SegmentPiece, ...]


def segment_units(
    evidence: Evidence, request: ReadRequest, *, live_only: bool
) -> Iterator[SegmentUnit]:
    """Yield the segments asked for, packed towards ``max_partition_bytes``.

    Args:
        evidence: what was supplied.
        request: topics, partitions and brokers asked for; its mode says what an unreadable
            directory does.
        live_only: leave out what is deleted, half cleaned or half swapped in, and directories
            that are not replicas.
    """
    pieces: list[SegmentPiece] = []
    size_in_bytes = 0
    for piece in _pieces(evidence, request, live_only=live_only):
        size = piece.segment.log_size or 0
        if pieces and (
            size_in_bytes + size > request.max_partition_bytes or len(pieces) == MAX_PIECES
        ):
            yield SegmentUnit(size_in_bytes=size_in_bytes, pieces=tuple(pieces))
            pieces, size_in_bytes = [], 0
        pieces.append(piece)
        size_in_bytes += size
    if pieces:
        yield SegmentUnit(size_in_bytes=size_in_bytes, pieces=tuple(pieces))


def pieces_of(directory: PartitionDirectory, *, live_only: bool) -> tuple[SegmentPiece, ...]:
    """The segments of one partition directory.

    Raises:
        UnreadableFileError: the directory cannot be listed.
    """
    found = segments(directory, live_only=live_only)
    live = [s.base_offset for s in found if s.suffix in (None, "swap") and s.log_size is not None]
    last = max(live, default=0)
    return tuple(
        SegmentPiece(
            directory=directory,
            segment=segment,
            is_last=segment.suffix is not None or segment.base_offset == last,
        )
        for segment in found
    )


def _pieces(evidence: Evidence, request: ReadRequest, *, live_only: bool) -> Iterator[SegmentPiece]:
    for directory in evidence.partition_directories(request):
        if live_only and not directory.is_replica:
            continue
        try:
            yield from pieces_of(directory, live_only=live_only)
        except LocatedError as error:
            Damage(request.mode).left_out(error)
