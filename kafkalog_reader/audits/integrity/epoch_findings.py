"""Compares the leader epoch checkpoint with the leader epochs of the batches."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from kafkalog_reader.audits.catalogue.actions import (
    DELETE_RECORDS_AGAIN,
    NOTHING_TO_DO,
    WRITE_EPOCHS,
)
from kafkalog_reader.audits.catalogue.checkpoint_rules import (
    CHECKPOINT_MISSING,
    EPOCH_CHECKPOINT_NOT_RISING,
)
from kafkalog_reader.audits.catalogue.log_rules import (
    EPOCH_ENTRIES_BEYOND_END,
    EPOCH_ENTRY_CONTRADICTED,
    EPOCH_ENTRY_MISSING,
)
from kafkalog_reader.audits.integrity.finding import Finding, finding
from kafkalog_reader.audits.log.moved_start import possible_log_start
from kafkalog_reader.format.offset_words import offsets_words
from kafkalog_reader.io.names import LEADER_EPOCHS, PARTITION_METADATA

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kafkalog_reader.audits.log.lineage import EpochInterval
    from kafkalog_reader.audits.log.replica import Replica


def epoch_findings(
    replica: Replica,
    intervals: Sequence[EpochInterval],
    log_end_offset: int,
    erased_below: int = 0,
) -> Iterator[Finding]:
    """Yield where checkpoint and batches contradict each other.

    Args:
        replica: the replica that the checkpoint belongs to.
        intervals: which epoch wrote which offsets, by the batches that have an epoch.
        log_end_offset: of the replica.
        erased_below: one past the last message of magic 0 or 1: appending one clears the checkpoint
            on purpose, with the entries of all earlier offsets (T32).
    """
    if replica.directory.only is not None or not replica.has_sound_epochs:
        return
    file = replica.file(LEADER_EPOCHS)
    if replica.epoch_entries is None:
        if _is_replica(replica) and any(
            interval.next_offset > erased_below for interval in intervals
        ):
            yield finding(
                CHECKPOINT_MISSING,
                f"{file}: missing, although batches carry leader epochs",
                severity="H",
                actions=(WRITE_EPOCHS,),
                directory=replica.directory,
                file=file,
            )
        return
    entries = replica.epoch_entries
    for before, after in pairwise(entries):
        if after.leader_epoch <= before.leader_epoch or after.start_offset <= before.start_offset:
            yield finding(
                EPOCH_CHECKPOINT_NOT_RISING,
                f"{file}: leader epoch {after.leader_epoch} at offset {after.start_offset:,} "
                f"follows {before.leader_epoch} at {before.start_offset:,}",
                directory=replica.directory,
                file=file,
                evidence={"leaderEpoch": after.leader_epoch, "startOffset": after.start_offset},
            )
            return  # which entry is wrong is unknown, so nothing more can be checked
    kept = [interval for interval in intervals if interval.next_offset > erased_below]
    clipped_to = possible_log_start(replica, intervals, log_end_offset)
    yield from _contradictions(replica, kept, file, clipped_to)
    beyond = [entry for entry in entries if entry.start_offset > log_end_offset]
    if beyond:
        is_clean = bool(replica.directory.log_directory.clean_shutdown)
        yield finding(
            EPOCH_ENTRIES_BEYOND_END,
            f"{file}: leader epoch {beyond[0].leader_epoch} begins at offset "
            f"{beyond[0].start_offset}, above the log end {log_end_offset:,}",
            severity="H" if is_clean else "I",
            directory=replica.directory,
            file=file,
            offsets=(log_end_offset, beyond[0].start_offset),
            evidence={"leaderEpoch": beyond[0].leader_epoch, "logEndOffset": log_end_offset},
            actions=(WRITE_EPOCHS,) if is_clean else (NOTHING_TO_DO,),
        )


def _contradictions(
    replica: Replica, intervals: Sequence[EpochInterval], file: str, clipped_to: int
) -> Iterator[Finding]:
    assert replica.epoch_entries is not None
    entries = replica.epoch_entries
    starts = {entry.leader_epoch: entry.start_offset for entry in entries}
    ends = {a.leader_epoch: b.start_offset for a, b in pairwise(entries)}
    for number, interval in enumerate(intervals):
        first = max(interval.first_offset, replica.log_start_offset)
        if interval.next_offset <= replica.log_start_offset:
            continue  # entries below the log start are removed on purpose
        start = starts.get(interval.leader_epoch)
        evidence: dict[str, object] = {"leaderEpoch": interval.leader_epoch, "entryStart": start}
        around = [
            intervals[n].leader_epoch for n in (number - 1, number + 1) if 0 <= n < len(intervals)
        ]
        is_island = len(around) == 2 and around[0] == around[1]
        if start is None and not is_island:
            is_possible = interval.next_offset <= clipped_to
            yield finding(
                EPOCH_ENTRY_MISSING,
                f"{file}: {'' if entries else 'empty, and '}lacks leader epoch "
                f"{interval.leader_epoch}, which batches from offset {interval.first_offset:,} on "
                f"carry{_moved(clipped_to) if is_possible else ''}",
                directory=replica.directory,
                file=file,
                offsets=(first, interval.next_offset),
                evidence=evidence,
                severity="L" if is_possible else None,
                confidence="possible" if is_possible else "proven",
                actions=(DELETE_RECORDS_AGAIN,) if is_possible else None,
            )
            continue
        stop = ends.get(interval.leader_epoch)
        is_below = start is not None and first < start
        is_beyond = stop is not None and interval.next_offset > stop
        if start is None or is_below or is_beyond:
            is_possible = not is_beyond and start == clipped_to
            yield finding(
                EPOCH_ENTRY_CONTRADICTED,
                f"{file}: batches at {offsets_words(first, interval.next_offset)} carry leader "
                f"epoch {interval.leader_epoch}, but "
                + (
                    f"its entry begins at offset {start:,}{_moved(clipped_to)}"
                    if is_possible
                    else "the entries have another one"
                ),
                directory=replica.directory,
                file=file,
                offsets=(first, interval.next_offset),
                evidence={**evidence, "entryEnd": stop},
                severity="L" if is_possible else None,
                confidence="possible" if is_possible else "proven",
                actions=(DELETE_RECORDS_AGAIN,) if is_possible else (WRITE_EPOCHS,),
            )


def _moved(log_start_offset: int) -> str:
    """What the first entry may mean."""
    return (
        f"; the log start may have been {log_start_offset:,}: a start that begins below it brings "
        "deleted records back"
    )


def _is_replica(replica: Replica) -> bool:
    """Whether a broker's folder was supplied, and not just copied segments.

    Segments, with or without indexes, in a folder outside a log directory need no checkpoint.
    """
    directory = replica.directory
    if directory.log_directory.clean_shutdown is not None:
        return True
    try:
        beside = directory.context.entries(directory.path)
    except OSError:  # reported as KL-004
        return False
    return any(
        entry.name == PARTITION_METADATA or entry.name.endswith(".snapshot") for entry in beside
    )
