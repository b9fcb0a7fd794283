"""Segments whose log file is not there, or has another name: a salvage cannot read them."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kafkalog_reader.audits.integrity.name_findings import renamed_segments
from kafkalog_reader.format.broker_words import joined
from kafkalog_reader.format.offset_limits import MAX_OFFSET
from kafkalog_reader.io.names import segment_file_name, shown
from kafkalog_reader.io.partition_directory import readable_segments

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    from kafkalog_reader.io.directories import PartitionDirectory
    from kafkalog_reader.salvage.offset_coverage import OffsetCoverage
    from kafkalog_reader.tables.request import ReadRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingSegment:
    """A segment that no log file of the copies holds.

    Attributes:
        base_offset: where it begins.
        file: a file of another name that may be it, or else the index that shows that it existed.
        is_renamed: whether that file may be it.
        copies: names of the copies with such a file.
    """

    base_offset: int
    file: str
    is_renamed: bool
    copies: tuple[str, ...]

    @property
    def text(self) -> str:
        """What is missing, for people."""
        where, log = (
            f"{self.file} on {joined(self.copies)}",
            segment_file_name(self.base_offset, "log"),
        )
        if self.is_renamed:
            return (
                f"{where} may be the segment {log}, which is not in this output: decompress it if "
                "it is compressed, give it that name, and run this again"
            )
        return (
            f"records from offset {self.base_offset:,} on are lost: {where} has no {log}, and "
            "nothing shows how many records there were"
        )

    def as_json(self) -> dict[str, Any]:
        """As the manifest has it."""
        return {
            "baseOffset": self.base_offset,
            "file": self.file,
            "mayBeRenamed": self.is_renamed,
            "copies": list(self.copies),
        }


def missing_segments(
    copies: Iterable[PartitionDirectory], kept: OffsetCoverage, request: ReadRequest
) -> tuple[MissingSegment, ...]:
    """The segments of the copies that hold what was asked for, and of which nothing was kept.

    An index without a log counts above all that was kept: below, retention deletes segments.

    Args:
        copies: of one partition.
        kept: the offsets that were kept.
        request: its offsets limit what is missing.
    """
    found: dict[tuple[int, str, bool], list[str]] = {}
    for copy in copies:
        for base, following, name, is_renamed in _of_copy(copy, kept):
            from_offset, to_offset = request.offsets_of(copy.topic, copy.partition)
            if base < (MAX_OFFSET if to_offset is None else to_offset) and from_offset < following:
                found.setdefault((base, shown(name), is_renamed), []).append(copy.replica_name)
    return tuple(
        MissingSegment(base_offset=base, file=file, is_renamed=is_renamed, copies=tuple(names))
        for (base, file, is_renamed), names in sorted(found.items())
    )


def _of_copy(
    copy: PartitionDirectory, kept: OffsetCoverage
) -> Iterator[tuple[int, int, str, bool]]:
    """Base offset, that of the next segment, file, and whether the file may be the segment."""
    if copy.only is not None:
        return
    listed = readable_segments(copy)
    renamed = dict(renamed_segments(copy))
    for base, name in renamed.items():
        following = _following(base, [each.base_offset for each in listed])
        if not kept.has_any(base, following):
            yield base, following, name, True
    end = 0 if kept.last is None else kept.last + 1
    for each in listed:
        is_trace = each.log_size is None and each.offset_index_size is not None
        if is_trace and each.base_offset >= end and each.base_offset not in renamed:
            yield each.base_offset, MAX_OFFSET, posixpath.basename(each.path("index")), False


def _following(base: int, bases: Sequence[int]) -> int:
    return next((each for each in bases if each > base), MAX_OFFSET)
