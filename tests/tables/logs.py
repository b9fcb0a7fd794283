"""Small partition directories of batches that the declared format builds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import kafkalog_reader
from fixtures.builder.stored_batches import build_record_batch
from kafkalog_reader.errors import LocatedError
from kafkalog_reader.format.compression import Codec
from kafkalog_reader.format.index_entries import OFFSET_INDEX_ENTRY
from kafkalog_reader.format.record import Record
from kafkalog_reader.io.directories import LogDirectory, PartitionDirectory
from kafkalog_reader.io.partition_directory import segments
from kafkalog_reader.scan.segment_slice import SegmentSlice

if TYPE_CHECKING:
    from pathlib import Path

T = 1_700_000_000_000


def batch(base_offset: int, count: int = 3, *, codec: Codec = Codec.NONE, **fields: Any) -> bytes:
    """A batch of records ``k<offset>`` = ``v<offset>`` at T + offset."""
    records = [
        Record(
            offset_delta=delta,
            timestamp_delta=base_offset + delta,
            key=b"k%d" % (base_offset + delta),
            value=b"v%d" % (base_offset + delta),
        )
        for delta in range(count)
    ]
    return build_record_batch(
        records, base_offset=base_offset, base_timestamp=T, codec=codec, **fields
    )


def write_segment(
    directory: Path, batches: list[bytes], *, base_offset: int = 0, index: list[int] | None = None
) -> Path:
    """Write one segment; ``index`` names the batches that get an entry in the offset index."""
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / f"{base_offset:020}.log"
    path.write_bytes(b"".join(batches))
    if index is not None:
        entries = b""
        for number in index:
            header = batches[number]
            first = int.from_bytes(header[:8], "big")
            last = first + int.from_bytes(header[23:27], "big")
            entries += OFFSET_INDEX_ENTRY.struct.pack(
                last - base_offset, sum(map(len, batches[:number]))
            )
        path.with_suffix(".index").write_bytes(entries)
    return path


def rows(path: Path, table: str = "records", **options: Any) -> list[dict[str, Any]]:
    """All rows of a table."""
    return kafkalog_reader.open(str(path)).table(table, **options).to_arrow().to_pylist()


def rows_before_error(
    path: Path, **options: Any
) -> tuple[list[dict[str, Any]], LocatedError | None]:
    """The rows that come out before an error, and the error."""
    found: list[dict[str, Any]] = []
    try:
        for batch_of_rows in kafkalog_reader.open(str(path)).table("records", **options):
            found += batch_of_rows.to_pylist()
    except LocatedError as error:
        return found, error
    return found, None


def offsets(path: Path, **options: Any) -> list[int]:
    """The offsets of the records that are read."""
    return [row["offset"] for row in rows(path, columns=["offset"], **options)]


def slice_of(path: Path, *, is_log_end: bool = True) -> SegmentSlice:
    """The whole segment whose log is at ``path``."""
    directory = PartitionDirectory(
        path=str(path.parent), log_directory=LogDirectory(path=str(path.parent)), topic=None,
        partition=None, only=(path.name,),
    )  # fmt: skip
    (segment,) = segments(directory)
    return SegmentSlice.whole(directory, segment, is_log_end=is_log_end)
