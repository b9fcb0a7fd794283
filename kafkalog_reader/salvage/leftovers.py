"""Leftovers in a salvage: segments and folders that a broker renamed, see ``tables.leftovers``.

The logs that a salvage writes do not have their records: a broker that starts deletes ``.deleted``
and ``.cleaned`` files. So they are named, and written only as Parquet, to a part of their own.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from pyarrow import parquet

from kafkalog_reader.errors import LocatedError
from kafkalog_reader.io.names import shown
from kafkalog_reader.io.progress import ReadMetrics
from kafkalog_reader.salvage.kept_records import are_in_logs
from kafkalog_reader.scan.damage import Damage, Mode
from kafkalog_reader.tables.leftovers import leftover_kind, leftover_slices
from kafkalog_reader.tables.record_rows import read_slice
from kafkalog_reader.tables.records import RecordsTable
from kafkalog_reader.tables.request import ReadRequest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from kafkalog_reader.io.directories import Identity, PartitionDirectory
    from kafkalog_reader.io.evidence import Evidence
    from kafkalog_reader.scan.segment_slice import SegmentSlice

FOLDER: Final = "leftovers"
"""The folder beside those of partitions: none has a name without a number at its end."""


@dataclass(slots=True, kw_only=True)
class Leftover:
    """One log file that is not part of a log.

    Attributes:
        segment_slice: the whole file, with the offsets asked for.
        kind: see ``leftover_kind``.
        is_in_logs: whether the salvaged logs have each of its records that they should have.
        written_to: the file with its records, below the output; None if it was not written.
        records: number of written ones, control records included; None if it was not written.
        is_damaged: whether not all of it could be written.
    """

    segment_slice: SegmentSlice
    kind: str
    is_in_logs: bool = False
    written_to: str | None = None
    records: int | None = None
    is_damaged: bool = False

    @property
    def directory(self) -> PartitionDirectory:
        """The folder that it is in."""
        return self.segment_slice.directory

    @property
    def size_in_bytes(self) -> int:
        """Of the log file."""
        return self.segment_slice.segment.log_size or 0

    @property
    def is_left_out(self) -> bool:
        """Whether records of it are nowhere in the output."""
        return not self.is_in_logs and (self.records is None or self.is_damaged)

    def as_json(self) -> dict[str, Any]:
        """As the manifest has it."""
        return {
            "file": shown(self.segment_slice.path),
            "kind": self.kind,
            "sizeInBytes": self.size_in_bytes,
            "isInLogs": self.is_in_logs,
            "writtenTo": self.written_to,
            "records": self.records,
        }


def leftovers(evidence: Evidence, request: ReadRequest) -> list[Leftover]:
    """The leftovers of the requested partitions that hold something, in order of their paths."""
    skipping = Damage(Mode.DROPMALFORMED)  # the salvage of its partition names it
    found = [
        Leftover(segment_slice=each, kind=leftover_kind(each) or "")
        for each in leftover_slices(evidence, request, skipping)
    ]
    return sorted(found, key=lambda each: each.segment_slice.path)


def compare_with_logs(
    found: Sequence[Leftover],
    logs: Mapping[Identity, Sequence[PartitionDirectory]],
    *,
    log_range_only: bool,
) -> None:
    """Note of each whether its records are in the logs that are salvaged of its partition.

    In a log for a broker (``log_range_only``), what retention, DeleteRecords or compaction removed
    is not missing; but nothing says so of a folder that was set aside.
    """
    for each in found:
        own = logs.get(each.directory.identity, ())
        try:
            each.is_in_logs = bool(own) and are_in_logs(
                each.segment_slice,
                own,
                log_range_only=log_range_only and each.directory.is_replica,
            )
        except LocatedError:
            each.is_in_logs = False  # unknown


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
        suffix = f".{leftover.kind.removeprefix('.')}" if directory.is_replica else leftover.kind
        path = folder / f"{each.segment.base_offset:020d}{suffix}.parquet"
        writer: parquet.ParquetWriter | None = None
        records, metrics = 0, ReadMetrics()
        damage = request.damage_counted_in(metrics)
        try:
            for rows in read_slice(each, schema, request, damage, metrics):
                if writer is None:
                    folder.mkdir(parents=True, exist_ok=True)
                    writer = parquet.ParquetWriter(path, rows.schema, compression="zstd")
                writer.write_batch(rows)
                records += rows.num_rows
        except LocatedError as error:
            damage.left_out(error)
        finally:
            if writer is not None:
                writer.close()
                leftover.written_to = f"{FOLDER}/{folder.name}/{path.name}"
        leftover.records, leftover.is_damaged = records, metrics.damaged_regions > 0


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
            lacking = sum(each.is_left_out for each in own)
            output = f"{lacking:,} with records that" if lacking else "no record that"
            yield (
                f"{where}: {size:,} bytes not written, {output} this output lacks; --leftovers "
                "writes their records"
            )
            continue
        records = sum(each.records or 0 for each in own)
        folders = {each.written_to.rpartition("/")[0] for each in own if each.written_to}
        yield f"{where}: {records:,} records" + "".join(f" in {each}" for each in sorted(folders))
