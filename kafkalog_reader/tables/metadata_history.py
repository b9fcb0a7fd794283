"""The records of one copy of the metadata log that count, in their order.

Source: Kafka 4.4, MetadataRecordSerde, MetadataBatchLoader (KIP-868), Snapshots.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from kafkalog_reader.errors import (
    CorruptRecordError,
    LocatedError,
    LogPosition,
    MissingRecordsError,
    OptionError,
)
from kafkalog_reader.format.messages.decoder import MessageError
from kafkalog_reader.format.messages.records import decode_framed
from kafkalog_reader.format.messages.schema import Family
from kafkalog_reader.io.names import METADATA_TOPIC, shown
from kafkalog_reader.io.partition_directory import metadata_snapshots, segments
from kafkalog_reader.scan.log_tail import scan_tail
from kafkalog_reader.scan.segment_slice import SegmentSlice
from kafkalog_reader.tables.internal_topic import log_request, plain_rows, record_schema
from kafkalog_reader.tables.log_unit import slices_of
from kafkalog_reader.tables.partition_copies import chosen_by_partition
from kafkalog_reader.tables.record_rows import read_slice
from kafkalog_reader.tables.table import Unit

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from kafkalog_reader.format.messages.decoder import Value
    from kafkalog_reader.io.directories import PartitionDirectory
    from kafkalog_reader.io.evidence import Evidence
    from kafkalog_reader.io.progress import Progress
    from kafkalog_reader.tables.as_of import AsOf
    from kafkalog_reader.tables.request import ReadRequest

logger = logging.getLogger(__name__)

FIRST_OFFSETS: Final = 1
"""A complete log begins at 0, or at 1 after the marker of its first leader."""
SNAPSHOT_FOOTER: Final = "SNAPSHOT_FOOTER"
_COLUMNS: Final = ("clusterId", "brokerId", "offset", "timestamp", "controlType", "value")
_SCHEMA: Final = record_schema(_COLUMNS)


@dataclass(frozen=True, slots=True, kw_only=True)
class MetadataUnit(Unit):
    """One copy of the metadata log: its snapshots by end offset, and None for the log."""

    slices: tuple[tuple[int | None, SegmentSlice], ...]


@dataclass(frozen=True, slots=True)
class MetadataRecord:
    """A record of the metadata log or of a snapshot.

    Attributes:
        place: the columns that say where a row comes from: ``clusterId``, ``brokerId``,
            ``snapshotEndOffset``, ``offset`` and ``timestamp`` (microseconds since 1970 UTC).
        name: of the message, such as ``PartitionRecord``.
        fields: of the message, by name.
    """

    place: Mapping[str, Any]
    name: str
    fields: Mapping[str, Value]


def metadata_units(evidence: Evidence, request: ReadRequest) -> Iterator[MetadataUnit]:
    """One unit for each cluster: the best copy of its metadata log."""
    log = log_request(request, METADATA_TOPIC)
    chosen = chosen_by_partition(evidence, log, log.damage)
    for directory in (each for _, copies, _ in chosen for each in copies):
        snapshots = [
            (end_offset, SegmentSlice.whole(directory, snapshot, is_log_end=True))
            for end_offset, snapshot in metadata_snapshots(directory)
            if snapshot.log_size is not None
        ]
        slices = [(None, each) for each in slices_of(directory, log, log.damage)]
        _check_end(directory, max((end for end, _ in snapshots), default=0), log)
        size = sum(each.stop - each.start for _, each in [*snapshots, *slices])
        yield MetadataUnit(size_in_bytes=size, slices=(*snapshots, *slices))


def _check_end(directory: PartitionDirectory, snapshot_end: int, log: ReadRequest) -> None:
    """Note where a log is gone, or ends below what a snapshot had read of it.

    Args:
        directory: the copy.
        snapshot_end: the offset up to which its newest snapshot has the state; 0 without any.
        log: the request for the log.
    """
    try:
        found = [each.path("log") for each in segments(directory) if each.log_size is not None]
        end = scan_tail(directory).next_offset if found and snapshot_end else snapshot_end
    except LocatedError:  # the reader of the log reports it
        return
    if found and end >= snapshot_end:
        return
    where = LogPosition(shown(found[-1] if found else directory.path), offset=end)
    problem = "no segment of the metadata log is here"
    if found:
        problem = f"the metadata log ends before offset {snapshot_end}, which a snapshot reaches"
    error = MissingRecordsError(f"{problem}: rows may be missing", where)
    logger.warning("%s", error)
    log.damage.hides(error, snapshot_end if found else None, is_missing=True)


def metadata_history(
    unit: MetadataUnit, request: ReadRequest, progress: Progress
) -> Iterator[MetadataRecord]:
    """Yield the records that count, from the earliest complete state on.

    That is the beginning of the log, or the oldest complete snapshot that reaches the log. A
    warning says if there is neither.

    Raises:
        OptionError: no file has the state at ``request.as_of``.
        LocatedError: damage, in mode ``FAILFAST``; the records before it are yielded first.
        UnreadableFileError: a file cannot be opened or read.
    """
    log = replace(log_request(request, METADATA_TOPIC), include_control_records=True)
    transactions = MetadataTransactions()
    start = 0
    slices = [each for end_offset, each in unit.slices if end_offset is None]
    snapshots = [(end, each) for end, each in unit.slices if end is not None]
    ends = [end for end, _ in snapshots]
    first = slices[0].segment.base_offset if slices else max(ends, default=0)
    if first > FIRST_OFFSETS:
        for end_offset, snapshot in snapshots:
            if end_offset < first:
                continue
            found = list(_records(snapshot, end_offset, log, progress))
            if found and found[-1][0] == SNAPSHOT_FOOTER:
                records = [record for _, record in found if record is not None]
                _check_reaches(request.as_of, end_offset, records)
                yield from records
                start = end_offset
                break
            logger.warning("%s: a snapshot without its footer, not used", snapshot.path)
        else:
            logger.warning(
                "the metadata log begins at offset %d, and no complete snapshot has the state "
                "before it: rows may be missing", first,
            )  # fmt: skip
            log.damage.hides(_without_snapshot(unit, first), first, is_missing=True)
    for segment_slice in slices:
        for _, record in _records(segment_slice, None, log, progress):
            if record is None or record.place["offset"] < start:
                continue
            if request.as_of is not None and not _covers(request.as_of, record):
                return
            yield from transactions.applied_by(record)


def _without_snapshot(unit: MetadataUnit, first: int) -> MissingRecordsError:
    """Says that the records below the first one are in no complete snapshot."""
    where = LogPosition(shown(unit.slices[-1][1].path), offset=0)
    return MissingRecordsError(f"no complete snapshot of the offsets below {first}", where)


def _covers(as_of: AsOf, record: MetadataRecord) -> bool:
    timestamp = record.place["timestamp"]
    return as_of.covers(record.place["offset"], timestamp and timestamp // 1000)


def _check_reaches(as_of: AsOf | None, end_offset: int, records: Iterable[MetadataRecord]) -> None:
    """Refuse a moment before the snapshot, whose state no file has."""
    if as_of is None:
        return
    newest = max((each.place["timestamp"] or 0 for each in records), default=0) // 1000
    if not as_of.covers(end_offset - 1, newest):
        raise OptionError(
            "as_of",
            f"{as_of} is before the oldest state in the files: a snapshot of the offsets below "
            f"{end_offset:,}",
        )


@dataclass
class MetadataTransactions:
    """Records between begin and end apply together or not at all (KIP-868)."""

    _open: list[MetadataRecord] | None = field(default=None, init=False)

    def applied_by(self, record: MetadataRecord) -> list[MetadataRecord]:
        """The records that apply once ``record`` has been read."""
        match record.name:
            case "BeginTransactionRecord":
                self._open = []
            case "EndTransactionRecord":
                applied, self._open = self._open or [], None
                return applied
            case "AbortTransactionRecord":
                self._open = None
            case _ if self._open is None:
                return [record]
            case _:
                self._open.append(record)
        return []


def _records(
    segment_slice: SegmentSlice, end_offset: int | None, log: ReadRequest, progress: Progress
) -> Iterator[tuple[str | None, MetadataRecord | None]]:
    """Yield the control type of each record, and the record if it is readable and known."""
    for rows in read_slice(segment_slice, _SCHEMA, log, log.damage, progress):
        for row in plain_rows(rows):
            control_type, value = row.pop("controlType"), row.pop("value")
            record = None
            if control_type is None:
                try:
                    decoded = decode_framed(Family.METADATA, value or b"")
                except MessageError as error:
                    offset = row["offset"]
                    logger.warning("metadata record %d: %s; left out", offset, error)
                    where = LogPosition(shown(segment_slice.path), offset=offset)
                    log.damage.hides(CorruptRecordError(str(error), where), offset + 1)
                else:
                    if decoded.message is not None:
                        row["snapshotEndOffset"] = end_offset
                        record = MetadataRecord(row, decoded.message.name, decoded.fields)
            yield control_type, record
