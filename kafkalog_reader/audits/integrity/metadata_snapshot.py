"""The newest snapshot of a copy of the metadata log, which a node loads when it starts."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from kafkalog_reader.audits.catalogue.checkpoint_rules import METADATA_SNAPSHOT_DAMAGED
from kafkalog_reader.audits.integrity.checkpoint_findings import problem_finding
from kafkalog_reader.audits.integrity.file_repair import move_aside
from kafkalog_reader.audits.integrity.finding import Finding, finding
from kafkalog_reader.audits.recovery.metadata_snapshot import (
    SnapshotEnd,
    SnapshotRead,
    newest_snapshot,
)
from kafkalog_reader.errors import LocatedError
from kafkalog_reader.io.names import METADATA_TOPIC
from kafkalog_reader.io.partition_directory import readable_segments

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kafkalog_reader.audits.log.replica import Replica


def metadata_snapshot_findings(replica: Replica, log_end_offset: int) -> Iterator[Finding]:
    """Yield KL-319 if the newest snapshot is damaged, or ends before its footer.

    Args:
        replica: a copy of the metadata log; there is nothing to check in others.
        log_end_offset: where its batches end.
    """
    directory = replica.directory
    if directory.only is not None or directory.topic != METADATA_TOPIC:
        return
    try:
        newest = newest_snapshot(directory)
    except LocatedError as error:  # it may be sound
        yield problem_finding(replica, error)
        return
    if newest is None or newest.end is SnapshotEnd.WHOLE:
        return
    name = posixpath.basename(newest.loaded.path)
    log = readable_segments(directory)
    root, folder = posixpath.split(directory.path.rstrip("/"))
    has_it_all = bool(log) and log[0].base_offset == 0 and log_end_offset > newest.end_offset
    yield finding(
        METADATA_SNAPSHOT_DAMAGED,
        f"{newest.where}: {newest.problem}; it is the newest snapshot, of the metadata below "
        f"offset {newest.end_offset:,}: {_what_a_start_does(newest)}",
        directory=directory,
        file=replica.file(name),
        position=newest.position,
        severity="C" if _loads_less(newest) else None,
        repairs=(move_aside(root, f"{folder}/{name}"),) if has_it_all else (),
    )


def _loads_less(newest: SnapshotRead) -> bool:
    """Whether a node may go on without what should be in it."""
    return newest.end is SnapshotEnd.SHORT or not newest.stops_brokers


def _what_a_start_does(newest: SnapshotRead) -> str:
    if newest.end is SnapshotEnd.REFUSED and newest.stops_brokers:
        return "the node ends when it starts"
    if newest.end is SnapshotEnd.REFUSED:
        return (
            "a controller ends when it starts; a broker that is none goes on without it, and sets "
            "all replicas aside of topics that are not in the log above (from 3.9 on, it waits for "
            "ever if the log above does not set metadata.version)"
        )
    return (
        f"a start reports no error, and loads only the {newest.loaded.stop:,} bytes before; a "
        "broker sets all replicas aside of topics that are not in them"
    )
