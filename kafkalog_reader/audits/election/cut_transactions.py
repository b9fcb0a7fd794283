"""Finds transactions whose marker an election removes: they stay open for ever (KL-713)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkalog_reader.errors import LocatedError
from kafkalog_reader.io.progress import no_progress
from kafkalog_reader.scan.damage import Mode
from kafkalog_reader.tables.open_transactions import OpenTransactions, replay_transactions

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kafkalog_reader.audits.comparison.committed import History
    from kafkalog_reader.audits.comparison.compared_replicas import Comparison
    from kafkalog_reader.audits.log.replica import Replica


def cut_transactions(
    leader: Replica,
    log_end_offset: int,
    histories: Mapping[Replica, History],
    comparison: Comparison,
) -> tuple[int, ...]:
    """First offsets of the transactions whose marker a leader's log lacks, lowest first.

    Only transactions count whose marker is on another disk: the coordinator has written it and does
    not write it again. A transaction that is open on all disks gets its marker from the next
    leader.

    Args:
        leader: the replica that leads.
        log_end_offset: of its log after its start.
        histories: those on disk.
        comparison: of the replicas.
    """
    ends = {replica: history.log_end_offset for replica, history in histories.items()}
    forks = {
        other: None if other == leader else comparison.content_fork(leader, other)
        for other in histories
    }
    if log_end_offset >= max(ends.values()) and all(fork is None for fork in forks.values()):
        return ()
    still_open = set(_replayed(leader, log_end_offset, log_end_offset).open.values())
    if not still_open:
        return ()
    cut: set[int] = set()
    for replica, fork in forks.items():
        end = ends[replica]
        shared = log_end_offset if fork is None else min(fork, log_end_offset)
        if end > shared:
            decided = _replayed(replica, shared, end).decided
            cut |= {first for first, marker in decided if first < shared <= marker}
    return tuple(sorted(cut & still_open))


def _replayed(replica: Replica, decided_from: int, log_end: int) -> OpenTransactions:
    """The open transactions at an offset; none if files cannot be read."""
    try:
        return replay_transactions(
            replica.directory,
            decided_from=decided_from,
            log_end=log_end,
            mode=Mode.DROPMALFORMED,
            progress=no_progress,
        )
    except LocatedError:
        return OpenTransactions()
