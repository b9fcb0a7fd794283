"""Tries whether a start does better if the last segment's index files are away.

A broker that finds no ``.index`` reads the whole segment and builds the indexes anew. Source: Kafka
4.3, LogLoader#loadSegmentFiles.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kafkalog_reader.audits.log.held_records import HeldRecords, sum_of
from kafkalog_reader.audits.recovery.outcome import FailedStep, attempted
from kafkalog_reader.io.names import segment_file_name
from kafkalog_reader.io.partition_directory import readable_segments

if TYPE_CHECKING:
    from collections.abc import Callable

    from kafkalog_reader.audits.recovery.load import LogLoad
    from kafkalog_reader.audits.recovery.loss import LostBytes
    from kafkalog_reader.io.directories import PartitionDirectory


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexRebuild:
    """Index files without which a start does better.

    Attributes:
        files: names of the last segment's index files.
        records_kept: how many more records the start serves without them.
    """

    files: tuple[str, ...]
    records_kept: int


def index_rebuild(
    directory: PartitionDirectory,
    log_load: Callable[..., LogLoad],
    lost: int,
    count: Callable[[LostBytes], HeldRecords],
) -> IndexRebuild | None:
    """What the start keeps without the last segment's index files.

    None if it is not more, unless the start removes a torn end then, and no record.

    Args:
        directory: the replica.
        log_load: makes its load.
        lost: records that the start cuts or hides with the files as they are.
        count: the records of a byte range.
    """
    load = log_load(without_last_index=True)
    if isinstance(attempted(load.run), FailedStep) or load.unknown:
        return None
    cut = sum_of(map(count, load.lost))
    kept = lost - load.hidden_records() - cut.sound
    files = _index_files(directory)
    removes_torn_end = kept == 0 and load.lost and not (lost or cut.damaged)
    helps = kept > 0 or removes_torn_end
    return IndexRebuild(files=files, records_kept=kept) if helps and files else None


def _index_files(directory: PartitionDirectory) -> tuple[str, ...]:
    *_, last = readable_segments(directory)
    sizes = {
        "index": last.offset_index_size,
        "timeindex": last.time_index_size,
        "txnindex": last.transaction_index_size,
    }
    return tuple(
        segment_file_name(last.base_offset, kind, last.suffix)
        for kind, size in sizes.items()
        if size is not None
    )
