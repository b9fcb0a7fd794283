"""The newest snapshot of a copy of the metadata log, which a node loads when it starts."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.catalogue.checkpoint_rules import METADATA_SNAPSHOT_DAMAGED
from kafkalog_reader.audits.integrity.checkpoint_findings import problem_finding
from kafkalog_reader.audits.integrity.file_repair import move_aside
from kafkalog_reader.audits.integrity.finding import Finding, finding
from kafkalog_reader.errors import CorruptLogError, LocatedError, LogPosition
from kafkalog_reader.format.control_record import ControlType
from kafkalog_reader.io.names import METADATA_TOPIC, shown
from kafkalog_reader.io.partition_directory import metadata_snapshots, readable_segments
from kafkalog_reader.scan.damage import Damage, Mode
from kafkalog_reader.scan.segment_slice import SegmentSlice
from kafkalog_reader.tables.record_rows import read_slice
from kafkalog_reader.tables.records import RecordsTable
from kafkalog_reader.tables.request import ReadRequest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kafkalog_reader.audits.log.replica import Replica

_REQUEST: Final = ReadRequest(columns=("controlType",), include_control_records=True)
_SCHEMA: Final = RecordsTable().projected(_REQUEST)


def metadata_snapshot_findings(replica: Replica, log_end_offset: int) -> Iterator[Finding]:
    """Yield KL-319 if the newest snapshot is damaged, or ends before its footer.

    Args:
        replica: a copy of the metadata log; there is nothing to check in others.
        log_end_offset: where its batches end.
    """
    directory = replica.directory
    if directory.only is not None or directory.topic != METADATA_TOPIC:
        return
    for end_offset, snapshot in metadata_snapshots(directory)[-1:]:
        whole = SegmentSlice.whole(directory, snapshot, is_log_end=True)
        problem = _problem(whole)
        if problem is None:
            continue
        if not isinstance(problem, CorruptLogError):  # it may be sound
            yield problem_finding(replica, problem)
            continue
        name = posixpath.basename(whole.path)
        log = readable_segments(directory)
        root, folder = posixpath.split(directory.path.rstrip("/"))
        has_it_all = bool(log) and log[0].base_offset == 0 and log_end_offset > end_offset
        yield finding(
            METADATA_SNAPSHOT_DAMAGED,
            f"{problem.where}: {problem.problem}; it is the newest snapshot, of the metadata "
            f"below offset {end_offset:,}",
            directory=directory,
            file=replica.file(name),
            position=problem.where.position,
            repairs=(move_aside(root, f"{folder}/{name}"),) if has_it_all else (),
        )


def _problem(snapshot: SegmentSlice) -> LocatedError | None:
    last = None
    try:
        for rows in read_slice(snapshot, _SCHEMA, _REQUEST, Damage(Mode.FAILFAST)):
            if rows.num_rows:
                last = rows["controlType"][-1].as_py()
    except LocatedError as error:
        return error
    if last == ControlType.SNAPSHOT_FOOTER.name:
        return None
    return CorruptLogError("it ends before its footer", LogPosition(shown(snapshot.path)))
