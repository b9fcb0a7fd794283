"""KL-119: batches of one copy in which one bit of the base offset is flipped."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.catalogue.batch_rules import BASE_OFFSET_FLIPPED
from kafkalog_reader.audits.integrity.file_repair import offset_repairs
from kafkalog_reader.audits.integrity.finding import Finding, finding
from kafkalog_reader.audits.partition.misnamed_logs import MisreadCopy
from kafkalog_reader.errors import UnreadableFileError
from kafkalog_reader.io.partition_directory import readable_segments
from kafkalog_reader.scan.segment_slice import SegmentSlice
from kafkalog_reader.tables.offset_watch import doubtful_batches

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kafkalog_reader.audits.partition.replica_audit import ReplicaAudit
    from kafkalog_reader.io.directories import PartitionDirectory
    from kafkalog_reader.tables.doubtful_batches import DoubtfulBatches

MAX_BATCHES: Final = 100
"""Where more batches of a copy are doubtful, something else than flipped bits is the cause."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FlippedOffsets(MisreadCopy):
    """The batches of one copy whose base offsets are proven wrong by one bit.

    Attributes:
        batches: each with the path of its segment file; the first one by offset comes first.
    """

    batches: tuple[tuple[str, DoubtfulBatches], ...]

    @property
    def text(self) -> str:
        """Which batch, and what its base offset should be."""
        path, first = self.batches[0]
        more = f"; {len(self.batches):,} such batches" if len(self.batches) > 1 else ""
        return (
            f"{self._file(path)} position {first.position:,}: one bit of the base offset is "
            f"flipped: it is {first.first_offset:,}, and with {first.likely_offset:,} the batch "
            f"joins those before and after it{more}"
        )

    @property
    def why_not_compared(self) -> str:
        """Why the copies of the partition are not compared."""
        return (
            f"on {self.directory.replica_name}, {self.text} ({BASE_OFFSET_FLIPPED}): correct that "
            "first, then compare again"
        )

    def finding(self) -> Finding:
        """KL-119, with the commands that put the bits back."""
        path, first = self.batches[0]
        due = first.likely_offset or 0
        return finding(
            BASE_OFFSET_FLIPPED,
            self.text,
            directory=self.directory,
            file=self._file(path),
            position=first.position,
            size_in_bytes=first.end_position - first.position,
            offsets=(due, due + first.last_offset - first.first_offset + 1),
            evidence={
                "storedBaseOffset": first.first_offset,
                "baseOffset": due,
                "batches": len(self.batches),
            },
            repairs=tuple(
                repair
                for file, each in self.batches
                for repair in offset_repairs(
                    file, each.position, each.first_offset, each.likely_offset or 0
                )
            ),
        )

    def _file(self, path: str) -> str:
        """A segment file, relative to the log directory."""
        folder = posixpath.basename(self.directory.path.rstrip("/"))
        return posixpath.join(folder, posixpath.basename(path))


def flipped_offsets(replicas: Iterable[ReplicaAudit]) -> tuple[FlippedOffsets, ...]:
    """The copies with such batches, where nothing else is the reason why offsets fall.

    Only where no other copy explains falling offsets, the headers of a copy are read again.
    """
    found = []
    for replica in replicas:
        directory = replica.directory
        if not replica.summary.unexplained_falls or directory.only is not None or directory.remote:
            continue
        batches = tuple(_doubtful(directory))
        if batches and len(batches) <= MAX_BATCHES and all(e.is_proven for _, e in batches):
            found.append(FlippedOffsets(directory=directory, batches=batches))
    return tuple(found)


def _doubtful(directory: PartitionDirectory) -> Iterator[tuple[str, DoubtfulBatches]]:
    """The batches with doubtful offsets, each with its file; gaps may be those of compaction."""
    try:
        listed = [each for each in readable_segments(directory) if each.log_size is not None]
    except UnreadableFileError:
        return
    next_bases = [each.base_offset for each in listed[1:]]
    for number, segment in enumerate(listed):
        segment_slice = SegmentSlice(
            directory=directory,
            segment=segment,
            start=0,
            stop=segment.log_size or 0,
            next_base=next_bases[number] if number < len(next_bases) else None,
            begins_log=number == 0,
        )
        for each in doubtful_batches(segment_slice):
            yield segment_slice.path, each
