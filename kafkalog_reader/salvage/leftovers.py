"""Leftovers: segments and folders that a broker renamed before it deletes or replaces them.

No broker serves their records, and the logs that a salvage writes do not have them: a broker that
starts deletes ``.deleted`` and ``.cleaned`` files. So they are named, and written only as Parquet,
to a part of their own. Source: Kafka 4.4, LogFileUtils, UnifiedLog and LogLoader.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from pyarrow import parquet

from kafkalog_reader.errors import LocatedError
from kafkalog_reader.io.names import shown
from kafkalog_reader.io.progress import no_progress
from kafkalog_reader.scan.damage import Mode
from kafkalog_reader.tables.record_rows import read_slice
from kafkalog_reader.tables.records import RecordsTable
from kafkalog_reader.tables.request import ReadRequest
from kafkalog_reader.tables.segment_unit import whole_segments

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from kafkalog_reader.io.directories import PartitionDirectory
    from kafkalog_reader.io.evidence import Evidence
    from kafkalog_reader.scan.segment_slice import SegmentSlice

FOLDER: Final = "leftovers"
"""The folder beside those of partitions: none has a name without a number at its end."""
_SET_ASIDE: Final = ("delete", "stray")
"""States of partition directories that no broker serves."""


@dataclass(slots=True, kw_only=True)
class Leftover:
    """One log file that is not part of a log.

    Attributes:
        segment_slice: the whole file.
        kind: its suffix, as ``.deleted``, or that of its folder, as ``-delete``.
        written_to: the file with its records, below the output; None if it was not written.
        records: number of written ones, control records included; None if it was not written.
    """

    segment_slice: SegmentSlice
    kind: str
    written_to: str | None = None
    records: int | None = None

    @property
    def directory(self) -> PartitionDirectory:
        """The folder that it is in."""
        return self.segment_slice.directory

    @property
    def size_in_bytes(self) -> int:
        """Of the log file."""
        return self.segment_slice.segment.log_size or 0

    def as_json(self) -> dict[str, Any]:
        """As the manifest has it."""
        return {
            "file": shown(self.segment_slice.path),
            "kind": self.kind,
            "sizeInBytes": self.size_in_bytes,
            "writtenTo": self.written_to,
            "records": self.records,
        }


def leftovers(evidence: Evidence, request: ReadRequest) -> list[Leftover]:
    """The leftovers of the requested partitions that hold something, in order of their paths."""
    found = [
        each
        for directory in evidence.partition_directories(request)
        for each in _of_directory(directory)
    ]
    return sorted(found, key=lambda each: each.segment_slice.path)


def _of_directory(directory: PartitionDirectory) -> Iterator[Leftover]:
    try:
        slices = whole_segments(directory, live_only=False)
        live = {each.path for each in whole_segments(directory, live_only=True)}
    except LocatedError:
        return  # the salvage of its partition names it
    for each in slices:
        if not each.segment.log_size:
            continue
        if directory.state in _SET_ASIDE:
            yield Leftover(segment_slice=each, kind=f"-{directory.state}")
        elif directory.state is None and (each.path not in live or each.segment.suffix):
            yield Leftover(segment_slice=each, kind=f".{each.segment.suffix}")


def write_leftovers(found: Sequence[Leftover], output: Path) -> None:
    """Write the records of each as Parquet, all columns of ``records``; damage is left out."""
    request = ReadRequest(mode=Mode.PERMISSIVE, include_control_records=True)
    schema = RecordsTable().projected(request)
    folders: dict[str, str] = {}
    for leftover in found:
        directory, each = leftover.directory, leftover.segment_slice
        name = f"{directory.topic}-{directory.partition}"
        if directory.path not in folders:
            number = sum(used.partition("~")[0] == name for used in folders.values())
            folders[directory.path] = f"{name}~{number + 1}" if number else name
        folder = output / FOLDER / folders[directory.path]
        path = folder / f"{each.segment.base_offset:020d}{leftover.kind}.parquet"
        writer: parquet.ParquetWriter | None = None
        records = 0
        try:
            for rows in read_slice(each, schema, request, request.damage, no_progress):
                if writer is None:
                    folder.mkdir(parents=True, exist_ok=True)
                    writer = parquet.ParquetWriter(path, rows.schema, compression="zstd")
                writer.write_batch(rows)
                records += rows.num_rows
        except LocatedError as error:
            request.damage.left_out(error)
        finally:
            if writer is not None:
                writer.close()
                leftover.written_to = f"{FOLDER}/{folder.name}/{path.name}"
        leftover.records = records


def leftover_lines(found: Sequence[Leftover], *, is_written: bool) -> Iterator[str]:
    """What is in leftovers, a line for each folder that has some."""
    for path in dict.fromkeys(each.directory.path for each in found):
        own = [each for each in found if each.directory.path == path]
        kinds = Counter(each.kind for each in own)
        files = ", ".join(f"{count:,} {kind}" for kind, count in kinds.items())
        directory = own[0].directory
        name = f"{shown(directory.topic or '')}-{directory.partition}"
        where = f"{name}: leftovers in {shown(path)}, which no broker serves ({files})"
        if not is_written:
            size = sum(each.size_in_bytes for each in own)
            yield f"{where}: {size:,} bytes not written; --leftovers writes their records"
            continue
        records = sum(each.records or 0 for each in own)
        folders = {each.written_to.rpartition("/")[0] for each in own if each.written_to}
        yield f"{where}: {records:,} records" + "".join(f" in {each}" for each in sorted(folders))
